// SPDX-License-Identifier: MIT
// Rows of several CPUs side by side: one row for what they share, columns for each; see report.h.
#include "report.h"

#include "store/store_run.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_COLUMNS_MAX = 256 };

struct side {
    const struct report_query *query;
    const struct column *keys[VIEW_COLUMNS_MAX]; // columns that make a row
    const char *values[VIEW_COLUMNS_MAX];        // columns of each CPU
    const char *uarchs;                          // each with its NUL, an empty one at the end
    int nkeys, nvalues, nuarchs, ncolumns;
    char *names[SIDE_COLUMNS_MAX]; // headings of tables, else names of columns
    struct text_table *table;
    struct json json;
    struct strbuf *out;
    char **cells; // cells of the current row; NULL: none
    bool *numbers;
};

// Finds the columns that make a row, and those of each CPU: the usual ones, or the query's.
static void side_columns(struct side *side)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    const char *const *asked = side->query->columns;
    int n = columns_on(side->query->view, COLUMN_SIDE, columns);
    for (int i = 0; i < n; i++)
        if (columns[i]->key)
            side->keys[side->nkeys++] = columns[i];
        else if (!asked)
            side->values[side->nvalues++] = columns[i]->look.name;
    for (; asked && asked[side->nvalues] && side->nvalues < VIEW_COLUMNS_MAX; side->nvalues++)
        side->values[side->nvalues] = asked[side->nvalues];
}

static void side_name(struct side *side, char *name)
{
    side->names[side->ncolumns++] = name;
}

// Makes names: "zen4 latency" over tables, "zen4.latency_min_clk" for programs.
static int side_names(struct side *side, struct err *err)
{
    bool table = report_for_people(side->query->format);
    for (int k = 0; k < side->nkeys; k++)
        side_name(side, xstrdup(table ? side->keys[k]->look.heading : side->keys[k]->look.name));
    for (const char *uarch = side->uarchs; *uarch; uarch += strlen(uarch) + 1, side->nuarchs++)
        if (side->ncolumns + side->nvalues > SIDE_COLUMNS_MAX)
            return err_set(err, "too many CPUs for one table; --uarch names some of them");
        else
            for (int v = 0; v < side->nvalues; v++)
                side_name(side, table
                                    ? xasprintf("%s %s", uarch,
                                                report_heading(side->query->view, side->values[v]))
                                    : xasprintf("%s.%s", uarch, side->values[v]));
    return 0;
}

static void side_start(struct side *side)
{
    static enum text_align aligns[SIDE_COLUMNS_MAX];
    for (int c = side->nkeys; c < side->ncolumns; c++)
        aligns[c] =
            report_alignment(side->query->view, side->values[(c - side->nkeys) % side->nvalues]);
    side->table = text_table_new((const char *const *)side->names, aligns, side->ncolumns);
    side->cells = xcalloc((size_t)side->ncolumns, sizeof *side->cells);
    side->numbers = xcalloc((size_t)side->ncolumns, sizeof *side->numbers);
    if (side->query->format == REPORT_JSON)
        json_open(&side->json, '[');
}

// Returns a value of the current row as the side's format has it; in `text`, or valid until the
// next row.
static const char *side_text(const struct side *side, struct store_rows *rows, const char *name,
                             char text[REPORT_LATENCY_MAX])
{
    return report_for_people(side->query->format) ? report_value(rows, name, text)
                                                  : store_text_of(rows, name);
}

static void side_cell(struct side *side, int column, struct store_rows *rows, const char *name)
{
    char text[REPORT_LATENCY_MAX];
    struct strbuf raw = {0};
    int at = store_rows_column(rows, name);
    if (!report_for_people(side->query->format) && store_rows_type(rows, at) == STORE_REAL)
        strbuf_put_real(&raw, store_rows_real(rows, at));
    else
        strbuf_puts(&raw, side_text(side, rows, name, text));
    free(side->cells[column]);
    bool known = report_for_people(side->query->format) || store_rows_type(rows, at) != STORE_NULL;
    side->cells[column] = known ? raw.data : NULL;
    if (!known)
        strbuf_free(&raw);
    side->numbers[column] =
        store_rows_type(rows, at) == STORE_REAL || store_rows_type(rows, at) == STORE_INTEGER;
}

static void side_put_json(struct side *side)
{
    json_open(json_break(&side->json, "\n  "), '{');
    for (int c = 0; c < side->ncolumns; c++) {
        json_name(&side->json, side->names[c]);
        if (!side->cells[c])
            json_null(&side->json);
        else if (side->numbers[c])
            json_raw(&side->json, side->cells[c]);
        else
            json_text(&side->json, side->cells[c]);
    }
    json_close(&side->json, '}');
}

// Ends the current row.
static void side_put(struct side *side)
{
    if (side->query->format == REPORT_JSON)
        side_put_json(side);
    for (int c = 0; c < side->ncolumns; c++) {
        if (side->query->format != REPORT_JSON)
            text_table_cell(side->table, side->cells[c]);
        free(side->cells[c]);
        side->cells[c] = NULL;
        side->numbers[c] = false;
    }
}

static bool side_same(const struct side *side, struct store_rows *rows)
{
    for (int k = 0; k < side->nkeys; k++) {
        char text[REPORT_LATENCY_MAX];
        if (!side->cells[k] ||
            strcmp(side->cells[k], side_text(side, rows, side->keys[k]->look.name, text)) != 0)
            return false;
    }
    return true;
}

static void side_row(struct side *side, struct store_rows *rows)
{
    int u = 0;
    const char *own = store_text_of(rows, "uarch");
    for (const char *uarch = side->uarchs; strcmp(uarch, own) != 0; uarch += strlen(uarch) + 1)
        u++;
    report_runs_of(side->query->runs, rows);
    for (int k = 0; k < side->nkeys; k++)
        side_cell(side, k, rows, side->keys[k]->look.name);
    for (int v = 0; v < side->nvalues; v++)
        side_cell(side, side->nkeys + u * side->nvalues + v, rows, side->values[v]);
}

static int side_rows(struct side *side, struct store *store, int64_t *nrows, struct err *err)
{
    struct store_filter filter = *side->query->filter;
    struct strbuf order = {0};
    strbuf_puts(&order, "mnemonic, operands, ");
    for (int k = 0; k < side->nkeys; k++)
        strbuf_printf(&order, "%s, ", side->keys[k]->look.name);
    strbuf_puts(&order, "uarch");
    filter.sort = strbuf_text(&order);
    filter.limit = 0; // the limit counts joined rows
    struct store_rows *rows = store_rows_open(store, side->query->view, &filter, err);
    strbuf_free(&order);
    int got = rows ? 0 : -1;
    bool open = false;
    int64_t limit = side->query->filter->limit;
    for (*nrows = 0; rows && (got = store_rows_next(rows, err)) > 0;) {
        if (open && !side_same(side, rows)) {
            side_put(side);
            open = false;
        }
        if (!open && limit && *nrows == limit) {
            got = 0;
            break;
        }
        *nrows += !open;
        open = true;
        side_row(side, rows);
    }
    if (open)
        side_put(side);
    store_rows_close(rows);
    return got;
}

static int side_fold(const struct side *side, const char *name)
{
    const struct column *column = columns_find(side->query->view, name);
    return column ? column->look.fit.fold : 0;
}

static void side_print(struct side *side, struct strbuf *note)
{
    struct text_fit fits[SIDE_COLUMNS_MAX] = {
        {0, 0}
    };
    if (side->query->colour)
        text_table_colour(side->table);
    if (side->query->width == 0) {
        text_table_put(side->table, side->query->format, side->out);
        return;
    }
    fits[0].fold = 24;
    for (int c = 1; c < side->nkeys; c++)
        fits[c].rank = FIT_SAME;
    for (int c = side->nkeys; c < side->ncolumns; c++)
        fits[c].fold = side_fold(side, side->values[(c - side->nkeys) % side->nvalues]);
    text_table_print_narrow(side->table, side->query->width, fits, side->out, note);
}

static void side_end(struct side *side, int64_t nrows, struct strbuf *note)
{
    if (side->query->format == REPORT_JSON) {
        json_close(nrows ? json_break(&side->json, "\n") : &side->json, ']');
        strbuf_puts(side->out, "\n");
    } else if (side->query->format != REPORT_TABLE || nrows > 0) {
        side_print(side, note);
    }
}

bool report_has_sides(enum store_view view)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n = columns_on(view, COLUMN_SIDE, columns);
    return n > 0 && !columns[n - 1]->key;
}

int report_side(struct store *store, const struct report_query *query, struct strbuf *out,
                struct strbuf *note, int64_t *nrows, struct err *err)
{
    char *uarchs = store_uarchs(store, query->filter->uarch, err);
    if (!uarchs)
        return -1;
    struct side side = {.query = query, .uarchs = uarchs, .json = {.out = out}, .out = out};
    side_columns(&side);
    int result = side_names(&side, err);
    if (result == 0) {
        side_start(&side);
        result = side_rows(&side, store, nrows, err);
        if (result == 0)
            side_end(&side, *nrows, note);
        text_table_free(side.table);
    }
    for (int c = 0; c < side.ncolumns; c++) {
        free(side.names[c]);
        if (side.cells)
            free(side.cells[c]);
    }
    free(side.cells);
    free(side.numbers);
    free(uarchs);
    return result;
}
