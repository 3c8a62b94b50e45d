// SPDX-License-Identifier: MIT
// Chooses the steps of a curve that are reported: those that most resampled curves have when they
// are cut anew. A cut that depends on a little noise would change the number of levels from run to
// run.
#include "conclude_internal.h"

#include <math.h>

enum { CUT_AGAIN = 20, STEPS_MAX = 16 };
static const double MOST = 0.5; // share of resampled curves

static bool comes_back(const struct shape *shape, const struct step *step, double again)
{
    return (again >= step->low && again <= step->high) || step_is_near(shape, step->place, again);
}

// Places of the steps in the curves that were cut anew.
struct again {
    double places[CUT_AGAIN][STEPS_MAX];
    int n[CUT_AGAIN];
};

static void cut_again(const struct conclude_question *question, const struct shape *shape,
                      struct again *again, struct arena *arena)
{
    size_t bytes = sizeof(double) * (size_t)shape->n;
    struct shape resampled = *shape;
    resampled.v = arena_alloc(arena, bytes);
    resampled.sigma = arena_alloc(arena, bytes);
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)shape_passes(shape));
    uint64_t state = question->seed;
    // A resampled point has the noise of its samples, and that which stands for what they do not
    // show.
    for (int i = 0; i < shape->n; i++)
        resampled.sigma[i] = sqrt(2) * shape->sigma[i];
    for (int i = 0; i < CUT_AGAIN; i++) {
        struct arena own = {0};
        struct segment *segments;
        resample_passes(shape, &state, passes);
        resample_points(shape, 0, shape->n - 1, passes, &state, resampled.v);
        int nsegments = segments_find(&resampled, &segments, &own);
        struct step *found = arena_alloc(&own, sizeof *found * (size_t)(nsegments + 1));
        int nfound = steps_between(&resampled, segments, nsegments, found, &own);
        again->n[i] = nfound < STEPS_MAX ? nfound : STEPS_MAX;
        for (int k = 0; k < again->n[i]; k++)
            again->places[i][k] = found[k].place;
        arena_free(&own);
    }
}

static double share_with(const struct shape *shape, const struct step *step,
                         const struct again *again)
{
    int with = 0;
    for (int i = 0; i < CUT_AGAIN; i++) {
        int k = 0;
        while (k < again->n[i] && !comes_back(shape, step, again->places[i][k]))
            k++;
        with += k < again->n[i];
    }
    return (double)with / CUT_AGAIN;
}

// Returns the level that the place of a step lies in; -1: one of the steps is there.
static int level_with(const struct shape *shape, const struct step *steps, int nsteps, double place)
{
    int level = 0;
    for (int i = 0; i < nsteps; i++) {
        if (comes_back(shape, &steps[i], place))
            return -1;
        level += place > steps[i].place;
    }
    return level;
}

// Sets for each level the share of the curves that have a step within it; it is no level then.
static void doubt_levels(const struct shape *shape, const struct step *steps, int nsteps,
                         const struct again *again, double *doubt)
{
    for (int level = 0; level <= nsteps; level++) {
        int with = 0;
        for (int i = 0; i < CUT_AGAIN; i++) {
            int k = 0;
            while (k < again->n[i] &&
                   level_with(shape, steps, nsteps, again->places[i][k]) != level)
                k++;
            with += k < again->n[i];
        }
        doubt[level] = (double)with / CUT_AGAIN;
    }
}

void steps_level(const struct shape *shape, const struct step *steps, int nsteps, int i, int *first,
                 int *last)
{
    *first = i > 0 ? steps[i - 1].next : 0;
    *last = i < nsteps ? steps[i].last : shape->n - 1;
}

static double level_of(const struct shape *shape, const struct step *steps, int nsteps, int i,
                       struct arena *arena)
{
    int first, last;
    steps_level(shape, steps, nsteps, i, &first, &last);
    return shape_level(shape, shape->v + first, first, last, arena);
}

static const struct segment *level_segment(int first, int last, double level, struct arena *arena)
{
    struct segment *segment = arena_alloc(arena, sizeof *segment);
    *segment = (struct segment){.first = first, .last = last, .start = level};
    return segment;
}

// Settles the places of the steps by the levels beside them, and drops a step that its neighbours
// leave nothing of. Returns the number that is left.
static int settle(const struct conclude_question *question, const struct shape *shape,
                  struct step *steps, int nsteps, struct arena *arena)
{
    uint64_t state = question->seed;
    int n = 0;
    for (int i = 0; i < nsteps; i++) {
        struct step step = steps[i];
        int ignored;
        steps_level(shape, steps, nsteps, i, &step.first, &ignored);
        if (!step.bend) {
            steps_level(shape, steps, nsteps, i + 1, &ignored, &step.end);
            step.before = level_of(shape, steps, nsteps, i, arena);
            step.after = level_of(shape, steps, nsteps, i + 1, arena);
            step_settle(&step, shape, &state, arena);
            step.left = level_segment(step.first, step.last, step.before, arena);
            step.right = level_segment(step.next, step.end, step.after, arena);
            step.disputed = step_is_disputed(&step, shape, arena);
        }
        if (step.bend || fabs(step.after - step.before) >= shape->least)
            steps[n++] = step;
    }
    return n;
}

int steps_keep(const struct conclude_question *question, const struct shape *shape,
               struct step *steps, int nsteps, double **doubt, struct arena *arena)
{
    int all = nsteps < STEPS_MAX ? nsteps : STEPS_MAX, n = 0;
    struct again *again = arena_alloc(arena, sizeof *again);
    *doubt = arena_alloc(arena, sizeof **doubt * (STEPS_MAX + 1));
    cut_again(question, shape, again, arena);
    for (int i = 0; i < all; i++) {
        steps[i].again = share_with(shape, &steps[i], again);
        if (steps[i].again >= MOST)
            steps[n++] = steps[i];
    }
    n = settle(question, shape, steps, n, arena);
    doubt_levels(shape, steps, n, again, *doubt);
    return n;
}
