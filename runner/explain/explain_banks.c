// SPDX-License-Identifier: MIT
#include "explain_banks.h"

#include "util/mem.h"

#include <math.h>

enum {
    LINE_BYTES = 64,
    BANK_BYTES = 8, // the property tells these apart: loads 72 bytes away from each other
    BANKS = LINE_BYTES / BANK_BYTES,
};
static const double CONFLICT_TIMES = 1.25; // of the time of loads that do not wait

void banks_read(const struct property_value *values, int n, struct banks *banks)
{
    double least = INFINITY, sum = 0;
    int nsame = 0;
    *banks = (struct banks){NAN};
    for (int i = 0; i < n; i++)
        least = fmin(least, values[i].y);
    for (int i = 0; i < n; i++) {
        // One that waits at other distances has other banks than these.
        bool same = fmod(values[i].x, LINE_BYTES) == 0;
        if (same != (values[i].y > CONFLICT_TIMES * least))
            return;
        sum += same ? values[i].y : 0;
        nsame += same;
    }
    if (nsame > 0)
        banks->load_clk = sum / nsame;
}

double banks_clk(const struct banks *banks, const struct block *block, int *nloads)
{
    int loads[BANKS] = {0}, line[BANKS];
    bool several[BANKS] = {false};
    *nloads = 0;
    for (int i = 0; i < block->n; i++)
        for (int t = 0; t < block->instrs[i].ntouches; t++) {
            const struct block_touch *touch = &block->instrs[i].touches[t];
            if (touch->write || touch->offset < 0 ||
                block->instrs[i].in.mnemonic == ZYDIS_MNEMONIC_NOP ||
                block->instrs[i].ops[touch->operand].size > BANK_BYTES * 8)
                continue;
            int bank = touch->offset / BANK_BYTES;
            several[bank] |= loads[bank] > 0 && line[bank] != touch->line;
            line[bank] = touch->line;
            loads[bank]++;
        }
    for (size_t b = 0; b < ARRAY_LEN(loads); b++)
        if (several[b] && loads[b] > *nloads)
            *nloads = loads[b];
    return isnan(banks->load_clk) ? 0 : *nloads * banks->load_clk;
}
