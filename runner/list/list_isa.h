// SPDX-License-Identifier: MIT
// Part of stage 1, for list.c only: the isa column, and the encoding that follows from it.
#ifndef LATPUT_LIST_ISA_H
#define LATPUT_LIST_ISA_H

#include "list_operand.h"

enum { LIST_ISA_CACHE_MAX = 64, LIST_ENCODINGS = ENC_XOP + 1 };

// A valid isa expression.
struct list_isa {
    const char *text;
    bool has[LIST_ENCODINGS]; // a feature of it brings instructions of this encoding
};

// The isa column has few different values: each is looked up in the feature table once.
struct list_isa_cache { // zero-initialise before use
    struct list_isa isas[LIST_ISA_CACHE_MAX];
    int n;
};

// Looks up the text, which must live as long as the cache. Owned by the cache and valid until the
// next call. NULL with the fault when the text is not valid.
const struct list_isa *list_isa_look_up(struct list_isa_cache *cache, const char *text,
                                        struct list_fault *fault);

// The encoding of a row: {vex}, {evex} or enc= if it has one of them; else that of its features.
// Instructions of EVEX features without a vector operand (kaddw, kmovw r32) are VEX.
enum encoding list_isa_encoding(const struct list_isa *isa, const struct list_row *row);

#endif
