// SPDX-License-Identifier: MIT
// Contents of registers and memory while a kernel runs. Floating-point operands hold 1.0 of their
// type, so that no chain meets denormals, infinities or NaN by accident; integers hold small
// numbers. Division and square root are measured with two sets (meanings: macros/README.md): "fast"
// needs next to no quotient bits, "slow" needs all of them.
#include "plan_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 64 };

// Patterns of 64 bits by type of the elements.
static const uint64_t data_ones[] = {
    [ELEMENT_INT] = 0x0101010101010101,  [ELEMENT_F16] = 0x3c003c003c003c00,
    [ELEMENT_BF16] = 0x3f803f803f803f80, [ELEMENT_F32] = 0x3f8000003f800000,
    [ELEMENT_F64] = 0x3ff0000000000000,  [ELEMENT_F80] = 0x8000000000003fff,
};
// Slow division: dividend sqrt(3); divisors 1.2345678901234567 and its reciprocal, which alternate
// in a chain, so that its values neither grow nor shrink.
static const uint64_t data_dividend_slow[] = {
    [ELEMENT_INT] = 0x0003000300030003,  [ELEMENT_F16] = 0x3eee3eee3eee3eee,
    [ELEMENT_BF16] = 0x3fde3fde3fde3fde, [ELEMENT_F32] = 0x3fddb3d73fddb3d7,
    [ELEMENT_F64] = 0x3ffbb67ae8584caa,  [ELEMENT_F80] = 0x3ffbb67ae8584caa,
};
static const uint64_t data_divisors_slow[2][6] = {
    {0x0003000300030003, 0x3cf03cf03cf03cf0, 0x3f9e3f9e3f9e3f9e, 0x3f9e06523f9e0652,
     0x3ff3c0ca428c59fb, 0x3ff3c0ca428c59fb},
    {0x0003000300030003, 0x3a7b3a7b3a7b3a7b, 0x3f4f3f4f3f4f3f4f, 0x3f4f5c293f4f5c29,
     0x3fe9eb8522a23fff, 0x3fe9eb8522a23fff},
};
// Slow square root: all mantissa bits are set. The root OR the radicand is the radicand again.
static const uint64_t data_radicand_slow[] = {
    [ELEMENT_INT] = 0x0003000300030003,  [ELEMENT_F16] = 0x3fff3fff3fff3fff,
    [ELEMENT_BF16] = 0x3fff3fff3fff3fff, [ELEMENT_F32] = 0x3fffffff3fffffff,
    [ELEMENT_F64] = 0x3fffffffffffffff,  [ELEMENT_F80] = 0x3fffffffffffffff,
};

static uint64_t data_repeat(uint64_t value, int bits)
{
    if (bits >= 64)
        return value;
    uint64_t pattern = 0;
    for (int at = 0; at < 64; at += bits)
        pattern |= (value & ((UINT64_C(1) << bits) - 1)) << at;
    return pattern;
}

static void data_need(struct point *point, uint64_t value)
{
    point->need = NEED_VALUE;
    point->value = value;
}

// Sets up integer division of high:low by d, w bits wide. Slow: high = 0101...01 of w/2 bits, low =
// high * 2^(w/2), d = 2^(w/2) + 1: the quotient is low again, exactly, and has w - 1 bits.
static void data_set_integer_division(struct row_plan *rp)
{
    int w = rp->row->ops[0].bits;
    uint64_t half = UINT64_C(1) << w / 2;
    uint64_t high = rp->slow ? (half - 1) / 3 : 0;
    uint64_t low = rp->slow ? high << w / 2 : 1;
    uint64_t divisor = rp->slow ? half + 1 : 1;
    for (int i = 0; i < rp->npoints; i++) {
        struct point *point = &rp->points[i];
        if (point->position == 0 && point->part != PART_BASE)
            data_need(point, rp->row->ops[0].high8 ? divisor << 8 : divisor);
        else if (point->class == CLASS_GPR && point->fixed == 0) {
            // 8 bits wide: dividend and result are in ax, remainder above quotient.
            data_need(point, w == 8 ? high << w | low : low);
            point->stable = w > 8 || !rp->slow;
        } else if (point->class == CLASS_GPR && point->fixed == 2)
            data_need(point, high);
    }
    rp->mem_fill = data_repeat(divisor, w);
}

static uint64_t data_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int data_sets(const struct list_row *row)
{
    return row->data == DATA_ORDINARY ? 1 : row->nst > 2 ? row->nst : 2;
}

const struct x87_values *data_x87_option(const struct row_plan *rp)
{
    int n = rp->row->nst;
    return n ? &rp->row->st[rp->set < n ? rp->set : n - 1] : NULL;
}

// Returns the value of x87 registers, as a double: of the top of the stack or of the others. The
// option st= (TOP/OTHERS, for each set of data) gives it, or else data=.
static uint64_t data_x87_value(const struct row_plan *rp, bool top)
{
    const struct x87_values *st = data_x87_option(rp);
    if (st)
        return data_double(top ? st->top : st->others);
    if (rp->slow && rp->data == DATA_DIVIDE)
        return top ? data_dividend_slow[ELEMENT_F64] : data_divisors_slow[0][ELEMENT_F64];
    if (rp->slow && rp->data == DATA_SQRT)
        return data_radicand_slow[ELEMENT_F64];
    return data_ones[ELEMENT_F64];
}

// Sets up x87 values. With other values than 1.0 each chain restores the value of its source.
static void data_set_x87(struct row_plan *rp)
{
    bool keep = rp->row->nst || (rp->slow && (rp->data == DATA_DIVIDE || rp->data == DATA_SQRT));
    bool integer = rp->row->element == ELEMENT_INT;
    for (int i = 0; i < rp->npoints; i++) {
        struct point *point = &rp->points[i];
        if (integer && point->part == PART_DATA && point->bits > 0 && point->bits <= 64)
            rp->mem_fill = data_repeat(1, point->bits);
        if (!keep || !point->read)
            continue;
        if (point->class == CLASS_MEM)
            data_need(point, data_double(1.0));
        if (point->class == CLASS_X87 || (point->class == CLASS_MEM && !integer))
            data_need(point, data_x87_value(rp, point->class == CLASS_X87 && point->fixed == 0));
    }
}

void data_set(struct row_plan *rp, int set)
{
    const struct list_row *row = rp->row;
    rp->data = row->data;
    rp->set = set;
    rp->slow = set > 0;
    rp->gpr_fill = 1;
    rp->mask_fill = UINT64_MAX;
    rp->vec_fill = rp->mem_fill = data_ones[row->element];
    if (rp->slow && rp->data == DATA_DIVIDE) {
        rp->vec_fill = data_dividend_slow[row->element];
        rp->mem_fill = data_divisors_slow[0][row->element];
    }
    if (rp->slow && rp->data == DATA_SQRT)
        rp->vec_fill = rp->mem_fill = data_radicand_slow[row->element];
    if (rp->data == DATA_INTEGER_DIVIDE)
        data_set_integer_division(rp);
    if (rp->x87)
        data_set_x87(rp);
    // Gathered elements become indices in a chain: all 0, inside the data area.
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind == OPERAND_VSIB)
            rp->vec_fill = rp->mem_fill = 0;
    if (row->has_mask)
        rp->mask_fill = row->mask;
    if (row->has_fill)
        rp->mem_fill = row->fill;
}

static bool data_alternates(const struct row_plan *rp)
{
    return rp->slow && rp->data == DATA_DIVIDE && rp->vec_bits;
}

int data_divisor_point(const struct row_plan *rp)
{
    if (!data_alternates(rp))
        return -1;
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].position == rp->row->nops - 1 &&
            (rp->points[i].part == PART_WHOLE || rp->points[i].part == PART_DATA))
            return i;
    return -1;
}

static void data_put_memory(struct draft *draft, int disp, int bytes, uint64_t pattern)
{
    const char *base = draft_gpr(draft, draft->rp->data_reg);
    if (draft->rp->row->bits == 32) {
        for (int at = 0; at < bytes; at += 4)
            draft_init_line(draft, "mov dword [%s+%d], 0x%" PRIx32, base, disp + at,
                            (uint32_t)(pattern >> at % 8 * 8));
        return;
    }
    draft_init_line(draft, "mov rax, 0x%" PRIx64, pattern);
    for (int at = 0; at < bytes; at += 8)
        draft_init_line(draft, "mov [%s+%d], rax", base, disp + at);
    draft_init_line(draft, "mov eax, %" PRIu64, draft->rp->gpr_fill);
}

static void data_put_vector(struct draft *draft, int reg, uint64_t pattern)
{
    const struct row_plan *rp = draft->rp;
    char kind = plan_vector(rp);
    data_put_memory(draft, DATA_SCRATCH, rp->vec_bits / 8, pattern);
    draft_init_line(draft, "%s %cmm%d, [%s+%d]", rp->avx ? "vmovups" : "movups", kind, reg,
                    draft_gpr(draft, rp->data_reg), DATA_SCRATCH);
}

void data_divisor_init(struct draft *draft, int divisors[2])
{
    const struct row_plan *rp = draft->rp;
    int point = data_divisor_point(rp);
    if (point < 0)
        return;
    for (int i = 0; i < 2; i++) {
        uint64_t pattern = data_divisors_slow[i][rp->row->element];
        if (rp->points[point].class == CLASS_MEM) {
            divisors[i] = i * SLOT_BYTES;
            data_put_memory(draft, divisors[i], SLOT_BYTES, pattern);
        } else {
            divisors[i] = draft_take_helper(draft, CLASS_VEC);
            data_put_vector(draft, divisors[i], pattern);
        }
    }
}

void data_x87_init(struct draft *draft)
{
    if (!draft->rp->x87)
        return;
    data_put_memory(draft, DATA_SCRATCH, 8, data_x87_value(draft->rp, false));
    draft_init_line(draft, "fninit");
    for (int i = 0; i < draft_x87_depth(draft->rp); i++)
        draft_init_line(draft, "fld qword [%s+%d]", draft_gpr(draft, draft->rp->data_reg),
                        DATA_SCRATCH);
}

void data_x87_set(struct draft *draft, int reg, uint64_t value)
{
    if (value == data_x87_value(draft->rp, false))
        return;
    data_put_memory(draft, DATA_SCRATCH, 8, value);
    draft_init_line(draft, "fld qword [%s+%d]", draft_gpr(draft, draft->rp->data_reg),
                    DATA_SCRATCH);
    draft_init_line(draft, "fstp st%d", reg + 1);
}

static void data_put_index(struct draft *draft, int disp, int bits, int index)
{
    const char *base = draft_gpr(draft, draft->rp->data_reg);
    bool split = bits == 64 && draft->rp->row->bits == 32;
    draft_init_line(draft, "mov %s [%s+%d], %d", bits == 64 && !split ? "qword" : "dword", base,
                    disp, index);
    if (split)
        draft_init_line(draft, "mov dword [%s+%d], 0", base, disp + 4);
}

// Returns 4 for vgatherdps and vpgatherdd, 8 for vgatherdpd and vpgatherdq.
int data_element_bytes(const struct list_row *row)
{
    size_t len = strlen(row->mnemonic);
    return row->mnemonic[len - 1] == 'q' || strcmp(row->mnemonic + len - 2, "pd") == 0 ? 8 : 4;
}

// Returns the offset of element i (option index=, macros/README.md). All patterns stay within the 4
// KiB that every CPU has in its first-level cache.
static int data_index(enum index_pattern pattern, int i, int bytes)
{
    enum { LINES = 64 };
    switch (pattern) {
    case INDEX_SAME:
        return 0;
    case INDEX_OVERLAP:
        return i * bytes / 2;
    case INDEX_LINE:
        return i * SLOT_BYTES;
    case INDEX_RANDOM:
        // 37 is odd: no two elements are in one line; the places within lines differ as well.
        return (i * 37 + 11) % LINES * SLOT_BYTES + i * 5 % (SLOT_BYTES / bytes) * bytes;
    case INDEX_ADJACENT:
        break;
    }
    return i * bytes;
}

// Sets up the index of a gather: adjacent elements by default, as in a loop that would rather load
// them whole.
void data_index_init(struct draft *draft, int point)
{
    const struct row_plan *rp = draft->rp;
    const struct operand *op = rp->points[point].op;
    int count = op->index_bits / op->bits, bytes = data_element_bytes(rp->row);
    for (int i = 0; i < count; i++)
        data_put_index(draft, DATA_SCRATCH + i * op->bits / 8, op->bits,
                       data_index(rp->row->index, i, bytes));
    char kind = op->index_bits == 512 ? 'z' : op->index_bits == 256 ? 'y' : 'x';
    draft_init_line(draft, "vmovups %cmm%d, [%s+%d]", kind, draft->reg[point],
                    draft_gpr(draft, rp->data_reg), DATA_SCRATCH);
}

// Sets up a mask in a vector, the sign bits of elements: for AVX2 gathers from the bits of
// mask_fill, for legacy instructions all set.
void data_mask_init(struct draft *draft, int reg, int bits)
{
    const struct row_plan *rp = draft->rp;
    char kind = bits == 256 ? 'y' : 'x';
    if (!rp->avx) {
        draft_init_line(draft, "pcmpeqd xmm%d, xmm%d", reg, reg);
        return;
    }
    if (rp->mask_fill == UINT64_MAX) {
        draft_init_line(draft, "vpcmpeqd %cmm%d, %cmm%d, %cmm%d", kind, reg, kind, reg, kind, reg);
        return;
    }
    int bytes = data_element_bytes(rp->row);
    for (int i = 0; i < bits / 8 / 4; i++)
        data_put_index(draft, DATA_SCRATCH + 4 * i, 32,
                       rp->mask_fill >> (4 * i / bytes) & 1 ? -1 : 0);
    draft_init_line(draft, "vmovups %cmm%d, [%s+%d]", kind, reg, draft_gpr(draft, rp->data_reg),
                    DATA_SCRATCH);
}
