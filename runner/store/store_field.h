// SPDX-License-Identifier: MIT
// Tables of the fields of a record: one line says how a member of a structure is stored, read and
// printed. What is stored, what is read and what JSON shows follow from it.
//
// A new number of a record takes three places:
//
// 1. the member of the structure, where its value is made;
// 2. its line in the record's table of fields, from which storing and reading follow;
// 3. the column in db/schema.sql, with a migration and the version's number (STORE_SCHEMA_VERSION).
//
// Merging takes columns from the schema. docs/HOWTO_ADD_COLUMN.md says how a public view shows it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Machine code or another text of bytes.
struct store_blob {
    const void *bytes; // NULL: none
    int n;
};

// The type of a member, which STORE_FIELD() takes from the structure.
enum store_kind {
    FIELD_INT,
    FIELD_INT64,
    FIELD_UINT32, // enumerations, too
    FIELD_BOOL,
    FIELD_REAL, // NULL in the column and NaN in the member are the same: there is no number
    FIELD_TEXT, // const char *; NULL is stored as '', and read with its characters escaped
    FIELD_NAME, // char[]
    FIELD_BLOB,
};
// The words that stand for the values of an enumeration in its column.
enum store_words {
    WORDS_NONE,
    WORDS_OUTCOME,    // enum outcome
    WORDS_TEST,       // enum test_kind
    WORDS_BOUND,      // enum bound
    WORDS_HOLDS,      // enum port_holds
    WORDS_WAY,        // enum port_way
    WORDS_CONCLUSION, // enum conclusion_outcome
};

struct store_field {
    const char *member; // "clk", "model.width"
    enum store_kind kind;
    size_t offset, size;
    const char *column; // "table.column" where it is read from several tables, SQL if it is only
                        // read; NULL: named as the member, without the structures that it is in
    enum store_words words;
    bool if_ok;       // a number that is stored only if the record's outcome is
    bool null;        // NULL in the column is `none`; a text that is NULL stays so
    int none;         // value of the member that stands for NULL
    bool only_read;   // set by reading, and not stored: a key
    const char *json; // name in JSON; NULL: the column's; "": not shown
    bool known;       // a text that is null in JSON where it is ""
};

// Makes a field of a member of a structure. Settings may follow: STORE_FIELD(struct timing, pass),
// STORE_FIELD(struct port_class, set, .column = "ports_mask").
#define STORE_FIELD(type, ...) STORE_FIELD_WITH(type, __VA_ARGS__, )
#define STORE_FIELD_WITH(type, name, ...)                                                          \
    {                                                                                              \
        .member = #name, .kind = STORE_KIND(((type *)0)->name), .offset = offsetof(type, name),    \
        .size = sizeof((type *)0)->name, __VA_ARGS__                                               \
    }
// A member of another type does not compile.
#define STORE_KIND(value)                                                                          \
    _Generic((value),                                                                              \
        int: FIELD_INT,                                                                            \
        int64_t: FIELD_INT64,                                                                      \
        uint32_t: FIELD_UINT32,                                                                    \
        bool: FIELD_BOOL,                                                                          \
        double: FIELD_REAL,                                                                        \
        const char *: FIELD_TEXT,                                                                  \
        char *: FIELD_NAME,                                                                        \
        struct store_blob: FIELD_BLOB)

// A table of the database as an array of structures.
struct store_record {
    const char *table;
    const char *keys; // one or two columns before the fields, of int64_t: "run_id, position". The
                      // first is that of the rows which are read together, the last their order
    size_t bytes;     // of the structure
    const struct store_field *fields;
    int nfields;
    const char *id;   // column of the rows' own numbers, by which others refer to them; NULL: none
    const char *from; // what follows FROM to read rows of ?1; NULL: the table, by its keys
};
// The structure of a record with its fields.
#define STORE_FIELDS(type, list) .bytes = sizeof(type), .fields = (list), .nfields = ARRAY_LEN(list)

// Returns the name of a field: that of its column.
const char *store_field_name(const struct store_field *field);
// Return the value of a field in a row.
int64_t store_field_integer(const struct store_field *field, const void *row);
double store_field_real(const struct store_field *field, const void *row);
const char *store_field_text(const struct store_field *field, const void *row); // a word, too
