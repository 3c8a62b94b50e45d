// SPDX-License-Identifier: MIT
// Properties of the pipeline: what was asked, the points of the sweeps with their samples (facts),
// and what they say (derived: conclude/swept.h).
#ifndef LATPUT_STORE_PROPERTY_H
#define LATPUT_STORE_PROPERTY_H

#include "conclude/swept.h"
#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// Adds it to a run with its conclusions, all of it or nothing. property->position is set.
int store_put_property(struct store *store, int64_t run_id, struct swept_property *property,
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
int store_get_properties(struct store *store, int64_t run_id, struct swept_property **properties,
                         int *nproperties, struct arena *arena, struct err *err);
// Concludes anew what the run (0: all runs) has; adds to *made and *changed.
int store_rederive_properties(struct store *store, int64_t run_id, int64_t *made, int64_t *changed,
                              struct err *err);
// The newest run that has properties, of those measured here if there is one: 1, or 0 where there
// is none, or -1.
int store_newest_properties(struct store *store, int64_t *run_id, struct err *err);

#endif
