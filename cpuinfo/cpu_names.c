// SPDX-License-Identifier: MIT
// Reads other_names.csv.
#include "cpu_tables.h"

#include <string.h>

static const char *const columns[] = {"uarch", "llvm", "uops_info", "osaca", "people"};

static int row_add(void *data, const struct csv_record *record, struct err *err)
{
    struct name_table *table = data;
    for (int i = 0; i < table->families->nrows; i++)
        if (strcmp(table->families->rows[i].facts.uarch, record->fields[0]) == 0)
            return 0;
    return table_cell_error(table->file.path, record, 0, columns, err);
}

int names_read(const char *path, const struct family_table *families, struct name_table *table,
               struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    const struct table_reader reader = {
        .spec = &spec, .table_bytes = sizeof *table, .add = row_add};
    memset(table, 0, sizeof *table);
    table->families = families;
    return table_read(path, &reader, table, &table->file, err);
}
