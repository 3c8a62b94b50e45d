// SPDX-License-Identifier: MIT
// Takes a row apart into the points that chains run through: registers, masks, the base and index
// of addresses, the content of memory, flags. Points that cannot carry a chain have CLASS_NONE.
#include "plan_internal.h"

#include <assert.h>
#include <string.h>

enum {
    BLOCK_FIRST = 12, // NASM refuses blocks above register 15
    REG_BASE_NO_REX = 6,
    REG_BASE_HIGH = 31,
    POINTERS_APART = 256, // bytes from one pointer of a row to the next
};

static enum chain_class points_class(const struct operand *op)
{
    switch (op->kind) {
    case OPERAND_GPR:
        return CLASS_GPR;
    case OPERAND_VEC:
        return CLASS_VEC;
    case OPERAND_MASK:
        return CLASS_MASK;
    case OPERAND_MMX:
        return CLASS_MMX;
    case OPERAND_X87:
        return CLASS_X87;
    case OPERAND_FLAGS:
        return strcmp(op->text, "df") == 0 ? CLASS_NONE : CLASS_FLAGS;
    case OPERAND_MEM:
        return CLASS_MEM;
    case OPERAND_FPSW:
        return CLASS_FPSW;
    default:
        return CLASS_NONE;
    }
}

bool points_flags_overlap(const struct operand *a, const struct operand *b)
{
    return strcmp(a->text, b->text) == 0 || strcmp(a->text, "flags") == 0 ||
           strcmp(b->text, "flags") == 0;
}

static struct point *points_add(struct row_plan *rp, const struct operand *op, int position,
                                enum point_part part, enum chain_class class)
{
    assert(rp->npoints < POINTS_MAX);
    struct point *point = &rp->points[rp->npoints++];
    *point = (struct point){.op = op,
                            .name = op->name,
                            .position = position,
                            .part = part,
                            .class = class,
                            .bits = op->bits,
                            .fixed = -1,
                            .read = true};
    static const char *const suffixes[] = {
        [PART_MASK] = "mask", [PART_BASE] = "base", [PART_INDEX] = "index", [PART_DATA] = "data"};
    if (part != PART_WHOLE)
        point->name = arena_printf(rp->arena, "%s.%s", op->name, suffixes[part]);
    return point;
}

static void points_add_register(struct row_plan *rp, const struct operand *op, int position)
{
    struct point *point = points_add(rp, op, position, PART_WHOLE, points_class(op));
    point->read = op->access & ACCESS_READ;
    point->written = op->access & ACCESS_WRITE;
    point->fixed = op->fixed;
    point->block = position >= 0 && render_is_block(rp->row, op);
    if (point->block)
        point->fixed = BLOCK_FIRST;
    point->high8 = op->high8;
    // A new destination of APX, and its setzu and imulzu, set the upper bits to zero.
    point->merges = point->written && op->kind == OPERAND_GPR && op->bits < 32 &&
                    !(rp->row->opcode.given && rp->row->opcode.nd);
}

static void points_add_base(struct row_plan *rp, const struct operand *op, int position)
{
    struct point *base = points_add(rp, op, position, PART_BASE, CLASS_GPR);
    base->bits = rp->row->bits;
    base->need = op->kind == OPERAND_AGEN ? NEED_NOTHING : NEED_ADDRESS;
}

static void points_add_memory(struct row_plan *rp, const struct operand *op, int position)
{
    points_add_base(rp, op, position);
    // Memory of unknown size cannot be stored or reloaded.
    enum chain_class class = op->bits ? CLASS_MEM : CLASS_NONE;
    struct point *data = points_add(rp, op, position, PART_DATA, class);
    data->read = op->access & ACCESS_READ;
    data->written = op->access & ACCESS_WRITE;
}

// Adds the points of a gather or scatter. One element stands for the memory: in a chain all are in
// the same place.
static void points_add_vsib(struct row_plan *rp, const struct operand *op, int position)
{
    points_add_base(rp, op, position);
    struct point *index = points_add(rp, op, position, PART_INDEX, CLASS_VEC);
    index->bits = op->index_bits;
    struct point *data = points_add(rp, op, position, PART_DATA, CLASS_MEM);
    data->bits = 8 * data_element_bytes(rp->row);
    data->read = op->access & ACCESS_READ;
    data->written = op->access & ACCESS_WRITE;
}

static void points_add_agen(struct row_plan *rp, const struct operand *op, int position)
{
    struct agen_parts parts = render_agen_parts(op);
    if (parts.base)
        points_add_base(rp, op, position);
    if (parts.index) {
        struct point *index = points_add(rp, op, position, PART_INDEX, CLASS_GPR);
        index->bits = rp->row->bits;
    }
}

// Returns true if the status word is the row's only result, as for comparisons of x87 registers.
// Nearly all x87 instructions write its exception bits.
static bool points_has_status(const struct list_row *row, const struct operand *status)
{
    if (status->access == ACCESS_READ)
        return true;
    bool compares = false;
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        const struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        if (op != status && op->access & ACCESS_WRITE)
            return false;
        compares |= op->kind == OPERAND_X87 && op->fixed == 0;
    }
    return compares && status->access == ACCESS_WRITE;
}

static void points_add_operand(struct row_plan *rp, const struct operand *op, int position)
{
    switch (op->kind) {
    case OPERAND_MEM:
        points_add_memory(rp, op, position);
        break;
    case OPERAND_VSIB:
        points_add_vsib(rp, op, position);
        break;
    case OPERAND_AGEN:
        points_add_agen(rp, op, position);
        break;
    case OPERAND_IMM:
    case OPERAND_REL:
    case OPERAND_MOFFS:
    case OPERAND_MXCSR:
        break;
    case OPERAND_FPSW:
        if (points_has_status(rp->row, op))
            points_add_register(rp, op, position);
        break;
    default:
        // The stack pointer is balanced by the option stack=, not chained.
        if (op->kind != OPERAND_GPR || op->fixed != REG_RSP)
            points_add_register(rp, op, position);
    }
    if (op->masked) {
        struct point *mask = points_add(rp, op, position, PART_MASK, CLASS_MASK);
        mask->bits = 64;
        // A gather or scatter clears its mask as it completes.
        for (int i = 0; i < rp->row->nops; i++)
            mask->written |= rp->row->ops[i].kind == OPERAND_VSIB;
    }
}

bool points_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; at; at = strchr(at, '+')) {
        at += *at == '+';
        if (strncmp(at, name, len) == 0 && (at[len] == '+' || at[len] == '\0'))
            return true;
    }
    return false;
}

// Returns true for the mask of an AVX2 gather, which selects by sign: the last vector operand.
static bool points_is_gather_mask(const struct row_plan *rp, const struct point *point)
{
    return point->class == CLASS_VEC && point->position == 2 && rp->row->nops == 3 &&
           rp->row->ops[1].kind == OPERAND_VSIB;
}

// Sets the registers that mode and operands leave, and those that memory operands name.
static void points_set_registers(struct row_plan *rp)
{
    bool bytes = false, high = false, memory = false;
    for (int i = 0; i < rp->row->nops; i++) {
        bytes |= rp->row->ops[i].kind == OPERAND_GPR && rp->row->ops[i].bits == 8;
        high |= rp->row->ops[i].kind == OPERAND_GPR && rp->row->ops[i].high8;
        memory |= rp->row->ops[i].kind == OPERAND_MEM;
    }
    bool is_32 = rp->row->bits == 32;
    rp->no_rex = high && !is_32;
    rp->abcd = is_32 ? bytes : high;
    rp->data_reg = is_32 ? REG_DATA_32 : REG_DATA;
    bool upper = memory && rp->params->arrangement == ARRANGED_HIGH;
    rp->base_reg = rp->no_rex ? REG_BASE_NO_REX : upper ? REG_BASE_HIGH : rp->data_reg;
}

static void points_set_x87(struct row_plan *rp)
{
    rp->x87_moves = rp->row->x87_moves;
    rp->x87 = rp->x87_moves || rp->row->element == ELEMENT_F80;
}

// Places the pointers of movs and its like in lines of their own, not 4 KiB apart: loads must not
// depend on the last store, nor seem to.
static void points_place_pointers(struct row_plan *rp)
{
    for (int i = 0, pointers = 0; i < rp->npoints; i++)
        if (rp->points[i].need == NEED_ADDRESS && rp->points[i].fixed >= 0)
            rp->points[i].place = POINTERS_APART * pointers++;
}

void points_collect(struct row_plan *rp)
{
    const struct list_row *row = rp->row;
    points_set_registers(rp);
    points_set_x87(rp);
    for (int i = 0; i < row->nops; i++) {
        points_add_operand(rp, &row->ops[i], i);
        if (row->ops[i].kind == OPERAND_VEC && row->ops[i].bits > rp->vec_bits)
            rp->vec_bits = row->ops[i].bits;
        if (row->ops[i].kind == OPERAND_VSIB && row->ops[i].index_bits > rp->vec_bits)
            rp->vec_bits = row->ops[i].index_bits;
    }
    for (int i = 0; i < row->nimplicit; i++)
        points_add_operand(rp, &row->implicit[i], -1);
    for (int i = 0; i < rp->npoints; i++) {
        struct point *point = &rp->points[i];
        if (point->class == CLASS_GPR && points_listed(row->pointer, point->name))
            point->need = NEED_ADDRESS;
        if (point->class == CLASS_GPR && points_listed(row->small, point->name)) {
            point->need = NEED_VALUE;
            point->value = 1;
        }
        if (points_listed(row->signs, point->name) || points_is_gather_mask(rp, point) ||
            (point->part == PART_MASK && point->written))
            point->need = NEED_ONES;
        point->same = rp->same && point->part == PART_WHOLE && point->position >= 0 &&
                      point->fixed < 0 && point->class != CLASS_NONE;
        if (point->class == CLASS_VEC && !rp->vec_bits)
            rp->vec_bits = point->bits;
        rp->x87 |= point->class == CLASS_X87 || point->class == CLASS_FPSW;
    }
    points_place_pointers(rp);
}

int points_same_before(const struct row_plan *rp, int i)
{
    if (!rp->points[i].same)
        return -1;
    int first = 0;
    while (!rp->points[first].same)
        first++;
    return first < i ? first : -1;
}
