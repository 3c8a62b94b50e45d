// SPDX-License-Identifier: MIT
// Where a curve has left one level for the next by a third of the way. Where it begins to hangs on
// how much it scatters, and a way that begins slowly hides it; later the way is steep, so that
// noise moves it little, and a line between two points tells it finer than they lie. A third, since
// behind the size of a cache it is left slowly: half of the way is gone a good deal later.
#include "conclude_internal.h"

#include <math.h>

// A step lies between two neighbours if neither has left its level by more than this share of it.
static const double SHARP = 0.2;
static const double THIRD = 1.0 / 3;
// But no farther than to so many times the level: of a cache whose own level behind it is not seen,
// so that the way leads to that of the memory, a third is a long way.
static const double TIMES = 2;

double shape_x(const struct shape *shape, double place)
{
    int last = shape->n - 1, at = place < last ? (int)place : last;
    double rest = place - at;
    if (rest <= 0 || at == last)
        return shape->points[at]->x;
    double axis = shape->axis[at] + rest * (shape->axis[at + 1] - shape->axis[at]);
    return shape->logs_x ? exp(axis) : axis;
}

// The cut that leaves the fewest values on the wrong side of that: its last point on the
// left. h: how far the values are, 0 on the left level, 1 on the right one.
static int cut_way(const double *h, int n, double part)
{
    double cost = 0, best = INFINITY;
    int at = 0;
    for (int i = 0; i < n - 1; i++) {
        cost += fmin(fmax(h[i], part - 1), part + 1) - part;
        if (cost < best) {
            best = cost;
            at = i;
        }
    }
    return at;
}

double step_crossing(const struct step *step, const struct shape *shape, const double *v,
                     struct arena *arena)
{
    int first = step->first, n = step->end - first + 1;
    double way = fabs(step->after - step->before), part = THIRD;
    if (shape->logs && way * part > log(TIMES))
        part = log(TIMES) / way;
    double *h = arena_alloc(arena, sizeof *h * (size_t)(n + 1));
    for (int i = 0; i < n; i++)
        h[i] = (v[i] - step->before) / (step->after - step->before);
    int at = cut_way(h, n, part);
    if (at + 1 >= n || (h[at] < SHARP && h[at + 1] > 1 - SHARP) || h[at] >= part ||
        h[at + 1] <= part)
        return first + at;
    return first + at + (part - h[at]) / (h[at + 1] - h[at]);
}
