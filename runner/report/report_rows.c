// SPDX-License-Identifier: MIT
// Rows of the public views as a table for people, as CSV and as JSON; see report.h. CSV and JSON
// have every column of the view under its own name; tables show the columns that people look for.
#include "report.h"
#include "report_lacking.h"

#include "store/store_read.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns true if the value is an upper bound, which has a sign.
static bool value_is_bound(struct store_rows *rows, const struct column *column)
{
    return column && column->bound && strcmp(store_text_of(rows, column->bound), "upper") == 0;
}

const char *report_number(double value, char text[32])
{
    return output_number(value, text);
}

const char *report_latency(const char *number, bool upper, const char *mark,
                           char text[REPORT_LATENCY_MAX])
{
    snprintf(text, REPORT_LATENCY_MAX, "%s%s%s%s", upper ? "≤" : "", strchr(mark, '~') ? "~" : "",
             number, strchr(mark, '*') ? "*" : "");
    return text;
}

const char *report_mark(struct store_rows *rows, const struct column *column)
{
    if (column->mark)
        return store_text_of(rows, column->mark);
    return column->bound && strcmp(store_text_of(rows, column->bound), "average") == 0 ? "~" : "";
}

// Returns a number of the column `name`, NaN if there is none.
static double value_beside(struct store_rows *rows, const char *name)
{
    return name ? store_real_of(rows, name) : (double)NAN;
}

// Formats a number with its marks: "≤1.00", "1.00–2.00" for a range, whose ends say more than "*".
static const char *value_of_range(struct store_rows *rows, const struct column *column,
                                  double value, char text[REPORT_LATENCY_MAX])
{
    double most = value_beside(rows, column ? column->most : NULL);
    bool range = isfinite(most);
    char number[32];
    report_latency(report_number(value, number), value_is_bound(rows, column),
                   column && !range ? report_mark(rows, column) : "", text);
    size_t len = strlen(text);
    if (range)
        snprintf(text + len, REPORT_LATENCY_MAX - len, "–%s", report_number(most, number));
    return text;
}

// Formats a number, and beside it that of slow data if these take longer or shorter: each with its
// own marks, "10.00 / ≤13.00".
static const char *value_of_real(struct store_rows *rows, const struct column *column, int at,
                                 char text[REPORT_LATENCY_MAX])
{
    double value = store_rows_real(rows, at);
    double slow = value_beside(rows, column ? column->slow : NULL);
    char other[REPORT_LATENCY_MAX];
    value_of_range(rows, column, value, text);
    size_t len = strlen(text);
    if (column && fabs(slow - value) > fmax(COLUMN_TOLERANCE * fmax(slow, value), COLUMN_LEAST_CLK))
        snprintf(
            text + len, REPORT_LATENCY_MAX - len, " / %s",
            value_of_range(rows, columns_find(store_rows_view(rows), column->slow), slow, other));
    return text;
}

// Formats ports for people: "" unknown, "none" no port.
static const char *value_of_ports(struct store_rows *rows, int column)
{
    const char *text = store_rows_text(rows, column);
    if (store_rows_type(rows, column) == STORE_NULL)
        return "";
    return !*text ? "none" : strcmp(text, "?") == 0 ? "none?" : text;
}

// Formats the run of a row of the instruction table: "3/1" where its ports and µops are of run 1.
static const char *value_of_run(struct store_rows *rows, char text[REPORT_LATENCY_MAX])
{
    int64_t run_id = store_integer_of(rows, "run_id");
    int64_t ports_run_id = store_integer_of(rows, "ports_run_id"); // NULL is 0
    int len = snprintf(text, REPORT_LATENCY_MAX, "%" PRId64, run_id);
    if (ports_run_id && ports_run_id != run_id)
        snprintf(text + len, REPORT_LATENCY_MAX - (size_t)len, "/%" PRId64, ports_run_id);
    return text;
}

const char *report_value(struct store_rows *rows, const char *name, char text[REPORT_LATENCY_MAX])
{
    int at = store_rows_column(rows, name);
    enum store_type type = store_rows_type(rows, at);
    const struct column *column = columns_find(store_rows_view(rows), name);
    enum column_kind kind = column ? column->kind : COLUMN_PLAIN;
    if (kind == COLUMN_USES)
        return value_of_ports(rows, at);
    if (kind == COLUMN_FORM)
        return store_rows_form(rows, at);
    if (type == STORE_REAL)
        return value_of_real(rows, column, at, text);
    if (store_rows_view(rows) == STORE_VIEW_INSTRUCTION && strcmp(name, "run_id") == 0)
        return value_of_run(rows, text);
    const char *value = store_rows_text(rows, at);
    if (type == STORE_INTEGER && value_is_bound(rows, column))
        return report_latency(value, true, "", text);
    return kind == COLUMN_OUTCOME && strcmp(value, "ok") == 0 ? "" : value;
}

const char *report_heading(enum store_view view, const char *name)
{
    const struct column *column = columns_find(view, name);
    return column && column->look.heading ? column->look.heading : name;
}

enum text_align report_alignment(enum store_view view, const char *name)
{
    const struct column *column = columns_find(view, name);
    return column ? column->look.align : ALIGN_LEFT;
}

// Rows being written: their columns, and the values of the current one.
struct told {
    const struct report_query *query;
    struct store_rows *rows;
    struct output_made made;
    struct arena arena;
    struct told_row {
        struct told_cell {
            struct field_value value;
            char shown[REPORT_LATENCY_MAX];
        } cells[VIEW_COLUMNS_MAX];
    } row;
    const char *names[VIEW_COLUMNS_MAX];
    int at[VIEW_COLUMNS_MAX], n;
};

// Returns true if tables show the column as a rounded number, perhaps with marks.
static bool shown_is_number(enum store_view view, const char *name)
{
    const struct column *column = columns_find(view, name);
    return column && (column->look.align == ALIGN_POINT || column->bound);
}

static void told_add(struct told *told, const char *name, struct text_fit fit)
{
    struct output_field field = OUTPUT_FIELD(struct told_row, cells[0].value);
    field.look = (struct look){.name = name,
                               .heading = report_heading(told->query->view, name),
                               .align = report_alignment(told->query->view, name),
                               .fit = fit};
    output_made_add(&told->made, output_element(field, told->n, sizeof(struct told_cell)));
    told->names[told->n] = name;
    told->at[told->n++] = store_rows_column(told->rows, name);
}

// Adds columns of numbers as tables show them.
static void told_add_shown(struct told *told)
{
    for (int i = 0; i < told->n; i++) {
        struct output_field field = OUTPUT_FIELD(struct told_row, cells[0].value.shown);
        field.look.name = arena_printf(&told->arena, "%s_shown", told->names[i]);
        if (shown_is_number(told->query->view, told->names[i]))
            output_made_add(&told->made, output_element(field, i, sizeof(struct told_cell)));
    }
}

// Chooses the named columns, which all stay, or in tables those that people need; else all.
static void told_begin(struct told *told)
{
    const struct report_query *query = told->query;
    const struct column *usual[VIEW_COLUMNS_MAX];
    const struct text_fit stays = {FIT_KEEP, 24};
    int n = report_for_people(query->format) ? columns_on(query->view, COLUMN_TABLE, usual) : 0;
    for (int i = 0; query->columns && query->columns[i] && i < VIEW_COLUMNS_MAX; i++)
        told_add(told, query->columns[i], stays);
    for (int i = 0; !query->columns && i < n; i++)
        told_add(told, usual[i]->look.name, usual[i]->look.fit);
    for (int i = 0; told->n == i && i < store_rows_columns(told->rows) && i < VIEW_COLUMNS_MAX; i++)
        told_add(told, arena_strdup(&told->arena, store_rows_name(told->rows, i)), stays);
    if (query->shown)
        told_add_shown(told);
}

// Returns the style of a value: what is not sure is faint, and so are outcomes that are no fault.
static enum text_style shown_style(struct store_rows *rows, const char *name, const char *value)
{
    static const char *const faint[] = {"unsupported", "not_measurable", "unstable"};
    size_t len = strlen(value);
    const struct column *column = columns_find(store_rows_view(rows), name);
    enum column_kind kind = column ? column->kind : COLUMN_PLAIN;
    if (kind == COLUMN_USES || strcmp(name, "uarch") == 0)
        return len > 0 && value[len - 1] == '?' ? STYLE_FAINT : STYLE_PLAIN;
    if (kind != COLUMN_OUTCOME && strcmp(name, "outcome") != 0)
        return STYLE_PLAIN;
    const char *outcome = store_text_of(rows, name);
    for (size_t i = 0; i < ARRAY_LEN(faint); i++)
        if (strcmp(outcome, faint[i]) == 0)
            return STYLE_FAINT;
    return strcmp(outcome, "ok") == 0 ? STYLE_PLAIN : STYLE_BAD;
}

// Reads the current row; texts are valid until the next one.
static void told_read(struct told *told)
{
    bool people = report_for_people(told->query->format);
    for (int i = 0; i < told->n; i++) {
        struct told_cell *cell = &told->row.cells[i];
        cell->value = store_rows_value(told->rows, told->at[i]);
        if (!people && !told->query->shown)
            continue;
        cell->value.shown = report_value(told->rows, told->names[i], cell->shown);
        cell->value.style =
            people ? shown_style(told->rows, told->names[i], cell->value.shown) : STYLE_PLAIN;
    }
}

int report_rows(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err)
{
    struct told told = {.query = query,
                        .rows = store_rows_open(store, query->view, query->filter, err)};
    const struct output_page page = {query->format, query->width, query->colour};
    struct output_stream stream = {.record = &told.made.record, .page = &page, .out = out};
    struct lacking lacking = {.nrows = 0};
    struct strbuf lines = {0};
    int got;
    if (!told.rows)
        return -1;
    told_begin(&told);
    output_begin(&stream, NULL);
    while ((got = store_rows_next(told.rows, err)) > 0) {
        store_runs_of(query->runs, told.rows);
        told_read(&told);
        output_row(&stream, &told.row);
        if (query->view == STORE_VIEW_INSTRUCTION && query->format == REPORT_TABLE &&
            !query->columns)
            lacking_add(&lacking, told.rows);
    }
    *nrows = stream.n;
    lacking_fold(&lacking, stream.table, &lines);
    output_end(&stream, note);
    strbuf_put(out, strbuf_text(&lines), lines.len);
    strbuf_free(&lines);
    lacking_free(&lacking);
    free(told.made.fields);
    arena_free(&told.arena);
    store_rows_close(told.rows);
    return got;
}
