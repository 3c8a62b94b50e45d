// SPDX-License-Identifier: MIT
// The loop by which all tables of this folder are read: the file, its head, one record after the
// other. The first fault ends it, unless someone wants to hear of all of them. A table owns nothing
// but its file, in whose arena its rows lie, too.
#pragma once

#include "util/csvfile.h"

// Called with each fault: `path:line:` and a caret, as csv_record_error() makes them.
typedef void table_report(const struct err *fault, void *data);

struct table_reader {
    const struct csv_spec *spec;
    size_t table_bytes;
    size_t rows_at;   // offset of the pointer to the rows
    size_t row_bytes; // 0: the table has no rows of its own
    // Looks at the comment lines of the file. May be NULL. 0, or -1 with a message.
    int (*begin)(void *table, struct err *err);
    // The next record. 0, or -1 with a message.
    int (*add)(void *table, const struct csv_record *record, struct err *err);
    table_report *report; // NULL: stop at the first fault
    void *data;           // for report
};

// The part of a reader about a table whose rows are at the pointer table->field.
#define TABLE_ROWS(table, field)                                                                   \
    .table_bytes = sizeof *(table),                                                                \
    .rows_at = (size_t)((char *)&(table)->field - (char *)(table)),                                \
    .row_bytes = sizeof *(table)->field

// Reads path into *file, which belongs to `table`, makes room for a row per record, and calls the
// reader's functions with `table`. Returns 0; the caller frees the table by csv_file_free(file). Or
// -1 with the last fault in err, and the table is empty.
int table_read(const char *path, const struct table_reader *reader, void *table,
               struct csv_file *file, struct err *err);

// Sets err to the fault in a cell of these columns, and the place that has its format. Returns -1.
int table_cell_error(const char *path, const struct csv_record *record, int column,
                     const char *const *columns, struct err *err);
