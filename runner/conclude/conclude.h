// SPDX-License-Identifier: MIT
// Turns the points of a property's sweep into conclusions. Pure: no clock, no database; the same
// points always give the same conclusion. docs/PROPERTIES.md has the method and its sources.
//
// A point is a value of the swept variable with the samples that were taken there, in any number of
// passes. Samples that are NaN or infinite, and points without any other, count as not measured. A
// conclusion is never forced: where the points do not carry one, its outcome has the reason.
#pragma once

#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>

// Ways to read a property off its points. The names are part of the format of lists/properties/.
enum reading {
    READING_KNEE,         // up to which x the time stays as it is
    READING_PLATEAUS,     // levels, and up to which x each reaches
    READING_SLOPE,        // growth of y per unit of x
    READING_DIFFERENCE,   // each curve minus the control
    READING_RATIO,        // each curve divided by the control
    READING_MATRIX,       // curves are rows, x are columns: which cells are how slow
    READING_DISTRIBUTION, // values that occur, and their shares
    READING_LEVEL,        // each curve as it is, at each x
    READING_GRID,         // the number of which all values are multiples
    READING_COUNT
};
int reading_parse(const char *name); // -1 if unknown

// Outcomes of a conclusion. The names are part of the database's format: append, never reorder.
enum conclusion_outcome {
    CONCLUSION_OK,
    CONCLUSION_NONE,      // knee, plateaus: there is no step up to the largest x
    CONCLUSION_UNSTABLE,  // the noise hides what is asked for, or the passes disagree
    CONCLUSION_AMBIGUOUS, // there are values, but the points allow another reading as well
    CONCLUSION_TOO_FEW,   // too few points came back
    CONCLUSION_OUTCOME_COUNT
};
const char *conclusion_outcome_name(enum conclusion_outcome outcome); // "ok", "none", ...

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

// The question to the curves of a property. Zero is a good default for all members without a
// remark.
struct conclude_question {
    enum reading reading;
    const char *x_unit; // "entries", "bytes"; NULL: none
    const char *y_unit; // "clk", "ns"
    bool geometric;     // x was swept by factors: distances are of its logarithm
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
    uint64_t seed; // start of the bootstrap's random numbers
    // Passes per replicate; 0: not known. Passes of a replicate follow each other in one process,
    // and replicates are minutes apart, so a conclusion from one replicate is never sure.
    int passes_per_replicate;
};
#define CONCLUDE_LEAST_STEP 0.12
enum { CONCLUDE_PASSES_PER_REPLICATE = 3 }; // as `latput property` measures

// Labels of the values, by reading. Knee: "knee" (largest x of the first level; of a gradual
// change, the x at a third of the way to the next level), "before", "after" (y on both sides),
// "full" (x at which the next level begins); the labels of a second knee end in " 2", and so on.
// Plateaus: "level 1", "end 1", "level 2", ... Slope: "slope", "start" (y at x = 0). Difference,
// ratio: the variant, followed by " at X" if there are several x. Matrix: "level 1" (the fastest),
// "cells 1" (number of its cells), ... Distribution: "least", "median", "p99", "step" (greatest
// common step of the values), "mode 1", "share 1", ... Grid: "step". Level: "level", or "level at
// X" if there are several x. The last value may be "doubt": of plateaus, the x from which on
// nothing is sure; of levels and differences, the number of values that are left out because passes
// disagree.
struct conclusion_value {
    const char *label;
    double value;
    double low, high; // with 95 % confidence; of an x never narrower than the points lie
    const char *unit; // "" where it is a plain number
};

// One question about one curve (knee, plateaus, slope, distribution, level,
// grid) or about all (the rest).
struct conclusion {
    const char *variant; // of the curve; "" if it is about all curves
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

// Limits for points of a stranger. The largest property of lists/properties/ has 42 curves, 1,500
// points, and 200 points per curve.
enum {
    CONCLUDE_CURVES_MAX = 4096,    // per property
    CONCLUDE_POINTS_MAX = 1 << 16, // the same
    CONCLUDE_CURVE_MAX = 4096,     // points of a curve
    // Readings that cut a curve into segments (cubic time) or compare all pairs
    CONCLUDE_CURVE_CUT_MAX = 512,
};
int conclude_points_max(enum reading reading); // per curve

// Size of a curve, to know the work of its conclusions before it is done.
struct curve_size {
    int64_t points, samples;
    int64_t most_samples; // of a point
    int64_t passes;       // the highest number of a pass
};
// Returns about how many seconds of CPU time conclude() takes for a property with such curves:
// those of the most unlucky values of this size, on a core at 2.4 GHz.
double conclude_seconds(const struct conclude_question *question, const struct curve_size *curves,
                        int ncurves);

// Returns all conclusions of a property, *nconclusions of them. What they point to is the arena's,
// or the caller's (names of variants, units).
const struct conclusion *conclude(const struct conclude_question *question,
                                  const struct curve *curves, int ncurves, struct arena *arena,
                                  int *nconclusions);

// --- where to measure next ---

struct refine_limits {
    double least_x, most_x; // never outside
    double grain;           // x are multiples of it; 0: 1
    double resolution;      // a gap of this share of x is narrow enough; 0: 0.01
};
// Lists up to `max` new x between points where something happens, ascending, in next[]; none of
// them is a point yet. Returns their number; 0: the sweep is fine enough.
int conclude_refine(const struct conclude_question *question, const struct curve *curve,
                    const struct refine_limits *limits, double *next, int max);

// --- for those who show it ---

// "high", "fair", and below that "low".
#define CONFIDENCE_HIGH 0.9
#define CONFIDENCE_FAIR 0.6
const char *confidence_word(double confidence);

// Returns a quantity as text, owned by the arena: "5.03 clk", "48 KiB", "512".
const char *conclude_quantity(struct arena *arena, double value, const char *unit);

// Returns the value of a point: the middle of the shortest interval that holds half of its samples;
// NaN: it has none.
double curve_point_value(const struct curve_point *point);
