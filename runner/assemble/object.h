// SPDX-License-Identifier: MIT
// Limits what an assembled batch may bring into the measurement core: code and constants, nothing
// that runs or replaces anything before the core has given up its rights.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Refuses an ELF object with a section or a global symbol of its own. Returns 0, or -1 with its
// name.
int assemble_object_check(const char *path, struct err *err);
// Reads the machine code of a function of an ELF object, before relocation, into *code and *len,
// owned by the arena. Returns 0, or -1 with a message: the object has no function of that name, or
// does not give its length.
int assemble_object_function(const char *path, const char *name, const uint8_t **code, size_t *len,
                             struct arena *arena, struct err *err);
// The bytes between two labels of an object, whose names are BUILD_MARK and a number.
#define BUILD_MARK "L"
struct assemble_mark {
    const uint8_t *bytes; // NULL: there is no such label
    size_t len;
    bool relocated; // the linker would change it
};
// Fills marks[i], for i < n, with the bytes between label i and the next label in the object; label
// n is the last. Returns the memory that they point into, for the caller to free; NULL if this is
// no such object, or the labels are not in one section and in order.
void *assemble_object_marks(const char *path, size_t n, struct assemble_mark *marks);

// Bytes that replace a function's at an offset.
struct assemble_patch {
    size_t at;
    const uint8_t *bytes;
    size_t len;
};
// Writes a copy of the object to `to`, with the patch in its function `name`.
int assemble_object_replace(const char *path, const char *name, const struct assemble_patch *patch,
                            const char *to, struct err *err);
