// SPDX-License-Identifier: MIT
// ELF files of either class as they are read here: sections and symbols, with distrust.
#pragma once

#include "object.h"

// A file in memory; the owner frees `bytes`.
struct object {
    const char *path;
    unsigned char *bytes;
    size_t size;
    bool is_64;
    uint64_t table, count, names; // section headers: offset, number, index of the names
};
int object_read(const char *path, struct object *object, struct err *err);

struct section {
    uint64_t name, type, offset, size, link, info, entry, align;
};
// Returns false if there is no section of this number, or it does not lie in the file.
bool object_section(const struct object *object, uint64_t i, struct section *section);
// Returns a string of a string table; NULL if it does not end inside.
const char *object_string(const struct object *object, uint64_t table, uint64_t offset);

struct symbol {
    const char *name;      // NULL: none that can be read
    uint64_t where, value; // number of its section, or SHN_*
    unsigned type;         // STT_*
    bool local;
};
// Reads the symbol at *at of a table and moves *at past it. Returns false if there is none.
bool object_next_symbol(const struct object *object, const struct section *symbols, uint64_t *at,
                        struct symbol *symbol);
