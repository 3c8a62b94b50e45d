// SPDX-License-Identifier: MIT
// Bootstrap (Efron, 1979) in two stages: replicates as wholes, since the samples of one share what
// disturbed it, then samples. There are few passes, so noise of the curve's own roughness is added:
// intervals become wider rather than too narrow.
#include "conclude_internal.h"

#include "util/quantile.h"
#include "util/random.h"

#include <math.h>

double shortest_half(double *values, int n)
{
    if (n == 0)
        return NAN;
    quantile_sort(values, n);
    int half = n / 2 + 1, best = 0;
    for (int i = 1; i + half <= n; i++)
        if (values[i + half - 1] - values[i] < values[best + half - 1] - values[best])
            best = i;
    return quantile_median(values + best, half);
}

enum { NO_PASS = -1 }; // no sample is of it

double second_least(double *values, int n)
{
    quantile_sort(values, n);
    return n == 0 ? (double)NAN : values[n > 1];
}

int shape_passes(const struct shape *shape)
{
    return (shape->npasses + shape->per_replicate - 1) / shape->per_replicate *
           shape->per_replicate;
}

// Replicates, since the passes of one have the same process, and so agree on what another replicate
// has otherwise. Of what is the least of all passes, all but one of them: whether that comes back
// hangs on how many there are, and drawn twice one would seem to.
void resample_passes(const struct shape *shape, uint64_t *state, int *passes)
{
    int n = shape_passes(shape), least = shape->fastest ? 3 : 2;
    int together = n >= least * shape->per_replicate ? shape->per_replicate : 1,
        groups = n / together;
    int without = shape->fastest && n > 2 ? random_below(state, groups) : -1;
    for (int group = 0; group < groups; group++) {
        int from = shape->fastest && n > 2 ? group : random_below(state, groups);
        for (int i = 0; i < together; i++)
            passes[group * together + i] = group == without ? NO_PASS : from * together + i;
    }
}

static double normal(uint64_t *state)
{
    double a = ((double)(random_bits(state) >> 11) + 1) * 0x1p-53;
    double b = (double)(random_bits(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(a)) * cos(2 * M_PI * b);
}

enum { SAMPLES_MAX = 64 }; // per point; more would not make it surer

// Lists the finite samples of a pass. Returns their number.
static int pass_samples(const struct curve_point *point, int pass, int max, double *values)
{
    int n = 0;
    for (int i = 0; i < point->nsamples && n < max; i++)
        if (point->samples[i].pass == pass && isfinite(point->samples[i].value))
            values[n++] = point->samples[i].value;
    return n;
}

// Returns the value of a point from the drawn passes, with samples drawn in each.
static double resample_point(const struct shape *shape, const struct curve_point *point,
                             const int *passes, uint64_t *state)
{
    double values[SAMPLES_MAX], got[SAMPLES_MAX], of_passes[SAMPLES_MAX];
    int n = 0, npasses = 0;
    for (int pass = 0; pass < shape_passes(shape) && npasses < SAMPLES_MAX; pass++) {
        int count = pass_samples(point, passes[pass], SAMPLES_MAX - n, got);
        for (int k = 0; k < count; k++)
            values[n++] = got[random_below(state, count)];
        if (shape->fastest && n) {
            of_passes[npasses++] = shortest_half(values, n);
            n = 0;
        }
    }
    return shape->fastest ? second_least(of_passes, npasses) : shortest_half(values, n);
}

void resample_points(const struct shape *shape, int first, int last, const int *passes,
                     uint64_t *state, double *v)
{
    for (int i = first; i <= last; i++) {
        double y = resample_point(shape, shape->points[i], passes, state);
        double center = isnan(y) ? shape->v[i] : shape->logs ? log(y) : y;
        v[i - first] = center + shape->sigma[i] * normal(state);
    }
}

void resample_interval(double *values, int n, double *low, double *high)
{
    quantile_sort(values, n);
    *low = quantile_of(values, n, 0.025);
    *high = quantile_of(values, n, 0.975);
}

// The least of some replicates is known from one side only: the next ones may be faster by more
// than the second of these is slower.
static const double FASTER = 3;
void resample_interval_about(bool fastest, double value, double *values, int n, double *low,
                             double *high)
{
    resample_interval(values, n, low, high);
    double below = fmax(value - *low, 0), above = fmax(*high - value, 0);
    *low = value - (fastest ? fmax(below, FASTER * above) : below);
    *high = value + (fastest ? fmax(above, below) : above);
}
