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
    enum { FEW = 64 };
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

// Moves the values of `values` from first to last, below, equal to and above a pivot, into this
// order; sets the range of those that equal it.
static void quantile_part(double *values, int first, int last, int *least, int *most)
{
    double a = values[first], b = values[first + (last - first) / 2], c = values[last];
    double pivot = (a < b) == (b < c) ? b : (b < a) == (a < c) ? a : c;
    int below = first, above = last;
    for (int i = first; i <= above;) {
        double value = values[i];
        if (value < pivot) {
            values[i++] = values[below];
            values[below++] = value;
        } else if (value > pivot) {
            values[i] = values[above];
            values[above--] = value;
        } else {
            i++;
        }
    }
    *least = below;
    *most = above;
}

double quantile_median_unsorted(double *values, int n)
{
    // Number of parts after which the rest is sorted: values in an unlucky order cost no more.
    enum { PARTS_MAX = 64 };
    int middle = (n - 1) / 2, first = 0, last = n - 1;
    for (int parts = 0, least, most; first < last; parts++) {
        if (parts == PARTS_MAX) {
            quantile_sort(values + first, last - first + 1);
            break;
        }
        quantile_part(values, first, last, &least, &most);
        if (middle < least)
            last = least - 1;
        else if (middle > most)
            first = most + 1;
        else
            break;
    }
    double next = values[middle];
    if (n % 2 == 0) {
        next = values[middle + 1];
        for (int i = middle + 2; i < n; i++)
            next = values[i] < next ? values[i] : next;
    }
    const double both[] = {values[middle], next};
    return quantile_median(both, 2 - n % 2);
}

double quantile_spread(const double *sorted, int n)
{
    return quantile_of(sorted, n, 0.75) - quantile_of(sorted, n, 0.25);
}
