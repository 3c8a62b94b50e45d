// SPDX-License-Identifier: MIT
#include "explain_banks.h"

#include <math.h>

enum {
    LINE_BYTES = 64,
    BANK_BYTES = 4, // the property tells these apart
    BANKS = LINE_BYTES / BANK_BYTES,
    MEASURED_BITS = 64, // loads of vectors are not known to wait
};
static const double CONFLICT_TIMES = 1.25; // of the time of loads that do not wait

void banks_read(const struct property_value *values, int n, struct banks *banks)
{
    double least = INFINITY, sum = 0;
    int nsame = 0;
    *banks = (struct banks){NAN, false};
    for (int i = 0; i < n; i++)
        least = fmin(least, values[i].y);
    for (int i = 0; i < n; i++) {
        // One that waits at other distances has other banks than these.
        bool waits = values[i].y > CONFLICT_TIMES * least;
        bool same = fmod(values[i].x, LINE_BYTES) == 0;
        if (values[i].x == 0) {
            banks->one_line = waits; // else one read may serve both
            continue;
        }
        if (same != waits)
            return;
        sum += same ? values[i].y : 0;
        nsame += same;
    }
    if (nsame > 0)
        banks->load_clk = sum / nsame;
}

// The loads of each bank.
struct used {
    int loads[BANKS], line[BANKS];
    bool several[BANKS]; // lines
};

static void use_banks(struct used *used, const struct block_touch *touch, int bytes)
{
    for (int b = touch->offset / BANK_BYTES; b <= (touch->offset + bytes - 1) / BANK_BYTES; b++) {
        int bank = b % BANKS;
        used->several[bank] |= used->loads[bank] > 0 && used->line[bank] != touch->line;
        used->line[bank] = touch->line;
        used->loads[bank]++;
    }
}

double banks_clk(const struct banks *banks, const struct block *block, int *nloads)
{
    struct used used = {.loads = {0}};
    *nloads = 0;
    for (int i = 0; i < block->n; i++)
        for (int t = 0; t < block->instrs[i].ntouches; t++) {
            const struct block_instr *instr = &block->instrs[i];
            const struct block_touch *touch = &instr->touches[t];
            if (touch->write || touch->offset < 0 || instr->in.mnemonic == ZYDIS_MNEMONIC_NOP ||
                instr->ops[touch->operand].size > MEASURED_BITS)
                continue;
            use_banks(&used, touch, instr->ops[touch->operand].size / 8);
        }
    for (int b = 0; b < BANKS; b++)
        if ((banks->one_line || used.several[b]) && used.loads[b] > *nloads)
            *nloads = used.loads[b];
    return isnan(banks->load_clk) ? 0 : *nloads * banks->load_clk;
}
