// SPDX-License-Identifier: MIT
// Random numbers that a seed determines on every machine: splitmix64 (Steele, Lea and Flood, 2014).
// Not for secrets.
#pragma once

#include <stdint.h>

uint64_t random_bits(uint64_t *state);
// Returns a number from 0 to below - 1. Some are likelier by a trifle, which does not matter here.
int random_below(uint64_t *state, int below);
