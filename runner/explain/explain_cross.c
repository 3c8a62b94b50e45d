// SPDX-License-Identifier: MIT
#include "explain_cross.h"

#include <math.h>
#include <string.h>

static const double SUBTRACTED_CLK = 1; // per instruction of a way back

const char *const cross_mnemonics[CROSS_MNEMONICS] = {"movq", "vmovq", "kmovq", "vptestmd",
                                                      "vpmovm2d"};

// Returns the bound of the form from its second operand to its first; NaN: none.
static double form_bound(const struct known_form *forms, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        for (int p = 0; strcmp(forms[i].id.form, name) == 0 && p < forms[i].npairs; p++) {
            const struct known_pair *pair = &forms[i].pairs[p];
            if (pair->upper && !*pair->variant && strcmp(pair->src, "op2") == 0 &&
                strcmp(pair->dst, "op1") == 0)
                return pair->clk;
        }
    return NAN;
}

// Returns half of what two moves take, there and back, each of which has the other one's bound.
static double half_clk(const struct known_form *forms, int n, const char *there, const char *back)
{
    double bound = (form_bound(forms, n, there) + form_bound(forms, n, back)) / 2;
    return (bound + SUBTRACTED_CLK) / 2;
}

void cross_read(const struct known_form *forms, int n, struct cross *cross)
{
    *cross = (struct cross){.vec_clk = half_clk(forms, n, "movq x r64", "movq r64 x"),
                            .vex_vec_clk = half_clk(forms, n, "vmovq x r64", "vmovq r64 x"),
                            .mask_clk = half_clk(forms, n, "kmovq k r64", "kmovq r64 k"),
                            .mmx_clk = half_clk(forms, n, "movq mm r64", "movq r64 mm")};
    // Back from its mask by a general register; and back from a vector by this instruction.
    cross->vec_mask_clk = form_bound(forms, n, "vptestmd k z z") + 2 * SUBTRACTED_CLK -
                          cross->mask_clk - cross->vex_vec_clk;
    cross->mask_vec_clk =
        form_bound(forms, n, "vpmovm2d z k") + SUBTRACTED_CLK - cross->vec_mask_clk;
}

enum kind { KIND_GPR, KIND_VEC, KIND_MASK, KIND_MMX, KIND_OTHER };

// Flags come from general registers, and go to them, in exactly a cycle.
static enum kind kind_of(int place)
{
    return place < 0                   ? KIND_OTHER
           : place < PLACE_VEC         ? KIND_GPR
           : place < PLACE_MASK        ? KIND_VEC
           : place < PLACE_MMX         ? KIND_MASK
           : place < PLACE_FLAGS_C     ? KIND_MMX
           : place <= PLACE_FLAGS_REST ? KIND_GPR
                                       : KIND_OTHER;
}

static double excess(double clk)
{
    return isnan(clk) ? 0 : clk - SUBTRACTED_CLK;
}

double cross_excess_clk(const struct cross *cross, const struct block_instr *instr, const char *isa,
                        int from, int to)
{
    bool vex = instr->in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    double vec_clk = vex ? cross->vex_vec_clk : cross->vec_clk;
    enum kind begin = kind_of(from), end = kind_of(to);
    enum kind low = begin < end ? begin : end, high = begin < end ? end : begin;
    if (begin == end || high == KIND_OTHER)
        return 0;
    if (low == KIND_GPR)
        return excess(high == KIND_VEC    ? vec_clk
                      : high == KIND_MASK ? cross->mask_clk
                                          : cross->mmx_clk);
    if (begin == KIND_MASK && end == KIND_VEC)
        return excess(cross->vec_mask_clk);
    if (begin == KIND_VEC && end == KIND_MASK)
        return strstr(isa, "AVX512DQ") ? excess(cross->mask_vec_clk)
                                       : excess(cross->mask_clk) + excess(vec_clk);
    return 0;
}
