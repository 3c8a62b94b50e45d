// SPDX-License-Identifier: MIT
// Part of check: remembers, from one invocation to the next, the lists that had no problem when
// they were assembled and decoded, so that a run need not do so again. A list is known by the
// sha256 of all that this depends on: every row as it was read, the exceptions, the macros, the
// features, NASM and this program. So another list of the same name is never taken for it.
#pragma once

#include "list/list.h"

#include <stdbool.h>

enum { CHECK_KEY_BYTES = 65 };

struct check_known; // NULL is valid everywhere: remembers nothing

// Opens the memory: $XDG_CACHE_HOME/latput/checked or ~/.cache/latput/checked. `nasm`: NASM's
// version. Returns NULL if that is not this user's directory, or others can write to it.
struct check_known *check_known_open(const char *nasm);
// Fills `key` for the rows of the list.
void check_known_key(const struct check_known *known, const struct list *list,
                     char key[CHECK_KEY_BYTES]);
bool check_known_has(const struct check_known *known, const char *key);
void check_known_add(const struct check_known *known, const char *key); // errors are ignored
void check_known_close(struct check_known *known);
