// SPDX-License-Identifier: MIT
// Explanations for other commands: bench --explain.
#pragma once

#include "bench/bench.h"

// Explains on standard output the code of a spec that bench has measured. Returns EXIT_*, after a
// message of latput explain unless EXIT_DONE.
int explain_bench(const struct bench_spec *spec);
