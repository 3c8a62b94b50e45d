// SPDX-License-Identifier: MIT
// Figures of how near predictions are to measurements, over rows of blocks. Pure.
#pragma once

#include "explain_row.h"

enum { FIGURES_LIMITS_MAX = 12 };

// Over blocks that were measured and predicted; percentages. NaN: there are none.
struct figures {
    const char *name;
    int blocks;
    double within_10_percent, mape_percent, median_percent, kendall_tau;
    // The same, each block counted by its weight.
    double weighted_within_10_percent, weighted_mape_percent;
};
struct explain_figures {
    struct figures all;
    int rows, refused, failed;
    struct figures limits[FIGURES_LIMITS_MAX]; // by what limits the blocks
    int nlimits;
};

// Returns the figures of rows; `predicted` (or NULL: the rows') has another prediction of each,
// rows without one are left out.
struct figures figures_of(const struct explain_row *rows, int n, const double *predicted,
                          const char *limit);
void explain_figures_make(const struct explain_row *rows, int n, struct explain_figures *figures);
