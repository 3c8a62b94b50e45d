// SPDX-License-Identifier: MIT
// Steps between the segments of a curve: how high, where, and how sure. A steep segment between two
// others is the way from one level to the next, not a level. Where a step is, resampled curves say:
// the same two levels, the point where they part sought again.
#include "conclude_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <stdlib.h>

static const double CAP = 9; // squared residual at most, as for segments: three standard errors
// A segment is a way and no level where it is so many times as steep as those beside it.
static const double STEEP = 3;
static const double NARROW = 1.5;
// A pass has a step if it goes at least this share of its height in it.
static const double PASS_SHARE = 0.5;
// A step that comes back lies no farther away than this share of x, or a point.
static const double NEAR = 0.05;

bool step_is_near(const struct shape *shape, double place, double again)
{
    double here = shape_x(shape, place);
    return fabs(again - place) <= 1 || fabs(shape_x(shape, again) - here) <= NEAR * fabs(here);
}

static double segment_rise(const struct segment *segment, const struct shape *shape)
{
    return segment_at(segment, shape, segment->last) - segment->start;
}

// Returns true if the segment lies between others and ends before x has grown by NARROW: it is a
// piece of the way.
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

// Returns true if the segment is the way from one level to the next. `was_way`: so is the segment
// before.
static bool segment_is_way(const struct shape *shape, const struct segment *segments, int nsegments,
                           int at, bool was_way)
{
    const struct segment *segment = &segments[at], *before = &segments[at - 1];
    double rise = fabs(segment_rise(segment, shape)), jump, next_jump = 0;
    // A segment that grows before or after a step is a level that grows.
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

// Moves the ends of the step to the last point of the level before and the first of the level
// after. Points on the way belong to neither, though a segment may have them as outliers.
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
                             const struct segment *right, bool bend, struct arena *arena)
{
    struct step step = {.last = left->last,
                        .next = bend ? left->last + 1 : right->first,
                        .left = left,
                        .right = right,
                        .first = left->first,
                        .end = right->last,
                        .bend = bend};
    step.after = segment_at(right, shape, bend ? right->last : right->first);
    trim(&step, shape);
    step.place = bend ? step.last : step_crossing(&step, shape, shape->v + left->first, arena);
    return step;
}

// Returns the last point of the left level, so that the level and the growth after it explain the
// values v best; v[0] belongs to the first point.
static int split_bend(const struct step *step, const struct shape *shape, const double *v)
{
    double cost = 0, best = 0;
    int first = step->first, last = step->end, at = first - 1;
    for (int i = first; i < last; i++) {
        double left = (v[i - first] - segment_at(step->left, shape, i)) / shape->sigma[i];
        double right = (v[i - first] - segment_at(step->right, shape, i)) / shape->sigma[i];
        // To count i to the left instead of the right.
        double right_cost = fmin(right * right, CAP);
        if (fmin(fabs(left), fabs(right)) >= sqrt(CAP))
            right_cost--;
        cost += fmin(left * left, CAP) - right_cost;
        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    return at < first ? first : at;
}

// Returns the median distance between the resampled values v and the shape, over points first to
// last; v[0] belongs to point `from`.
static double shift_of(const struct shape *shape, int first, int last, const double *v, int from,
                       double *room)
{
    for (int i = first; i <= last; i++)
        room[i - first] = v[i - from] - shape->v[i];
    quantile_sort(room, last - first + 1);
    return first <= last ? quantile_median(room, last - first + 1) : 0;
}

// Returns the place in a resampled curve, by its own two levels: what takes longer in one replicate
// takes longer on both sides.
static double step_place_again(const struct step *step, const struct shape *shape, const double *v,
                               double *room, struct arena *arena)
{
    struct step again = *step;
    again.before += shift_of(shape, step->first, step->last, v, step->first, room);
    again.after += shift_of(shape, step->next, step->end, v, step->first, room);
    return step->bend ? split_bend(step, shape, v) : step_crossing(&again, shape, v, arena);
}

void step_settle(struct step *step, const struct shape *shape, uint64_t *state, struct arena *arena)
{
    int first = step->first, last = step->end, near = 0;
    double *v = arena_alloc(arena, sizeof *v * (size_t)(last - first + 1));
    double *room = arena_alloc(arena, sizeof *room * (size_t)(last - first + 1));
    int *passes = arena_alloc(arena, sizeof *passes * (size_t)shape_passes(shape));
    double at[RESAMPLES], low, high;
    step->place = step->bend ? step->last : step_crossing(step, shape, shape->v + first, arena);
    for (int i = 0; i < RESAMPLES; i++) {
        resample_passes(shape, state, passes);
        resample_points(shape, first, last, passes, state, v);
        at[i] = step_place_again(step, shape, v, room, arena);
        near += step_is_near(shape, step->place, at[i]);
    }
    resample_interval_about(shape->fastest, step->place, at, RESAMPLES, &low, &high);
    // Between two points nothing was measured.
    step->low = floor(fmax(low, 0));
    step->high = floor(high) + 1;
    step->share = (double)near / RESAMPLES;
}

// Returns the middle of the shortest half of a pass's distances from the left level, on it or, with
// `behind`, after the step, where they are taken from the right level; NaN: the pass has no points
// there. Points inside the step's interval count for neither side. `values`: room for one per
// point.
static double pass_height(const struct step *step, const struct shape *shape, int pass, bool behind,
                          double *values)
{
    int first = behind ? step->next : step->left->first, n = 0;
    int last = behind ? step->right->last : step->last;
    const struct segment *level = behind && !step->bend ? step->right : step->left;
    // A bend grows on; the last quarter of its points shows it best.
    if (step->bend && behind)
        first = last - (last - first) / 4;
    else if (behind && first < step->high && step->high <= last)
        first = (int)step->high;
    else if (!behind && last > step->low && step->low >= first)
        last = (int)step->low;
    for (int i = first; i <= last; i++) {
        double v = shape->pass_v[pass * shape->n + i];
        if (!isnan(v))
            values[n++] = v - segment_at(level, shape, i);
    }
    return shortest_half(values, n);
}

// Returns 1 if the pass has at least half of the step's height, -1 if it has less, 0 if it has no
// points there.
static int pass_has(const struct step *step, const struct shape *shape, int pass, double *room)
{
    double height = step->after - step->before;
    double before = pass_height(step, shape, pass, false, room);
    double after = pass_height(step, shape, pass, true, room);
    if (isnan(before) || isnan(after))
        return 0;
    double own = step->bend ? after - before : height + after - before;
    return own / height < PASS_SHARE ? -1 : 1;
}

bool step_is_disputed(const struct step *step, const struct shape *shape, struct arena *arena)
{
    double *room = arena_alloc(arena, sizeof *room * (size_t)(shape->n + 1));
    for (int pass = 0; pass < shape->npasses;) {
        int end = pass + shape->per_replicate < shape->npasses ? pass + shape->per_replicate
                                                               : shape->npasses;
        int most = 0, there = 0;
        for (; pass < end; pass++) {
            int has = pass_has(step, shape, pass, room);
            most += has;
            there += has != 0;
        }
        if (there && most <= 0)
            return true;
    }
    return false;
}

int steps_between(const struct shape *shape, const struct segment *segments, int nsegments,
                  struct step *steps, struct arena *arena)
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
        struct step step = make_step(shape, &segments[i], &segments[right], bend, arena);
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
    int n = steps_between(shape, segments, nsegments, *steps, arena);
    for (int i = 0; i < n; i++) {
        step_settle(&(*steps)[i], shape, &state, arena);
        (*steps)[i].disputed = step_is_disputed(&(*steps)[i], shape, arena);
    }
    return n;
}
