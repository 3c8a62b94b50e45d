// SPDX-License-Identifier: MIT
// From the points of a property's sweep to what they say. Pure: no clock, no database; the same
// points give the same conclusion, whenever. Method, with its sources: docs/PROPERTIES.md.
//
// A point is a value of the swept variable with the samples that were taken there, in any number
// of passes. Samples that are NaN or infinite, and points without any other, count as not measured.
// A conclusion is never forced: where the points do not carry one, its outcome says why.
#ifndef LATPUT_CONCLUDE_H
#define LATPUT_CONCLUDE_H

#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

// How a property is read off its points. The names are part of the format of lists/properties/.
enum reading {
    READING_KNEE,         // up to which x the time stays as it is
    READING_PLATEAUS,     // levels, and up to which x each reaches
    READING_SLOPE,        // how much y grows for each unit of x
    READING_DIFFERENCE,   // each curve minus the control
    READING_RATIO,        // each curve divided by the control
    READING_MATRIX,       // curves are rows, x are columns: which cells are how slow
    READING_DISTRIBUTION, // which values occur, and how often
    READING_LEVEL,        // each curve as it is, at each x
    READING_GRID,         // of what all values are multiples, whichever occur
    READING_COUNT
};
const char *reading_name(enum reading reading);
int reading_parse(const char *name); // -1 if unknown

// What became of a conclusion. The names are part of the database's format: append, never reorder.
enum conclusion_outcome {
    CONCLUSION_OK,
    CONCLUSION_NONE,      // knee, plateaus: there is no step up to the largest x
    CONCLUSION_UNSTABLE,  // the noise hides what is asked for, or the passes disagree
    CONCLUSION_AMBIGUOUS, // there are values, but the points allow another reading as well
    CONCLUSION_TOO_FEW,   // too few points came back
    CONCLUSION_OUTCOME_COUNT
};
const char *conclusion_outcome_name(enum conclusion_outcome outcome); // "ok", "none", ...
int conclusion_outcome_parse(const char *name);                       // -1 if unknown

struct curve_sample {
    int pass; // from 0; samples of one pass stand together in time
    double value;
};
struct curve_point {
    double x;
    const struct curve_sample *samples;
    int nsamples;
};
struct curve {
    const char *variant;              // its name
    const struct curve_point *points; // in any order, an x once
    int npoints;
};

// What is asked of the curves of a property. Zero is a good value where nothing else is said.
struct conclude_question {
    enum reading reading;
    const char *x_unit; // "entries", "bytes"; NULL: none
    const char *y_unit; // "clk", "ns"
    bool geometric;     // x was swept by factors: distances are those of its logarithm
    // A step counts from here: 0.1 is a tenth more. 0: CONCLUDE_LEAST_STEP. A question of what is
    // practical; whether a step is real is asked besides.
    double least_step;
    double factor; // slope, difference, ratio: y is multiplied by it; 0: 1
    double add;    // knee, plateaus: to every x of the conclusion, what the frame of the code takes
    bool falls;    // knee: the step goes down
    bool bends;    // knee: a bend, from which on y grows steadily, counts like a step
    // A point is the fastest time that came back: the second shortest of its passes'. For what
    // others may take a part of, more in one pass than in another: what there is shows where they
    // take least.
    bool fastest;
    // Difference, ratio: the curve that the others are compared with; NULL: the first. Knee,
    // plateaus: what is read is each other curve less this one; NULL: each as it is.
    const char *control;
    uint64_t seed; // of the bootstrap
    // So many passes follow each other at one replicate of a property; replicates are far apart, in
    // processes of their own. What one replicate says alone is never sure. 0: not known.
    int passes_per_replicate;
};
#define CONCLUDE_LEAST_STEP 0.12
enum { CONCLUDE_PASSES_PER_REPLICATE = 3 }; // of what `latput property` measures

// Knee: "knee" (x up to which it stays as it is; where it is left slowly, where a third of the way
// to the level behind is gone), "before", "after" (y on both sides), "full" (x
// from which on y is on the level behind); one more knee has " 2" behind these names, and so on.
// Plateaus: "level 1", "end 1", "level 2", ... Slope: "slope", "start" (y at x = 0). Difference,
// ratio: the variant, followed by " at X" where there are several x. Matrix: "level 1" (the
// fastest), "cells 1" (how many cells), ... Distribution: "least", "median", "p99", "step" (what
// values differ by multiples of), "mode 1", "share 1", ... Grid: "step". Level: "level", or
// "level at X" of each x where there are several. Behind these there may be "doubt", of plateaus
// the x from which on, of levels and differences how many values passes do not agree about, and so
// are none; the sentence has them.
struct conclusion_value {
    const char *label;
    double value;
    double low, high; // with 95 % confidence; of an x never narrower than the points lie
    const char *unit; // "" where it is a plain number
};

// One question about one curve (knee, plateaus, slope, distribution, level,
// grid) or about all (the rest).
struct conclusion {
    const char *variant; // of the curve; "" where it is about all
    enum conclusion_outcome outcome;
    double confidence; // 0 to 1: the share of resampled curves that lead to the same conclusion
    const struct conclusion_value *values; // the one that matters most first
    int nvalues;
    const char *sentence; // without a full stop: "512 entries (508 to 516)"
    // Matrix: the level of each cell, from 0, row by row, a column for each x of any curve,
    // ascending; -1: not measured.
    const int *cells;
    int nrows, ncolumns;
};

// What is asked of a stranger's points. The largest property of lists/properties/ has 42 curves,
// 1,500 points, and 200 of them in a curve.
enum {
    CONCLUDE_CURVES_MAX = 4096,    // of a property
    CONCLUDE_POINTS_MAX = 1 << 16, // the same
    CONCLUDE_CURVE_MAX = 4096,     // points of a curve
    CONCLUDE_CURVE_CUT_MAX = 512,  // where it is cut into segments, which takes their cube,
                                   // or all pairs of points are compared
};
int conclude_points_max(enum reading reading); // of a curve

// All conclusions of a property, *nconclusions of them. What they point to is the arena's, or the
// caller's (names of variants, units).
const struct conclusion *conclude(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena,
                                  int *nconclusions);

// --- where to measure next ---

struct refine_limits {
    double least_x, most_x; // never outside
    double grain;           // x are multiples of it; 0: 1
    double resolution;      // a gap of this share of x is narrow enough; 0: 0.01
};
// Between which of the points so far something happens, and nothing was measured: up to `max` new x
// into next[], ascending, none of them among the points. Returns how many; 0: it is fine enough.
int conclude_refine(const struct conclude_question *question, const struct curve *curve,
                    const struct refine_limits *limits, double *next, int max);

// --- for those who show it ---

// "high", "fair", and below that "low".
#define CONFIDENCE_HIGH 0.9
#define CONFIDENCE_FAIR 0.6
const char *confidence_word(double confidence);

// "5.03 clk", "48 KiB", "512"; the arena's.
const char *conclude_quantity(struct arena *arena, double value, const char *unit);

// What a point says: the middle of the shortest interval that holds half of its samples. NaN: none.
double curve_point_value(const struct curve_point *point);

#endif
