// SPDX-License-Identifier: MIT
// Listings of objdump -d and perf annotate, saved or pasted: lines of an address, the bytes of an
// instruction, and its text.
#pragma once

#include "bench_bytes.h"

struct bench_listing {
    struct bench_bytes code; // where the lines have bytes
    const char *text; // else: the instructions as text, a line each, for the assembler; or NULL
    const int *lines; // of the listing, for each line of the text
};

// Returns true if the text is such a listing: a line has an address that no label could be, and an
// instruction.
bool bench_text_is_listing(const char *text);
// Reads the listing. Returns 0, or -1 with a message with the line of the text.
int bench_listing_read(const char *text, int bits, struct bench_listing *listing,
                       struct arena *arena, struct err *err);
