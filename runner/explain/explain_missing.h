// SPDX-License-Identifier: MIT
// Measures forms that latput explain needs and the database does not have.
#pragma once

#include "bench/bench.h"
#include "explain_table.h"

// Measures the forms of the blocks' instructions for which `table` has no numbers, as a run of its
// own in `store`: latency and throughput, and ports if the table has their structure. `spec` gives
// the CPU and how long to wait. Returns 1 if the database has new results, 0 if nothing was
// missing, -1 with a message.
int explain_measure_missing(const struct explain_table *table, struct store *store,
                            const struct block *blocks, int nblocks, const struct bench_spec *spec,
                            struct err *err);
