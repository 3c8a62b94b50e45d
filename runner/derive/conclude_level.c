// SPDX-License-Identifier: MIT
// The reading that compares nothing: how high each curve lies at each x.
#include "conclude_internal.h"

#include <math.h>

// Puts the point's value, times the factor. Returns the share of resampled points that say the same
// within the least step; *wide: whether the interval is wider than that.
static double put_level(struct draft *draft, const struct conclude_question *question,
                        const struct shape *shape, int at, const char *label, bool *wide)
{
    double factor = question->factor != 0 ? question->factor : 1;
    double least = question->least_step > 0 ? question->least_step : CONCLUDE_LEAST_STEP;
    double value = factor * shape_y(shape, shape->v[at]), values[RESAMPLES], low, high;
    int *passes = arena_alloc(draft->arena, sizeof *passes * (size_t)(shape->npasses + 1));
    int near = 0;
    uint64_t state = question->seed;
    for (int i = 0; i < RESAMPLES; i++) {
        double v;
        resample_passes(shape, &state, passes);
        resample_points(shape, at, at, passes, &state, &v);
        values[i] = factor * shape_y(shape, v);
        near += fabs(values[i] - value) <= least * fabs(value);
    }
    resample_interval(values, RESAMPLES, &low, &high);
    draft_value(draft, label, value, fmin(low, value), fmax(high, value), question->y_unit);
    *wide = high - low > 2 * least * fabs(value);
    return (double)near / RESAMPLES;
}

struct conclusion conclude_level(const struct conclude_question *question,
                                 const struct curve *curves, int ncurves, struct arena *arena)
{
    struct draft draft = {.arena = arena};
    double share = 1;
    bool any_wide = false;
    int npasses = 0;
    for (int i = 0; i < ncurves; i++) {
        struct shape shape = shape_of(question, &curves[i], arena);
        npasses = shape.npasses > npasses ? shape.npasses : npasses;
        for (int k = 0; k < shape.n; k++) {
            const char *label = curves[i].variant;
            if (curves[i].npoints > 1)
                label =
                    arena_printf(arena, "%s at %s", label,
                                 conclude_quantity(arena, shape.points[k]->x, question->x_unit));
            bool wide;
            share = fmin(share, put_level(&draft, question, &shape, k, label, &wide));
            any_wide = any_wide || wide;
        }
    }
    if (draft.nvalues == 0)
        return conclude_nothing("", CONCLUSION_TOO_FEW, "no point came back");
    const char *sentence = draft_values_said(&draft);
    if (any_wide)
        sentence = arena_printf(arena, "%s; passes disagree", sentence);
    return draft_end(&draft, "", any_wide ? CONCLUSION_UNSTABLE : CONCLUSION_OK,
                     share * (npasses > 1 ? 1 : 0.5), sentence);
}
