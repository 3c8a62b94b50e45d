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

#include "output/output.h"

// The words that stand for the values of an enumeration in its column.
extern const struct field_words words_outcome, words_test, words_bound, words_holds, words_way,
    words_conclusion;

// A real number that is NULL in the column is NaN in the member; a text that is NULL is stored as
// '', and read with its characters escaped.
struct store_field {
    struct output_field out; // the member, the words of an enumeration, and what JSON shows
    const char *column;      // "table.column" where it is read from several tables, SQL if it is
                             // only read; NULL: named as the member, without the structures that it
                             // is in
    bool if_ok;              // a number that is stored only if the record's outcome is
    bool null;               // NULL in the column is `none`; a text that is NULL stays so
    int none;                // value of the member that stands for NULL
    bool only_read;          // set by reading, and not stored: a key
};

// Makes a field of a member of a structure. Settings may follow: STORE_FIELD(struct timing, pass),
// STORE_FIELD(struct port_class, set, .column = "ports_mask").
#define STORE_FIELD(type, ...) STORE_FIELD_WITH(type, __VA_ARGS__, )
#define STORE_FIELD_WITH(type, name, ...)                                                          \
    {                                                                                              \
        FIELD_PLACE(.out.at, type, name), __VA_ARGS__                                              \
    }

// A table of the database as an array of structures.
struct store_record {
    const char *table;
    // One or two columns before the fields, of int64_t: "run_id, position". The first is the same
    // for all rows that are read together, the last is their order.
    const char *keys;
    struct output_record of; // the structure and its fields, each a struct store_field
    const char *id;   // column of the rows' own numbers, by which others refer to them; NULL: none
    const char *from; // what follows FROM to read rows of ?1; NULL: the table, by its keys
};
// The structure of a record with its fields, or with the first of them.
#define STORE_FIELDS(type, list) .of = {OUTPUT_RECORD(type, list)}
#define STORE_FIELDS_FIRST(type, list, n) .of = {OUTPUT_FIRST(type, list, n)}
