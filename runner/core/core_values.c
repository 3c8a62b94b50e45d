// SPDX-License-Identifier: MIT
// Values in order. Not by qsort(), which may ask the system for memory: the filter denies that.
#include "core_internal.h"

void values_sort(double *values, int n)
{
    for (int i = 1; i < n; i++) {
        double value = values[i];
        int at = i;
        for (; at > 0 && values[at - 1] > value; at--)
            values[at] = values[at - 1];
        values[at] = value;
    }
}

double values_densest(double *values, int n)
{
    values_sort(values, n);
    int half = (n + 1) / 2, best = 0;
    for (int from = 1; from + half <= n; from++)
        if (values[from + half - 1] - values[from] < values[best + half - 1] - values[best])
            best = from;
    double sum = 0;
    for (int i = best; i < best + half; i++)
        sum += values[i];
    return sum / half;
}
