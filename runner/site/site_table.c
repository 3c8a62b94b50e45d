// SPDX-License-Identifier: MIT
// The table of the page: the forms, once for all CPUs, and each CPU's values of them in columns.
// See site_internal.h; docs/SITE.md describes the files.
#include "site_internal.h"

#include "list/form_shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- columns ---

// An array of numbers as JSON. A value that stands again is [N] for N more of it: most columns have
// long runs, and a browser reads the rest in a fraction of the time.
struct table_column {
    struct strbuf values;
    int64_t last, again; // how many more times the last value stands
};
#define COLUMN_NONE INT64_MIN // null

static void column_append(struct table_column *column, int64_t value)
{
    struct json json = {.out = &column->values, .script = true, .more = column->values.len > 0};
    if (value == COLUMN_NONE)
        json_null(&json);
    else
        json_int(&json, value);
}

// Writes what a run still lacks. One more value is as short as [1].
static void column_end_run(struct table_column *column)
{
    if (column->again > 1)
        strbuf_printf(&column->values, ",[%" PRId64 "]", column->again);
    else if (column->again == 1)
        column_append(column, column->last);
    column->again = 0;
}

static void column_put(struct table_column *column, int64_t value)
{
    if (column->values.len > 0 && value == column->last) {
        column->again++;
        return;
    }
    column_end_run(column);
    column_append(column, value);
    column->last = value;
}

// Writes a member of an object: an array of the column's values. Frees them.
static void column_json(struct json *json, const char *name, struct table_column *column)
{
    column_end_run(column);
    json_open(json_name(json, name), '[');
    strbuf_puts(json->out, strbuf_text(&column->values));
    json_close(json, ']');
    strbuf_free(&column->values);
}

// --- forms.js ---

struct table_forms {
    struct site_texts texts;
    struct table_column mnemonic, operands, enc, isa, list, options, form, bits;
};

// Returns what the name of a form for people has after mnemonic and operands: "opcode 13", "same".
static const char *words_after(const char *usual, const char *form, struct strbuf *shown)
{
    const char *name = form_shown(form, shown), *at = strstr(name, usual);
    at = at ? at + strlen(usual) : "";
    return at + strspn(at, ", ");
}

static void forms_add(struct table_forms *table, struct site_forms *forms,
                      const struct site_stream *row)
{
    const struct site_form *at = &row->at;
    struct strbuf shown = {0};
    forms->forms = xgrow(forms->forms, &forms->capacity, forms->nforms + 1, sizeof *forms->forms);
    forms->forms[forms->nforms++] = (struct site_form){
        arena_strdup(&forms->arena, at->mnemonic),
        arena_strdup(&forms->arena, at->operands),
        arena_strdup(&forms->arena, at->form),
        arena_strdup(&forms->arena, at->enc),
        at->bits,
    };
    column_put(&table->mnemonic, site_text(&table->texts, at->mnemonic));
    column_put(&table->operands, site_text(&table->texts, at->operands));
    column_put(&table->enc, site_text(&table->texts, at->enc));
    column_put(&table->isa, site_text(&table->texts, store_exact_of(row->rows, "isa")));
    column_put(&table->list, site_text(&table->texts, store_exact_of(row->rows, "list")));
    // Most forms are named by mnemonic and operands.
    char *usual = xasprintf("%s%s%s", at->mnemonic, *at->operands ? " " : "", at->operands);
    bool same = strcmp(usual, at->form) == 0;
    column_put(&table->options, site_text(&table->texts, words_after(usual, at->form, &shown)));
    column_put(&table->form, same ? -1 : site_text(&table->texts, at->form));
    column_put(&table->bits, at->bits);
    strbuf_free(&shown);
    free(usual);
}

static void forms_json(struct table_forms *table, int nforms, struct strbuf *out)
{
    struct json json = {.out = out, .script = true};
    json_open(&json, '{');
    json_int(json_name(&json, "count"), nforms);
    site_texts_json(&table->texts, json_name(&json, "texts"));
    column_json(&json, "mnemonic", &table->mnemonic);
    column_json(&json, "operands", &table->operands);
    column_json(&json, "enc", &table->enc);
    column_json(&json, "isa", &table->isa);
    column_json(&json, "list", &table->list);
    column_json(&json, "options", &table->options);
    column_json(&json, "form", &table->form);
    column_json(&json, "bits", &table->bits);
    json_close(&json, '}');
    site_texts_clear(&table->texts);
}

// --- CPU.js ---

// The columns of the data, and their numbers in the rows.
struct table_columns {
    const struct column *columns[VIEW_COLUMNS_MAX];
    int rows[VIEW_COLUMNS_MAX];
    int n;
};

static struct table_columns table_columns_find(struct store_rows *rows)
{
    struct table_columns columns;
    columns.n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_SITE, columns.columns);
    for (int i = 0; i < columns.n; i++)
        columns.rows[i] = store_rows_column(rows, columns.columns[i]->look.name);
    return columns;
}

struct table_cpu {
    struct site_texts texts;
    struct table_column step; // difference to the previous form
    int64_t last, rows;
    struct table_column values[VIEW_COLUMNS_MAX];
};

static int64_t cpu_value(struct table_cpu *cpu, const struct column *column,
                         struct store_rows *rows, int at)
{
    bool none = store_rows_type(rows, at) == STORE_NULL; // '' has a meaning for ports
    if (column->look.type == LOOK_TEXT)
        return none ? -1 : site_text(&cpu->texts, store_rows_exact(rows, at));
    if (none)
        return COLUMN_NONE;
    if (column->look.type != LOOK_REAL)
        return store_rows_integer(rows, at);
    double value = store_rows_real(rows, at);
    return site_has_thousandths(value) ? llround(value * 1000) : COLUMN_NONE;
}

static void cpu_add(struct table_cpu *cpu, int64_t form, struct store_rows *rows,
                    const struct table_columns *columns)
{
    column_put(&cpu->step, form - cpu->last);
    cpu->last = form;
    cpu->rows++;
    for (int i = 0; i < columns->n; i++)
        column_put(&cpu->values[i], cpu_value(cpu, columns->columns[i], rows, columns->rows[i]));
}

static void cpu_table_json(struct table_cpu *cpu, int index, struct strbuf *out)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_SITE, columns);
    struct json json = {.out = out, .script = true};
    json_open(&json, '{');
    json_int(json_name(&json, "cpu"), index);
    site_texts_json(&cpu->texts, json_name(&json, "texts"));
    json_int(json_name(&json, "rows"), cpu->rows);
    column_json(&json, "step", &cpu->step);
    for (int i = 0; i < n; i++)
        column_json(&json, columns[i]->look.name, &cpu->values[i]);
    json_close(&json, '}');
    site_texts_clear(&cpu->texts);
}

// --- both ---

static int table_read(struct site_stream *row, const struct site_cpus *cpus,
                      struct table_forms *table, struct site_forms *forms, struct table_cpu *values,
                      struct err *err)
{
    const struct table_columns columns = table_columns_find(row->rows);
    while (row->more) {
        const struct site_form *last = forms->nforms ? &forms->forms[forms->nforms - 1] : NULL;
        int cpu = site_cpu_of_run(cpus, row->run);
        if (cpu >= 0) {
            if (!last || site_form_compare(last, &row->at) != 0)
                forms_add(table, forms, row);
            cpu_add(&values[cpu], (int64_t)forms->nforms - 1, row->rows, &columns);
            cpus->cpus[cpu].forms++;
        }
        if (site_stream_next(row, err) != 0)
            return -1;
    }
    return 0;
}

static int table_files(struct site_files *files, const struct site_cpus *cpus,
                       struct table_forms *table, const struct site_forms *forms,
                       struct table_cpu *values, struct err *err)
{
    struct strbuf text = {0};
    forms_json(table, (int)forms->nforms, &text);
    int result = site_file_script(files, "data/forms.js", "forms", &text, err);
    for (int c = 0; c < cpus->ncpus; c++) {
        strbuf_clear(&text);
        cpu_table_json(&values[c], c, &text);
        char *name = xasprintf("data/%s.js", cpus->cpus[c].file);
        if (result == 0)
            result = site_file_script(files, name, "cpu", &text, err);
        free(name);
    }
    strbuf_free(&text);
    return result;
}

int site_table_write(struct store *store, struct site_files *files, struct site_cpus *cpus,
                     struct site_forms *forms, struct err *err)
{
    struct site_stream row;
    if (site_stream_open(&row, store, STORE_VIEW_INSTRUCTION, NULL, err) != 0)
        return -1;
    struct table_forms table = {0};
    struct table_cpu *values = xcalloc((size_t)cpus->ncpus + 1, sizeof *values);
    int result = table_read(&row, cpus, &table, forms, values, err);
    site_stream_close(&row);
    // Also needed after an error: writing frees the columns.
    if (table_files(files, cpus, &table, forms, values, result == 0 ? err : NULL) != 0)
        result = -1;
    free(values);
    return result;
}
