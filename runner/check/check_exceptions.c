// SPDX-License-Identifier: MIT
// lists/exceptions.csv: rows that rightly differ from the decoder, with the reason.
#include "check.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <fnmatch.h>
#include <string.h>

enum { COLUMN_MNEMONIC, COLUMN_OPERANDS, COLUMN_FIELD, COLUMN_REASON };
static const char *const exception_columns[] = {"mnemonic", "operands", "field", "reason"};

struct check_exceptions {
    const char *path;
    const struct csv_record *records;
    size_t nrecords;
    bool *used;
};

struct check_exceptions *check_exceptions_read(struct check *check)
{
    static const struct csv_spec spec = {exception_columns, ARRAY_LEN(exception_columns), 0};
    struct check_exceptions *exceptions = arena_alloc(&check->arena, sizeof *exceptions);
    // The file lives as long as the program, like the path: messages refer to it until they are
    // printed.
    static struct csv_file file;
    struct err err;
    csv_file_free(&file);
    exceptions->path = path_data("lists/exceptions.csv");
    if (csv_file_read(exceptions->path, &spec, &file, &err)) {
        check_table_problem(check, err.text);
        return exceptions;
    }
    exceptions->records = file.records;
    exceptions->nrecords = file.nrecords;
    exceptions->used = arena_alloc(&check->arena, file.nrecords * sizeof *exceptions->used);
    for (size_t i = 0; i < file.nrecords; i++) {
        const struct csv_record *record = &file.records[i];
        for (int column = 0; column <= COLUMN_REASON; column++) {
            if (*record->fields[column] || column == COLUMN_OPERANDS) // empty operands: none
                continue;
            csv_record_error(exceptions->path, record, column, &err, "the %s is missing",
                             exception_columns[column]);
            check_table_problem(check, err.text);
        }
    }
    return exceptions;
}

bool check_exceptions_allow(struct check_exceptions *exceptions, const struct list_row *row,
                            const char *field)
{
    bool allowed = false;
    for (size_t i = 0; i < exceptions->nrecords; i++) {
        const char *const *fields = exceptions->records[i].fields;
        if (fnmatch(fields[COLUMN_FIELD], field, 0) == 0 &&
            fnmatch(fields[COLUMN_MNEMONIC], row->mnemonic, 0) == 0 &&
            fnmatch(fields[COLUMN_OPERANDS], row->operands_text, 0) == 0) {
            exceptions->used[i] = true;
            allowed = true;
        }
    }
    return allowed;
}

void check_exceptions_unused(const struct check_exceptions *exceptions, struct check *check)
{
    struct err err;
    for (size_t i = 0; i < exceptions->nrecords; i++) {
        const struct csv_record *record = &exceptions->records[i];
        // Fields that LLVM is asked for need LLVM.
        if (exceptions->used[i] || strcmp(record->fields[COLUMN_FIELD], "llvm") == 0)
            continue;
        csv_record_error(exceptions->path, record, -1, &err,
                         "no row needs this exception; remove it");
        check_table_problem(check, err.text);
    }
}
