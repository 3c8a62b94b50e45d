// SPDX-License-Identifier: MIT
// The reading of a line: the cost of each step of x, and where the line starts.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>

// Returns the median of the slopes between all pairs of points (Theil, 1950; Sen, 1968), and where
// the line starts.
static double pair_slope(const struct shape *shape, const double *v, double *room, double *start)
{
    int n = 0;
    for (int i = 0; i < shape->n; i++)
        for (int k = i + 1; k < shape->n; k++)
            if (shape->points[k]->x > shape->points[i]->x)
                room[n++] = (v[k] - v[i]) / (shape->points[k]->x - shape->points[i]->x);
    double slope = quantile_median_unsorted(room, n);
    for (int i = 0; i < shape->n; i++)
        room[i] = v[i] - slope * shape->points[i]->x;
    *start = quantile_median_unsorted(room, shape->n);
    return slope;
}

// Returns the deviation from a line that does not matter: a twentieth of its rise, or a fiftieth of
// the values if it hardly rises.
static double line_tolerance(const struct shape *shape, double slope, double *room)
{
    double rise = slope * (shape->points[shape->n - 1]->x - shape->points[0]->x);
    for (int i = 0; i < shape->n; i++)
        room[i] = fabs(shape->v[i]);
    quantile_sort(room, shape->n);
    return fmax(0.05 * fabs(rise), 0.02 * quantile_median(room, shape->n));
}

// Returns the median distance of the points from the line.
static double line_misfit(const struct shape *shape, double slope, double start, double *room)
{
    for (int i = 0; i < shape->n; i++)
        room[i] = fabs(shape->v[i] - start - slope * shape->points[i]->x);
    quantile_sort(room, shape->n);
    return quantile_median(room, shape->n);
}

struct conclusion conclude_slope(const struct conclude_question *question,
                                 const struct curve *curve, struct arena *arena)
{
    struct shape shape = shape_of(question, curve, arena);
    if (shape.n < 3)
        return conclude_nothing(
            curve->variant, CONCLUSION_TOO_FEW,
            arena_printf(arena, "only %d points came back, and 3 are needed", shape.n));
    double *room = arena_alloc(arena, sizeof *room * (size_t)(shape.n * shape.n));
    double *v = arena_alloc(arena, sizeof *v * (size_t)shape.n), factor = question_factor(question);
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)shape_passes(&shape));
    double slopes[RESAMPLES], starts[RESAMPLES], low, high, start_low, start_high, start;
    double slope = pair_slope(&shape, shape.v, room, &start);
    uint64_t state = question->seed;
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(&shape, &state, passes);
        resample_points(&shape, 0, shape.n - 1, passes, &state, v);
        slopes[i] = factor * pair_slope(&shape, v, room, &starts[i]);
        starts[i] *= factor;
    }
    resample_interval(slopes, RESAMPLES, &low, &high);
    resample_interval(starts, RESAMPLES, &start_low, &start_high);
    struct draft draft = {.arena = arena};
    double tolerance = line_tolerance(&shape, slope, room);
    bool straight = line_misfit(&shape, slope, start, room) <= tolerance;
    tolerance *= fabs(factor) / (shape.points[shape.n - 1]->x - shape.points[0]->x);
    slope *= factor;
    start *= factor;
    draft_value(&draft, "slope", slope, fmin(low, slope), fmax(high, slope), question->y_unit);
    draft_value(&draft, "start", start, fmin(start_low, start), fmax(start_high, start),
                question->y_unit);
    int near = 0;
    for (int i = 0; i < RESAMPLES; i++)
        near += fabs(slopes[i] - slope) <= tolerance;
    const char *sentence =
        arena_printf(arena, "%s for each %s", conclude_quantity(arena, slope, question->y_unit),
                     question->x_unit ? question->x_unit : "step");
    enum conclusion_outcome outcome = CONCLUSION_OK;
    if (!straight) {
        outcome = CONCLUSION_AMBIGUOUS;
        sentence = arena_printf(arena, "%s, but the points lie on no straight line", sentence);
    }
    return draft_end(&draft, curve->variant, outcome,
                     (double)near / RESAMPLES * (shape.npasses > 1 ? 1 : 0.5), sentence);
}
