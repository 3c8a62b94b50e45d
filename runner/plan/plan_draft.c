// SPDX-License-Identifier: MIT
// Writes a kernel: the set-up before the clock starts, the places of operands, and the instructions
// of the body. plan_registers.c has the registers.
#include "plan_internal.h"

#include <inttypes.h>
#include <string.h>

// Offset of the data area in the other arrangement of lines; all constants stay in the filled part.
enum { OTHER_LINE = 11 * 64 };

// Instructions in the loop in the other arrangement of copies; elsewhere some 384.
enum { OTHER_LOOP = 256 };

void draft_begin(struct draft *draft, const struct row_plan *rp)
{
    *draft = (struct draft){.rp = rp, .zero_gpr = -1, .memory_gpr = -1, .certain = true};
    for (int i = 0; i < CLASS_COUNT; i++)
        draft->fill_reg[i] = draft->bridge_reg[i] = -1;
    for (int i = 0; i < POINTS_MAX; i++)
        draft->reg[i] = draft->value_reg[i] = -1;
    draft->used[CLASS_GPR] = 1u << REG_RSP | 1u << rp->data_reg | 1u << REG_LOOP;
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].fixed >= 0)
            draft->used[rp->points[i].class] |= (rp->points[i].block ? 0xfu : 1u)
                                                << rp->points[i].fixed;
        else if (rp->points[i].part == PART_MASK && rp->points[i].written)
            draft->used[CLASS_MASK] |= 1; // k0 cannot be a write mask
    if (rp->params->arrangement == ARRANGED_LINES)
        draft_init_line(draft, "add %s, %d", draft_gpr(draft, rp->data_reg), OTHER_LINE);
    data_x87_init(draft);
    if (rp->base_reg != rp->data_reg) {
        draft->used[CLASS_GPR] |= 1u << rp->base_reg;
        for (int i = 0; i < rp->npoints; i++)
            if (rp->points[i].part == PART_BASE) {
                draft_init_line(draft, "mov %s, %s", render_gpr(rp->base_reg, 64, false),
                                render_gpr(rp->data_reg, 64, false));
                break;
            }
    }
}

// Returns the place in the data area that a pointer points to.
static int draft_area(const struct draft *draft, const struct point *point)
{
    return point->fixed >= 0 ? draft->area + point->place : 0;
}

// Writes lines of the init that set a register to the value that the point needs.
static void draft_set_need(struct draft *draft, const struct point *point, int reg)
{
    switch (point->need) {
    case NEED_NOTHING:
        break;
    case NEED_ADDRESS:
        if (draft_area(draft, point))
            draft_init_line(draft, "lea %s, [%s+%d]", draft_gpr(draft, reg),
                            draft_gpr(draft, draft->rp->data_reg), draft_area(draft, point));
        else
            draft_init_line(draft, "mov %s, %s", draft_gpr(draft, reg),
                            draft_gpr(draft, draft->rp->data_reg));
        break;
    case NEED_VALUE:
        if (draft->rp->x87)
            data_x87_set(draft, reg, point->value);
        else
            draft_init_line(draft, "mov %s, 0x%" PRIx64, draft_gpr(draft, reg), point->value);
        break;
    case NEED_ONES:
        if (point->class == CLASS_MMX)
            draft_init_line(draft, "pcmpeqd mm%d, mm%d", reg, reg);
        else if (point->class == CLASS_VEC) // the core fills mask registers
            data_mask_init(draft, reg, point->bits);
        break;
    }
}

int draft_constant(struct draft *draft, int index)
{
    const struct point *point = &draft->rp->points[index];
    if (point->need == NEED_ADDRESS && !draft_area(draft, point))
        return draft->rp->data_reg;
    int *reg =
        point->need == NEED_NOTHING ? &draft->fill_reg[point->class] : &draft->value_reg[index];
    if (*reg < 0) {
        enum chain_class memory = draft->rp->x87 ? CLASS_X87 : CLASS_GPR;
        *reg = draft_take_helper(draft, point->class == CLASS_MEM ? memory : point->class);
        draft_set_need(draft, point, *reg);
    }
    return *reg;
}

void draft_place(struct draft *draft, int index, int reg)
{
    const struct point *point = &draft->rp->points[index];
    draft->reg[index] = reg;
    // mem_fill sets the content of memory.
    if (draft->rp->x87 && point->class == CLASS_MEM)
        return;
    if (reg != draft->rp->data_reg || point->class != CLASS_GPR)
        draft_set_need(draft, point, reg);
}

// Returns the register that same-register operands share, -1 if none has one yet.
static int draft_same_reg(const struct draft *draft)
{
    for (int i = 0; i < draft->rp->npoints; i++)
        if (draft->rp->points[i].same && draft->reg[i] >= 0)
            return draft->reg[i];
    return -1;
}

void draft_place_others(struct draft *draft, int but, int and_but)
{
    const struct row_plan *rp = draft->rp;
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (i == but || i == and_but || draft->reg[i] >= 0)
            continue;
        int shared = point->same ? draft_same_reg(draft) : -1;
        if (shared >= 0)
            draft->reg[i] = shared;
        else if (point->fixed >= 0)
            draft_place(draft, i, point->fixed);
        else if (point->part == PART_BASE && point->need == NEED_ADDRESS)
            draft->reg[i] = rp->base_reg;
        else if (point->class == CLASS_MASK && point->part == PART_MASK)
            draft_place(draft, i, draft_take_helper(draft, CLASS_MASK));
        else if (point->class == CLASS_NONE)
            draft->reg[i] = 0;
        else if (point->class != CLASS_FLAGS && point->class != CLASS_FPSW &&
                 point->class != CLASS_MEM)
            draft_place(draft, i, draft_take(draft, point->class));
    }
}

static int64_t draft_immediate(const struct row_plan *rp, const struct operand *op)
{
    if (rp->immediate && immediate_takes(rp, op))
        return rp->immediate->value;
    // Values that do not fit the next shorter encoding; in a byte, an odd count that all shifts
    // accept.
    switch (op->bits) {
    case 16:
        return 0x1234;
    case 32:
        return 0x12345678;
    case 64:
        return 0x123456789abcdef0;
    default:
        return 5;
    }
}

void draft_instruction(struct draft *draft)
{
    const struct row_plan *rp = draft->rp;
    struct row_choice choice = {.mask = 1};
    for (int i = 0; i < rp->row->nops; i++)
        choice.ops[i] = (struct operand_choice){.disp = draft->disp,
                                                .base = rp->data_reg,
                                                .label = draft->labels,
                                                .value = draft_immediate(rp, &rp->row->ops[i])};
    for (int i = 0; i < rp->npoints; i++) {
        const struct point *point = &rp->points[i];
        if (point->position < 0)
            continue;
        struct operand_choice *op = &choice.ops[point->position];
        int reg = draft->reg[i] < 0 ? 0 : draft->reg[i];
        if (point->part == PART_WHOLE)
            op->reg = reg;
        else if (point->part == PART_BASE)
            op->base = reg;
        else if (point->part == PART_INDEX)
            op->index = reg;
        else if (point->part == PART_MASK)
            choice.mask = reg;
    }
    row_render(rp->row, &choice, &draft->body);
    strbuf_puts(&draft->body, "\n");
    draft->labels++;
    draft->instrs++;
}

// Returns the register whose value replaces those that the row pops; -1 if it pops none.
static int draft_repush_constant(struct draft *draft)
{
    const struct row_plan *rp = draft->rp;
    for (int i = 0; i < rp->npoints && rp->x87_moves < 0; i++)
        if (rp->points[i].class == CLASS_X87 && rp->points[i].fixed == 0)
            return draft_constant(draft, i);
    return -1;
}

void draft_repush_reserve(struct draft *draft)
{
    draft_repush_constant(draft);
}

void draft_repush(struct draft *draft)
{
    int constant = draft_repush_constant(draft);
    // The pops have raised it by the number of missing registers above it.
    for (int popped = -draft->rp->x87_moves; constant >= 0 && popped > 0; popped--) {
        draft->out_of_regs |= constant < popped;
        draft_line(draft, "fld st%d", constant - popped);
    }
}

void draft_repop(struct draft *draft)
{
    if (draft->rp->x87_moves > 0)
        draft_line(draft, "fstp st0");
}

// Cuts a periodic body to one period: the core copies it as often as needed, and the assembler's
// time depends on the number of lines. Returns the instances that are left.
static int draft_cut_to_period(struct draft *draft, int instances)
{
    const char *text = strbuf_text(&draft->body);
    size_t len = draft->body.len;
    for (int times = instances; times > 1; times--) {
        size_t period = len / (size_t)times;
        if (instances % times || draft->instrs % times || len % (size_t)times || period == 0 ||
            text[period - 1] != '\n' || memcmp(text, text + period, len - period) != 0)
            continue;
        strbuf_cut(&draft->body, period);
        draft->instrs /= times;
        return instances / times;
    }
    return instances;
}

struct kernel_spec draft_finish(struct draft *draft, const char *shape, int instances)
{
    const struct row_plan *rp = draft->rp;
    instances = draft_cut_to_period(draft, instances);
    bool simd = rp->vec_bits || draft->used[CLASS_VEC];
    bool other_loop = rp->params->arrangement == ARRANGED_COPIES && draft->instrs < OTHER_LOOP;
    struct kernel_spec spec = {
        .shape = arena_strdup(rp->arena, shape),
        .body = arena_strdup(rp->arena, strbuf_text(&draft->body)),
        .init = arena_strdup(rp->arena, strbuf_text(&draft->init)),
        .instances = instances,
        .instrs = draft->instrs,
        .clear_upper = rp->row->enc == ENC_LEGACY && simd,
        .vec_bits = simd && rp->vec_bits < 128 ? 128 : rp->vec_bits,
        .vec_fill = rp->vec_fill,
        .mem_fill = rp->mem_fill,
        .gpr_fill = rp->gpr_fill,
        .mask_fill = rp->mask_fill,
        .extra_clk = draft->extra_clk,
        .breaker = draft->breaker,
        .copies = other_loop ? OTHER_LOOP / draft->instrs : 0,
    };
    draft_free(draft);
    return spec;
}
