// SPDX-License-Identifier: MIT
// Part of stage 1, for list.c only: the isa column, and the encoding that follows from it.
#pragma once

#include "list_operand.h"

enum { LIST_ISA_CACHE_MAX = 64, LIST_ENCODINGS = ENC_XOP + 1 };

// An isa expression that has been found valid.
struct list_isa {
    const char *text;
    bool has[LIST_ENCODINGS]; // one of its features has instructions of this encoding
};

// Results of look-ups in the feature table: the isa column has few different values.
struct list_isa_cache { // zero-initialise before use
    struct list_isa isas[LIST_ISA_CACHE_MAX];
    int n;
};

// Looks up the text, which must live as long as the cache. The result belongs to the cache and is
// valid until the next call. Returns NULL with the fault if the text is not valid.
const struct list_isa *list_isa_look_up(struct list_isa_cache *cache, const char *text,
                                        struct list_fault *fault);

// Returns the encoding of a row: {vex}, {evex} or enc= if given; else what its features say.
// Instructions of EVEX features without a vector operand (kaddw, kmovw r32) are VEX.
enum encoding list_isa_encoding(const struct list_isa *isa, const struct list_row *row);
