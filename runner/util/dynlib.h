// SPDX-License-Identifier: MIT
// Libraries that are loaded where something needs them.
#pragma once

#include "err.h"

#include <stddef.h>

struct dynlib {
    const char *who, *name;   // "packs need", "libarchive": for messages
    const char *const *files; // tried in this order; the last is NULL
    const char *const *names; // of its functions
    size_t n;
};
// Loads it and fills *calls with its functions, one per name. Returns -1 with an error.
int dynlib_load(const struct dynlib *library, void **calls, struct err *err);
