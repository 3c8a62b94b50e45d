// SPDX-License-Identifier: MIT
// Plateaus: the levels of a curve and where they end. The beginning of a curve is reported even if
// the rest is in doubt, as of a cache that is shared, where each replicate finds another size:
// nothing from the first doubtful level or end on is a value.
#include "conclude_internal.h"

#include <math.h>
#include <string.h>

// An end that may lie anywhere between an x and so many times as much is not known.
static const double WIDE = 3;
// A level to which x grows by more than that is not known to be the next one: between the levels of
// memory lie factors of 8 to 32.
static const double LONG_WAY = 16;
enum { NEAR_POINTS = 4 }; // points beside a step that place it, where points lie far apart

// Steps of a curve, and how sure they are.
struct plateaus {
    const struct step *steps;
    int nsteps;
    const double *doubt; // per level, from steps_keep()
    bool open;           // after the last step it goes on to grow, or to fall
    double rise;         // size of that growth
};

static double highest(const struct step *steps, int nsteps)
{
    double most = 0;
    for (int i = 0; i < nsteps; i++)
        most = fmax(most, fabs(steps[i].after - steps[i].before));
    return most;
}

// Returns how much a level rises from its beginning to its end. If later steps lie elsewhere in
// each resampled curve, none of them is kept, and the rest of the curve may be no level.
static double level_rise(const struct shape *shape, int first, int last, struct arena *arena)
{
    double *room = arena_alloc(arena, sizeof *room * (size_t)shape->n);
    int n = last - first + 1, end = n / 6 > CURVE_END_MIN ? n / 6 : CURVE_END_MIN;
    if (n < 2 * end)
        return 0;
    return shape_middle(shape, last - end + 1, end, room) - shape_middle(shape, first, end, room);
}

// Sets of->open if the points after the last step form no level.
static void find_open(struct plateaus *of, const struct shape *shape, struct arena *arena)
{
    int first, last;
    if (of->nsteps == 0)
        return;
    steps_level(shape, of->steps, of->nsteps, of->nsteps, &first, &last);
    of->rise = level_rise(shape, first, last, arena);
    of->open = of->steps[of->nsteps - 1].bend ||
               fabs(of->rise) >= STEP_RIVAL * highest(of->steps, of->nsteps);
}

// Returns true if the way to the next level is so long that a level on it may have been missed.
static bool way_is_long(const struct shape *shape, const struct step *step)
{
    double last = shape->points[step->last]->x, next = shape->points[step->next]->x;
    return shape->logs_x && next > LONG_WAY * last;
}

static bool level_is_sure(const struct shape *shape, const struct plateaus *of, int level)
{
    return of->doubt[level] <= 1 - STEP_SURE &&
           (level == 0 || !way_is_long(shape, &of->steps[level - 1]));
}

static bool end_is_sure(const struct conclude_question *question, const struct shape *shape,
                        const struct step *step)
{
    double low = curve_x(question, shape, step->low), high = curve_x(question, shape, step->high);
    return !step->disputed && step->again >= STEP_SURE &&
           (high <= WIDE * low || step->high - step->low <= NEAR_POINTS);
}

// Levels and ends are counted in turn (level 1 is 0, end 1 is 1, level 2 is 2). Returns the number
// of the first doubtful one, or their count if all are sure.
static int first_doubt(const struct conclude_question *question, const struct shape *shape,
                       const struct plateaus *of)
{
    int at = 0;
    while (at < 2 * of->nsteps + 1 && (at % 2 ? end_is_sure(question, shape, &of->steps[at / 2])
                                              : level_is_sure(shape, of, at / 2)))
        at++;
    return at;
}

// Returns the confidence in the first n levels and ends.
static double share_of(const struct plateaus *of, int n)
{
    double share = 1;
    for (int at = 0; at < n; at++)
        share = fmin(share, at % 2 ? of->steps[at / 2].again : 1 - of->doubt[at / 2]);
    return share;
}

static void put_values(struct draft *draft, const struct conclude_question *question,
                       const struct shape *shape, const struct plateaus *of)
{
    for (int i = 0, first, last; i <= of->nsteps; i++) {
        steps_level(shape, of->steps, of->nsteps, i, &first, &last);
        if (i < of->nsteps || !of->open)
            draft_level(draft, question, shape, arena_printf(draft->arena, "level %d", i + 1),
                        first, last);
        if (i < of->nsteps)
            draft_x(draft, question, shape, arena_printf(draft->arena, "end %d", i + 1),
                    &of->steps[i]);
    }
}

// Returns "5 clk up to 48 KiB, 16 clk up to 2 MiB, 70 clk"; with the first that is in doubt, if any
// is: "5 clk up to 48 KiB, 16 clk; in doubt: up to 2 MiB, 70 clk".
static const char *values_sentence(const struct conclude_question *question,
                                   const struct draft *draft, int doubt)
{
    const char *sentence = "";
    for (int i = 0; i < draft->nvalues; i++) {
        const struct conclusion_value *value = &draft->values[i];
        bool end = strncmp(value->label, "end", 3) == 0;
        const char *between = i == 0 ? "" : i == doubt ? "; in doubt: " : end ? " " : ", ";
        sentence = arena_printf(draft->arena, "%s%s%s%s", sentence, between, end ? "up to " : "",
                                conclude_quantity(draft->arena, value->value,
                                                  end ? question->x_unit : question->y_unit));
    }
    return sentence;
}

// Replaces the doubtful values by the x from which on they are in doubt. (Growth at the end is in
// doubt, too, if resampled curves have levels there.)
static void leave_out(struct draft *draft, const struct conclude_question *question,
                      const struct shape *shape, const struct plateaus *of, int doubt)
{
    const struct step *step = &of->steps[(doubt - 1) / 2];
    double x = curve_x(question, shape, doubt % 2 ? step->low : step->place);
    draft->nvalues = doubt;
    draft_value(draft, "doubt", x, x, x, question->x_unit);
}

// Returns the end of the sentence, after the levels.
static const char *sentence_end(const struct conclude_question *question, const struct shape *shape,
                                const struct plateaus *of, bool cut_short, struct arena *arena)
{
    const char *most =
        conclude_quantity(arena, curve_x(question, shape, shape->n - 1), question->x_unit);
    const char *open = of->open ? of->rise < 0 ? ", then it falls" : ", then it grows" : "";
    if (cut_short)
        return arena_printf(arena, "%s; beyond %s no point came back", open, most);
    return of->nsteps ? open : arena_printf(arena, ", no step up to %s", most);
}

static struct conclusion plateaus_conclude(const struct conclude_question *question,
                                           const char *variant, const struct shape *shape,
                                           const struct plateaus *of, bool cut_short,
                                           struct arena *arena)
{
    struct draft draft = {.arena = arena};
    put_values(&draft, question, shape, of);
    int all = 2 * of->nsteps + 1, doubt = first_doubt(question, shape, of);
    // The question is about the first level and its end: without them there is no value.
    bool unstable = doubt < 2 && doubt < all, part = !unstable && doubt < all;
    unstable = unstable || (cut_short && !part);
    const char *sentence =
        arena_printf(arena, "%s%s", values_sentence(question, &draft, part ? doubt : 0),
                     sentence_end(question, shape, of, cut_short, arena));
    double share = share_of(of, part ? doubt : draft.nvalues);
    if (part)
        leave_out(&draft, question, shape, of, doubt);
    enum conclusion_outcome outcome = unstable     ? CONCLUSION_UNSTABLE
                                      : of->nsteps ? CONCLUSION_OK
                                                   : CONCLUSION_NONE;
    // One pass cannot tell what comes back from what came once.
    return draft_end(&draft, variant, outcome, share * (shape->npasses > 1 ? 1 : 0.5), sentence);
}

struct conclusion conclude_plateaus(const struct conclude_question *question,
                                    const struct curve *curve, struct arena *arena)
{
    struct shape shape = shape_of(question, curve, arena);
    const struct conclusion *no = curve_refuse(&shape, curve, arena);
    if (no)
        return *no;
    struct segment *segments;
    struct step *steps;
    double level_alone = 0, *doubt = &level_alone;
    int nsegments = segments_find(&shape, &segments, arena);
    int nsteps = steps_find(question, &shape, segments, nsegments, &steps, arena);
    double range = segments_range(&shape, segments, nsegments, arena);
    if (nsteps)
        nsteps = steps_keep(question, &shape, steps, nsteps, &doubt, arena);
    if (nsteps == 0 && (curve_is_noisy(&shape, arena) || !curve_is_flat(question, &shape, range)))
        return curve_no_step(question, curve, &shape, range, arena);
    bool cut_short = curve_is_cut_short(&shape, curve);
    if (nsteps == 0 && cut_short)
        return curve_missing(question, curve, &shape, arena);
    struct plateaus of = {.steps = steps, .nsteps = nsteps, .doubt = doubt};
    find_open(&of, &shape, arena);
    return plateaus_conclude(question, curve->variant, &shape, &of, cut_short, arena);
}
