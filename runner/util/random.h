// SPDX-License-Identifier: MIT
// Numbers that are the same for a seed everywhere: splitmix64 (Steele, Lea and Flood, 2014). Not
// for secrets.
#ifndef LATPUT_RANDOM_H
#define LATPUT_RANDOM_H

#include <stdint.h>

uint64_t random_bits(uint64_t *state);
// 0 to below - 1; the few numbers that are likelier by a trifle do not matter here.
int random_below(uint64_t *state, int below);

#endif
