// SPDX-License-Identifier: MIT
// From the samples of a property's points to what they say; see swept.h.
#include "swept.h"

#include "conclude_question.h"
#include "derive/derive.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Returns a sample in the unit of the property, per instance.
static double sample_value(const struct swept_property *property, const struct swept_point *point,
                           const struct timing *timing, const struct sample *sample)
{
    const struct kernel_facts facts = {.instances = 1, .instrs = 1};
    double instances = (double)point->instances;
    if (strcmp(property->y_unit, "ns") != 0)
        return derive_sample_clk(&facts, timing, sample) / instances;
    return (sample->kernel_tsc - timing->overhead_tsc) / property->tsc_hz * 1e9 /
           ((double)timing->iterations * timing->copies * instances);
}

static void point_samples(const struct swept_property *property, const struct swept_point *point,
                          struct arena *arena, struct curve_point *out)
{
    int n = 0;
    for (int t = 0; t < point->ntimings; t++)
        n += point->timings[t].nsamples;
    struct curve_sample *samples = arena_alloc(arena, ((size_t)n + 1) * sizeof *samples);
    n = 0;
    for (int t = 0; t < point->ntimings; t++)
        for (int s = 0; s < point->timings[t].nsamples; s++)
            samples[n++] = (struct curve_sample){
                point->timings[t].pass - 1,
                sample_value(property, point, &point->timings[t], &point->timings[t].samples[s])};
    *out = (struct curve_point){point->x, samples, n};
}

static bool same_by(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

const char *swept_curve_name(const struct swept_property *property, const struct swept_point *point,
                             struct arena *arena)
{
    const char *variant = property->variants[point->variant].name;
    if (isnan(point->by))
        return variant;
    return arena_printf(arena, "%s%s%.15g", variant, *variant ? " " : "", point->by);
}

static bool same_curve(const struct swept_point *a, const struct swept_point *b)
{
    return a->variant == b->variant && same_by(a->by, b->by);
}

// Counts the point to its curve; to a new one if there is none.
static void curve_count(const struct swept_property *property, int at, int *leaders, int *counts,
                        int *n)
{
    for (int c = 0; c < *n; c++)
        if (same_curve(&property->points[leaders[c]], &property->points[at])) {
            counts[leaders[c]]++;
            return;
        }
    counts[at] = 1;
    leaders[(*n)++] = at;
}

// Curves in the order of the variants, then of `by`.
static void curves_sort(const struct swept_property *property, int *leaders, int n)
{
    for (int i = 1; i < n; i++) {
        int leader = leaders[i], at = i;
        const struct swept_point *point = &property->points[leader];
        for (; at > 0; at--) {
            const struct swept_point *other = &property->points[leaders[at - 1]];
            if (other->variant < point->variant ||
                (other->variant == point->variant && !(other->by > point->by)))
                break;
            leaders[at] = leaders[at - 1];
        }
        leaders[at] = leader;
    }
}

const struct curve *swept_curves(struct swept_property *property, struct arena *arena, int *ncurves)
{
    size_t room = (size_t)property->npoints + 1;
    int *leaders = arena_alloc(arena, room * sizeof *leaders), n = 0;
    int *counts = arena_alloc(arena, room * sizeof *counts); // points of the curve of each leader
    for (int i = 0; i < property->npoints; i++)
        curve_count(property, i, leaders, counts, &n);
    curves_sort(property, leaders, n);
    struct curve *curves = arena_alloc(arena, ((size_t)n + 1) * sizeof *curves);
    for (int c = 0; c < n; c++) {
        const struct swept_point *leader = &property->points[leaders[c]];
        size_t most = (size_t)counts[leaders[c]];
        struct curve_point *points = arena_alloc(arena, (most + 1) * sizeof *points);
        curves[c] = (struct curve){swept_curve_name(property, leader, arena), points, 0};
        for (int i = 0; i < property->npoints; i++) {
            struct swept_point *point = &property->points[i];
            if (!same_curve(leader, point))
                continue;
            struct curve_point *out = &points[curves[c].npoints++];
            point_samples(property, point, arena, out);
            point->samples = out->nsamples;
            point->y = curve_point_value(out);
        }
    }
    *ncurves = n;
    return curves;
}

int swept_conclude(struct swept_property *property, struct arena *arena, struct err *err)
{
    struct conclude_question question;
    const char *at;
    int ncurves;
    if (conclude_question_read(property->reading, &question, arena, &at, err) != 0)
        return err_prefix(err, "property %s: ", property->name);
    question.x_unit = property->x_unit;
    question.y_unit = property->y_unit;
    question.passes_per_replicate = CONCLUDE_PASSES_PER_REPLICATE;
    const struct curve *curves = swept_curves(property, arena, &ncurves);
    property->nconclusions = 0;
    if (ncurves && property->outcome == OUTCOME_OK) // else its outcome says what there is to say
        property->conclusions =
            conclude(&question, curves, ncurves, arena, &property->nconclusions);
    return 0;
}
