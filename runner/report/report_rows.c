// SPDX-License-Identifier: MIT
// Rows of the public views as a table for people, as CSV and as JSON; see report.h. CSV and JSON
// have every column of the view under its own name; tables show the columns that people look for.
#include "report.h"

#include "store/store_read.h"
#include "util/csvtext.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHOSEN_MAX = VIEW_COLUMNS_MAX };

// Chosen columns of the rows, by number.
struct chosen {
    int columns[CHOSEN_MAX], n;
};

static void put_json_row(struct json *json, struct store_rows *rows, const struct chosen *chosen)
{
    json_open(json_break(json, "\n  "), '{');
    for (int i = 0; i < chosen->n; i++) {
        int c = chosen->columns[i];
        enum store_type type = store_rows_type(rows, c);
        json_name(json, store_rows_name(rows, c));
        if (type == STORE_TEXT)
            json_text(json, store_rows_exact(rows, c));
        else if (type == STORE_INTEGER)
            json_int(json, store_rows_integer(rows, c));
        else if (type == STORE_NULL)
            json_null(json);
        else
            json_real(json, store_rows_real(rows, c));
    }
    json_close(json, '}');
}

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

// Formats ports for people: "" unknown, "none" no port.
static const char *value_of_ports(struct store_rows *rows, int column)
{
    const char *text = store_rows_text(rows, column);
    if (store_rows_type(rows, column) == STORE_NULL)
        return "";
    return !*text ? "none" : strcmp(text, "?") == 0 ? "none?" : text;
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
    if (type == STORE_REAL) {
        char number[32];
        const char *mark = column && column->mark ? store_text_of(rows, column->mark) : "";
        report_number(store_rows_real(rows, at), number);
        return report_latency(number, value_is_bound(rows, column), mark, text);
    }
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

// A table being written: its columns and their layout.
struct shown_table {
    struct text_table *table;
    int n;
    const char *names[CHOSEN_MAX], *headings[CHOSEN_MAX];
    enum text_align aligns[CHOSEN_MAX];
    struct text_fit fits[CHOSEN_MAX];
};

static void shown_add(struct shown_table *table, enum store_view view, const char *name,
                      struct text_fit fit)
{
    table->names[table->n] = name;
    table->headings[table->n] = report_heading(view, name);
    table->aligns[table->n] = report_alignment(view, name);
    table->fits[table->n++] = fit;
}

// Chooses the named columns, which all stay, or those that people need; all, for a view that has no
// table for people.
static void shown_begin(struct shown_table *table, const struct report_query *query,
                        struct store_rows *rows)
{
    const struct column *usual[VIEW_COLUMNS_MAX];
    const struct text_fit stays = {FIT_KEEP, 24};
    int n = columns_on(query->view, COLUMN_TABLE, usual);
    table->n = 0;
    for (int i = 0; query->columns && query->columns[i] && i < CHOSEN_MAX; i++)
        shown_add(table, query->view, query->columns[i], stays);
    for (int i = 0; !query->columns && i < n; i++)
        shown_add(table, query->view, usual[i]->look.name, usual[i]->look.fit);
    for (int i = 0; table->n == i && i < store_rows_columns(rows) && i < CHOSEN_MAX; i++)
        shown_add(table, query->view, store_rows_name(rows, i), stays);
    table->table = text_table_new(table->headings, table->aligns, table->n);
    if (query->colour)
        text_table_colour(table->table);
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

static int put_table(struct store_rows *rows, const struct report_query *query, struct strbuf *out,
                     struct strbuf *note, int64_t *nrows, struct err *err)
{
    struct shown_table shown;
    char text[REPORT_LATENCY_MAX];
    int got;
    shown_begin(&shown, query, rows);
    for (*nrows = 0; (got = store_rows_next(rows, err)) > 0; ++*nrows) {
        report_runs_of(query->runs, rows);
        for (int i = 0; i < shown.n; i++) {
            const char *value = report_value(rows, shown.names[i], text);
            text_table_styled(shown.table, value, shown_style(rows, shown.names[i], value));
        }
    }
    if (*nrows > 0 && query->width > 0)
        text_table_print_narrow(shown.table, query->width, shown.fits, out, note);
    else if (*nrows > 0 || query->format != REPORT_TABLE)
        text_table_put(shown.table, query->format, out);
    text_table_free(shown.table);
    return got;
}

static void chosen_make(struct chosen *chosen, struct store_rows *rows,
                        const struct report_query *query)
{
    chosen->n = 0;
    for (int i = 0; query->columns && query->columns[i] && i < CHOSEN_MAX; i++)
        chosen->columns[chosen->n++] = store_rows_column(rows, query->columns[i]);
    for (int c = 0; !query->columns && c < store_rows_columns(rows) && c < CHOSEN_MAX; c++)
        chosen->columns[chosen->n++] = c;
}

// Returns true if tables show the column as a rounded number, perhaps with marks.
static bool shown_is_number(enum store_view view, const char *name)
{
    const struct column *column = columns_find(view, name);
    return column && (column->look.align == ALIGN_POINT || column->bound);
}

static void put_csv_header(struct strbuf *out, struct store_rows *rows,
                           const struct report_query *query, const struct chosen *chosen)
{
    for (int i = 0; i < chosen->n; i++) {
        strbuf_puts(out, i ? "," : "");
        csv_put_text(out, store_rows_name(rows, chosen->columns[i]));
    }
    for (int i = 0; query->shown && i < chosen->n; i++)
        if (shown_is_number(query->view, store_rows_name(rows, chosen->columns[i])))
            strbuf_printf(out, ",%s_shown", store_rows_name(rows, chosen->columns[i]));
    strbuf_puts(out, "\n");
}

static void put_csv_row(struct strbuf *out, struct store_rows *rows,
                        const struct report_query *query, const struct chosen *chosen)
{
    char text[REPORT_LATENCY_MAX];
    for (int i = 0; i < chosen->n; i++) {
        int c = chosen->columns[i];
        strbuf_puts(out, i ? "," : "");
        if (store_rows_type(rows, c) == STORE_TEXT)
            csv_put_text(out, store_rows_text(rows, c));
        else if (store_rows_type(rows, c) == STORE_INTEGER)
            strbuf_printf(out, "%lld", (long long)store_rows_integer(rows, c));
        else if (store_rows_type(rows, c) != STORE_NULL)
            strbuf_put_real(out, store_rows_real(rows, c));
    }
    for (int i = 0; query->shown && i < chosen->n; i++) {
        const char *name = store_rows_name(rows, chosen->columns[i]);
        if (!shown_is_number(query->view, name))
            continue;
        strbuf_puts(out, ",");
        csv_put_text(out, report_value(rows, name, text));
    }
    strbuf_puts(out, "\n");
}

static int put_csv(struct store_rows *rows, const struct report_query *query, struct strbuf *out,
                   int64_t *nrows, struct err *err)
{
    struct chosen chosen;
    int got;
    chosen_make(&chosen, rows, query);
    put_csv_header(out, rows, query, &chosen);
    for (*nrows = 0; (got = store_rows_next(rows, err)) > 0; ++*nrows)
        put_csv_row(out, rows, query, &chosen);
    return got;
}

static int put_json(struct store_rows *rows, const struct report_query *query, struct strbuf *out,
                    int64_t *nrows, struct err *err)
{
    struct json json = {.out = out};
    struct chosen chosen;
    int got;
    chosen_make(&chosen, rows, query);
    json_open(&json, '[');
    for (*nrows = 0; (got = store_rows_next(rows, err)) > 0; ++*nrows)
        put_json_row(&json, rows, &chosen);
    json_close(*nrows ? json_break(&json, "\n") : &json, ']');
    strbuf_puts(out, "\n");
    return got;
}

int report_rows(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, query->view, query->filter, err);
    if (!rows)
        return -1;
    int got = query->format == REPORT_CSV    ? put_csv(rows, query, out, nrows, err)
              : query->format == REPORT_JSON ? put_json(rows, query, out, nrows, err)
                                             : put_table(rows, query, out, note, nrows, err);
    store_rows_close(rows);
    return got;
}
