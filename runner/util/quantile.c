// SPDX-License-Identifier: MIT
#include "quantile.h"

#include <stdlib.h>

static int quantile_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void quantile_sort(double *values, int n)
{
    // Number of values up to which insertion sort is used: resampling sorts few values a million
    // times, where qsort() costs more.
    enum { FEW = 40 };
    if (n <= FEW) {
        for (int i = 1; i < n; i++) {
            double value = values[i];
            int at = i;
            for (; at > 0 && values[at - 1] > value; at--)
                values[at] = values[at - 1];
            values[at] = value;
        }
        return;
    }
    qsort(values, (size_t)n, sizeof *values, quantile_compare);
}

double quantile_of(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int low = (int)at;
    int high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

double quantile_median(const double *sorted, int n)
{
    return quantile_of(sorted, n, 0.5);
}

double quantile_spread(const double *sorted, int n)
{
    return quantile_of(sorted, n, 0.75) - quantile_of(sorted, n, 0.25);
}
