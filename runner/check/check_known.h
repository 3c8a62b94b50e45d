// SPDX-License-Identifier: MIT
// Part of check: remembers, from one invocation to the next, which lists had no problem when they
// were assembled and decoded, so that a run need not do so again. A list is known by the sha256 of
// all that this depends on: every row as it was read, the exceptions, the macros, the features,
// NASM and this program. So another list, even of the same name, is never taken for it.
#ifndef LATPUT_CHECK_KNOWN_H
#define LATPUT_CHECK_KNOWN_H

#include "list/list.h"

#include <stdbool.h>

enum { CHECK_KEY_BYTES = 65 };

struct check_known; // NULL is valid everywhere: nothing is known, nothing remembered

// `nasm`: NASM's version. The memory is $XDG_CACHE_HOME/latput/checked or ~/.cache/latput/checked;
// NULL if that is not a directory which is ours and which nobody else can write to.
struct check_known *check_known_open(const char *nasm);
// Fills `key` for the rows of the list.
void check_known_key(const struct check_known *known, const struct list *list,
                     char key[CHECK_KEY_BYTES]);
bool check_known_has(const struct check_known *known, const char *key);
void check_known_add(const struct check_known *known, const char *key); // failing is no harm
void check_known_close(struct check_known *known);

#endif
