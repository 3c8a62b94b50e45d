// SPDX-License-Identifier: MIT
// Steps between the segments of a curve: how high, where, and how sure. A steep segment between two
// others is the way from one level to the next, not a level. Where a step is, resampled curves say:
// the same two levels, the point where they part sought again.
#include "conclude_internal.h"

#include <math.h>
#include <stdlib.h>

static const double CAP = 9; // as for segments: three standard errors
// A segment is a way and no level where it is so many times as steep as those beside it.
static const double STEEP = 3;
static const double NARROW = 1.5;
// A pass has a step if it goes at least this share of its height in it.
static const double PASS_SHARE = 0.5;
// So much of a step's height away from its first level a point is on the way.
static const double WAY_SHARE = 0.2;
// A step that comes back lies no farther away than this share of x, or a point.
static const double NEAR = 0.05;
enum { CUT_AGAIN = 20 };

// Whether a step that ends at one point has come back at another.
static bool is_near(const struct shape *shape, int point, int again)
{
    double here = shape->points[point]->x;
    return abs(again - point) <= 1 || fabs(shape->points[again]->x - here) <= NEAR * fabs(here);
}

static double segment_rise(const struct segment *segment, const struct shape *shape)
{
    return segment_at(segment, shape, segment->last) - segment->start;
}

// A level in the middle of others that ends before x has grown by NARROW is a piece of the way.
static bool segment_is_narrow(const struct shape *shape, const struct segment *segments,
                              int nsegments, int at)
{
    if (at + 1 >= nsegments)
        return false;
    const struct segment *segment = &segments[at];
    double middle = (segment->start + segment_at(segment, shape, segment->last)) / 2;
    double before = segment_at(&segments[at - 1], shape, segments[at - 1].last);
    double first = shape->points[segment->first]->x, last = shape->points[segment->last]->x;
    return first > 0 && last < NARROW * first &&
           (middle - before) * (segments[at + 1].start - middle) > 0;
}

// `was_way`: the segment before is a way itself, not a level.
static bool segment_is_way(const struct shape *shape, const struct segment *segments, int nsegments,
                           int at, bool was_way)
{
    const struct segment *segment = &segments[at], *before = &segments[at - 1];
    double rise = fabs(segment_rise(segment, shape)), jump, next_jump = 0;
    // What grows before or behind a step is a level that grows.
    jump = fabs(segment->start - segment_at(before, shape, segment->first));
    if (at + 1 < nsegments)
        next_jump =
            fabs(segments[at + 1].start - segment_at(segment, shape, segments[at + 1].first));
    if (rise < shape->least || jump >= rise || next_jump >= rise)
        return false;
    double steep = was_way ? fabs(before->slope) / STEEP : fabs(before->slope) * STEEP;
    return fabs(segment->slope) > steep;
}

static double distance(const struct segment *segment, const struct shape *shape, int point)
{
    return fabs(shape->v[point] - segment_at(segment, shape, point)) / shape->sigma[point];
}

// Which points are the last and the first of their levels: those between, on the way, belong to
// neither, though a segment has them as outliers.
static void trim(struct step *step, const struct shape *shape)
{
    double cap = sqrt(CAP);
    int first = step->left->first, end = step->bend ? shape->n - 1 : step->right->last;
    while (
        !step->bend && step->last + 1 < end && distance(step->left, shape, step->last + 1) < cap &&
        distance(step->left, shape, step->last + 1) < distance(step->right, shape, step->last + 1))
        step->last++;
    while (step->last > first && distance(step->left, shape, step->last) >= cap)
        step->last--;
    if (step->next <= step->last)
        step->next = step->last + 1;
    while (!step->bend && step->next < end && distance(step->right, shape, step->next) >= cap)
        step->next++;
    step->before = segment_at(step->left, shape, step->last);
}

static struct step make_step(const struct shape *shape, const struct segment *left,
                             const struct segment *right, bool bend)
{
    struct step step = {.last = left->last,
                        .next = bend ? left->last + 1 : right->first,
                        .left = left,
                        .right = right,
                        .bend = bend};
    step.after = segment_at(right, shape, bend ? right->last : right->first);
    trim(&step, shape);
    return step;
}

// The last point of the left level where it and the right one explain the values v best; what lies
// on neither is behind it. Values from first to last, v[0] that of `first`.
static int split(const struct step *step, const struct shape *shape, const double *v, int first,
                 int last)
{
    double cost = 0, best = 0;
    int at = first - 1;
    for (int i = first; i < last; i++) {
        double left = (v[i - first] - segment_at(step->left, shape, i)) / shape->sigma[i];
        double right = (v[i - first] - segment_at(step->right, shape, i)) / shape->sigma[i];
        // To count i to the left instead of the right. What lies on neither is behind the step if
        // it has left the one level for the other.
        double way =
            (v[i - first] - segment_at(step->left, shape, i)) / (step->after - step->before);
        double right_cost = fmin(right * right, CAP);
        if (fmin(fabs(left), fabs(right)) >= sqrt(CAP))
            right_cost += step->bend || way > WAY_SHARE ? -1 : 1;
        cost += fmin(left * left, CAP) - right_cost;
        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    return at < first ? first : at;
}

// The step once more in resampled curves.
static void resample_step(struct step *step, const struct shape *shape, uint64_t *state,
                          struct arena *arena)
{
    int first = step->left->first, last = step->right->last, near = 0;
    double *v = arena_alloc(arena, sizeof *v * (size_t)(last - first + 1));
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)(shape->npasses + 1));
    double at[RESAMPLES], low, high;
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(shape, state, passes);
        resample_points(shape, first, last, passes, state, v);
        int point = split(step, shape, v, first, last);
        near += is_near(shape, step->last, point);
        at[i] = point;
    }
    resample_interval(at, RESAMPLES, &low, &high);
    step->low = (int)fmin(low, step->last);
    step->high = (int)ceil(fmax(high, step->last));
    step->share = (double)near / RESAMPLES;
}

// How far a pass's values lie from the left level, those on it or those behind the step: the middle
// of the shortest half. Behind a step, from the right level.
static double pass_height(const struct step *step, const struct shape *shape, int pass, bool behind,
                          struct arena *arena)
{
    int first = behind ? step->next : step->left->first, n = 0;
    int last = behind ? step->right->last : step->last;
    const struct segment *level = behind && !step->bend ? step->right : step->left;
    // Where a bend goes on to grow, its end shows it best.
    if (step->bend && behind)
        first = last - (last - first) / 4;
    double *values = arena_alloc(arena, sizeof *values * (size_t)(shape->n + 1));
    for (int i = first; i <= last; i++) {
        double v = shape->pass_v[pass * shape->n + i];
        if (!isnan(v))
            values[n++] = v - segment_at(level, shape, i);
    }
    return shortest_half(values, n);
}

// Whether every pass that was there has the step, of at least half its height.
static bool passes_agree(const struct step *step, const struct shape *shape, struct arena *arena)
{
    double height = step->after - step->before;
    for (int pass = 0; pass < shape->npasses; pass++) {
        double before = pass_height(step, shape, pass, false, arena);
        double after = pass_height(step, shape, pass, true, arena);
        if (isnan(before) || isnan(after))
            continue;
        double own = step->bend ? after - before : height + after - before;
        if (own / height < PASS_SHARE)
            return false;
    }
    return true;
}

// Steps that count, without what resampled curves say of them.
static int steps_between(const struct shape *shape, const struct segment *segments, int nsegments,
                         struct step *steps)
{
    int n = 0;
    for (int i = 0; i + 1 < nsegments;) {
        int right = i + 1;
        while (right < nsegments &&
               (segment_is_narrow(shape, segments, nsegments, right) ||
                segment_is_way(shape, segments, nsegments, right, right > i + 1)))
            right++;
        bool bend = right == nsegments;
        right -= bend;
        struct step step = make_step(shape, &segments[i], &segments[right], bend);
        if (fabs(step.after - step.before) >= shape->least)
            steps[n++] = step;
        i = right;
    }
    return n;
}

int steps_find(const struct conclude_question *question, const struct shape *shape,
               const struct segment *segments, int nsegments, struct step **steps,
               struct arena *arena)
{
    uint64_t state = question->seed;
    *steps = arena_alloc(arena, sizeof **steps * (size_t)(nsegments + 1));
    int n = steps_between(shape, segments, nsegments, *steps);
    for (int i = 0; i < n; i++) {
        resample_step(&(*steps)[i], shape, &state, arena);
        (*steps)[i].disputed = !passes_agree(&(*steps)[i], shape, arena);
    }
    return n;
}

// Whether two curves have the same steps.
static bool steps_alike(const struct shape *shape, const struct step *a, const struct step *b,
                        int n)
{
    for (int i = 0; i < n; i++)
        if (!is_near(shape, a[i].last, b[i].last))
            return false;
    return true;
}

double steps_come_back(const struct conclude_question *question, const struct shape *shape,
                       const struct step *steps, int nsteps, struct arena *arena)
{
    size_t bytes = sizeof(double) * (size_t)shape->n;
    struct shape again = *shape;
    again.v = arena_alloc(arena, bytes);
    again.sigma = arena_alloc(arena, bytes);
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)(shape->npasses + 1)), alike = 0;
    uint64_t state = question->seed;
    // A resampled point has the noise of its samples, and that which stands for what they do not
    // show.
    for (int i = 0; i < shape->n; i++)
        again.sigma[i] = sqrt(2) * shape->sigma[i];
    for (int i = 0; i < CUT_AGAIN; i++) {
        struct arena own = {0};
        struct segment *segments;
        resample_passes(shape, &state, passes);
        resample_points(shape, 0, shape->n - 1, passes, &state, again.v);
        int nsegments = segments_find(&again, &segments, &own);
        struct step *found = arena_alloc(&own, sizeof *found * (size_t)(nsegments + 1));
        alike += steps_between(&again, segments, nsegments, found) == nsteps &&
                 steps_alike(shape, steps, found, nsteps);
        arena_free(&own);
    }
    return (double)alike / CUT_AGAIN;
}
