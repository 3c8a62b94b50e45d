// SPDX-License-Identifier: MIT
// Reads cpus.csv and looks a CPU up in it. Two lines that fit the same CPU are an error unless one
// asks for more of its core, so that the order of the lines means nothing and no line can hide
// another.
#include "cpu_tables.h"

#include <stdio.h>
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
    COL_INSTR_WIDTH,
    COL_IMUL64_CLK,
    COL_GENERAL,
    COL_FIXED,
    COL_PORTS,
    COL_CORE,
    COL_ALWAYS,
    COL_NEVER,
    COL_L1I,
    COL_L1D,
    COL_L2,
    COL_SOURCE,
    COL_NOTE
};
static const char *const columns[] = {
    "vendor", "family",      "models",      "stepping",   "core_type",        "uarch",
    "name",   "issue_width", "instr_width", "imul64_clk", "general_counters", "fixed_counters",
    "ports",  "core",        "always",      "never",      "l1i_kib",          "l1d_kib",
    "l2_kib", "source",      "note"};

// Parses "0x10-0x1f" or "0x10".
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

// Parses "", "0x40", "0x20/3" (with the native model number), each with " no-l3" after it.
static int core_type_parse(const char *text, struct family_row *row)
{
    static const char no_l3[] = " no-l3";
    uint64_t type, native = 0;
    size_t len = strcspn(text, "/ ");
    char type_text[32];
    row->core_type = -1;
    if (!text[0])
        return 0;
    const char *blank = strchr(text, ' ');
    if (strlen(text) >= sizeof type_text || (blank && strcmp(blank, no_l3) != 0))
        return -1;
    row->no_l3 = blank != NULL;
    snprintf(type_text, sizeof type_text, "%.*s", (int)strcspn(text, " "), text);
    text = type_text;
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

// Parses names of features, separated by blanks.
static int feature_list_parse(const char *text, const struct feature_table *features,
                              struct feature_list *list)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        int index = feature_row_find(features, text, len);
        if (index < 0 || list->n == EVIDENCE_FEATURES_MAX)
            return -1;
        list->features[list->n++] = index;
        text += len;
        text += strspn(text, " ");
    }
    return 0;
}

// Parses "32" or "1280 2048".
static int cache_sizes_parse(const char *text, struct cache_sizes *sizes)
{
    while (*text) {
        uint64_t kib;
        size_t len = strcspn(text, " ");
        if (sizes->n == CACHE_SIZES_MAX || cell_number(text, len, 1 << 20, &kib) < 0 || kib == 0)
            return -1;
        sizes->kib[sizes->n++] = (int)kib;
        text += len;
        text += strspn(text, " ");
    }
    return 0;
}

// Parses the columns by which the family is recognised; else like row_parse().
static int evidence_parse(const struct csv_record *record, const struct feature_table *features,
                          struct family_row *row)
{
    static const int cache_columns[CACHES_COMPARED] = {
        [CACHE_L1I] = COL_L1I, [CACHE_L1D] = COL_L1D, [CACHE_L2] = COL_L2};
    struct family_evidence *evidence = &row->evidence;
    const char *const *field = record->fields;
    evidence->core = field[COL_CORE];
    if (field[COL_CORE][strspn(field[COL_CORE], "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return COL_CORE;
    if (count_parse(field[COL_INSTR_WIDTH], row->facts.issue_width, &evidence->instr_width) < 0)
        return COL_INSTR_WIDTH;
    if (!evidence->instr_width)
        evidence->instr_width = row->facts.issue_width;
    if (feature_list_parse(field[COL_ALWAYS], features, &evidence->always) < 0)
        return COL_ALWAYS;
    if (feature_list_parse(field[COL_NEVER], features, &evidence->never) < 0)
        return COL_NEVER;
    for (int i = 0; i < CACHES_COMPARED; i++)
        if (cache_sizes_parse(field[cache_columns[i]], &evidence->caches[i]) < 0)
            return cache_columns[i];
    return -1;
}

// Fills `row`; returns the number of the first column that is wrong, or -1.
static int row_parse(const struct csv_record *record, const struct feature_table *features,
                     struct family_row *row)
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
    return evidence_parse(record, features, row);
}

static bool ranges_meet(const struct model_range *a, const struct model_range *b)
{
    return a->from <= b->to && b->from <= a->to;
}

// Returns how much a row asks of the core beyond the signature.
static int row_asks(const struct family_row *row)
{
    return (row->core_type >= 0) + (row->native_model != 0) + row->no_l3;
}

// Returns true if one of the rows asks for all that the other does, and more.
static bool rows_refine(const struct family_row *a, const struct family_row *b)
{
    const struct family_row *more = row_asks(a) > row_asks(b) ? a : b, *less = more == a ? b : a;
    return row_asks(a) != row_asks(b) && (less->core_type < 0 || more->core_type >= 0) &&
           (!less->native_model || more->native_model) && (!less->no_l3 || more->no_l3);
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

// Returns the first column of facts of the uarch in which two of its rows differ, or -1.
static int row_difference(const struct family_row *a, const struct family_row *b)
{
    static const int same[] = {COL_ISSUE_WIDTH, COL_INSTR_WIDTH, COL_IMUL64_CLK,
                               COL_CORE,        COL_ALWAYS,      COL_NEVER,
                               COL_L1I,         COL_L1D,         COL_L2};
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (strcmp(a->record->fields[same[i]], b->record->fields[same[i]]) != 0)
            return same[i];
    return -1;
}

// Returns a feature that is in both lists, or -1.
static int evidence_conflict(const struct family_evidence *evidence)
{
    for (int i = 0; i < evidence->always.n; i++)
        for (int j = 0; j < evidence->never.n; j++)
            if (evidence->always.features[i] == evidence->never.features[j])
                return evidence->always.features[i];
    return -1;
}

// Compares a new row with all earlier ones.
static int row_check(struct family_table *table, struct family_row *row, struct err *err)
{
    const struct csv_record *record = row->record;
    for (int i = 0; i < table->nrows; i++) {
        struct family_row *old = &table->rows[i];
        bool refine = rows_overlap(old, row) && rows_refine(old, row);
        old->refines |= refine && row_asks(old) > row_asks(row);
        row->refines |= refine && row_asks(row) > row_asks(old);
        if (!refine && rows_overlap(old, row))
            return csv_record_error(
                table->file.path, record, COL_MODELS, err,
                "these models overlap with line %d (%s); a CPU must fit one line",
                old->record->line, old->facts.uarch);
        bool same = strcmp(old->facts.uarch, row->facts.uarch) == 0;
        int differs = same ? row_difference(old, row) : -1;
        row->again |= same;
        if (differs >= 0)
            return csv_record_error(table->file.path, record, differs, err,
                                    "%s of %s differs from line %d; a uarch has one",
                                    columns[differs], row->facts.uarch, old->record->line);
    }
    for (int i = 0; i < row->nmodels; i++)
        for (int j = 0; j < i; j++)
            if (ranges_meet(&row->models[i], &row->models[j]))
                return csv_record_error(table->file.path, record, COL_MODELS, err,
                                        "a model is named twice in this line");
    return 0;
}

static int row_add(void *data, const struct csv_record *record, struct err *err)
{
    struct family_table *table = data;
    struct family_row *row = &table->rows[table->nrows];
    int bad = row_parse(record, table->features, row);
    if (bad >= 0)
        return table_cell_error(table->file.path, record, bad, columns, err);
    int conflict = evidence_conflict(&row->evidence);
    if (conflict >= 0)
        return csv_record_error(table->file.path, record, COL_NEVER, err,
                                "%s is in the column always, too",
                                table->features->rows[conflict].name);
    if (row_check(table, row, err) < 0)
        return -1;
    table->nrows++;
    return 0;
}

int families_read(const char *path, const struct feature_table *features,
                  struct family_table *table, struct err *err)
{
    const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    const struct table_reader reader = {.spec = &spec, TABLE_ROWS(table, rows), .add = row_add};
    memset(table, 0, sizeof *table);
    table->features = features;
    return table_read(path, &reader, table, &table->file, err);
}

bool family_row_fits_core(const struct family_row *row, const struct cpu_info *cpu)
{
    return (row->core_type < 0 || row->core_type == cpu->core_type) &&
           (!row->native_model || row->native_model == cpu->native_model) &&
           (!row->no_l3 || cpu_lacks_l3(cpu));
}

const struct family_row *family_lookup(const struct family_table *table, const struct cpu_info *cpu)
{
    const struct family_row *found = NULL;
    for (int i = 0; i < table->nrows; i++) {
        const struct family_row *row = &table->rows[i];
        if (strcmp(row->facts.vendor, cpu->vendor) != 0 || row->family != cpu->family ||
            cpu->stepping < row->steppings.from || cpu->stepping > row->steppings.to ||
            !family_row_fits_core(row, cpu) || (found && row_asks(found) >= row_asks(row)))
            continue;
        for (int m = 0; m < row->nmodels; m++)
            if (cpu->model >= row->models[m].from && cpu->model <= row->models[m].to)
                found = row;
    }
    return found;
}
