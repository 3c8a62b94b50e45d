// SPDX-License-Identifier: MIT
// How well the ports of a run predict the time of random mixes.
#ifndef LATPUT_STORE_VALIDATION_H
#define LATPUT_STORE_VALIDATION_H

#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// How well the table of a run predicts random mixes. Numbers that do not exist are NaN.
struct validation_class {
    const char *name;
    int64_t mixes;
    double mape_percent, within_10_percent;
};
struct validation_mix {
    const char *text; // "2*add r64 r64; 1*mulps x x"
    double measured_clk, predicted_clk;
};
struct validation {
    int64_t seed, mixes;
    double mape_percent, kendall_tau, within_10_percent;
    const struct validation_class *classes;
    int nclasses;
    const struct validation_mix *worst; // the worst first
    int nworst;
};
int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err);
// The newest of a run; texts and rows are owned by the arena. 1 found, 0 none, -1 error.
int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err);

#endif
