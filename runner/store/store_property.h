// SPDX-License-Identifier: MIT
// Properties of the pipeline: what was asked, the points of the sweeps with their samples (facts),
// and what they say (derived: store_conclude_property()).
#ifndef LATPUT_STORE_PROPERTY_H
#define LATPUT_STORE_PROPERTY_H

#include "core/outcome.h"
#include "derive/conclude.h"
#include "execute/timing.h"
#include "store.h"
#include "util/mem.h"

#include <stdint.h>

struct stored_point {
    int64_t point_id;  // set by what reads it
    int variant;       // index
    double x, by;      // swept variables; by is NaN where there is one only
    int64_t instances; // what one body counts as
    enum outcome outcome;
    const char *detail;
    const struct timing *timings; // those with samples
    int ntimings;
    double y; // derived, in y_unit an instance; NaN where there is no sample
    int samples;
};
struct stored_variant {
    const char *name; // "" where there is one only
    enum outcome outcome;
    const char *detail;
};
// Texts that do not exist are "".
struct stored_property {
    int64_t property_id, run_id; // set by what reads it
    int position;                // in the run
    const char *grp, *name, *title, *question;
    const char *x_unit, *by_unit, *y_unit; // y_unit: "clk" or "ns"
    const char *reading;                   // as derive/conclude_question.h has it
    const char *compare, *definition;
    const char *vm; // why it means little on a virtual machine: "paging", ...; "": it does
    double tsc_hz, seconds;
    int64_t area_bytes, area_huge_bytes;
    enum outcome outcome; // OK: it was swept
    const char *detail;
    struct stored_variant *variants;
    int nvariants;
    struct stored_point *points;
    int npoints;
    const struct conclusion *conclusions; // derived
    int nconclusions;
};

// What its samples say: y of each point, the curves, one a variant and value of `by`, and the
// conclusions. Pure. What they point to is the arena's. -1: the text `reading` is not valid.
int store_property_conclude(struct stored_property *property, struct arena *arena, struct err *err);
// The curves alone.
const struct curve *store_property_curves(struct stored_property *property, struct arena *arena,
                                          int *ncurves);
// The name (struct curve's variant) of the one that a point belongs to.
const char *store_property_curve_name(const struct stored_property *property,
                                      const struct stored_point *point, struct arena *arena);

// Adds it to a run with its conclusions, all of it or nothing. property->position is set.
int store_put_property(struct store *store, int64_t run_id, struct stored_property *property,
                       struct err *err);
// A point of one of its curves.
struct property_value {
    const char *variant;
    double x, y;
};
struct property_values {
    struct property_value *points;
    int n;
};
// The points that are ok of a property, of the newest run on this uarch that has swept it, of
// those measured here if there is one; none where no run has. They are the arena's.
int store_get_property_values(struct store *store, const char *uarch, const char *property,
                              struct property_values *values, struct arena *arena, struct err *err);
// 1 if the run has it, 0 if not, -1.
int store_has_property(struct store *store, int64_t run_id, const char *name, struct err *err);
// Those of a run, with points and samples and conclusions, in its order. They are the arena's.
int store_get_properties(struct store *store, int64_t run_id, struct stored_property **properties,
                         int *nproperties, struct arena *arena, struct err *err);
// Concludes anew what the run (0: all runs) has; adds to *made and *changed.
int store_rederive_properties(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                              struct err *err);
// The newest run that has properties, of those measured here if there is one: 1, or 0 where there
// is none, or -1.
int store_newest_properties(struct store *store, int64_t *run_id, struct err *err);

#endif
