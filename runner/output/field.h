// SPDX-License-Identifier: MIT
// Members of structures as data: their place, and their values in a row. What is stored, read and
// printed follows from tables of them (store/store_field.h, output.h).
#pragma once

#include "look.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Machine code or another text of bytes.
struct field_blob {
    const void *bytes; // NULL: none
    int n;
};

// A value whose type is known only at run time, like the values of a database.
struct field_value {
    enum look_type type;
    bool none;
    int64_t integer;
    double real;           // of integers, too; NaN: none
    const char *text;      // "" of numbers
    const char *shown;     // as tables for people have it; NULL: no table is made of it
    enum text_style style; // there
};

// The type of a member, which FIELD_PLACE() takes from the structure.
enum field_kind {
    FIELD_INT,
    FIELD_INT64,
    FIELD_UINT32, // enumerations, too
    FIELD_UINT64,
    FIELD_BOOL,
    FIELD_REAL, // NaN: there is no number
    FIELD_TEXT, // const char *
    FIELD_NAME, // char[]
    FIELD_BLOB,
    FIELD_VALUE,
    FIELD_TEXTS, // const char *const *, as many as another member says
    FIELD_REALS, // const double *, likewise
    FIELD_ROWS,  // pointer to structures, likewise
    FIELD_ARRAY, // array of structures, likewise
    FIELD_MORE,  // struct output_more
    FIELD_WITHIN // a structure
};

struct field_place {
    const char *member; // "clk", "model.width"
    enum field_kind kind;
    size_t offset, size;
};

// Makes the place `at` of a member of a structure. A member of another type does not compile.
#define FIELD_PLACE(at, type, name) FIELD_PLACE_AS(at, type, name, FIELD_KIND(((type *)0)->name))
#define FIELD_PLACE_AS(at, type, name, of_kind)                                                    \
    at.member = #name, at.kind = (of_kind), at.offset = offsetof(type, name),                      \
    at.size = sizeof((type *)0)->name
#define FIELD_KIND(value)                                                                          \
    _Generic((value),                                                                              \
        int: FIELD_INT,                                                                            \
        int64_t: FIELD_INT64,                                                                      \
        uint32_t: FIELD_UINT32,                                                                    \
        uint64_t: FIELD_UINT64,                                                                    \
        bool: FIELD_BOOL,                                                                          \
        double: FIELD_REAL,                                                                        \
        const char *: FIELD_TEXT,                                                                  \
        char *: FIELD_NAME,                                                                        \
        const char *const *: FIELD_TEXTS,                                                          \
        const double *: FIELD_REALS,                                                               \
        double *: FIELD_REALS,                                                                     \
        struct field_value: FIELD_VALUE,                                                           \
        struct field_blob: FIELD_BLOB)

// The words that stand for the values of an enumeration, by a function or in their order.
struct field_words {
    const char *(*name)(unsigned value);
    unsigned n, unknown; // number of them, and the value for any other word, where they are read
    const char *const *names;
};

// Returns the member's own name, without the names of the structures that it is in.
const char *field_name(const struct field_place *at);
// Return the value of a member in a row; a text may be NULL.
int64_t field_integer(const struct field_place *at, const void *row);
double field_real(const struct field_place *at, const void *row);
const char *field_text(const struct field_place *at, const struct field_words *words,
                       const void *row);
