// SPDX-License-Identifier: MIT
// The accuracy of a run's ports in predicting the time of random mixes.
#pragma once

#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// The accuracy in one class of mixes. Missing numbers are NaN.
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
    const struct validation_mix *worst; // worst first
    int nworst;
};
int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err);
// Reads the newest validation of a run; texts and rows are owned by the arena. Returns 1 if found,
// 0 if none, -1.
int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err);
