// SPDX-License-Identifier: MIT
// What an assembled batch may bring into the measurement core: code and constants, nothing that
// runs or replaces anything before the core has given up its rights.
#ifndef LATPUT_BUILD_OBJECT_H
#define LATPUT_BUILD_OBJECT_H

#include "util/err.h"

// Refuses an ELF object with a section or a global symbol of its own: 0, or -1 with its name.
int build_object_check(const char *path, struct err *err);

#endif
