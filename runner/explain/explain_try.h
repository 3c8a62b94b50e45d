// SPDX-License-Identifier: MIT
// A block measured, and where that is not what was predicted, measured again in other shapes that
// tell why.
#pragma once

#include "explain_shape.h"

enum { EXPLAIN_TRIES_MAX = 4 };

struct explain_try {
    const char *what;     // "with its chains broken"
    double measured_clk;  // NaN: it could not be measured
    double predicted_clk; // by the tables
    const char *says;     // conclusion, or why it could not be measured
    bool explains;        // where the difference comes from
};
struct explain_measured {
    double clk, spread_clk; // NaN where it could not be measured
    const char *failure;    // reason; NULL: it was measured
    bool varies;            // it has no value because the code takes another time each time
    int cpu;
    struct explain_try tries[EXPLAIN_TRIES_MAX];
    int ntries;
    const char *doubt; // what follows of all of them, where none explains the difference; or NULL
};

// Difference between prediction and measurement, as a share, above which experiments are made.
extern const double explain_tolerance;
// Returns (predicted - measured) / measured.
double explain_difference(const struct explanation *explanation,
                          const struct explain_measured *measured);

// Measures the explained block as `spec` has it. Returns 0, also if the code fails
// (measured->failure has the reason), or -1: nothing can be measured here.
int explain_measure(const struct bench_spec *spec, struct explain_measured *measured,
                    struct arena *arena, struct err *err);
// Returns in words that the model is wrong, or may be, if no experiment explains the difference;
// NULL.
const char *explain_doubt(const struct explanation *explanation,
                          const struct explain_measured *measured, struct arena *arena);
// Makes the experiments if prediction and measurement differ by more than explain_tolerance.
int explain_experiment(const struct explain_subject *subject, struct explain_measured *measured,
                       struct arena *arena, struct err *err);
