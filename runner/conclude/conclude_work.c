// SPDX-License-Identifier: MIT
// The work of a reading, by the size of its curves. The terms are those of the loops in the other
// files of conclude/, each for the most unlucky values; `make largest` compares the sums with CPU
// time.
#include "conclude_internal.h"

#include <math.h>

// Nanoseconds of the inner loops, rounded up from those of a core at 2.4 GHz.
enum { POINT_NS = 150, PASS_NS = 8, SORT_NS = 300, PAIR_NS = 16, CELL_NS = 12000, SHAPE_NS = 500 };
static const double SCAN_NS = 0.8, CUT_NS = 2, MATCH_NS = 4;
enum { CUTS = 21, MATRICES = 40, DRAWN = 64 }; // as conclude_keep.c, _cells.c, _resample.c

// Returns the time of all points resampled once.
static double resample_ns(const struct curve_size *size)
{
    double drawn = size->most_samples < DRAWN ? (double)size->most_samples : DRAWN;
    double n = (double)size->points, passes = (double)size->passes;
    return n * (POINT_NS + drawn * (4 + drawn / 4) + PASS_NS * passes) +
           SCAN_NS * passes * (double)size->samples;
}

// Returns the time of finding values and noise of all points.
static double shape_ns(const struct curve_size *size)
{
    double n = (double)size->points, passes = (double)size->passes;
    return n * (SHAPE_NS + 20 * passes) + (double)size->samples * (SORT_NS + 3 * passes);
}

// `control`: the longest time that a curve of the property takes to resample.
static double curve_ns(enum reading reading, const struct curve_size *size, double control)
{
    double n = (double)size->points, resample = resample_ns(size), cut = CUT_NS * n * n * n;
    switch (reading) {
    case READING_KNEE: // places of all steps, and the levels beside them
        return cut + RESAMPLES * (8 * resample + control);
    case READING_PLATEAUS:
        return CUTS * cut + RESAMPLES * (6 * resample + control);
    case READING_SLOPE:
        return (RESAMPLES + 1) * (PAIR_NS * n * n / 2 + resample);
    case READING_LEVEL:
        return RESAMPLES * resample;
    case READING_DIFFERENCE:
    case READING_RATIO:
        return RESAMPLES * (resample + control);
    case READING_MATRIX:
        return MATRICES * resample + CELL_NS * n;
    default: // those that sort samples, of all passes and of each
        return 2 * (double)size->samples * (SORT_NS + (double)size->passes);
    }
}

double conclude_seconds(const struct conclude_question *question, const struct curve_size *curves,
                        int ncurves)
{
    double control = 0, ns = 0, points = 0;
    for (int i = 0; i < ncurves; i++) {
        control = fmax(control, resample_ns(&curves[i]));
        points += (double)curves[i].points;
    }
    bool one = question->reading == READING_KNEE || question->reading == READING_PLATEAUS;
    if (one && !question->control)
        control = 0;
    for (int i = 0; i < ncurves; i++)
        ns += shape_ns(&curves[i]) + curve_ns(question->reading, &curves[i], control);
    // Points find their curve, and curves their points.
    return (ns + MATCH_NS * points * ncurves) * 1e-9;
}
