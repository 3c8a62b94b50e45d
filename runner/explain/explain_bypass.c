// SPDX-License-Identifier: MIT
// Classes of producers and consumers of values, and the measured delays; see explain_bypass.h.
#include "explain_bypass.h"

#include <math.h>
#include <string.h>

static const double NOTHING_CLK = 0.1; // repeated measurements of one latency differ by less

static double value_of(const struct property_value *values, int n, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (strcmp(values[i].variant, variant) == 0)
            return values[i].y;
    return NAN;
}

// Returns the bypass delay: the latency of producer and consumer in a chain, minus the sum of their
// own latencies. A delay below NOTHING_CLK is 0. The consumer was measured as a pair.
static double delay_clk(const struct property_value *values, int n, const char *pair,
                        double producer_clk, const char *consumer)
{
    double clk = value_of(values, n, pair) - producer_clk - value_of(values, n, consumer) / 2;
    return fabs(clk) < NOTHING_CLK ? 0 : clk;
}

void bypass_read(const struct property_value *values, int n, struct bypass *bypass)
{
    static const char *const consumers[CONSUMERS][2] = {
        [CONSUMER_OTHER] = {"sum_logic",     "logic"    },
        [CONSUMER_SHIFT] = {"sum_shift",     "shift"    },
        [CONSUMER_CONDITION] = {"sum_condition", "condition"},
        [CONSUMER_CARRY] = {"sum_carry",     "carry"    },
        [CONSUMER_MULTIPLY] = {"sum_multiply",  "multiply" },
    };
    double apart = value_of(values, n, "shift_apart"), fadd = value_of(values, n, "fadd") / 2;
    *bypass = (struct bypass){
        .sum_shift_uops = fmax(0, round(value_of(values, n, "sum_shift_apart") / apart - 0.7)),
        .fadd_clk = fadd,
        .fadd_other_clk = (delay_clk(values, n, "fadd_fmul", fadd, "fmul") +
                           delay_clk(values, n, "fadd_vector_logic", fadd, "vector_logic")) /
                          2,
        .store_clk = value_of(values, n, "store_line") / 2,
        .store_line_clk = value_of(values, n, "store_lines") / 2,
        .forward_clk = value_of(values, n, "forward") - value_of(values, n, "fmul") / 2,
        .narrow_wait_clk = value_of(values, n, "narrow_apart"),
        .narrow_clk = value_of(values, n, "narrow_store"),
    };
    bypass->flags_clk[FLAGS_LOGIC] = delay_clk(values, n, "logic_condition", 0, "condition");
    bypass->flags_clk[FLAGS_LOGIC_SET] = delay_clk(values, n, "logic_set", 0, "condition");
    bypass->flags_clk[FLAGS_FCOMPARE] = delay_clk(values, n, "fcompare_condition", 0, "condition");
    for (int c = 0; c < CONSUMERS; c++)
        bypass->sum_clk[c] = delay_clk(values, n, consumers[c][0], 0, consumers[c][1]);
}

enum bypass_consumer bypass_consumer(const struct block_instr *instr)
{
    switch (instr->in.meta.category) {
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
        return CONSUMER_CONDITION;
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_ROTATE:
        return instr->in.mnemonic == ZYDIS_MNEMONIC_SHLD ||
                       instr->in.mnemonic == ZYDIS_MNEMONIC_SHRD
                   ? CONSUMER_MULTIPLY
                   : CONSUMER_SHIFT;
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
        return CONSUMER_SHIFT;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
        return CONSUMER_CARRY;
    case ZYDIS_MNEMONIC_IMUL:
    case ZYDIS_MNEMONIC_MUL:
    case ZYDIS_MNEMONIC_MULX:
        return CONSUMER_MULTIPLY;
    default:
        return CONSUMER_OTHER;
    }
}

enum bypass_flags bypass_flags(const struct block_instr *producer,
                               const struct block_instr *consumer)
{
    switch (producer->in.mnemonic) {
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_AND:
    case ZYDIS_MNEMONIC_OR:
    case ZYDIS_MNEMONIC_XOR:
        return consumer->in.meta.category == ZYDIS_CATEGORY_SETCC ? FLAGS_LOGIC_SET : FLAGS_LOGIC;
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

bool bypass_adds_constant(const struct block_instr *instr)
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

bool bypass_is_fadd(const struct block_instr *instr)
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
