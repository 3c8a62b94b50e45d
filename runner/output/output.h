// SPDX-License-Identifier: MIT
// Outputs of commands as records: a table of fields says what a structure tells, and one writer
// makes JSON, CSV and tables for people of it; the JSON schema follows from it, too. What a row
// tells must be in its structure: a command with computed values fills one first.
#pragma once

#include "field.h"
#include "look.h"
#include "util/json.h"
#include "util/mem.h"

// Members that are known only at run time, such as counts of events: reals with names. Tables for
// people show one without a value as "-".
struct output_more {
    const struct look *looks;
    const double *values;
    int n, whole; // the first so many have no decimals for people
};

struct output_field {
    struct look look; // its name may be NULL: the member's; "": it is not told. The type is `at`'s,
                      // but for FIELD_VALUE
    struct field_place at;
    const struct field_words *words; // texts that stand for the values of a number
    const struct output_record *of;  // FIELD_ROWS, FIELD_WITHIN: what a structure tells
    size_t count, count_size;        // place and size of the number of elements
    bool known; // a text that is null where it is "", a number where it is `none`
    int none;
    bool always;   // a real number, or a value of any type, that is never null
    bool optional; // a member that is left out where it is null
    bool zero_one; // a bool that is 0 or 1
    bool gap;      // a number that tables for people leave out where it is 0
    int digits;    // significant ones of a real number in JSON, as look.digits in CSV
    int decimals;  // of a real number in JSON, instead; 0: not fixed
    int shown;     // decimals of a real number for people; 0: as output_number()
    enum { OUTPUT_EVERYWHERE, OUTPUT_JSON, OUTPUT_TABLES, OUTPUT_CSV, OUTPUT_PEOPLE } only;
};

enum output_layout {
    OUTPUT_LINE,  // members of a row in one line of JSON, but for arrays of rows
    OUTPUT_LINES, // a line each
    OUTPUT_DENSE, // arrays of rows in the same line, too
};
struct output_record {
    const void *fields; // each begins with a struct output_field
    size_t stride;      // bytes from one to the next
    int nfields;
    size_t bytes; // of a row
    enum output_layout layout;
};
// clang-format off
#define OUTPUT_RECORD(type, list) OUTPUT_FIRST(type, list, ARRAY_LEN(list))
#define OUTPUT_FIRST(type, list, n)                                                                \
    .fields = (list), .stride = sizeof *(list), .nfields = (n), .bytes = sizeof(type)
// Defines a record of fields: OUTPUT_DEFINE(cache_record, struct cache, OUTPUT_LINE, OUTPUT_FIELD(
// struct cache, level), OUTPUT_NAMED(struct cache, ways, "associativity")).
#define OUTPUT_DEFINE(name, type, as, ...)                                                         \
    static const struct output_field name##_fields[] = {__VA_ARGS__};                              \
    static const struct output_record name = {OUTPUT_RECORD(type, name##_fields), .layout = (as)}

// Make a field of a member of a structure; settings may follow. The second one gives it another
// name; the others are an array with the member that has its number, an array of structures (ROWS:
// by a pointer), a structure within (INLINE: the same structure), and members that are known only
// at run time.
#define OUTPUT_FIELD(type, ...) OUTPUT_FIELD_WITH(type, __VA_ARGS__, )
#define OUTPUT_FIELD_WITH(type, member, ...) {FIELD_PLACE(.at, type, member), __VA_ARGS__}
#define OUTPUT_NAMED(type, member, ...) OUTPUT_NAMED_WITH(type, member, __VA_ARGS__, )
#define OUTPUT_NAMED_WITH(type, member, called, ...)                                               \
    {FIELD_PLACE(.at, type, member), .look.name = (called), __VA_ARGS__}
#define OUTPUT_COUNT(type, number)                                                                 \
    .count = offsetof(type, number), .count_size = sizeof((type *)0)->number
#define OUTPUT_LIST(type, member, ...) OUTPUT_LIST_WITH(type, member, __VA_ARGS__, )
#define OUTPUT_LIST_WITH(type, member, number, ...)                                                \
    {FIELD_PLACE(.at, type, member), OUTPUT_COUNT(type, number), __VA_ARGS__}
#define OUTPUT_ROWS(...) OUTPUT_ELEMENTS(FIELD_ROWS, __VA_ARGS__, )
#define OUTPUT_ARRAY(...) OUTPUT_ELEMENTS(FIELD_ARRAY, __VA_ARGS__, )
#define OUTPUT_ELEMENTS(kind, type, member, number, record, ...)                                   \
    {FIELD_PLACE_AS(.at, type, member, kind), OUTPUT_COUNT(type, number), .of = &(record),         \
     __VA_ARGS__}
#define OUTPUT_INLINE(record) {.at.kind = FIELD_WITHIN, .of = &(record)}
#define OUTPUT_MORE(type, ...) OUTPUT_MORE_WITH(type, __VA_ARGS__, )
#define OUTPUT_MORE_WITH(type, member, ...)                                                        \
    {FIELD_PLACE_AS(.at, type, member, FIELD_MORE), __VA_ARGS__}
// clang-format on

// A record that is made at run time, of columns that only then are known.
struct output_made {
    struct output_record record; // its bytes and layout are the maker's
    struct output_field *fields;
    size_t capacity;
};
// Adds a field. An array of what a structure tells at run time has the record of its maker, which
// must stay in its place.
void output_made_add(struct output_made *made, struct output_field field);
// Returns a field for element i of an array in a structure; `field` is of its first element.
struct output_field output_element(struct output_field field, int i, size_t stride);

// --- JSON (output_json.c) ---

// Appends an array of rows, which ends with a line feed. `one`: there is one row at most, which
// begins in the line of the bracket.
void output_put_json(const struct output_record *record, const void *rows, int n, bool one,
                     struct strbuf *out);
// Writes a row as an object; `depth`: of its line breaks, in steps of two blanks.
void output_json_row(const struct output_record *record, const void *row, int depth,
                     struct json *json);
// Writes the array of elements of a member that nothing else tells.
void output_json_array(const struct output_record *record, const void *rows, int n, int depth,
                       struct json *json);

// --- CSV and tables (output_table.c) ---

// Formats a number for people: 3 decimals below 0.1, 2 up to 100, 1 up to 1000, then none. NaN
// gives "".
const char *output_number(double value, char text[32]);

// Appends rows as CSV or as a table for people, of the members with a heading. Without rows of an
// array they have no members that are known only at run time.
void output_put_table(const struct output_record *record, const void *rows, int n,
                      enum report_format format, struct strbuf *out);
struct output_page {
    enum report_format format;
    int width;   // limit of the lines of a table for people; 0: none
    bool colour; // of that table
};
// Appends that table, CSV or JSON; *note as for text_table_print_narrow(), NULL without a width.
void output_print(const struct output_record *record, const void *rows, int n,
                  const struct output_page *page, struct strbuf *out, struct strbuf *note);

// The same of rows that come one after the other, and need not stay.
struct output_stream {
    const struct output_record *record;
    const struct output_page *page;
    struct strbuf *out;
    bool lines; // each row of a table is written at once: columns are as wide as their headings
    int64_t n;  // rows so far
    // Only the writer knows these; rows may be removed from the table before the end.
    struct json json;
    struct text_table *table;
    struct output_columns *columns;
};
// Begins; `first`: a row that has the members that are known only at run time, or NULL.
void output_begin(struct output_stream *stream, const void *first);
void output_row(struct output_stream *stream, const void *row);
// Ends and frees. A table for people without rows is nothing.
void output_end(struct output_stream *stream, struct strbuf *note);

// --- the schema ---

// An output of a command, from whose record tests/unit/output/test_golden_schema.c makes a part of
// docs/output.schema.json.
struct output_kind {
    const char *name, *says; // name: of the part
    const struct output_record *record;
    int least, most; // number of rows; 0: any
};
