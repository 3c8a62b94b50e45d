// SPDX-License-Identifier: MIT
// A property that was swept: its points with their samples, and the conclusions drawn from them.
// property/ measures it, store/ keeps it, report/ and site/ show it.
#pragma once

#include "conclude.h"
#include "core/outcome.h"
#include "execute/timing.h"
#include "util/err.h"
#include "util/mem.h"

#include <stdint.h>

struct swept_point {
    int64_t point_id;  // set by what reads it
    int variant;       // index
    double x, by;      // swept variables; by is NaN where there is one only
    int64_t instances; // per body
    enum outcome outcome;
    const char *detail;
    const struct timing *timings; // only timings with samples
    int ntimings;
    double y; // derived, in y_unit an instance; NaN where there is no sample
    int samples;
};
struct swept_variant {
    const char *name; // "" where there is one only
    enum outcome outcome;
    const char *detail;
};
// Texts that do not exist are "".
struct swept_property {
    int64_t property_id, run_id; // set by what reads it
    int position;                // in the run
    const char *grp, *name, *title, *question;
    const char *x_unit, *by_unit, *y_unit; // y_unit: "clk" or "ns"
    const char *reading;                   // text of conclude/conclude_question.h
    const char *compare, *definition;
    const char *vm; // reason why a virtual machine distorts it: "paging", ...; "": none
    double tsc_hz, seconds;
    int64_t area_bytes, area_huge_bytes;
    enum outcome outcome; // OK: it was swept
    const char *detail;
    struct swept_variant *variants;
    int nvariants;
    struct swept_point *points;
    int npoints;
    const struct conclusion *conclusions; // derived
    int nconclusions;
};

// Derives y of each point from its samples, then the curves, one per variant and value of `by`, and
// the conclusions. Pure. The results are the arena's. -1: the text `reading` is not valid.
int swept_conclude(struct swept_property *property, struct arena *arena, struct err *err);
// Returns the curves alone.
const struct curve *swept_curves(struct swept_property *property, struct arena *arena,
                                 int *ncurves);
// Returns the name (struct curve's variant) of the one that a point belongs to.
const char *swept_curve_name(const struct swept_property *property, const struct swept_point *point,
                             struct arena *arena);
