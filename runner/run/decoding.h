// SPDX-License-Identifier: MIT
// What instructions cost where they are decoded, beyond what they take out of the µop cache: a
// prefix that changes how long an instruction is keeps the decoders of some CPUs busy.
#ifndef LATPUT_DECODING_H
#define LATPUT_DECODING_H

#include "ports/ports.h"

// Cycles that an instance of each form takes longer in a body that no µop cache holds than in a
// short one: decode_clk[i] of forms which[i]; 0: no longer than fetching explains; NaN: one of the
// two could not be timed. -1: the oracle fails.
int decoding_measure(const struct port_oracle *oracle, const int *which, int n, double *decode_clk,
                     struct err *err);

#endif
