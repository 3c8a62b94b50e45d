// SPDX-License-Identifier: MIT
// Quantiles of values, and sorting for them.
#pragma once

// Sorts n >= 0 values, none of them NaN, in ascending order.
void quantile_sort(double *values, int n);
// Returns the q-quantile (0 to 1) of n > 0 values in ascending order, interpolated.
double quantile_of(const double *sorted, int n, double q);
double quantile_median(const double *sorted, int n);
// Returns the same as quantile_sort() and quantile_median() in a time that grows with n only;
// leaves the values in another order.
double quantile_median_unsorted(double *values, int n);
double quantile_spread(const double *sorted, int n); // interquartile range
