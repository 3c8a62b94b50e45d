// SPDX-License-Identifier: MIT
// The cost of instructions in the decoder, compared with the µop cache: a prefix that changes the
// length of an instruction keeps the decoders of some CPUs busy.
#pragma once

#include "ports/ports.h"

struct portrun_decoding {
    int form;             // index for the oracle
    double explained_clk; // time per instance that ports and slots explain
    double decode_clk;    // result
};
// Returns how long ports and slots make one instance take, whatever else it waits for.
double portrun_decoding_explained_clk(const struct port_model *model,
                                      const struct port_usage *usage);
// Sets decode_clk: extra cycles per instance in a body that no µop cache holds, compared with a
// short one or, for code that the µop cache never holds, with the time that ports and slots
// explain. 0: no more than fetching costs; NaN: one of the two could not be timed. Returns 0; -1 if
// the oracle fails.
int portrun_decoding_measure(const struct port_oracle *oracle, struct portrun_decoding *forms,
                             int n, struct err *err);
