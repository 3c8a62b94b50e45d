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

enum { CHOSEN_MAX = 100 }; // most columns of a view

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

void report_fields_json(struct json *json, const struct store_record *record, const void *row)
{
    for (int i = 0; i < record->nfields; i++) {
        const struct store_field *field = &record->fields[i];
        const char *name = field->json ? field->json : store_field_name(field);
        if (!*name)
            continue;
        json_name(json, name);
        if (field->kind == FIELD_REAL)
            json_real(json, store_field_real(field, row));
        else if (!field->words && field->kind != FIELD_TEXT)
            json_int(json, store_field_integer(field, row));
        else if (field->known)
            json_text_known(json, store_field_text(field, row));
        else
            json_text(json, store_field_text(field, row));
    }
}

// A column of the tables: its heading, its alignment, the column of the view that it shows, and its
// fate in narrow tables.
struct shown_column {
    const char *heading;
    enum text_align align;
    const char *name;
    int rank, fold; // as in struct text_fit
};

static const struct shown_column shown_instruction[] = {
    {"uarch",       ALIGN_LEFT,  "uarch",                FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",                 FIT_KEEP, 24},
    {"enc",         ALIGN_LEFT,  "enc",                  5,        0 },
    {"latency",     ALIGN_POINT, "latency_min_clk",      FIT_KEEP, 0 },
    {"max",         ALIGN_POINT, "latency_max_clk",      3,        0 },
    {"1/tput",      ALIGN_POINT, "rthroughput_clk",      FIT_KEEP, 0 },
    {"slow",        ALIGN_POINT, "rthroughput_slow_clk", 6,        0 },
    {"at rename",   ALIGN_LEFT,  "at_rename",            7,        0 },
    {"uops",        ALIGN_RIGHT, "uops",                 2,        0 },
    {"ports",       ALIGN_LEFT,  "ports",                FIT_KEEP, 15},
    {"outcome",     ALIGN_LEFT,  "outcome",              1,        0 },
    {"note",        ALIGN_LEFT,  "note",                 4,        30},
    {"run",         ALIGN_RIGHT, "run_id",               8,        0 },
    {NULL,          ALIGN_LEFT,  NULL,                   FIT_KEEP, 0 },
};
static const struct shown_column shown_latency[] = {
    {"uarch",       ALIGN_LEFT,  "uarch",       FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",        FIT_KEEP, 24},
    {"enc",         ALIGN_LEFT,  "enc",         4,        0 },
    {"from",        ALIGN_LEFT,  "src",         FIT_KEEP, 0 },
    {"role",        ALIGN_LEFT,  "src_role",    7,        0 },
    {"to",          ALIGN_LEFT,  "dst",         FIT_KEEP, 0 },
    {"data",        ALIGN_LEFT,  "variant",     FIT_KEEP, 0 },
    {"latency",     ALIGN_POINT, "latency_clk", FIT_KEEP, 0 },
    {"least",       ALIGN_POINT, "least_clk",   3,        0 },
    {"most",        ALIGN_POINT, "most_clk",    3,        0 },
    {"spread",      ALIGN_POINT, "spread_clk",  2,        0 },
    {"accepted",    ALIGN_RIGHT, "accepted",    6,        0 },
    {"tried",       ALIGN_RIGHT, "tried",       5,        0 },
    {"outcome",     ALIGN_LEFT,  "outcome",     1,        0 },
    {"run",         ALIGN_RIGHT, "run_id",      8,        0 },
    {NULL,          ALIGN_LEFT,  NULL,          FIT_KEEP, 0 },
};
static const struct shown_column shown_port[] = {
    {"uarch",       ALIGN_LEFT,  "uarch",    FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",     FIT_KEEP, 24},
    {"enc",         ALIGN_LEFT,  "enc",      4,        0 },
    {"ports",       ALIGN_LEFT,  "ports",    FIT_KEEP, 20},
    {"uops",        ALIGN_RIGHT, "uops",     2,        0 },
    {"slots",       ALIGN_POINT, "slots",    3,        0 },
    {"unit",        ALIGN_LEFT,  "unit",     FIT_KEEP, 0 },
    {"busy",        ALIGN_POINT, "busy_clk", FIT_KEEP, 0 },
    {"paths",       ALIGN_LEFT,  "paths",    4,        0 },
    {"residual",    ALIGN_POINT, "residual", 5,        0 },
    {"outcome",     ALIGN_LEFT,  "outcome",  1,        0 },
    {"run",         ALIGN_RIGHT, "run_id",   8,        0 },
    {NULL,          ALIGN_LEFT,  NULL,       FIT_KEEP, 0 },
};
static const struct shown_column shown_false[] = {
    {"uarch",       ALIGN_LEFT,  "uarch",       FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",        FIT_KEEP, 24},
    {"enc",         ALIGN_LEFT,  "enc",         4,        0 },
    {"operand",     ALIGN_LEFT,  "operand",     FIT_KEEP, 0 },
    {"latency",     ALIGN_POINT, "latency_clk", FIT_KEEP, 0 },
    {"spread",      ALIGN_POINT, "spread_clk",  2,        0 },
    {"outcome",     ALIGN_LEFT,  "outcome",     1,        0 },
    {"run",         ALIGN_RIGHT, "run_id",      8,        0 },
    {NULL,          ALIGN_LEFT,  NULL,          FIT_KEEP, 0 },
};
static const struct shown_column shown_doubt[] = {
    {"run",         ALIGN_RIGHT, "run_id",      FIT_SAME, 0 },
    {"uarch",       ALIGN_LEFT,  "uarch",       FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",        FIT_KEEP, 24},
    {"enc",         ALIGN_LEFT,  "enc",         4,        0 },
    {"test",        ALIGN_LEFT,  "kind",        FIT_KEEP, 0 },
    {"from",        ALIGN_LEFT,  "src",         FIT_KEEP, 0 },
    {"to",          ALIGN_LEFT,  "dst",         FIT_KEEP, 0 },
    {"data",        ALIGN_LEFT,  "variant",     3,        0 },
    {"cycles",      ALIGN_POINT, "clk",         FIT_KEEP, 0 },
    {"kernel",      ALIGN_LEFT,  "shape",       2,        0 },
    {"another way", ALIGN_LEFT,  "other_way",   FIT_KEEP, 0 },
    {"cycles",      ALIGN_POINT, "other_clk",   FIT_KEEP, 0 },
    {"kernel",      ALIGN_LEFT,  "other_shape", 2,        0 },
    {NULL,          ALIGN_LEFT,  NULL,          FIT_KEEP, 0 },
};
static const struct shown_column shown_evidence[] = {
    {"uarch",       ALIGN_LEFT,  "uarch",        FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",         FIT_KEEP, 24},
    {"number",      ALIGN_RIGHT, "instances",    FIT_KEEP, 0 },
    {"beside",      ALIGN_LEFT,  "blocker",      FIT_KEEP, 0 },
    {"blocker",     ALIGN_LEFT,  "blocker_form", 3,        16},
    {"number",      ALIGN_RIGHT, "blockers",     FIT_KEEP, 0 },
    {"cycles",      ALIGN_POINT, "clk",          FIT_KEEP, 0 },
    {"spread",      ALIGN_POINT, "spread_clk",   4,        0 },
    {"uops",        ALIGN_POINT, "uops",         FIT_KEEP, 0 },
    {"outcome",     ALIGN_LEFT,  "outcome",      1,        0 },
    {"run",         ALIGN_RIGHT, "run_id",       8,        0 },
    {NULL,          ALIGN_LEFT,  NULL,           FIT_KEEP, 0 },
};
static const struct shown_column shown_failure[] = {
    {"run",         ALIGN_RIGHT, "run_id",  FIT_SAME, 0 },
    {"instruction", ALIGN_LEFT,  "form",    FIT_KEEP, 24},
    {"test",        ALIGN_LEFT,  "test",    FIT_KEEP, 16},
    {"outcome",     ALIGN_LEFT,  "outcome", FIT_KEEP, 0 },
    {"detail",      ALIGN_LEFT,  "detail",  FIT_KEEP, 20},
    {NULL,          ALIGN_LEFT,  NULL,      FIT_KEEP, 0 },
};
static const struct shown_column shown_run[] = {
    {"run",      ALIGN_RIGHT, "run_id",      FIT_KEEP, 0 },
    {"uarch",    ALIGN_LEFT,  "uarch",       FIT_KEEP, 0 },
    {"CPU",      ALIGN_LEFT,  "brand",       FIT_KEEP, 12},
    {"started",  ALIGN_LEFT,  "started_utc", FIT_KEEP, 0 },
    {"status",   ALIGN_LEFT,  "status",      FIT_KEEP, 0 },
    {"decided",  ALIGN_LEFT,  "decided",     4,        0 },
    {"forms",    ALIGN_RIGHT, "forms",       2,        0 },
    {"snippets", ALIGN_RIGHT, "snippets",    2,        0 },
    {"backend",  ALIGN_LEFT,  "backend",     3,        0 },
    {"version",  ALIGN_LEFT,  "version",     1,        0 },
    {NULL,       ALIGN_LEFT,  NULL,          FIT_KEEP, 0 },
};
static const struct shown_column shown_bench[] = {
    {"uarch",        ALIGN_LEFT,  "uarch",        FIT_SAME, 0 },
    {"label",        ALIGN_LEFT,  "label",        FIT_KEEP, 12},
    {"code",         ALIGN_LEFT,  "snippet",      FIT_KEEP, 24},
    {"mode",         ALIGN_LEFT,  "mode",         FIT_SAME, 0 },
    {"bits",         ALIGN_RIGHT, "bits",         FIT_SAME, 0 },
    {"CPU",          ALIGN_RIGHT, "cpu",          FIT_SAME, 0 },
    {"clk/instance", ALIGN_POINT, "instance_clk", FIT_KEEP, 0 },
    {"spread",       ALIGN_POINT, "spread_clk",   3,        0 },
    {"counts",       ALIGN_LEFT,  "counted",      FIT_KEEP, 20},
    {"outcome",      ALIGN_LEFT,  "outcome",      1,        0 },
    {"detail",       ALIGN_LEFT,  "detail",       2,        20},
    {"run",          ALIGN_RIGHT, "run_id",       FIT_KEEP, 0 },
    {NULL,           ALIGN_LEFT,  NULL,           FIT_KEEP, 0 },
};
static const struct shown_column shown_repetition[] = {
    {"run",          ALIGN_RIGHT, "run_id",       FIT_SAME, 0 },
    {"code",         ALIGN_LEFT,  "snippet",      FIT_SAME, 24},
    {"CPU",          ALIGN_RIGHT, "cpu",          FIT_SAME, 0 },
    {"pass",         ALIGN_RIGHT, "pass",         FIT_KEEP, 0 },
    {"repetition",   ALIGN_RIGHT, "repetition",   FIT_KEEP, 0 },
    {"cold",         ALIGN_RIGHT, "cold",         FIT_KEEP, 0 },
    {"accepted",     ALIGN_RIGHT, "accepted",     FIT_KEEP, 0 },
    {"TSC ticks",    ALIGN_RIGHT, "elapsed_tsc",  3,        0 },
    {"core clk",     ALIGN_RIGHT, "elapsed_clk",  2,        0 },
    {"clk/instance", ALIGN_POINT, "instance_clk", FIT_KEEP, 0 },
    {"counts",       ALIGN_LEFT,  "counted",      FIT_KEEP, 20},
    {NULL,           ALIGN_LEFT,  NULL,           FIT_KEEP, 0 },
};
static const struct shown_column shown_warning[] = {
    {"warning", ALIGN_LEFT, "text",   FIT_KEEP, 20},
    {"remedy",  ALIGN_LEFT, "remedy", FIT_KEEP, 20},
    {NULL,      ALIGN_LEFT, NULL,     FIT_KEEP, 0 },
};

static const struct shown_column shown_list[] = {
    {"list",  ALIGN_LEFT,  "list",  FIT_KEEP, 0 },
    {"forms", ALIGN_RIGHT, "forms", FIT_KEEP, 0 },
    {"title", ALIGN_LEFT,  "title", FIT_KEEP, 20},
    {NULL,    ALIGN_LEFT,  NULL,    FIT_KEEP, 0 },
};

static const struct shown_column *const shown_views[STORE_VIEW_LIST_FAILURE + 1] = {
    [STORE_VIEW_INSTRUCTION] = shown_instruction,
    [STORE_VIEW_LATENCY] = shown_latency,
    [STORE_VIEW_PORT] = shown_port,
    [STORE_VIEW_FALSE] = shown_false,
    [STORE_VIEW_DOUBT] = shown_doubt,
    [STORE_VIEW_EVIDENCE] = shown_evidence,
    [STORE_VIEW_FAILURE] = shown_failure,
    [STORE_VIEW_RUN] = shown_run,
    [STORE_VIEW_WARNING] = shown_warning,
    [STORE_VIEW_BENCH] = shown_bench,
    [STORE_VIEW_REPETITION] = shown_repetition,
    [STORE_VIEW_LIST] = shown_list,
};

// Returns the mark after a latency: averages and one state of several have one.
static const char *shown_mark(struct store_rows *rows, const char *name)
{
    const char *mark = strcmp(name, "latency_clk") == 0       ? "mark"
                       : strcmp(name, "latency_min_clk") == 0 ? "latency_min_mark"
                       : strcmp(name, "latency_max_clk") == 0 ? "latency_max_mark"
                                                              : NULL;
    return mark ? store_text_of(rows, mark) : "";
}

static bool rows_have(const struct store_rows *rows, const char *name)
{
    for (int i = 0; i < store_rows_columns(rows); i++)
        if (strcmp(store_rows_name(rows, i), name) == 0)
            return true;
    return false;
}

// Returns true if the value is an upper bound, which has a sign.
static bool shown_is_bound(struct store_rows *rows, const char *name)
{
    static const char *const bounds[][2] = {
        {"latency_clk",     "bound"            },
        {"latency_min_clk", "latency_bound"    },
        {"latency_max_clk", "latency_max_bound"},
        {"rthroughput_clk", "rthroughput_bound"},
        {"uops",            "uops_bound"       },
        {"slots",           "uops_bound"       },
    };
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (strcmp(name, bounds[i][0]) == 0)
            return rows_have(rows, bounds[i][1]) &&
                   strcmp(store_text_of(rows, bounds[i][1]), "upper") == 0;
    return false;
}

const char *report_number(double value, char text[32])
{
    // Rounding first, so that 0.0996 is 0.10 and not 0.100.
    if (isnan(value))
        text[0] = '\0';
    else if (fabs(value) < 0.0995 && value != 0)
        snprintf(text, 32, "%.3f", value);
    else if (fabs(value) < 99.995)
        snprintf(text, 32, "%.2f", value);
    else if (fabs(value) < 999.95)
        snprintf(text, 32, "%.1f", value);
    else
        snprintf(text, 32, "%.0f", value);
    return text;
}

void report_put_number(struct text_table *table, double value, int digits,
                       enum report_format format)
{
    struct strbuf exact = {0};
    char number[32];
    if (!isfinite(value) || report_for_people(format)) {
        text_table_cell(table, isfinite(value) ? report_number(value, number) : "");
        return;
    }
    if (digits)
        strbuf_printf(&exact, "%.*g", digits, value);
    else
        strbuf_put_real(&exact, value);
    text_table_cell(table, strbuf_text(&exact));
    strbuf_free(&exact);
}

const char *report_latency(const char *number, bool upper, const char *mark,
                           char text[REPORT_LATENCY_MAX])
{
    snprintf(text, REPORT_LATENCY_MAX, "%s%s%s%s", upper ? "≤" : "", strchr(mark, '~') ? "~" : "",
             number, strchr(mark, '*') ? "*" : "");
    return text;
}

const char *report_ports(struct store_rows *rows)
{
    int column = store_rows_column(rows, "ports");
    const char *text = store_rows_text(rows, column);
    if (store_rows_type(rows, column) == STORE_NULL)
        return "";
    return !*text ? "none" : strcmp(text, "?") == 0 ? "none?" : text;
}

const char *report_value(struct store_rows *rows, const char *name, char text[REPORT_LATENCY_MAX])
{
    int column = store_rows_column(rows, name);
    if (strcmp(name, "ports") == 0)
        return report_ports(rows);
    if (strcmp(name, "form") == 0 || strcmp(name, "blocker_form") == 0)
        return store_rows_form(rows, column);
    if (store_rows_type(rows, column) == STORE_INTEGER && shown_is_bound(rows, name))
        return report_latency(store_rows_text(rows, column), true, "", text);
    if (store_rows_type(rows, column) != STORE_REAL) {
        const char *value = store_rows_text(rows, column);
        bool usual = strcmp(name, "outcome") == 0 && strcmp(value, "ok") == 0;
        return usual ? "" : value;
    }
    char number[32];
    report_number(store_rows_real(rows, column), number);
    return report_latency(number, shown_is_bound(rows, name), shown_mark(rows, name), text);
}

static const struct shown_column *shown_find(enum store_view view, const char *name)
{
    for (const struct shown_column *shown = shown_views[view]; shown && shown->heading; shown++)
        if (strcmp(shown->name, name) == 0)
            return shown;
    return NULL;
}

const char *report_heading(enum store_view view, const char *name)
{
    const struct shown_column *shown = shown_find(view, name);
    return shown ? shown->heading : name;
}

enum text_align report_alignment(enum store_view view, const char *name)
{
    const struct shown_column *shown = shown_find(view, name);
    size_t len = strlen(name);
    return shown                                            ? shown->align
           : len > 4 && strcmp(name + len - 4, "_clk") == 0 ? ALIGN_POINT
                                                            : ALIGN_LEFT;
}

// A table being written: its columns and their layout.
struct shown_table {
    struct text_table *table;
    int n;
    const char *names[CHOSEN_MAX], *headings[CHOSEN_MAX];
    enum text_align aligns[CHOSEN_MAX];
    struct text_fit fits[CHOSEN_MAX];
};

static void shown_add(struct shown_table *table, const struct shown_column *column)
{
    table->names[table->n] = column->name;
    table->headings[table->n] = column->heading;
    table->aligns[table->n] = column->align;
    table->fits[table->n++] = (struct text_fit){column->rank, column->fold};
}

// Chooses the named columns, which all stay, or those that people need; all, for a view that has no
// table for people.
static void shown_begin(struct shown_table *table, const struct report_query *query,
                        struct store_rows *rows)
{
    const struct shown_column *view = shown_views[query->view];
    table->n = 0;
    for (int i = 0; !query->columns && !view && i < store_rows_columns(rows) && i < CHOSEN_MAX; i++)
        shown_add(table, &(struct shown_column){store_rows_name(rows, i), ALIGN_LEFT,
                                                store_rows_name(rows, i), FIT_KEEP, 24});
    for (int i = 0; query->columns && query->columns[i] && i < CHOSEN_MAX; i++)
        shown_add(table, &(struct shown_column){report_heading(query->view, query->columns[i]),
                                                report_alignment(query->view, query->columns[i]),
                                                query->columns[i], FIT_KEEP, 24});
    for (const struct shown_column *at = view; !query->columns && at && at->heading; at++)
        shown_add(table, at);
    table->table = text_table_new(table->headings, table->aligns, table->n);
    if (query->colour)
        text_table_colour(table->table);
}

// Returns the style of a value: what is not sure is faint, and so are outcomes that are no fault.
static enum text_style shown_style(struct store_rows *rows, const char *name, const char *value)
{
    static const char *const faint[] = {"unsupported", "not_measurable", "unstable"};
    size_t len = strlen(value);
    if (strcmp(name, "ports") == 0 || strcmp(name, "uarch") == 0)
        return len > 0 && value[len - 1] == '?' ? STYLE_FAINT : STYLE_PLAIN;
    if (strcmp(name, "outcome") != 0)
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
    return report_alignment(view, name) == ALIGN_POINT || strcmp(name, "uops") == 0;
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
