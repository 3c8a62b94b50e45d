// SPDX-License-Identifier: MIT
// What latput explain needs and the database does not have, measured on the spot.
#ifndef LATPUT_CMD_EXPLAIN_MISSING_H
#define LATPUT_CMD_EXPLAIN_MISSING_H

#include "bench/bench.h"
#include "explain/explain_table.h"

// Measures the forms of the lists that instructions of the blocks are and that `table` has no
// numbers of, as a run of its own in `store`: latency and throughput, and ports where the table has
// their structure. `spec` says on which CPU and how long to wait. 1: there is something new in the
// database, 0: nothing was missing, -1 with a message.
int explain_measure_missing(const struct explain_table *table, struct store *store,
                            const struct block *blocks, int nblocks, const struct bench_spec *spec,
                            struct err *err);

#endif
