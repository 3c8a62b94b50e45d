// SPDX-License-Identifier: MIT
// Kinds of makers and users of values, and what a property says of them; see explain_handover.h.
#include "explain_handover.h"

#include <math.h>
#include <string.h>

static const double NOTHING_CLK = 0.1; // what measurements of one time differ by

static double value_of(const struct property_value *values, int n, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (strcmp(values[i].variant, variant) == 0)
            return values[i].y;
    return NAN;
}

// What a pair takes more than its parts; `maker_clk` is what the maker takes.
static double more(const struct property_value *values, int n, const char *pair, double maker_clk,
                   const char *user)
{
    double clk = value_of(values, n, pair) - maker_clk - value_of(values, n, user) / 2;
    return fabs(clk) < NOTHING_CLK ? 0 : clk;
}

void handover_read(const struct property_value *values, int n, struct handover *handover)
{
    static const char *const users[USERS][2] = {
        [USER_OTHER] = {"sum_logic",     "logic"    },
        [USER_SHIFT] = {"sum_shift",     "shift"    },
        [USER_CONDITION] = {"sum_condition", "condition"},
        [USER_CARRY] = {"sum_carry",     "carry"    },
        [USER_MULTIPLY] = {"sum_multiply",  "multiply" },
    };
    double apart = value_of(values, n, "shift_apart"), fadd = value_of(values, n, "fadd") / 2;
    *handover = (struct handover){
        .sum_shift_uops = fmax(0, round(value_of(values, n, "sum_shift_apart") / apart - 0.7)),
        .fadd_clk = fadd,
        .fadd_other_clk = (more(values, n, "fadd_fmul", fadd, "fmul") +
                           more(values, n, "fadd_vector_logic", fadd, "vector_logic")) /
                          2,
        .store_clk = value_of(values, n, "store_line") / 2,
        .store_line_clk = value_of(values, n, "store_lines") / 2,
        .forward_clk = value_of(values, n, "forward") - value_of(values, n, "fmul") / 2,
        .narrow_wait_clk = value_of(values, n, "narrow_apart"),
        .narrow_clk = value_of(values, n, "narrow_store"),
    };
    handover->flags_clk[FLAGS_LOGIC] = more(values, n, "logic_condition", 0, "condition");
    handover->flags_clk[FLAGS_LOGIC_SET] = more(values, n, "logic_set", 0, "condition");
    handover->flags_clk[FLAGS_FCOMPARE] = more(values, n, "fcompare_condition", 0, "condition");
    for (int u = 0; u < USERS; u++)
        handover->sum_clk[u] = more(values, n, users[u][0], 0, users[u][1]);
}

enum handover_user handover_user(const struct block_instr *instr)
{
    switch (instr->in.meta.category) {
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
        return USER_CONDITION;
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
        return instr->in.mnemonic == ZYDIS_MNEMONIC_SHLD ||
                       instr->in.mnemonic == ZYDIS_MNEMONIC_SHRD
                   ? USER_MULTIPLY
                   : USER_SHIFT;
    default:
        break;
    }
    switch (instr->in.mnemonic) {
    case ZYDIS_MNEMONIC_SHLX:
    case ZYDIS_MNEMONIC_SHRX:
    case ZYDIS_MNEMONIC_SARX:
    case ZYDIS_MNEMONIC_RORX:
    case ZYDIS_MNEMONIC_BT:
    case ZYDIS_MNEMONIC_BTS:
    case ZYDIS_MNEMONIC_BTR:
    case ZYDIS_MNEMONIC_BTC:
    case ZYDIS_MNEMONIC_BSWAP:
    case ZYDIS_MNEMONIC_BEXTR:
        return USER_SHIFT;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
        return USER_CARRY;
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_MULX:
        return USER_MULTIPLY;
    default:
        return USER_OTHER;
    }
}

enum handover_flags handover_flags(const struct block_instr *maker, const struct block_instr *user)
{
    switch (maker->in.mnemonic) {
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        return user->in.meta.category == ZYDIS_CATEGORY_SETCC ? FLAGS_LOGIC_SET : FLAGS_LOGIC;
    case ZYDIS_MNEMONIC_COMISS:
    case ZYDIS_MNEMONIC_COMISD:
    case ZYDIS_MNEMONIC_UCOMISS:
    case ZYDIS_MNEMONIC_UCOMISD:
    case ZYDIS_MNEMONIC_VCOMISS:
    case ZYDIS_MNEMONIC_VCOMISD:
    case ZYDIS_MNEMONIC_VUCOMISS:
    case ZYDIS_MNEMONIC_VUCOMISD:
        return FLAGS_FCOMPARE;
    default:
        return FLAGS_OTHER;
    }
}

bool handover_adds_constant(const struct block_instr *instr)
{
    switch (instr->in.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
    case ZYDIS_MNEMONIC_LEA:
        return true;
    default:
        return false;
    }
}

bool handover_is_fadd(const struct block_instr *instr)
{
    static const ZydisMnemonic adds[] = {
        ZYDIS_MNEMONIC_ADDPS,    ZYDIS_MNEMONIC_ADDPD,     ZYDIS_MNEMONIC_ADDSS,
        ZYDIS_MNEMONIC_ADDSD,    ZYDIS_MNEMONIC_SUBPS,     ZYDIS_MNEMONIC_SUBPD,
        ZYDIS_MNEMONIC_SUBSS,    ZYDIS_MNEMONIC_SUBSD,     ZYDIS_MNEMONIC_ADDSUBPS,
        ZYDIS_MNEMONIC_ADDSUBPD, ZYDIS_MNEMONIC_HADDPS,    ZYDIS_MNEMONIC_HADDPD,
        ZYDIS_MNEMONIC_HSUBPS,   ZYDIS_MNEMONIC_HSUBPD,    ZYDIS_MNEMONIC_VADDPS,
        ZYDIS_MNEMONIC_VADDPD,   ZYDIS_MNEMONIC_VADDSS,    ZYDIS_MNEMONIC_VADDSD,
        ZYDIS_MNEMONIC_VSUBPS,   ZYDIS_MNEMONIC_VSUBPD,    ZYDIS_MNEMONIC_VSUBSS,
        ZYDIS_MNEMONIC_VSUBSD,   ZYDIS_MNEMONIC_VADDSUBPS, ZYDIS_MNEMONIC_VADDSUBPD,
        ZYDIS_MNEMONIC_VHADDPS,  ZYDIS_MNEMONIC_VHADDPD,   ZYDIS_MNEMONIC_VHSUBPS,
        ZYDIS_MNEMONIC_VHSUBPD,
    };
    for (size_t i = 0; i < ARRAY_LEN(adds); i++)
        if (instr->in.mnemonic == adds[i])
            return true;
    return false;
}
