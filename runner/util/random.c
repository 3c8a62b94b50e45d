// SPDX-License-Identifier: MIT
// splitmix64; see random.h.
#include "random.h"

uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int random_below(uint64_t *state, int below)
{
    return (int)(random_bits(state) % (uint64_t)below);
}
