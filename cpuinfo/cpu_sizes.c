// SPDX-License-Identifier: MIT
// Reads core_sizes.csv, and holds what was measured against it.
#include "cpu_tables.h"

#include <stdio.h>
#include <string.h>

enum { COL_CORE, COL_PROPERTY, COL_VARIANT, COL_LABEL, COL_LEAST, COL_MOST, COL_SOURCE, COL_NOTE };
static const char *const columns[] = {"core",  "property", "variant", "label",
                                      "least", "most",     "source",  "note"};

// Share by which a measured size may fall short: the measuring code takes one or two entries
// itself.
static const double SIZE_TOLERANCE = 0.05;
// Share by which a measured size must exceed a core's: more than the method may be wrong by.
static const double MORE_TOLERANCE = 0.1;

static bool core_is_known(const struct size_table *table, const char *core)
{
    for (int i = 0; i < table->families->nrows; i++)
        if (strcmp(table->families->rows[i].evidence.core, core) == 0)
            return *core != '\0';
    return false;
}

// Fills `row`; returns the number of the first column that is wrong, or -1.
static int row_parse(const struct csv_record *record, const struct size_table *table,
                     struct size_row *row)
{
    const char *const *field = record->fields;
    uint64_t least, most;
    if (!core_is_known(table, field[COL_CORE]))
        return COL_CORE;
    for (int column = COL_PROPERTY; column <= COL_LABEL; column++)
        if ((column != COL_VARIANT && !field[column][0]) ||
            strlen(field[column]) >= CPU_OBSERVED_NAME)
            return column;
    if (cell_number(field[COL_LEAST], strlen(field[COL_LEAST]), 1 << 30, &least) < 0 || least == 0)
        return COL_LEAST;
    if (cell_number(field[COL_MOST], strlen(field[COL_MOST]), 1 << 30, &most) < 0 || most < least)
        return COL_MOST;
    if (!field[COL_SOURCE][0])
        return COL_SOURCE;
    *row = (struct size_row){
        .core = field[COL_CORE],
        .property = field[COL_PROPERTY],
        .variant = field[COL_VARIANT],
        .label = field[COL_LABEL],
        .size = {(double)least, (double)most, field[COL_NOTE]}
    };
    return -1;
}

static const struct size_row *row_find(const struct size_table *table, const char *core,
                                       const char *property, const char *variant, const char *label)
{
    for (int i = 0; i < table->nrows; i++) {
        const struct size_row *row = &table->rows[i];
        if (strcmp(row->core, core) == 0 && strcmp(row->property, property) == 0 &&
            strcmp(row->variant, variant) == 0 && strcmp(row->label, label) == 0)
            return row;
    }
    return NULL;
}

static int row_add(void *data, const struct csv_record *record, struct err *err)
{
    struct size_table *table = data;
    struct size_row row = {0};
    int bad = row_parse(record, table, &row);
    if (bad >= 0)
        return table_cell_error(table->file.path, record, bad, columns, err);
    if (row_find(table, row.core, row.property, row.variant, row.label))
        return csv_record_error(table->file.path, record, COL_CORE, err,
                                "%s %s of %s is in an earlier line, too", row.property, row.variant,
                                row.core);
    table->rows[table->nrows++] = row;
    return 0;
}

int sizes_read(const char *path, const struct family_table *families, struct size_table *table,
               struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    const struct table_reader reader = {.spec = &spec, TABLE_ROWS(table, rows), .add = row_add};
    memset(table, 0, sizeof *table);
    table->families = families;
    return table_read(path, &reader, table, &table->file, err);
}

struct core_size core_size_find(const struct size_table *table, const char *core,
                                const struct cpu_observed *seen)
{
    const struct size_row *row = row_find(table, core, seen->property, seen->variant, seen->label);
    return row ? row->size : (struct core_size){0, 0, ""};
}

enum cpu_says core_size_says(const struct core_size *size, const struct cpu_observed *seen)
{
    if (size->most <= 0)
        return CPU_SAYS_NOTHING;
    if (seen->low > size->most * (1 + MORE_TOLERANCE))
        return CPU_SAYS_MORE;
    bool within = seen->value >= size->least * (1 - SIZE_TOLERANCE) &&
                  seen->value <= size->most * (1 + SIZE_TOLERANCE);
    return within ? CPU_SAYS_AGREES : CPU_SAYS_NOTHING;
}

struct sizes_fit core_sizes_fit(const struct size_table *table, const char *core,
                                const struct cpu_measured *measured)
{
    struct sizes_fit fit = {0, 0};
    for (int i = 0; i < measured->nobserved; i++) {
        const struct cpu_observed *seen = &measured->observed[i];
        struct core_size size = core_size_find(table, core, seen);
        enum cpu_says says = core_size_says(&size, seen);
        bool counted = false; // values of one property are disturbed together: they count once
        for (int j = 0; j < i && !counted; j++) {
            struct core_size other = core_size_find(table, core, &measured->observed[j]);
            counted = strcmp(measured->observed[j].property, seen->property) == 0 &&
                      core_size_says(&other, &measured->observed[j]) == says;
        }
        fit.agree += !counted && says == CPU_SAYS_AGREES;
        fit.more += !counted && says == CPU_SAYS_MORE;
    }
    return fit;
}
