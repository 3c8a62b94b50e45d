// SPDX-License-Identifier: MIT
// Timings of a kernel, in the form that derive/ takes.
#pragma once

#include "execute/timing.h"
#include "store.h"
#include "util/mem.h"

#include <stdint.h>

// Reads the passes over a kernel with their samples, in the order of measuring; without samples if
// the database has none. All is owned by the arena.
int store_get_timings(struct store *store, int64_t kernel_id, struct arena *arena,
                      const struct timing **timings, int *ntimings, struct err *err);
