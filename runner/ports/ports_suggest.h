// SPDX-License-Identifier: MIT
// Suggestions: the usages of forms with the same mnemonic, and the few trials that would refute
// them for another form.
#pragma once

#include "ports_trials.h"

enum suggest_state {
    SUGGEST_OPEN,    // trials are due, and some of them were added
    SUGGEST_NONE,    // no suggestion is left
    SUGGEST_SETTLED, // *usage is a sibling's that no trial refuted
};
// Takes the next step for the form at position i. *usage is set with SUGGEST_SETTLED: the ports of
// the sibling, slots and times of the form itself.
enum suggest_state suggest_step(struct inference *inference, struct round_mixes *round, int i,
                                struct port_usage *usage);
// Returns true if a form of i's family is settled, with memory operands if i has any.
bool suggest_knows(const struct inference *inference, int i);
bool suggest_are_siblings(const struct inference *inference, int a, int b);
// Keeps the usage of form i as a suggestion for others.
void suggest_learn(struct inference *inference, int i, const struct port_usage *usage);
// Returns true if the form is drawn to be searched in full although it is settled.
bool suggest_drawn(const struct inference *inference, int i);
