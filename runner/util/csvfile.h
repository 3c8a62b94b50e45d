// SPDX-License-Identifier: MIT
// CSV files as this project writes them: `#` comment lines, blank lines, a header row that names
// the columns, one record per line (quoted fields may not span lines). libcsv parses them,
// strictly; a bad file gives `path:line: what is wrong` and the offending line with a caret.
#pragma once

#include "err.h"
#include "mem.h"

#include <stddef.h>

struct csv_record {
    int line;                  // 1-based line number in the file
    const char *text;          // the whole source line, for messages
    const char *const *fields; // one per requested column, in the order of csv_spec.columns
    const int *field_columns;  // 1-based byte column in which each field starts
    const char *heading;       // the last comment line between the header and it; "": none
};

struct csv_file {
    const char *path;
    struct csv_record *records;
    size_t nrecords;
    const char *const *comments; // comment lines before the header, without `#` and blanks
    size_t ncomments;
    struct arena arena; // owns everything above
};

struct csv_spec {
    const char *const
        *columns; // each must be in the header row; a name not listed here is an error
    size_t ncolumns;
    size_t noptional; // the last noptional columns may be missing (fields are then "")
};

// Reads a file. Refuses one that is unreadable, larger than 64 MiB, holds NUL bytes, invalid UTF-8
// or control characters (text.h), has no header, an unknown, missing or repeated column, a record
// with another number of fields than the header, or an unterminated quote. Returns 0, or -1 with
// the message. The caller frees with csv_file_free().
int csv_file_read(const char *path, const struct csv_spec *spec, struct csv_file *file,
                  struct err *err);
// Reads a file like csv_file_read(), but refuses one of more than `most` records, and reads no
// further.
int csv_file_read_most(const char *path, const struct csv_spec *spec, size_t most,
                       struct csv_file *file, struct err *err);
void csv_file_free(struct csv_file *file);
// Returns the value of the first comment line "# key: value" before the header, or NULL.
const char *csv_file_comment(const struct csv_file *file, const char *key);

struct csv_place {
    const char *path;
    int line;
    const char *text; // the source line; NULL: not shown
    int column;       // 1-based, in bytes
};
// Sets err to `path:line: message` with the source line and a caret under the place below it.
// Returns -1.
int csv_error_at(const struct csv_place *place, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Sets err like csv_error_at() for a record of a file, with the caret under its field number
// `field`, or under its start for -1. Returns -1.
int csv_record_error(const char *path, const struct csv_record *record, int field, struct err *err,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));
