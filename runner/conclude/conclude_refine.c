// SPDX-License-Identifier: MIT
// Finds the gaps where a sweep is too coarse: between points whose values differ, and where a step
// may be.
#include "conclude_internal.h"

#include <math.h>
#include <stdlib.h>

struct gap {
    double low, high; // x
    double weight;    // higher is refined earlier
};

static int gap_compare(const void *a, const void *b)
{
    const struct gap *left = a, *right = b;
    return (left->weight < right->weight) - (left->weight > right->weight);
}

static int double_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

// Compares point i with the next one beyond the noise: 1 a rise, -1 a fall, 0 no difference.
static int differs(const struct shape *shape, int i)
{
    double difference = shape->v[i + 1] - shape->v[i];
    double noise = hypot(shape->sigma[i], shape->sigma[i + 1]);
    if (fabs(difference) < shape->least / 2 || fabs(difference) <= 3 * noise)
        return 0;
    return difference > 0 ? 1 : -1;
}

// Returns true if a level ends, or a rise or fall begins, at point i. More points on the way from
// level to level add nothing; on a long way they would look like a level of their own.
static bool begins(const struct shape *shape, int i, double *difference)
{
    int way = differs(shape, i);
    *difference = fabs(shape->v[i + 1] - shape->v[i]);
    return way && (i == 0 || differs(shape, i - 1) != way);
}

// Points on either side of a step that are refined, and the share of its height that must lie
// between two of them: on a way of many points a line between two is fine enough.
enum { STEP_POINTS = 2 };
static const double STEEP = 0.4;

static bool in_step(const struct shape *shape, const struct step *steps, int nsteps, int i)
{
    double jump = fabs(shape->v[i + 1] - shape->v[i]);
    for (int k = 0; k < nsteps; k++) {
        const struct step *step = &steps[k];
        bool near = i + 1 > step->low && i < step->high && i < step->next &&
                    abs(i - (int)step->place) <= STEP_POINTS;
        if (near && (step->bend || jump > STEEP * fabs(step->after - step->before)))
            return true;
    }
    return false;
}

// Returns the x in the middle of a gap that is a multiple of the grain; NaN: there is none.
static double middle(const struct gap *gap, bool geometric, double grain)
{
    double x = geometric && gap->low > 0 ? sqrt(gap->low * gap->high) : (gap->low + gap->high) / 2;
    x = nearbyint(x / grain) * grain;
    return x > gap->low && x < gap->high ? x : (double)NAN;
}

int conclude_refine(const struct conclude_question *question, const struct curve *curve,
                    const struct refine_limits *limits, double *next, int max)
{
    if (question->reading != READING_KNEE && question->reading != READING_PLATEAUS)
        return 0;
    struct arena arena = {0};
    struct shape shape = shape_of(question, curve, &arena);
    struct segment *segments;
    struct step *steps;
    int nsegments = segments_find(&shape, &segments, &arena), ngaps = 0, n = 0;
    int nsteps = steps_find(question, &shape, segments, nsegments, &steps, &arena);
    double grain = limits->grain > 0 ? limits->grain : 1;
    double resolution = limits->resolution > 0 ? limits->resolution : 0.01;
    struct gap *gaps = arena_alloc(&arena, sizeof *gaps * (size_t)(shape.n + 1));
    for (int i = 0; i + 1 < shape.n; i++) {
        struct gap gap = {.low = shape.points[i]->x, .high = shape.points[i + 1]->x};
        bool step = in_step(&shape, steps, nsteps, i);
        if (!begins(&shape, i, &gap.weight) && !step)
            continue;
        gap.weight += step ? 1 : 0;
        if (gap.high - gap.low > fmax(grain, resolution * fabs(gap.high)))
            gaps[ngaps++] = gap;
    }
    qsort(gaps, (size_t)ngaps, sizeof *gaps, gap_compare);
    for (int i = 0; i < ngaps && n < max; i++) {
        double x = middle(&gaps[i], question->geometric, grain);
        if (x >= limits->least_x && x <= limits->most_x)
            next[n++] = x;
    }
    qsort(next, (size_t)n, sizeof *next, double_compare);
    arena_free(&arena);
    return n;
}
