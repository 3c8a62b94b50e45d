// SPDX-License-Identifier: MIT
// Registers and lines of a kernel that is being written. Helpers (constants, breakers, bridges)
// take registers from the far end of the file, so that operands keep the short encodings.
#include "plan_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

// Order in which operands get general-purpose registers. rax comes last, because NASM has encodings
// of its own for it. r14 is the data area, r15 the core's, rsp the stack. In 32-bit mode ebp is the
// data area; registers whose low byte has a name come first.
static const int gpr_order[] = {3, 6, 7, 8, 9, 10, 11, 12, 13, 1, 2, 5, 0, -1};
static const int gpr_order_32[] = {3, 1, 2, 6, 7, 0, -1};
// Registers that an instruction with ah..dh can name; rsi is kept for the address. In 32-bit mode
// the same holds for al..bl.
static const int gpr_order_abcd[] = {3, 1, 2, 0, -1};
// Order in the other arrangement of registers; rax stays last.
static const int gpr_order_turned[] = {5, 2, 1, 13, 12, 11, 10, 9, 8, 7, 6, 3, 0, -1};
// Order in the arrangement of r16 to r31. r31 is the base of addresses; r20, r21, r28 and r29 are
// left out, since their addresses are longer, as those of r12 and r13.
static const int gpr_order_high[] = {16, 30, 19, 27, 17, 26, 23, 25, 18, 24, 22, -1};

enum { HIGH_FIRST = 16 };
enum { VEC_LEGACY_COUNT = 16, VEC_EVEX_COUNT = 32, COUNT_32 = 8 };

enum { X87_REGISTERS = 8 };

void draft_free(struct draft *draft)
{
    strbuf_free(&draft->init);
    strbuf_free(&draft->body);
}

__attribute__((format(printf, 2, 0))) static void put_line(struct strbuf *text, const char *format,
                                                           va_list ap)
{
    strbuf_vprintf(text, format, ap);
    strbuf_puts(text, "\n");
}

void draft_line(struct draft *draft, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    put_line(&draft->body, format, ap);
    va_end(ap);
    draft->instrs++;
}

void draft_init_line(struct draft *draft, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    put_line(&draft->init, format, ap);
    va_end(ap);
}

void draft_fill(struct draft *draft, int fillers)
{
    bool other = draft->rp->params->arrangement == ARRANGED_FILLERS;
    if (fillers <= 0)
        return;
    draft_line(draft, "times %d %s", fillers, other ? "nop dword [rax+8]" : "nop");
    draft->instrs += fillers - 1;
}

int draft_x87_depth(const struct row_plan *rp)
{
    int room = rp->x87_moves > 0 ? rp->x87_moves : 0;
    return X87_REGISTERS - 1 - room;
}

// Returns false where NASM refuses registers 16 and up: in some FP16 conversions and beside
// register blocks.
static bool draft_has_high_vectors(const struct row_plan *rp)
{
    for (int i = 0; i < rp->npoints; i++)
        if (rp->points[i].block)
            return false;
    return rp->row->bits == 64 && rp->row->enc == ENC_EVEX && rp->row->element != ELEMENT_F16;
}

static int draft_class_count(const struct draft *draft, enum chain_class class)
{
    bool is_32 = draft->rp->row->bits == 32;
    switch (class) {
    case CLASS_GPR:
        return is_32 ? COUNT_32 : 16;
    case CLASS_VEC:
        if (is_32)
            return COUNT_32;
        return draft_has_high_vectors(draft->rp) ? VEC_EVEX_COUNT : VEC_LEGACY_COUNT;
    case CLASS_X87:
        return draft_x87_depth(draft->rp);
    default:
        return 8;
    }
}

// Returns the `i`-th register that an operand of this class may get; -1 after the last.
static int draft_candidate(const struct draft *draft, enum chain_class class, int i)
{
    bool turned = draft->rp->params->arrangement == ARRANGED_REGISTERS;
    if (class == CLASS_GPR) {
        if (draft->rp->abcd)
            return gpr_order_abcd[i];
        if (draft->rp->row->bits == 32)
            return gpr_order_32[i];
        if (draft->rp->params->arrangement == ARRANGED_HIGH)
            return gpr_order_high[i];
        return turned ? gpr_order_turned[i] : gpr_order[i];
    }
    int count = draft_class_count(draft, class);
    if (i >= count)
        return -1;
    if (turned && class != CLASS_X87)
        return count - 1 - i;
    // k0 cannot be a write mask, st0 is the top of the stack: both come last.
    if (class == CLASS_MASK || class == CLASS_X87)
        return (i + 1) % count;
    return i;
}

static int draft_use(struct draft *draft, enum chain_class class, int reg)
{
    draft->used[class] |= 1u << reg;
    // The core fills 32 registers only at full width.
    if (class == CLASS_VEC && reg >= VEC_LEGACY_COUNT && draft->rp->vec_bits < 512 &&
        !draft->sets_vectors) {
        draft_init_line(draft, "vmovaps %cmm%d, %cmm0", draft->rp->vec_bits == 256 ? 'y' : 'x', reg,
                        draft->rp->vec_bits == 256 ? 'y' : 'x');
    }
    // The core fills 16 of them.
    if (class == CLASS_GPR && reg >= HIGH_FIRST)
        draft_init_line(draft, "mov %s, 0x%" PRIx64, render_gpr(reg, 64, false),
                        draft->rp->gpr_fill);
    return reg;
}

int draft_take(struct draft *draft, enum chain_class class)
{
    for (int i = 0;; i++) {
        int reg = draft_candidate(draft, class, i);
        if (reg < 0)
            break;
        if (!(draft->used[class] & 1u << reg))
            return draft_use(draft, class, reg);
    }
    draft->out_of_regs = true;
    return -1;
}

int draft_available(const struct draft *draft, enum chain_class class)
{
    int n = 0;
    for (int i = 0;; i++) {
        int reg = draft_candidate(draft, class, i);
        if (reg < 0)
            return n;
        n += !(draft->used[class] & 1u << reg);
    }
}

int draft_take_helper(struct draft *draft, enum chain_class class)
{
    int count = draft_class_count(draft, class);
    if (class == CLASS_VEC && count > VEC_LEGACY_COUNT)
        count = VEC_LEGACY_COUNT;
    for (int reg = count - 1; reg >= 0; reg--)
        if (!(draft->used[class] & 1u << reg))
            return draft_use(draft, class, reg);
    draft->out_of_regs = true;
    return 0;
}

int draft_take_bridge(struct draft *draft, enum chain_class class)
{
    // Bridges name low bytes, which not every register of 32-bit mode has.
    for (int i = 0; class == CLASS_GPR && draft->rp->row->bits == 32 && gpr_order_abcd[i] >= 0; i++)
        if (!(draft->used[class] & 1u << gpr_order_abcd[i]))
            return draft_use(draft, class, gpr_order_abcd[i]);
    return draft_take_helper(draft, class);
}

const char *draft_gpr(const struct draft *draft, int reg)
{
    return render_gpr(reg, draft->rp->row->bits, false);
}

int draft_zero(struct draft *draft)
{
    if (draft->zero_gpr < 0) {
        draft->zero_gpr = draft_take_helper(draft, CLASS_GPR);
        draft_init_line(draft, "xor %s, %s", render_gpr(draft->zero_gpr, 32, false),
                        render_gpr(draft->zero_gpr, 32, false));
    }
    return draft->zero_gpr;
}
