// SPDX-License-Identifier: MIT
// Knees and plateaus: what the steps of a curve say.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <string.h>

static const double SURE = 0.7;  // of resampled curves must have a step where it is said to be
static const double RIVAL = 0.6; // a second knee of so much of the first one's height is another
enum { POINTS_MIN = 6, END_MIN = 3, PLATEAUS_MAX = 16, MISSING_MOST = 2 };

// What cannot be answered, before any step is looked for; NULL: nothing stands against it.
static const struct conclusion *refuse(const struct shape *shape, const struct curve *curve,
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

// Whether a step of the least height would be seen at all: three standard errors of a point, and
// not only in the quiet half of the curve.
static bool too_noisy(const struct shape *shape, struct arena *arena)
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

// Whether what there is of a rise or a fall is a drift. `range`: of the segments.
static bool is_flat(const struct conclude_question *question, const struct shape *shape,
                    double range)
{
    double drift =
        shape->logs ? log1p(DRIFT) : shape->least * DRIFT / question_least_step(question);
    return range < fmax(shape->least, fmin(2 * shape->least, drift));
}

static double knee_x(const struct conclude_question *question, const struct shape *shape,
                     double place)
{
    return shape_x(shape, place) + question->add;
}

static void put_x(struct draft *draft, const struct conclude_question *question,
                  const struct shape *shape, const char *label, const struct step *step)
{
    draft_value(draft, label, knee_x(question, shape, step->place),
                knee_x(question, shape, step->low), knee_x(question, shape, step->high),
                question->x_unit);
}

// The level of the points first to last, and how sure it is by resampled curves.
static void put_level(struct draft *draft, const struct conclude_question *question,
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
    put_x(draft, question, shape, numbered(arena, "knee", number), step);
    put_level(draft, question, shape, numbered(arena, "before", number), left, step->last);
    if (step->bend)
        return;
    int right = step->next + 7 < step->right->last ? step->next + 7 : step->right->last;
    put_level(draft, question, shape, numbered(arena, "after", number), step->next, right);
    double full = knee_x(question, shape, step->next);
    draft_value(draft, numbered(arena, "full", number), full, full, full, question->x_unit);
}

// "496 entries (488 to 512): 560 to 960 clk".
static const char *knee_sentence(const struct conclude_question *question,
                                 const struct conclusion_value *knee, const struct step *step,
                                 const struct shape *shape, struct arena *arena)
{
    const char *unit = question->x_unit;
    // A unit is said once, but of bytes it changes with the size.
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

static double middle_of(const struct shape *shape, int first, int n, double *room)
{
    memcpy(room, shape->v + first, sizeof *room * (size_t)n);
    return shortest_half(room, n);
}

// From the least to the greatest of what the segments say, and the ends of the curve: where points
// scatter, one segment may have many of them as outliers.
static double shape_range(const struct shape *shape, const struct segment *segments, int nsegments,
                          struct arena *arena)
{
    double *room = arena_alloc(arena, sizeof *room * (size_t)shape->n);
    int end = shape->n / 6 > END_MIN ? shape->n / 6 : END_MIN;
    double low = middle_of(shape, 0, end, room), high = middle_of(shape, shape->n - end, end, room);
    double least = fmin(low, high), most = fmax(low, high);
    for (int i = 0; i < nsegments; i++) {
        double ends[] = {segments[i].start, segment_at(&segments[i], shape, segments[i].last)};
        least = fmin(least, fmin(ends[0], ends[1]));
        most = fmax(most, fmax(ends[0], ends[1]));
    }
    return most - least;
}

static double highest(const struct step *steps, int nsteps)
{
    double most = 0;
    for (int i = 0; i < nsteps; i++)
        most = fmax(most, height(&steps[i]));
    return most;
}

// How much a level rises from its beginning to its end: where later steps are at another place in
// each resampled curve, none of them is told, and what is left of the curve may be no level.
static double level_rise(const struct shape *shape, int first, int last, struct arena *arena)
{
    double *room = arena_alloc(arena, sizeof *room * (size_t)shape->n);
    int n = last - first + 1, end = n / 6 > END_MIN ? n / 6 : END_MIN;
    if (n < 2 * end)
        return 0;
    return middle_of(shape, last - end + 1, end, room) - middle_of(shape, first, end, room);
}

// Whether some points beyond all that came back were asked for: what there is to see may lie there.
static bool most_missing(const struct shape *shape, const struct curve *curve)
{
    int missing = 0;
    for (int i = 0; i < curve->npoints; i++)
        missing += curve->points[i].x > shape->points[shape->n - 1]->x;
    return missing >= MISSING_MOST;
}

static struct conclusion missing(const struct conclude_question *question,
                                 const struct curve *curve, const struct shape *shape,
                                 struct arena *arena)
{
    return conclude_nothing(
        curve->variant, CONCLUSION_TOO_FEW,
        arena_printf(
            arena, "no step up to %s, beyond which no point came back",
            conclude_quantity(arena, knee_x(question, shape, shape->n - 1), question->x_unit)));
}

static struct conclusion no_knee(const struct conclude_question *question,
                                 const struct curve *curve, const struct shape *shape, double range,
                                 struct arena *arena)
{
    if (too_noisy(shape, arena))
        return noisy(shape, curve, arena);
    const char *most =
        conclude_quantity(arena, knee_x(question, shape, shape->n - 1), question->x_unit);
    if (is_flat(question, shape, range) && most_missing(shape, curve))
        return missing(question, curve, shape, arena);
    if (is_flat(question, shape, range))
        return conclude_nothing(curve->variant, CONCLUSION_NONE,
                                arena_printf(arena, "no knee up to %s", most));
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
    const struct conclusion *no = refuse(&shape, curve, arena);
    if (no)
        return *no;
    struct segment *segments;
    struct step *steps;
    double fallen;
    int nsegments = segments_find(&shape, &segments, arena);
    int nsteps = steps_find(question, &shape, segments, nsegments, &steps, arena);
    nsteps = wanted_steps(question, steps, nsteps, &fallen);
    if (nsteps == 0)
        return no_knee(question, curve, &shape, shape_range(&shape, segments, nsegments, arena),
                       arena);
    struct draft draft = {.arena = arena};
    put_knee(&draft, question, &shape, &steps[0], 1);
    const char *sentence = knee_sentence(question, draft.values, &steps[0], &shape, arena);
    for (int i = 1; i < nsteps; i++)
        put_knee(&draft, question, &shape, &steps[i], i + 1);
    enum conclusion_outcome outcome = CONCLUSION_OK;
    if (steps[0].disputed || steps[0].share < SURE) {
        outcome = CONCLUSION_UNSTABLE;
        sentence = arena_printf(
            arena, steps[0].disputed ? "%s, in some passes only" : "%s, but it may be elsewhere",
            sentence);
    } else if (nsteps > 1 && height(&steps[1]) >= RIVAL * height(&steps[0])) {
        outcome = CONCLUSION_AMBIGUOUS;
        sentence = arena_printf(
            arena, "%s; another at %s", sentence,
            conclude_quantity(arena, knee_x(question, &shape, steps[1].place), question->x_unit));
    } else if (fallen >= RIVAL * height(&steps[0])) {
        outcome = CONCLUSION_AMBIGUOUS;
        sentence = arena_printf(arena, "%s; it changes as much in other ways", sentence);
    }
    // One pass cannot tell what comes back from what came once.
    double confidence = steps[0].share * (shape.npasses > 1 ? 1 : 0.5);
    return draft_end(&draft, curve->variant, outcome, confidence, sentence);
}

// "5 clk up to 48 KiB, 16 clk up to 2 MiB, 70 clk".
static const char *plateaus_sentence(const struct conclude_question *question,
                                     const struct draft *draft)
{
    const char *sentence = "";
    for (int i = 0; i < draft->nvalues; i++) {
        const struct conclusion_value *value = &draft->values[i];
        bool end = strncmp(value->label, "end", 3) == 0;
        sentence = arena_printf(draft->arena, "%s%s%s", sentence,
                                end ? " up to "
                                : i ? ", "
                                    : "",
                                conclude_quantity(draft->arena, value->value,
                                                  end ? question->x_unit : question->y_unit));
    }
    return sentence;
}

struct conclusion conclude_plateaus(const struct conclude_question *question,
                                    const struct curve *curve, struct arena *arena)
{
    struct shape shape = shape_of(question, curve, arena);
    const struct conclusion *no = refuse(&shape, curve, arena);
    if (no)
        return *no;
    struct segment *segments;
    struct step *steps;
    int nsegments = segments_find(&shape, &segments, arena);
    int nsteps = steps_find(question, &shape, segments, nsegments, &steps, arena);
    double range = shape_range(&shape, segments, nsegments, arena);
    double share = nsteps ? steps_keep(question, &shape, steps, &nsteps, arena) : 1;
    if (nsteps == 0 && (too_noisy(&shape, arena) || !is_flat(question, &shape, range)))
        return no_knee(question, curve, &shape, range, arena);
    if (nsteps == 0 && most_missing(&shape, curve))
        return missing(question, curve, &shape, arena);
    struct draft draft = {.arena = arena};
    bool disputed = false, open = false;
    double rise = 0;
    for (int i = 0, first, last; i <= nsteps; i++) {
        steps_level(&shape, steps, nsteps, i, &first, &last);
        if (i == nsteps && nsteps > 0) {
            rise = level_rise(&shape, first, last, arena);
            open = steps[nsteps - 1].bend || fabs(rise) >= RIVAL * highest(steps, nsteps);
        }
        if (!open)
            put_level(&draft, question, &shape, arena_printf(arena, "level %d", i + 1), first,
                      last);
        if (i == nsteps)
            break;
        put_x(&draft, question, &shape, arena_printf(arena, "end %d", i + 1), &steps[i]);
        share = fmin(share, steps[i].share);
        disputed = disputed || steps[i].disputed || steps[i].share < SURE;
    }
    const char *sentence = plateaus_sentence(question, &draft);
    if (open)
        sentence = arena_printf(arena, "%s, then it %s", sentence, rise < 0 ? "falls" : "grows");
    if (nsteps == 0)
        sentence = arena_printf(
            arena, "%s, no step up to %s", sentence,
            conclude_quantity(arena, knee_x(question, &shape, shape.n - 1), question->x_unit));
    if (nsteps && most_missing(&shape, curve)) {
        disputed = true;
        sentence = arena_printf(
            arena, "%s; beyond %s no point came back", sentence,
            conclude_quantity(arena, knee_x(question, &shape, shape.n - 1), question->x_unit));
    }
    enum conclusion_outcome outcome = disputed ? CONCLUSION_UNSTABLE
                                      : nsteps ? CONCLUSION_OK
                                               : CONCLUSION_NONE;
    return draft_end(&draft, curve->variant, outcome, share * (shape.npasses > 1 ? 1 : 0.5),
                     sentence);
}
