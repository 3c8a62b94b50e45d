// SPDX-License-Identifier: MIT
// Timings with their samples, of a kernel and of a point of a sweep.
#pragma once

#include "execute/timing.h"
#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// Subject of timings: a kernel of a test, or a point of a property.
enum store_timed { TIMED_KERNEL, TIMED_POINT };

// Stores the passes over a kernel or a point.
int store_put_timings(struct store *store, enum store_timed what, int64_t of,
                      const struct timing *timings, int n, struct err *err);
// Reads the passes over a kernel with their samples, in the order of measuring; without samples if
// the database has none. All is owned by the arena.
int store_get_timings(struct store *store, int64_t kernel_id, struct arena *arena,
                      const struct timing **timings, int *ntimings, struct err *err);
// Reads the passes that have samples over all points of a property, in the order of the points.
int store_get_swept_timings(struct store *store, int64_t property_id, struct arena *arena,
                            const struct timing **timings, int *ntimings, struct err *err);
