// SPDX-License-Identifier: MIT
// What instructions cost where they are decoded, beyond what they take out of the µop cache: a
// prefix that changes how long an instruction is keeps the decoders of some CPUs busy.
#ifndef LATPUT_DECODING_H
#define LATPUT_DECODING_H

#include "ports/ports.h"

struct decoding_form {
    int form;             // of the oracle
    double explained_clk; // that ports and slots make an instance take
    double decode_clk;    // out
};
// How long ports and slots make one instance take, whatever else it waits for.
double decoding_explained_clk(const struct port_model *model, const struct port_usage *usage);
// Sets decode_clk: cycles that an instance takes longer in a body that no µop cache holds than in a
// short one, or, where it is in no µop cache either way, than ports and slots explain; 0: no longer
// than fetching takes; NaN: one of the two could not be timed. -1: the oracle fails.
int decoding_measure(const struct port_oracle *oracle, struct decoding_form *forms, int n,
                     struct err *err);

#endif
