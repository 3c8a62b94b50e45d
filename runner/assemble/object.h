// SPDX-License-Identifier: MIT
// What an assembled batch may bring into the measurement core: code and constants, nothing that
// runs or replaces anything before the core has given up its rights.
#ifndef LATPUT_OBJECT_H
#define LATPUT_OBJECT_H

#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Refuses an ELF object with a section or a global symbol of its own: 0, or -1 with its name.
int assemble_object_check(const char *path, struct err *err);
// The machine code of a function of an ELF object, before relocation: *code and *len, the arena's.
// -1 with a message: the object has no function of that name, or does not say how long it is.
int assemble_object_function(const char *path, const char *name, const uint8_t **code, size_t *len,
                             struct arena *arena, struct err *err);
// What stands between two labels of an object: BUILD_MARK and a number.
#define BUILD_MARK "L"
struct assemble_mark {
    const uint8_t *bytes; // NULL: there is no such label
    size_t len;
    bool relocated; // the linker would change it
};
// Fills marks[i], for i < n, with what stands between label i and the next one that there is; label
// n is the last. Returns the memory that they point into, to be freed; NULL: this is no such
// object, or the labels are not all in one section and in their order.
void *assemble_object_marks(const char *path, size_t n, struct assemble_mark *marks);

// Bytes in the place of those that a function has there.
struct assemble_patch {
    size_t at;
    const uint8_t *bytes;
    size_t len;
};
// Writes a copy of the object to `to`, with the patch in its function `name`.
int assemble_object_replace(const char *path, const char *name, const struct assemble_patch *patch,
                            const char *to, struct err *err);

#endif
