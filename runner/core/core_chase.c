// SPDX-License-Identifier: MIT
// In which order a chase goes through its nodes. It has no state and no dependencies.
#include "core_internal.h"

uint64_t chase_nodes(const struct core_fill *fill)
{
    return fill->stride ? fill->bytes / fill->stride : 0;
}

// Returns the next number of splitmix64, like util/random.c in the runner.
uint64_t chase_random(uint64_t *state)
{
    uint64_t bits = *state += 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

// Lists n numbers from `first` on in random order: the shuffle of Fisher and Yates.
static void shuffle(uint32_t *numbers, uint32_t first, uint32_t n, uint64_t *seed,
                    void (*alive)(void))
{
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = first + i;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t other = (uint32_t)((chase_random(seed) >> 32) * (i + 1) >> 32);
        uint32_t kept = numbers[i];
        numbers[i] = numbers[other];
        numbers[other] = kept;
        if (i % LIFE_NODES == 0)
            alive();
    }
}

void chase_order(const struct core_fill *fill, uint32_t *order, void (*alive)(void))
{
    uint64_t seed = fill->seed;
    uint32_t nodes = (uint32_t)chase_nodes(fill);
    uint32_t each = fill->kind == CORE_FILL_CHASE_PAGES ? CORE_PAGE / fill->stride : 1;
    if (each < 2) {
        shuffle(order, 0, nodes, &seed, alive);
        return;
    }
    uint32_t pages = nodes / each;
    shuffle(order, 0, pages, &seed, alive);
    // from the end: the written part lies after the unread part
    for (uint32_t page = pages; page-- > 0;)
        shuffle(order + page * each, order[page] * each, each, &seed, alive);
    shuffle(order + pages * each, pages * each, nodes - pages * each, &seed, alive);
}
