// SPDX-License-Identifier: MIT
// The accuracy of a run's ports in predicting the time of random mixes.
#pragma once

#include "store.h"
#include "store_field.h"
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
    int nworst;                         // `mixes` if all are kept
    int layouts;                        // in which each mix was timed; 0: unknown
};
// Records of a class and of a mix, as they are stored and printed.
extern const struct store_record store_validation_class, store_validation_mix;

// The most that the mixes of a validation may take, as store_validation_bytes() counts.
enum { STORE_VALIDATION_BYTES_MAX = 100000 };
// Returns how many bytes a mix with this text takes, its numbers included.
size_t store_validation_bytes(const char *text);

int store_put_validation(struct store *store, int64_t run_id, const struct validation *validation,
                         struct err *err);
// Reads the newest validation of a run; texts and rows are owned by the arena. Returns 1 if found,
// 0 if none, -1.
int store_get_validation(struct store *store, int64_t run_id, struct validation *validation,
                         struct arena *arena, struct err *err);
// Reads the validation of a run that has all its mixes, each timed in `layouts` ways or more; of
// several that with most mixes, and the newest of these. Returns 1 if found, 0 if none, -1.
int store_get_validated_mixes(struct store *store, int64_t run_id, int layouts,
                              struct validation *validation, struct arena *arena, struct err *err);
