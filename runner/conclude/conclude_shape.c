// SPDX-License-Identifier: MIT
// A curve's points in order, with one value per point and its noise. The noise is local, since it
// differs along a sweep (a cache that others share): the larger of what passes differ by and of how
// rough the curve is, each the median over some neighbours, so that a step does not count.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 11, WINDOW_LEAST = 7 };
// Clocks have steps, and loops an end: what repeats to the last digit is not known better than
// this.
static const double NOISE_FLOOR = 0.002;

static int finite_samples(const struct curve_point *point, int pass, double *values)
{
    int n = 0;
    for (int i = 0; i < point->nsamples; i++)
        if (isfinite(point->samples[i].value) && (pass < 0 || point->samples[i].pass == pass))
            values[n++] = point->samples[i].value;
    return n;
}

double curve_point_value(const struct curve_point *point)
{
    struct arena arena = {0};
    double *values = arena_alloc(&arena, sizeof *values * (size_t)(point->nsamples + 1));
    double value = shortest_half(values, finite_samples(point, -1, values));
    arena_free(&arena);
    return value;
}

static int point_compare(const void *a, const void *b)
{
    double left = (*(const struct curve_point *const *)a)->x;
    double right = (*(const struct curve_point *const *)b)->x;
    return (left > right) - (left < right);
}

// Lists the points with a value in ascending order.
static void gather_points(struct shape *shape, const struct curve *curve, struct arena *arena)
{
    shape->points = arena_alloc(arena, sizeof(void *) * (size_t)(curve->npoints + 1));
    for (int i = 0; i < curve->npoints; i++) {
        const struct curve_point *point = &curve->points[i];
        if (isfinite(point->x) && isfinite(curve_point_value(point)))
            shape->points[shape->n++] = point;
        for (int k = 0; k < point->nsamples; k++)
            if (point->samples[k].pass >= shape->npasses)
                shape->npasses = point->samples[k].pass + 1;
    }
    if (shape->n > 1)
        qsort(shape->points, (size_t)shape->n, sizeof(void *), point_compare);
}

// Sets the median of |what[i]| in the neighbourhood of each point, without NaN. The neighbourhood
// is at most half of a short curve: a curve that grows over its last third would else get the noise
// of its level.
static void rolling_median(const double *what, int n, double *median)
{
    int window = n / 2 > WINDOW ? WINDOW : n / 2 > WINDOW_LEAST ? n / 2 : WINDOW_LEAST;
    for (int i = 0; i < n; i++) {
        int first = i - window / 2 < n - window ? i - window / 2 : n - window;
        first = first > 0 ? first : 0;
        double near[WINDOW];
        int count = 0;
        for (int k = first; k < n && k < first + window; k++)
            if (!isnan(what[k]))
                near[count++] = fabs(what[k]);
        quantile_sort(near, count);
        median[i] = count ? quantile_median(near, count) : 0;
    }
}

// Sets for each point its distance from the line between its neighbours, in standard deviations of
// a point.
static void find_roughness(const struct shape *shape, double *rough)
{
    for (int i = 0; i < shape->n; i++) {
        rough[i] = NAN;
        if (i == 0 || i == shape->n - 1)
            continue;
        double b =
            (shape->axis[i] - shape->axis[i - 1]) / (shape->axis[i + 1] - shape->axis[i - 1]);
        double line = (1 - b) * shape->v[i - 1] + b * shape->v[i + 1];
        rough[i] = (shape->v[i] - line) / sqrt(1 + (1 - b) * (1 - b) + b * b);
    }
}

// Sets the standard error of each point by the differences of its passes, or of its samples with
// fewer than two passes.
static void find_pass_noise(const struct shape *shape, double *noise, struct arena *arena)
{
    for (int i = 0; i < shape->n; i++) {
        const struct curve_point *point = shape->points[i];
        double *values =
            arena_alloc(arena, sizeof *values * (size_t)(shape->npasses + point->nsamples + 1));
        int n = 0;
        for (int pass = 0; pass < shape->npasses; pass++)
            if (!isnan(shape->pass_v[pass * shape->n + i]))
                values[n++] = shape->pass_v[pass * shape->n + i];
        if (n < 2) {
            n = finite_samples(point, -1, values);
            for (int k = 0; k < n; k++)
                values[k] = shape->logs ? log(values[k]) : values[k];
        }
        // The fastest time of a point rests on the passes that it came in.
        quantile_sort(values, n);
        if (shape->fastest && n > 2)
            n = 2;
        double sum = 0, squares = 0;
        for (int k = 0; k < n; k++)
            sum += values[k];
        for (int k = 0; k < n; k++)
            squares += (values[k] - sum / n) * (values[k] - sum / n);
        noise[i] = NAN;
        // The noise is used as a median of these, which lies below their mean.
        if (n > 1)
            noise[i] = sqrt(squares / (n - 1) / n) / pow(1 - 2.0 / 9 / (n - 1), 1.5);
    }
}

static void find_sigma(struct shape *shape, struct arena *arena)
{
    size_t bytes = sizeof(double) * (size_t)(shape->n + 1);
    double *rough = arena_alloc(arena, bytes), *noise = arena_alloc(arena, bytes);
    double *of_passes = arena_alloc(arena, bytes), *sizes = arena_alloc(arena, bytes);
    find_roughness(shape, of_passes);
    rolling_median(of_passes, shape->n, rough);
    find_pass_noise(shape, noise, arena);
    rolling_median(noise, shape->n, of_passes);
    for (int i = 0; i < shape->n; i++)
        sizes[i] = fabs(shape->v[i]);
    quantile_sort(sizes, shape->n);
    double size = shape->logs ? 1 : shape->n ? quantile_median(sizes, shape->n) : 0;
    shape->least *= shape->logs ? 1 : size;
    for (int i = 0; i < shape->n; i++) {
        shape->sigma[i] = fmax(fmax(1.4826 * rough[i], of_passes[i]), NOISE_FLOOR * size);
        shape->sigma[i] = fmax(shape->sigma[i], 1e-12);
    }
}

// Returns true if every sample is positive, since passes and resamples are logarithms, too.
static bool all_positive(const struct shape *shape)
{
    for (int i = 0; i < shape->n; i++)
        for (int k = 0; k < shape->points[i]->nsamples; k++)
            if (shape->points[i]->samples[k].value <= 0)
                return false;
    return true;
}

// Sets v of a point, over all passes and per pass.
static void find_values(struct shape *shape, int i, struct arena *arena)
{
    const struct curve_point *point = shape->points[i];
    size_t room = (size_t)point->nsamples + (size_t)shape->npasses + 1;
    double *values = arena_alloc(arena, sizeof *values * room);
    double *passes = arena_alloc(arena, sizeof *passes * room), y;
    int n = 0;
    for (int pass = 0; pass < shape->npasses; pass++) {
        y = shortest_half(values, finite_samples(point, pass, values));
        shape->pass_v[pass * shape->n + i] = shape->logs ? log(y) : y;
        if (!isnan(y))
            passes[n++] = y;
    }
    y = shape->fastest ? second_least(passes, n) : curve_point_value(point);
    shape->v[i] = shape->logs ? log(y) : y;
}

struct shape shape_of(const struct conclude_question *question, const struct curve *curve,
                      struct arena *arena)
{
    struct shape shape = {0};
    gather_points(&shape, curve, arena);
    size_t bytes = sizeof(double) * (size_t)(shape.n + 1);
    shape.axis = arena_alloc(arena, bytes);
    shape.v = arena_alloc(arena, bytes);
    shape.sigma = arena_alloc(arena, bytes);
    shape.pass_v = arena_alloc(arena, bytes * (size_t)(shape.npasses + 1));
    shape.logs = all_positive(&shape) && question->reading != READING_SLOPE;
    double least = question_least_step(question);
    shape.least = shape.logs ? log1p(least) : least;
    shape.logs_x = question->geometric && shape.n && shape.points[0]->x > 0;
    shape.fastest = question->fastest;
    shape.per_replicate = question->passes_per_replicate > 0 ? question->passes_per_replicate : 1;
    for (int i = 0; i < shape.n; i++) {
        shape.axis[i] = shape.logs_x ? log(shape.points[i]->x) : shape.points[i]->x;
        find_values(&shape, i, arena);
    }
    find_sigma(&shape, arena);
    return shape;
}

double shape_level(const struct shape *shape, const double *v, int first, int last,
                   struct arena *arena)
{
    int n = last - first + 1;
    double *sorted = arena_alloc(arena, sizeof *sorted * (size_t)n), sum = 0, weights = 0;
    memcpy(sorted, v, sizeof *sorted * (size_t)n);
    // The middle of the shortest half finds the level among others, but differs from sample to
    // sample of the same points more than their mean does.
    double middle = shortest_half(sorted, n);
    for (int i = 0; i < n; i++) {
        double sigma = shape->sigma[first + i];
        if (fabs(v[i] - middle) > 3 * sigma)
            continue;
        sum += v[i] / (sigma * sigma);
        weights += 1 / (sigma * sigma);
    }
    return weights > 0 ? sum / weights : middle;
}

double shape_y(const struct shape *shape, double v)
{
    return shape->logs ? exp(v) : v;
}

double shape_upper_sigma(const struct shape *shape, struct arena *arena)
{
    double *sorted = arena_alloc(arena, sizeof *sorted * (size_t)(shape->n + 1));
    for (int i = 0; i < shape->n; i++)
        sorted[i] = shape->sigma[i];
    quantile_sort(sorted, shape->n);
    return shape->n ? quantile_of(sorted, shape->n, 0.75) : (double)INFINITY;
}
