// SPDX-License-Identifier: MIT
// Gives a question to its reading.
#include "conclude.h"

#include "conclude_internal.h"

#include <math.h>
#include <string.h>

static const double ONE_REPLICATE = CONFIDENCE_FAIR / 2; // no more confidence than this

static struct conclusion (*const OF_ONE[READING_COUNT])(const struct conclude_question *question,
                                                        const struct curve *curve,
                                                        struct arena *arena) = {
    [READING_KNEE] = conclude_knee,   [READING_PLATEAUS] = conclude_plateaus,
    [READING_SLOPE] = conclude_slope, [READING_DISTRIBUTION] = conclude_distribution,
    [READING_LEVEL] = conclude_level, [READING_GRID] = conclude_grid,
};
static struct conclusion (*const OF_ALL[READING_COUNT])(const struct conclude_question *question,
                                                        const struct curve *curves, int ncurves,
                                                        struct arena *arena) = {
    [READING_DIFFERENCE] = conclude_compare,
    [READING_RATIO] = conclude_compare,
    [READING_MATRIX] = conclude_matrix,
};

int conclude_points_max(enum reading reading)
{
    bool cut = reading == READING_KNEE || reading == READING_PLATEAUS || reading == READING_SLOPE;
    return cut ? CONCLUDE_CURVE_CUT_MAX : CONCLUDE_CURVE_MAX;
}

static const struct curve *find_curve(const struct curve *curves, int ncurves, const char *variant)
{
    for (int i = 0; i < ncurves; i++)
        if (strcmp(curves[i].variant, variant) == 0)
            return &curves[i];
    return NULL;
}

static const struct curve_point *find_point(const struct curve *curve, double x)
{
    for (int i = 0; i < curve->npoints; i++)
        if (curve->points[i].x == x)
            return &curve->points[i];
    return NULL;
}

// Returns the value of a point in a pass, or in all passes if the point has no samples of that
// pass.
static double pass_value(const struct curve_point *point, int pass)
{
    struct arena arena = {0};
    struct curve_sample *samples =
        arena_alloc(&arena, ((size_t)point->nsamples + 1) * sizeof *samples);
    struct curve_point own = {.x = point->x, .samples = samples};
    for (int i = 0; i < point->nsamples; i++)
        if (point->samples[i].pass == pass)
            samples[own.nsamples++] = point->samples[i];
    double value = curve_point_value(&own);
    arena_free(&arena);
    return isnan(value) ? curve_point_value(point) : value;
}

// Subtracts the control from a curve, sample by sample and within a pass, since what disturbs a
// pass disturbs both. Points without a control get no samples.
static struct curve curve_beyond(const struct curve *curve, const struct curve *control,
                                 struct arena *arena)
{
    struct curve_point *points = arena_alloc(arena, ((size_t)curve->npoints + 1) * sizeof *points);
    for (int i = 0; i < curve->npoints; i++) {
        const struct curve_point *point = &curve->points[i];
        const struct curve_point *beside = find_point(control, point->x);
        struct curve_sample *samples =
            arena_alloc(arena, ((size_t)point->nsamples + 1) * sizeof *samples);
        double less = 0; // samples of a pass follow each other
        for (int k = 0; k < point->nsamples && beside; k++) {
            const struct curve_sample *sample = &point->samples[k];
            if (k == 0 || sample->pass != sample[-1].pass)
                less = pass_value(beside, sample->pass);
            samples[k] = (struct curve_sample){sample->pass, sample->value - less};
        }
        points[i] = (struct curve_point){point->x, samples, beside ? point->nsamples : 0};
    }
    return (struct curve){curve->variant, points, curve->npoints};
}

// Readings of one curve: of each. Knees and plateaus may be asked for beyond a control, which has
// no conclusion of its own then.
static int conclude_each(const struct conclude_question *question, const struct curve *curves,
                         int ncurves, struct arena *arena, struct conclusion *conclusions)
{
    int n = 0;
    bool beyond = question->control &&
                  (question->reading == READING_KNEE || question->reading == READING_PLATEAUS);
    const struct curve *control = beyond ? find_curve(curves, ncurves, question->control) : NULL;
    for (int i = 0; i < ncurves; i++) {
        if (&curves[i] == control)
            continue;
        struct curve curve = curves[i];
        if (control)
            curve = curve_beyond(&curve, control, arena);
        else if (beyond)
            curve.npoints = 0;
        conclusions[n++] = OF_ONE[question->reading](question, &curve, arena);
    }
    return n;
}

// Returns true if all samples are of one replicate. They share the place of code and data and the
// state of the host.
static bool one_replicate(const struct conclude_question *question, const struct curve *curves,
                          int ncurves)
{
    int first = -1;
    for (int c = 0; c < ncurves; c++)
        for (int i = 0; i < curves[c].npoints; i++)
            for (int k = 0; k < curves[c].points[i].nsamples; k++) {
                int replicate =
                    curves[c].points[i].samples[k].pass / question->passes_per_replicate;
                if (first >= 0 && replicate != first)
                    return false;
                first = replicate;
            }
    return true;
}

const struct conclusion *conclude(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena,
                                  int *nconclusions)
{
    struct conclusion *conclusions =
        arena_alloc(arena, sizeof *conclusions * (size_t)(ncurves + 1));
    if (OF_ONE[question->reading])
        *nconclusions = conclude_each(question, curves, ncurves, arena, conclusions);
    else if ((*nconclusions = ncurves > 0))
        conclusions[0] = OF_ALL[question->reading](question, curves, ncurves, arena);
    if (question->passes_per_replicate && one_replicate(question, curves, ncurves))
        for (int i = 0; i < *nconclusions; i++)
            conclusions[i].confidence = fmin(conclusions[i].confidence, ONE_REPLICATE);
    return conclusions;
}
