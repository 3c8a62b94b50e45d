// SPDX-License-Identifier: MIT
// Reads cpus.csv and looks a CPU up in it. Two lines that fit the same CPU are an error, so that
// the order of the lines means nothing and no line can hide another.
#include "cpu_tables.h"

#include <stdlib.h>
#include <string.h>

enum {
    COL_VENDOR,
    COL_FAMILY,
    COL_MODELS,
    COL_STEPPING,
    COL_CORE_TYPE,
    COL_UARCH,
    COL_NAME,
    COL_ISSUE_WIDTH,
    COL_IMUL64_CLK,
    COL_GENERAL,
    COL_FIXED,
    COL_PORTS,
    COL_SOURCE,
    COL_NOTE
};
static const char *const columns[] = {
    "vendor",         "family", "models",      "stepping",   "core_type",
    "uarch",          "name",   "issue_width", "imul64_clk", "general_counters",
    "fixed_counters", "ports",  "source",      "note"};

// "0x10-0x1f" or "0x10".
static int range_parse(const char *text, size_t len, uint64_t max, struct model_range *range)
{
    const char *dash = memchr(text, '-', len);
    size_t first = dash ? (size_t)(dash - text) : len;
    uint64_t from, to;
    if (cell_number(text, first, max, &from) < 0)
        return -1;
    to = from;
    if (dash && cell_number(dash + 1, len - first - 1, max, &to) < 0)
        return -1;
    *range = (struct model_range){(int)from, (int)to};
    return from <= to ? 0 : -1;
}

static int models_parse(const char *text, struct family_row *row)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        if (row->nmodels == MODEL_RANGES_MAX ||
            range_parse(text, len, 0xff, &row->models[row->nmodels++]) < 0)
            return -1;
        text += len;
        text += strspn(text, " ");
    }
    return row->nmodels > 0 ? 0 : -1;
}

// "", "0x40" or "0x20/3" (with the native model number).
static int core_type_parse(const char *text, struct family_row *row)
{
    uint64_t type, native = 0;
    size_t len = strcspn(text, "/");
    row->core_type = -1;
    if (!text[0])
        return 0;
    if (cell_number(text, len, 0xff, &type) < 0)
        return -1;
    if (text[len] &&
        (cell_number(text + len + 1, strlen(text + len + 1), 0xffffff, &native) < 0 || native == 0))
        return -1;
    row->core_type = (int)type;
    row->native_model = (uint32_t)native;
    return 0;
}

static int count_parse(const char *text, int max, int *value)
{
    uint64_t number = 0;
    if (text[0] && cell_number(text, strlen(text), (uint64_t)max, &number) < 0)
        return -1;
    *value = (int)number;
    return 0;
}

// Fills `row`; returns the number of the first column that is wrong, or -1.
static int row_parse(const struct csv_record *record, struct family_row *row)
{
    const char *const *field = record->fields;
    uint64_t family;
    *row = (struct family_row){
        .record = record, .steppings = {0, 15}
    };
    row->facts.vendor = field[COL_VENDOR];
    row->facts.uarch = field[COL_UARCH];
    row->facts.name = field[COL_NAME];
    row->facts.ports = field[COL_PORTS];
    if (!field[COL_VENDOR][0] || strlen(field[COL_VENDOR]) > 12)
        return COL_VENDOR;
    if (cell_number(field[COL_FAMILY], strlen(field[COL_FAMILY]), 0x10e, &family) < 0)
        return COL_FAMILY;
    row->family = (int)family;
    if (models_parse(field[COL_MODELS], row) < 0)
        return COL_MODELS;
    if (field[COL_STEPPING][0] &&
        range_parse(field[COL_STEPPING], strlen(field[COL_STEPPING]), 15, &row->steppings) < 0)
        return COL_STEPPING;
    if (core_type_parse(field[COL_CORE_TYPE], row) < 0)
        return COL_CORE_TYPE;
    size_t len = strspn(field[COL_UARCH], "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (len == 0 || len > 31 || field[COL_UARCH][len] || strcmp(field[COL_UARCH], "unknown") == 0)
        return COL_UARCH;
    if (!field[COL_NAME][0] || strlen(field[COL_NAME]) > 95)
        return COL_NAME;
    const struct {
        int column, max, *value;
    } counts[] = {
        {COL_ISSUE_WIDTH, 64, &row->facts.issue_width     },
        {COL_IMUL64_CLK,  64, &row->facts.imul64_clk      },
        {COL_GENERAL,     64, &row->facts.general_counters},
        {COL_FIXED,       64, &row->facts.fixed_counters  }
    };
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (count_parse(field[counts[i].column], counts[i].max, counts[i].value) < 0)
            return counts[i].column;
    return -1;
}

static bool ranges_meet(const struct model_range *a, const struct model_range *b)
{
    return a->from <= b->to && b->from <= a->to;
}

static bool rows_overlap(const struct family_row *a, const struct family_row *b)
{
    if (strcmp(a->facts.vendor, b->facts.vendor) != 0 || a->family != b->family ||
        !ranges_meet(&a->steppings, &b->steppings))
        return false;
    if (a->core_type >= 0 && b->core_type >= 0) {
        if (a->core_type != b->core_type)
            return false;
        if (a->native_model && b->native_model && a->native_model != b->native_model)
            return false;
    }
    for (int i = 0; i < a->nmodels; i++)
        for (int j = 0; j < b->nmodels; j++)
            if (ranges_meet(&a->models[i], &b->models[j]))
                return true;
    return false;
}

// Compares a new row with all earlier ones.
static int row_check(const struct family_table *table, const struct family_row *row,
                     struct err *err)
{
    const struct csv_record *record = row->record;
    for (int i = 0; i < table->nrows; i++) {
        const struct family_row *old = &table->rows[i];
        if (rows_overlap(old, row))
            return csv_record_error(
                table->file.path, record, COL_MODELS, err,
                "these models overlap with line %d (%s); a CPU must fit one line",
                old->record->line, old->facts.uarch);
        if (strcmp(old->facts.uarch, row->facts.uarch) == 0 &&
            (old->facts.issue_width != row->facts.issue_width ||
             old->facts.imul64_clk != row->facts.imul64_clk))
            return csv_record_error(table->file.path, record, COL_UARCH, err,
                                    "issue_width and imul64_clk of %s differ from line %d",
                                    row->facts.uarch, old->record->line);
    }
    for (int i = 0; i < row->nmodels; i++)
        for (int j = 0; j < i; j++)
            if (ranges_meet(&row->models[i], &row->models[j]))
                return csv_record_error(table->file.path, record, COL_MODELS, err,
                                        "a model is named twice in this line");
    return 0;
}

static int table_begin(void *data, struct err *err)
{
    struct family_table *table = data;
    (void)err;
    table->rows = xcalloc(table->file.nrecords + 1, sizeof *table->rows);
    return 0;
}

static int row_add(void *data, const struct csv_record *record, struct err *err)
{
    struct family_table *table = data;
    struct family_row *row = &table->rows[table->nrows];
    int bad = row_parse(record, row);
    if (bad >= 0)
        return table_cell_error(table->file.path, record, bad, columns, err);
    if (row_check(table, row, err) < 0)
        return -1;
    table->nrows++;
    return 0;
}

int families_read(const char *path, struct family_table *table, struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    const struct table_reader reader = {&spec, table_begin, row_add, NULL, NULL};
    memset(table, 0, sizeof *table);
    if (table_read(path, &reader, table, &table->file, err) == 0)
        return 0;
    families_free(table);
    return -1;
}

void families_free(struct family_table *table)
{
    free(table->rows);
    csv_file_free(&table->file);
    memset(table, 0, sizeof *table);
}

const struct family_row *family_lookup(const struct family_table *table, const struct cpu_info *cpu)
{
    for (int i = 0; i < table->nrows; i++) {
        const struct family_row *row = &table->rows[i];
        if (strcmp(row->facts.vendor, cpu->vendor) != 0 || row->family != cpu->family ||
            cpu->stepping < row->steppings.from || cpu->stepping > row->steppings.to ||
            (row->core_type >= 0 && row->core_type != cpu->core_type) ||
            (row->native_model && row->native_model != cpu->native_model))
            continue;
        for (int m = 0; m < row->nmodels; m++)
            if (cpu->model >= row->models[m].from && cpu->model <= row->models[m].to)
                return row;
    }
    return NULL;
}
