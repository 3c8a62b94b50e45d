// SPDX-License-Identifier: MIT
// Finds the place of a step: where the curve has gone a third of the way from one level to the
// next. The beginning of the way depends on the scatter; a third of it is on the steep part, which
// noise moves little, and a line between two points places it more finely than the points lie. Half
// of the way would be too far: beyond the size of a cache the way begins slowly.
#include "conclude_internal.h"

#include <math.h>

// A step lies between two neighbours if neither has left its level by more than this share of it.
static const double SHARP = 0.2;
static const double THIRD = 1.0 / 3;
// The way counts only up to this multiple of the first level. If the second level of a cache is not
// seen, the way leads to the level of memory, a third of which is far away.
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

// Returns the last point on the left of the cut that leaves the fewest values on the wrong side of
// `part`. h: height of the values, 0 on the left level, 1 on the right one.
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
