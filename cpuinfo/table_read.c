// SPDX-License-Identifier: MIT
#include "table_read.h"

#include <stdbool.h>
#include <string.h>

int table_read(const char *path, const struct table_reader *reader, void *table,
               struct csv_file *file, struct err *err)
{
    struct err fault = {0};
    int status = csv_file_read(path, reader->spec, file, &fault);
    if (status == 0 && reader->row_bytes) {
        void *rows = arena_alloc(&file->arena, (file->nrecords + 1) * reader->row_bytes);
        memset(rows, 0, (file->nrecords + 1) * reader->row_bytes);
        memcpy((char *)table + reader->rows_at, &rows, sizeof rows);
    }
    if (status == 0 && reader->begin)
        status = reader->begin(table, &fault);
    if (status < 0 && reader->report)
        reader->report(&fault, reader->data);
    bool readable = status == 0;
    for (size_t i = 0; readable && i < file->nrecords && (status == 0 || reader->report); i++) {
        if (reader->add(table, &file->records[i], &fault) == 0)
            continue;
        status = -1;
        if (reader->report)
            reader->report(&fault, reader->data);
    }
    if (status == 0)
        return 0;
    csv_file_free(file);
    memset(table, 0, reader->table_bytes);
    return err_set(err, "%s", fault.text);
}

int table_cell_error(const char *path, const struct csv_record *record, int column,
                     const char *const *columns, struct err *err)
{
    return csv_record_error(path, record, column, err,
                            "'%s' is no %s; cpuinfo/README.md says how to write it",
                            record->fields[column], columns[column]);
}
