// SPDX-License-Identifier: MIT
// Suggestions: what a form may use, as forms with the same mnemonic do, and the few trials that
// would refute it.
#ifndef LATPUT_PORTS_SUGGEST_H
#define LATPUT_PORTS_SUGGEST_H

#include "ports_trials.h"

enum suggest_state {
    SUGGEST_OPEN,    // trials are due, of which some were added
    SUGGEST_NONE,    // nobody suggests anything, or everything is refuted
    SUGGEST_SETTLED, // *usage is a sibling's, which no trial refuted
};
// The next step for the form at position i. `part` is that of the inference's model; what is
// settled has slots and times of its own.
enum suggest_state suggest_step(struct inference *inference, struct round_mixes *round, int i,
                                struct port_usage *usage);
// Whether anybody of the family of form i is known, with memory operands where it has some.
bool suggest_knows(const struct inference *inference, int i);
bool suggest_are_siblings(const struct inference *inference, int a, int b);
// Has others know what was found of form i.
void suggest_learn(struct inference *inference, int i, const struct port_usage *usage);
// Whether the form is drawn to be searched in full although it is settled.
bool suggest_drawn(const struct inference *inference, int i);

#endif
