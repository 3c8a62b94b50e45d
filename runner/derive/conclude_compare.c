// SPDX-License-Identifier: MIT
// Readings that are one number: the slope of a curve, and how far curves lie from a control.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <string.h>

static double factor_of(const struct conclude_question *question)
{
    return question->factor != 0 ? question->factor : 1;
}

// --- slope ---

// The median of the slopes between all pairs of points (Theil, 1950; Sen, 1968), and where the line
// starts.
static double pair_slope(const struct shape *shape, const double *v, double *room, double *start)
{
    int n = 0;
    for (int i = 0; i < shape->n; i++)
        for (int k = i + 1; k < shape->n; k++)
            if (shape->points[k]->x > shape->points[i]->x)
                room[n++] = (v[k] - v[i]) / (shape->points[k]->x - shape->points[i]->x);
    quantile_sort(room, n);
    double slope = quantile_median(room, n);
    for (int i = 0; i < shape->n; i++)
        room[i] = v[i] - slope * shape->points[i]->x;
    quantile_sort(room, shape->n);
    *start = quantile_median(room, shape->n);
    return slope;
}

// What does not matter of a line's y: a twentieth of what it rises, or a fiftieth of what the
// points are, where it hardly rises.
static double line_tolerance(const struct shape *shape, double slope, double *room)
{
    double rise = slope * (shape->points[shape->n - 1]->x - shape->points[0]->x);
    for (int i = 0; i < shape->n; i++)
        room[i] = fabs(shape->v[i]);
    quantile_sort(room, shape->n);
    return fmax(0.05 * fabs(rise), 0.02 * quantile_median(room, shape->n));
}

// How far the points lie from the line: the median.
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
    double *v = arena_alloc(arena, sizeof *v * (size_t)shape.n), factor = factor_of(question);
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)(shape.npasses + 1));
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

// --- difference and ratio ---

struct pair {
    const struct shape *ours, *control;
    int at, control_at;
};

static double compare_two(const struct conclude_question *question, double y, double control)
{
    double factor = factor_of(question);
    return factor * (question->reading == READING_RATIO ? y / control : y - control);
}

// One of the pair's two points resampled; passes drawn before.
static double resampled_y(const struct shape *shape, int at, const int *passes, uint64_t *state)
{
    double v;
    resample_points(shape, at, at, passes, state, &v);
    return shape_y(shape, v);
}

// -1 less, 0 the same, 1 more than the control, by the least step that counts.
static int direction(const struct conclude_question *question, double y, double control)
{
    double least = question->least_step > 0 ? question->least_step : CONCLUDE_LEAST_STEP;
    double off = y - control, size = least * fabs(control);
    return (off > size) - (off < -size);
}

// Puts what the pair says. Returns the share of resampled pairs that go the same way; *wide:
// whether the interval is wider than the least step.
static double put_pair(struct draft *draft, const struct conclude_question *question,
                       const struct pair *pair, const char *label, bool *wide)
{
    double y = shape_y(pair->ours, pair->ours->v[pair->at]);
    double control = shape_y(pair->control, pair->control->v[pair->control_at]);
    double value = compare_two(question, y, control), values[RESAMPLES], low, high;
    int npasses =
        pair->ours->npasses > pair->control->npasses ? pair->ours->npasses : pair->control->npasses;
    int *passes = arena_alloc(draft->arena, sizeof *passes * (size_t)(npasses + 1)), same = 0;
    uint64_t state = question->seed;
    const struct shape *more = npasses == pair->ours->npasses ? pair->ours : pair->control;
    for (int i = 0; i < RESAMPLES; i++) {
        // The same passes of both: what disturbed one pass disturbed both.
        resample_passes(more, &state, passes);
        double got = resampled_y(pair->ours, pair->at, passes, &state);
        double other = resampled_y(pair->control, pair->control_at, passes, &state);
        same += direction(question, got, other) == direction(question, y, control);
        values[i] = compare_two(question, got, other);
    }
    resample_interval(values, RESAMPLES, &low, &high);
    draft_value(draft, label, value, fmin(low, value), fmax(high, value),
                question->reading == READING_RATIO ? "" : question->y_unit);
    double least = question->least_step > 0 ? question->least_step : CONCLUDE_LEAST_STEP;
    double size = fabs(compare_two(question, control + least * fabs(control), control) -
                       compare_two(question, control, control));
    *wide = high - low > 2 * fmax(size, least * fabs(value));
    return (double)same / RESAMPLES;
}

static int find_x(const struct shape *shape, double x)
{
    for (int i = 0; i < shape->n; i++)
        if (shape->points[i]->x == x)
            return i;
    return -1;
}

static int find_control(const struct conclude_question *question, const struct curve *curves,
                        int ncurves)
{
    for (int i = 0; question->control && i < ncurves; i++)
        if (strcmp(curves[i].variant, question->control) == 0)
            return i;
    return question->control ? -1 : 0;
}

struct conclusion conclude_compare(const struct conclude_question *question,
                                   const struct curve *curves, int ncurves, struct arena *arena)
{
    int at = find_control(question, curves, ncurves), npasses = 0;
    struct shape control = {0};
    if (at >= 0)
        control = shape_of(question, &curves[at], arena);
    struct draft draft = {.arena = arena};
    double share = 1;
    bool any_wide = false;
    for (int i = 0; i < ncurves; i++) {
        struct shape ours = shape_of(question, &curves[i], arena);
        for (int k = 0; i != at && k < ours.n; k++) {
            double x = ours.points[k]->x;
            struct pair pair = {&ours, &control, k, find_x(&control, x)};
            if (pair.control_at < 0)
                continue;
            const char *label = curves[i].variant;
            if (curves[i].npoints > 1)
                label = arena_printf(arena, "%s at %s", label,
                                     conclude_quantity(arena, x, question->x_unit));
            bool wide;
            share = fmin(share, put_pair(&draft, question, &pair, label, &wide));
            any_wide = any_wide || wide;
            npasses = ours.npasses > npasses ? ours.npasses : npasses;
        }
    }
    if (draft.nvalues == 0)
        return conclude_nothing("", CONCLUSION_TOO_FEW, "no point came back that has a control");
    const char *sentence = arena_printf(arena, "%s %s %s", draft_values_said(&draft),
                                        question->reading == READING_RATIO ? "times" : "more than",
                                        curves[at].variant);
    if (any_wide)
        sentence = arena_printf(arena, "%s; passes disagree", sentence);
    return draft_end(&draft, "", any_wide ? CONCLUSION_UNSTABLE : CONCLUSION_OK,
                     share * (npasses > 1 ? 1 : 0.5), sentence);
}
