// SPDX-License-Identifier: MIT
// Which of a curve's steps are told: those that most resampled curves have, cut anew. A cut that a
// little noise makes or does not make would else give another number of levels each time.
#include "conclude_internal.h"

#include <math.h>

enum { CUT_AGAIN = 20, STEPS_MAX = 16 };
static const double MOST = 0.5; // of resampled curves

static bool comes_back(const struct shape *shape, const struct step *step, double again)
{
    return (again >= step->low && again <= step->high) || step_is_near(shape, step->place, again);
}

// How often each step, and how often another one, is among those of resampled curves.
struct again {
    double share[STEPS_MAX], other, all;
};

static void count_steps(const struct shape *shape, const struct step *steps, int nsteps,
                        const struct step *found, int nfound, struct again *again)
{
    bool other = false, has[STEPS_MAX] = {false};
    for (int k = 0; k < nfound; k++) {
        int i = 0;
        while (i < nsteps && !comes_back(shape, &steps[i], found[k].place))
            i++;
        if (i < nsteps)
            has[i] = true;
        other = other || i == nsteps;
    }
    for (int i = 0; i < nsteps; i++)
        again->share[i] += has[i];
    again->other += other;
}

static struct again cut_again(const struct conclude_question *question, const struct shape *shape,
                              const struct step *steps, int nsteps, struct arena *arena)
{
    size_t bytes = sizeof(double) * (size_t)shape->n;
    struct shape resampled = *shape;
    struct again again = {.other = 0};
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
        count_steps(shape, steps, nsteps, found, nfound, &again);
        arena_free(&own);
    }
    return again;
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

// Where the steps are, by the levels beside them. One that its neighbours leave nothing of is none.
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
        }
        if (step.bend || fabs(step.after - step.before) >= shape->least)
            steps[n++] = step;
    }
    return n;
}

double steps_keep(const struct conclude_question *question, const struct shape *shape,
                  struct step *steps, int *nsteps, struct arena *arena)
{
    int all = *nsteps < STEPS_MAX ? *nsteps : STEPS_MAX, n = 0;
    struct again again = cut_again(question, shape, steps, all, arena);
    double sure = 1 - again.other / CUT_AGAIN;
    for (int i = 0; i < all; i++) {
        double share = again.share[i] / CUT_AGAIN;
        if (share >= MOST)
            steps[n++] = steps[i];
        sure = fmin(sure, fmax(share, 1 - share));
    }
    *nsteps = settle(question, shape, steps, n, arena);
    return sure;
}
