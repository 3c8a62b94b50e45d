// SPDX-License-Identifier: MIT
// What an assembled batch may bring into the measurement core: code and constants, nothing that
// runs or replaces anything before the core has given up its rights.
#ifndef LATPUT_BUILD_OBJECT_H
#define LATPUT_BUILD_OBJECT_H

#include "util/err.h"
#include "util/mem.h"

#include <stddef.h>
#include <stdint.h>

// Refuses an ELF object with a section or a global symbol of its own: 0, or -1 with its name.
int build_object_check(const char *path, struct err *err);
// The machine code of a function of an ELF object, before relocation: *code and *len, the arena's.
// -1 with a message: the object has no function of that name, or does not say how long it is.
int build_object_function(const char *path, const char *name, const uint8_t **code, size_t *len,
                          struct arena *arena, struct err *err);
// Bytes in the place of those that a function has there.
struct build_patch {
    size_t at;
    const uint8_t *bytes;
    size_t len;
};
// Writes a copy of the object to `to`, with the patch in its function `name`.
int build_object_replace(const char *path, const char *name, const struct build_patch *patch,
                         const char *to, struct err *err);

#endif
