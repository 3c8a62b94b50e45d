// SPDX-License-Identifier: MIT
// Knees: the highest step of a curve as a conclusion, and conclusions for curves without one.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <string.h>

enum { POINTS_MIN = 6, MISSING_MOST = 2 };

const struct conclusion *curve_refuse(const struct shape *shape, const struct curve *curve,
                                      struct arena *arena)
{
    struct conclusion *no = arena_alloc(arena, sizeof *no);
    if (shape->n < POINTS_MIN || shape->n * 2 < curve->npoints) {
        *no = conclude_nothing(curve->variant, CONCLUSION_TOO_FEW,
                               arena_printf(arena,
                                            "only %d of %d points came back, and %d are needed",
                                            shape->n, curve->npoints, POINTS_MIN));
        return no;
    }
    return NULL;
}

bool curve_is_noisy(const struct shape *shape, struct arena *arena)
{
    return shape_upper_sigma(shape, arena) > shape->least / 3;
}

static struct conclusion noisy(const struct shape *shape, const struct curve *curve,
                               struct arena *arena)
{
    double sigma = shape_upper_sigma(shape, arena);
    char *sentence = shape->logs
                         ? arena_printf(arena,
                                        "the points scatter by %.0f %%, steps of %.0f %% are "
                                        "not to be told from that",
                                        100 * sigma, 100 * expm1(shape->least))
                         : arena_printf(arena,
                                        "the points scatter by %.3g, steps of %.3g are not to "
                                        "be told from that",
                                        sigma, shape->least);
    return conclude_nothing(curve->variant, CONCLUSION_UNSTABLE, sentence);
}

// A curve that changes by a quarter is flat, unless less is asked for.
static const double DRIFT = 0.25;

bool curve_is_flat(const struct conclude_question *question, const struct shape *shape,
                   double range)
{
    double drift =
        shape->logs ? log1p(DRIFT) : shape->least * DRIFT / question_least_step(question);
    return range < fmax(shape->least, fmin(2 * shape->least, drift));
}

double curve_x(const struct conclude_question *question, const struct shape *shape, double place)
{
    return shape_x(shape, place) + question->add;
}

void draft_x(struct draft *draft, const struct conclude_question *question,
             const struct shape *shape, const char *label, const struct step *step)
{
    draft_value(draft, label, curve_x(question, shape, step->place),
                curve_x(question, shape, step->low), curve_x(question, shape, step->high),
                question->x_unit);
}

void draft_level(struct draft *draft, const struct conclude_question *question,
                 const struct shape *shape, const char *label, int first, int last)
{
    uint64_t state = question->seed + (uint64_t)first;
    size_t bytes = sizeof(double) * (size_t)(last - first + 1);
    double *v = arena_alloc(draft->arena, bytes), levels[RESAMPLES], low, high;
    int *passes = arena_alloc(draft->arena, sizeof *passes * (size_t)shape_passes(shape));
    double level = shape_level(shape, shape->v + first, first, last, draft->arena);
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(shape, &state, passes);
        resample_points(shape, first, last, passes, &state, v);
        levels[i] = shape_level(shape, v, first, last, draft->arena);
    }
    resample_interval_about(shape->fastest, level, levels, RESAMPLES, &low, &high);
    // A level that leans stands for all of its points: it is known no better than to their middle
    // half.
    memcpy(v, shape->v + first, bytes);
    quantile_sort(v, last - first + 1);
    low = fmin(low, quantile_of(v, last - first + 1, 0.25));
    high = fmax(high, quantile_of(v, last - first + 1, 0.75));
    draft_value(draft, label, shape_y(shape, level), shape_y(shape, low), shape_y(shape, high),
                question->y_unit);
}

static const char *numbered(struct arena *arena, const char *name, int number)
{
    return number > 1 ? arena_printf(arena, "%s %d", name, number) : name;
}

static void put_knee(struct draft *draft, const struct conclude_question *question,
                     const struct shape *shape, const struct step *step, int number)
{
    struct arena *arena = draft->arena;
    int left = step->last - 7 > step->left->first ? step->last - 7 : step->left->first;
    draft_x(draft, question, shape, numbered(arena, "knee", number), step);
    draft_level(draft, question, shape, numbered(arena, "before", number), left, step->last);
    if (step->bend)
        return;
    int right = step->next + 7 < step->right->last ? step->next + 7 : step->right->last;
    draft_level(draft, question, shape, numbered(arena, "after", number), step->next, right);
    double full = curve_x(question, shape, step->next);
    draft_value(draft, numbered(arena, "full", number), full, full, full, question->x_unit);
}

// Returns "496 entries (488 to 512): 560 to 960 clk".
static const char *knee_sentence(const struct conclude_question *question,
                                 const struct conclusion_value *knee, const struct step *step,
                                 const struct shape *shape, struct arena *arena)
{
    const char *unit = question->x_unit;
    // The sentence has the unit once; that of bytes changes with the size.
    const char *bytes = unit && strcmp(unit, "bytes") == 0 ? unit : "";
    return arena_printf(
        arena, "%s (%s to %s): from %s%s %s", conclude_quantity(arena, knee->value, unit),
        conclude_quantity(arena, knee->low, bytes), conclude_quantity(arena, knee->high, bytes),
        conclude_quantity(arena, shape_y(shape, step->before), question->y_unit),
        step->bend ? " it grows steadily, up to" : " to",
        conclude_quantity(arena, shape_y(shape, step->after), question->y_unit));
}

static double height(const struct step *step)
{
    return fabs(step->after - step->before);
}

// Keeps the steps that the question asks for, the highest first; *fallen: the highest of others.
static int wanted_steps(const struct conclude_question *question, struct step *steps, int nsteps,
                        double *fallen)
{
    int n = 0;
    *fallen = 0;
    for (int i = 0; i < nsteps; i++) {
        bool falls = steps[i].after < steps[i].before;
        if (falls == question->falls && (!steps[i].bend || question->bends)) {
            struct step step = steps[i];
            int at = n++;
            for (; at > 0 && height(&steps[at - 1]) < height(&step); at--)
                steps[at] = steps[at - 1];
            steps[at] = step;
        } else {
            *fallen = fmax(*fallen, height(&steps[i]));
        }
    }
    return n;
}

double shape_middle(const struct shape *shape, int first, int n, double *room)
{
    memcpy(room, shape->v + first, sizeof *room * (size_t)n);
    return shortest_half(room, n);
}

double segments_range(const struct shape *shape, const struct segment *segments, int nsegments,
                      struct arena *arena)
{
    double *room = arena_alloc(arena, sizeof *room * (size_t)shape->n);
    int end = shape->n / 6 > CURVE_END_MIN ? shape->n / 6 : CURVE_END_MIN;
    double low = shape_middle(shape, 0, end, room),
           high = shape_middle(shape, shape->n - end, end, room);
    double least = fmin(low, high), most = fmax(low, high);
    for (int i = 0; i < nsegments; i++) {
        double ends[] = {segments[i].start, segment_at(&segments[i], shape, segments[i].last)};
        least = fmin(least, fmin(ends[0], ends[1]));
        most = fmax(most, fmax(ends[0], ends[1]));
    }
    return most - least;
}

bool curve_is_cut_short(const struct shape *shape, const struct curve *curve)
{
    int missing = 0;
    for (int i = 0; i < curve->npoints; i++)
        missing += curve->points[i].x > shape->points[shape->n - 1]->x;
    return missing >= MISSING_MOST;
}

struct conclusion curve_missing(const struct conclude_question *question, const struct curve *curve,
                                const struct shape *shape, struct arena *arena)
{
    return conclude_nothing(
        curve->variant, CONCLUSION_TOO_FEW,
        arena_printf(
            arena, "no step up to %s, beyond which no point came back",
            conclude_quantity(arena, curve_x(question, shape, shape->n - 1), question->x_unit)));
}

struct conclusion curve_no_step(const struct conclude_question *question, const struct curve *curve,
                                const struct shape *shape, double range, struct arena *arena)
{
    if (curve_is_noisy(shape, arena))
        return noisy(shape, curve, arena);
    const char *most =
        conclude_quantity(arena, curve_x(question, shape, shape->n - 1), question->x_unit);
    if (curve_is_flat(question, shape, range) && curve_is_cut_short(shape, curve))
        return curve_missing(question, curve, shape, arena);
    if (curve_is_flat(question, shape, range)) {
        double *room = arena_alloc(arena, sizeof *room * (size_t)shape->n);
        double level = shape_y(shape, shape_middle(shape, 0, shape->n, room));
        return conclude_nothing(curve->variant, CONCLUSION_NONE,
                                arena_printf(arena, "no knee up to %s: %s throughout", most,
                                             conclude_quantity(arena, level, question->y_unit)));
    }
    return conclude_nothing(
        curve->variant, CONCLUSION_AMBIGUOUS,
        arena_printf(
            arena, "no step up to %s, but it changes from %s to %s", most,
            conclude_quantity(arena, shape_y(shape, shape->v[0]), question->y_unit),
            conclude_quantity(arena, shape_y(shape, shape->v[shape->n - 1]), question->y_unit)));
}

struct conclusion conclude_knee(const struct conclude_question *question, const struct curve *curve,
                                struct arena *arena)
{
    struct shape shape = shape_of(question, curve, arena);
    const struct conclusion *no = curve_refuse(&shape, curve, arena);
    if (no)
        return *no;
    struct segment *segments;
    struct step *steps;
    double fallen;
    int nsegments = segments_find(&shape, &segments, arena);
    int nsteps = steps_find(question, &shape, segments, nsegments, &steps, arena);
    nsteps = wanted_steps(question, steps, nsteps, &fallen);
    if (nsteps == 0)
        return curve_no_step(question, curve, &shape,
                             segments_range(&shape, segments, nsegments, arena), arena);
    struct draft draft = {.arena = arena};
    put_knee(&draft, question, &shape, &steps[0], 1);
    const char *sentence = knee_sentence(question, draft.values, &steps[0], &shape, arena);
    for (int i = 1; i < nsteps; i++)
        put_knee(&draft, question, &shape, &steps[i], i + 1);
    enum conclusion_outcome outcome = CONCLUSION_OK;
    if (steps[0].disputed || steps[0].share < STEP_SURE) {
        outcome = CONCLUSION_UNSTABLE;
        sentence = arena_printf(
            arena, steps[0].disputed ? "%s, in some passes only" : "%s, but it may be elsewhere",
            sentence);
    } else if (nsteps > 1 && height(&steps[1]) >= STEP_RIVAL * height(&steps[0])) {
        outcome = CONCLUSION_AMBIGUOUS;
        sentence = arena_printf(
            arena, "%s; another at %s", sentence,
            conclude_quantity(arena, curve_x(question, &shape, steps[1].place), question->x_unit));
    } else if (fallen >= STEP_RIVAL * height(&steps[0])) {
        outcome = CONCLUSION_AMBIGUOUS;
        sentence = arena_printf(arena, "%s; it changes as much in other ways", sentence);
    }
    // One pass cannot tell what comes back from what came once.
    double confidence = steps[0].share * (shape.npasses > 1 ? 1 : 0.5);
    return draft_end(&draft, curve->variant, outcome, confidence, sentence);
}
