// SPDX-License-Identifier: MIT
// Batches on several cores of one kind at once (`run --parallel`). That these do not get in each
// other's way (a shared clock, power, caches) is not believed: a drawn share of each batch is
// measured alone, too, and where that comes out otherwise the run goes on alone.
#pragma once

#include "batch.h"
#include "execute/exec_parallel.h"

#include <stdint.h>

struct session;

struct parallel {
    int cpus[EXEC_PARALLEL_MAX]; // the session's first
    int n;
    bool ended;            // by the comparison
    int64_t drawn, differ; // kernels that were measured alone, too; those that came out otherwise
    uint64_t state;        // of the draw
};

// Has the session measure on `wanted` (2 to EXEC_PARALLEL_MAX) cores of its kind from now on, and
// the rest of this program leave them as far as any is left. -1: it may not use as many, or counts
// what is bound to one of them.
int parallel_begin(struct session *session, int wanted, struct err *err);

// Measures the batch: on these cores, or where the session has none on its CPU, from which it may
// move. Kernels that alone come out otherwise, twice, have the values that they have alone.
int parallel_measure(struct session *session, struct batch *batch, const struct exec_params *params,
                     const struct exec_progress *progress, struct exec_summary *summary,
                     struct err *err);
