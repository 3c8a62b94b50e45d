// SPDX-License-Identifier: MIT
// What other commands have explained: bench --explain.
#ifndef LATPUT_CMD_EXPLAIN_H
#define LATPUT_CMD_EXPLAIN_H

#include "bench/bench.h"

// Explains the code of a spec that bench has measured, on standard output. EXIT_*, after a message
// of latput explain's where it is not EXIT_DONE.
int explain_bench(const struct bench_spec *spec);

#endif
