// SPDX-License-Identifier: MIT
// --beside: tables of others beside the instruction table, for commands that read it.
#pragma once

#include "command.h"
#include "store/store.h"

enum { BESIDE_MAX = 16 };
struct beside_option {
    const char *files[BESIDE_MAX]; // "FILE", or "FILE:CPU"
    int n;
};

// The record of the option, without the braces.
#define COMMON_BESIDE(field)                                                                       \
    0, "beside", "FILE[:CPU]",                                                                     \
        "beside the values those of a table of others, as latput compare reads it; CPU: which of " \
        "FILE, and of the database unless --uarch names one",                                      \
        .take = option_take_beside, .offset = OPTION_FIELD(struct beside_option, field)
int option_take_beside(const struct option_given *given, void *to);

// Reads them, and puts them beside the values of `uarch` (as the database has it, with commas
// between several; NULL: of the CPU that each is of), with a note of how many forms have some.
// Returns EXIT_DONE, or another status after a message.
int beside_option_apply(const struct command *cmd, struct store *store,
                        const struct beside_option *beside, const char *uarch);
