// SPDX-License-Identifier: MIT
// Breakers: instructions that set a register to its constant anew, so that the next instance does
// not wait for the old content. The usual one is a move from a register. A load, or a constant
// without any source, does the same in another way, and shows whether a time is the instruction's
// or the breaker's.
#include "plan_internal.h"

#include <inttypes.h>
#include <string.h>

// Place in the data area of the constants that are loaded: one line per point.
enum { BREAK_AREA = 1024, BREAK_LINE = 64 };

static const char *break_register(const struct draft *draft, enum chain_class class, int reg)
{
    struct arena *arena = draft->rp->arena;
    switch (class) {
    case CLASS_GPR:
        return draft_gpr(draft, reg);
    case CLASS_VEC:
        return arena_printf(arena, "%cmm%d", plan_vector(draft->rp), reg);
    case CLASS_MASK:
        return arena_printf(arena, "k%d", reg);
    default:
        return arena_printf(arena, "mm%d", reg);
    }
}

// Returns the instruction that moves a register of the class; NULL: none.
static const char *break_mnemonic(const struct row_plan *rp, enum chain_class class)
{
    switch (class) {
    case CLASS_GPR:
        return "mov";
    case CLASS_VEC:
        return rp->avx ? "vmovaps" : "movaps";
    case CLASS_MASK:
        return strstr(rp->row->isa, "AVX512BW") ? "kmovq" : "kmovw";
    case CLASS_MMX:
        return "movq";
    default:
        return NULL;
    }
}

static void break_by_move(struct draft *draft, int index)
{
    enum chain_class class = draft->rp->points[index].class;
    int to = draft->reg[index], from = draft_constant(draft, index);
    const char *mnemonic = break_mnemonic(draft->rp, class);
    if (class == CLASS_X87) {
        draft_line(draft, "fld st%d", from);
        draft_line(draft, "fstp st%d", to + 1);
    } else if (mnemonic) {
        draft_line(draft, "%s %s, %s", mnemonic, break_register(draft, class, to),
                   break_register(draft, class, from));
    }
}

// Loads the constant, which init has stored. Returns false if no load gives the register its value.
static bool break_by_load(struct draft *draft, int index)
{
    enum chain_class class = draft->rp->points[index].class;
    const char *mnemonic = break_mnemonic(draft->rp, class);
    if (!mnemonic)
        return false;
    const char *place =
        arena_printf(draft->rp->arena, "[%s+%d]", draft_gpr(draft, draft->rp->data_reg),
                     BREAK_AREA + index * BREAK_LINE);
    int from = draft_constant(draft, index);
    if (!(draft->stored & 1u << index))
        draft_init_line(draft, "%s %s, %s", mnemonic, place, break_register(draft, class, from));
    draft->stored |= 1u << index;
    draft_line(draft, "%s %s, %s", mnemonic, break_register(draft, class, draft->reg[index]),
               place);
    return true;
}

// Sets the register to a value that has no source. Returns false if there is no such instruction,
// or the value matters. A vector becomes zero, which does no harm unless operands are of a certain
// kind.
static bool break_by_constant(struct draft *draft, int index)
{
    const struct row_plan *rp = draft->rp;
    const struct point *point = &rp->points[index];
    int reg = draft->reg[index];
    if (point->class == CLASS_GPR && point->need != NEED_ADDRESS) {
        uint64_t value = point->need == NEED_VALUE ? point->value : rp->gpr_fill;
        draft_line(draft, "mov %s, 0x%" PRIx64,
                   render_gpr(reg, value > UINT32_MAX ? 64 : 32, false), value);
        return true;
    }
    if (point->class != CLASS_VEC || point->need != NEED_NOTHING || rp->data != DATA_ORDINARY)
        return false;
    if (reg > 15)
        draft_line(draft, "vpxord zmm%d, zmm%d, zmm%d", reg, reg, reg);
    else if (rp->avx)
        draft_line(draft, "vpxor xmm%d, xmm%d, xmm%d", reg, reg, reg);
    else
        draft_line(draft, "pxor xmm%d, xmm%d", reg, reg);
    return true;
}

static void break_flags(struct draft *draft)
{
    const char *zero = render_gpr(draft_zero(draft), 32, false);
    draft_line(draft, "test %s, %s", zero, zero);
}

void draft_break(struct draft *draft, int index)
{
    enum chain_class class = draft->rp->points[index].class;
    size_t before = draft->body.len;
    bool other = class != CLASS_FLAGS &&
                 ((draft->way == BREAK_BY_LOAD && break_by_load(draft, index)) ||
                  (draft->way == BREAK_BY_CONSTANT && break_by_constant(draft, index)));
    draft->broken_otherwise |= other;
    if (class == CLASS_FLAGS)
        break_flags(draft);
    else if (!other && class != CLASS_MEM && class != CLASS_NONE && class != CLASS_FPSW)
        break_by_move(draft, index);
    if (!draft->breaker && draft->body.len > before)
        draft->breaker = arena_strndup(draft->rp->arena, draft->body.data + before,
                                       draft->body.len - before - 1);
}
