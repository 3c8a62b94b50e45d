// SPDX-License-Identifier: MIT
// Properties of the pipeline: their questions, the points of the sweeps with their samples (facts),
// and conclusions from them (derived: conclude/swept.h).
#pragma once

#include "conclude/swept.h"
#include "store.h"
#include "store_field.h"
#include "util/mem.h"

#include <stdint.h>

// The fields of its rows.
extern const struct store_record store_swept_property, store_conclusion, store_conclusion_value;

// Adds a property to a run with its conclusions, all of it or nothing. Sets property->position.
int store_put_property(struct store *store, int64_t run_id, struct swept_property *property,
                       struct err *err);
// A point of one of a property's curves.
struct property_value {
    const char *variant;
    double x, y;
};
struct property_values {
    struct property_value *points;
    int n;
};
// Reads the valid points of a property from the newest run on this uarch that has swept it,
// preferably one measured here; none if there is no such run. Owned by the arena.
int store_get_property_values(struct store *store, const char *uarch, const char *property,
                              struct property_values *values, struct arena *arena, struct err *err);
// Returns 1 if the run has the property, 0 if not, -1 on error.
int store_has_property(struct store *store, int64_t run_id, const char *name, struct err *err);
// Reads the properties of a run with points, samples and conclusions, in its order. Owned by the
// arena.
int store_get_properties(struct store *store, int64_t run_id, struct swept_property **properties,
                         int *nproperties, struct arena *arena, struct err *err);
// Replaces the values of its points and its conclusions.
int store_put_conclusions(struct store *store, const struct swept_property *property,
                          struct err *err);
// Finds the run on this uarch (NULL: on any) that has most of the properties which match the glob
// `named` (NULL: of all), preferably one measured here, and of these the newest: a run of a few
// does not hide one of all. Returns 1, 0 if no run has properties, or -1.
int store_newest_properties(struct store *store, const char *uarch, const char *named,
                            int64_t *run_id, struct err *err);
