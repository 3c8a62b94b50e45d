// SPDX-License-Identifier: MIT
// Places of the stores of a mix, shared by all its parts. They lie before the data area, so that no
// part loads by chance what another has stored.
//
// Many cores let two stores leave in a cycle only if they are adjacent in the program and in one
// line (Golden Cove) or half a line (Zen 3). Since this is no limit of ports, each store goes to
// the place after the previous one. The first half of each block is for instances that rewrite
// memory, so that they do not wait for recent writes; the other is for those that only write.
#include "plan_internal.h"

enum {
    LINE = 64,
    BYTES = 32 * LINE, // size after which places are written again
    HALF = 16,         // two stores to 32 bytes leave in a cycle
};

static void places_add(struct places *places, const struct point *stored, int *least)
{
    int bytes = throughput_bytes(stored);
    if (bytes > places->half && bytes < LINE)
        places->half = bytes;
    if (stored->read) {
        *least = *least && *least < bytes ? *least : bytes;
        places->rewritten = true;
    }
}

unsigned places_find(const struct point *const *stored, int n, struct places *places)
{
    int least = 0;
    *places = (struct places){.half = HALF};
    for (int i = 0; i < n; i++)
        if (stored[i])
            places_add(places, stored[i], &least);
    return 1u << PLACES_ADJACENT | (least && least < PLACE_APART ? 1u << PLACES_APART : 0u);
}

// Lines go down: displacements of the first places are short.
static int places_disp(int at)
{
    return at % LINE - (at / LINE + 1) * LINE;
}

static int places_align(int at, int bytes)
{
    return (at + bytes - 1) / bytes * bytes;
}

static int places_rewritten(struct places *places, int bytes)
{
    const int block = 2 * places->half;
    int size = places->kind == PLACES_APART && bytes < PLACE_APART ? PLACE_APART : bytes;
    int at = places_align(places->at, size);
    if (at % block >= places->half)
        at = places_align(at, block);
    if (at + size > BYTES)
        at = 0;
    places->at = at + size;
    places->block = at - at % block;
    return places_disp(at);
}

int places_next(struct places *places, const struct point *stored)
{
    int bytes = throughput_bytes(stored);
    if (bytes >= LINE && places->rewritten) // a place beyond the lines that others rewrite
        return -BYTES - bytes;
    if (bytes >= LINE)
        return -bytes;
    if (stored->read)
        return places_rewritten(places, bytes);
    return places_disp(places->block + places->half);
}
