// SPDX-License-Identifier: MIT
// The summary of a vector of values; see include/latput.h. Pure.
#include "latput_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>

struct latput_summary summary_sort(const double *values, int n, double grain, double *sorted)
{
    struct latput_summary summary = {0, NAN, NAN, NAN, NAN, NAN};
    for (int i = 0; i < n; i++)
        if (!isnan(values[i]))
            sorted[summary.n++] = values[i];
    if (summary.n == 0)
        return summary;
    quantile_sort(sorted, summary.n);
    summary.min = sorted[0];
    summary.max = sorted[summary.n - 1];
    summary.median = quantile_median(sorted, summary.n);
    summary.spread = quantile_spread(sorted, summary.n);
    double fence = 3 * fmax(summary.spread, grain), sum = 0;
    int inside = 0;
    for (int i = 0; i < summary.n; i++) {
        if (fabs(sorted[i] - summary.median) <= fence) {
            sum += sorted[i];
            inside++;
        }
    }
    // The median of an even number can lie between two far groups.
    summary.mean = inside ? sum / inside : summary.median;
    return summary;
}

struct latput_summary latput_summarise(const double *values, int n, double grain)
{
    struct latput_summary summary = {0, NAN, NAN, NAN, NAN, NAN};
    double *sorted = malloc((size_t)(n > 0 ? n : 1) * sizeof *sorted);
    if (sorted)
        summary = summary_sort(values, n, grain, sorted);
    free(sorted);
    return summary;
}
