// SPDX-License-Identifier: MIT
// Rows of several CPUs side by side: one row for what they share, columns for each; see report.h.
#include "report.h"

#include "store/store_run.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_COLUMNS_MAX = 256 };

struct side {
    const struct report_query *query;
    bool people;
    const struct column *keys[VIEW_COLUMNS_MAX]; // columns that make a row
    const char *values[VIEW_COLUMNS_MAX];        // columns of each CPU
    const char *uarchs;                          // each with its NUL, an empty one at the end
    int nkeys, nvalues;
    struct output_made made;
    struct output_stream stream;
    struct field_value cells[SIDE_COLUMNS_MAX]; // of the current row
    struct arena names, texts;                  // of all rows, and of the current one
};

// Finds the columns that all CPUs of a row share, and the columns that each CPU has: the usual
// ones, or the query's.
static void side_columns(struct side *side)
{
    const struct column *columns[VIEW_COLUMNS_MAX];
    const char *const *asked = side->query->columns;
    int n = columns_on(side->query->view, side->people ? COLUMN_SIDE : COLUMN_SIDES, columns);
    for (int i = 0; i < n; i++)
        if (columns[i]->key)
            side->keys[side->nkeys++] = columns[i];
        else if (!asked)
            side->values[side->nvalues++] = columns[i]->look.name;
    for (; asked && asked[side->nvalues] && side->nvalues < VIEW_COLUMNS_MAX; side->nvalues++)
        side->values[side->nvalues] = asked[side->nvalues];
}

// Adds a field: "zen4 latency" over tables, "zen4.latency_min_clk" for programs; the first, which
// is the form, stays where lines are short, and the other keys go if they are all the same.
static void side_add(struct side *side, const char *uarch, const char *name)
{
    int at = side->made.record.nfields;
    enum store_view view = side->query->view;
    const struct column *column = columns_find(view, name);
    struct output_field field = OUTPUT_FIELD(struct side, cells[0]);
    field.look.name = *uarch ? arena_printf(&side->names, "%s.%s", uarch, name) : name;
    field.look.heading = report_heading(view, name);
    field.look.fit = (struct text_fit){at ? FIT_SAME : FIT_KEEP, at ? 0 : 24};
    if (*uarch) {
        field.look.heading = arena_printf(&side->names, "%s %s", uarch, field.look.heading);
        field.look.align = report_alignment(view, name);
        bool folds = column && column->look.align != ALIGN_POINT;
        field.look.fit = (struct text_fit){FIT_KEEP, folds ? column->look.fit.fold : 0};
    }
    output_made_add(&side->made, output_element(field, at, sizeof *side->cells));
}

static int side_fields(struct side *side, struct err *err)
{
    for (int k = 0; k < side->nkeys; k++)
        side_add(side, "", side->keys[k]->look.name);
    for (const char *uarch = side->uarchs; *uarch; uarch += strlen(uarch) + 1)
        if (side->made.record.nfields + side->nvalues > SIDE_COLUMNS_MAX)
            return err_set(err, "too many CPUs for one table; --uarch names some of them");
        else
            for (int v = 0; v < side->nvalues; v++)
                side_add(side, uarch, side->values[v]);
    return 0;
}

static void side_cell(struct side *side, int column, struct store_rows *rows, const char *name)
{
    char text[REPORT_LATENCY_MAX];
    struct field_value value = store_rows_value(rows, store_rows_column(rows, name));
    value.text = arena_strdup(&side->texts, value.text);
    value.shown = arena_strdup(&side->texts, side->people ? report_value(rows, name, text) : "");
    side->cells[column] = value;
}

// Begins a row without values.
static void side_clear(struct side *side)
{
    arena_free(&side->texts);
    for (int c = 0; c < side->made.record.nfields; c++)
        side->cells[c] = (struct field_value){.none = true, .text = "", .shown = ""};
}

static bool side_same(const struct side *side, struct store_rows *rows)
{
    for (int k = 0; k < side->nkeys; k++) {
        struct field_value value =
            store_rows_value(rows, store_rows_column(rows, side->keys[k]->look.name));
        if (value.integer != side->cells[k].integer || strcmp(value.text, side->cells[k].text) != 0)
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
    store_runs_of(side->query->runs, rows);
    for (int k = 0; k < side->nkeys; k++)
        side_cell(side, k, rows, side->keys[k]->look.name);
    for (int v = 0; v < side->nvalues; v++)
        side_cell(side, side->nkeys + u * side->nvalues + v, rows, side->values[v]);
}

static int side_rows(struct side *side, struct store *store, struct err *err)
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
    while (rows && (got = store_rows_next(rows, err)) > 0) {
        if (open && side_same(side, rows)) {
            side_row(side, rows);
            continue;
        }
        if (open)
            output_row(&side->stream, side);
        open = !limit || side->stream.n < limit;
        if (!open)
            break;
        side_clear(side);
        side_row(side, rows);
    }
    if (open && got == 0)
        output_row(&side->stream, side);
    store_rows_close(rows);
    return got < 0 ? -1 : 0;
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
    const struct output_page page = {query->format, query->width, query->colour};
    struct side *side = xcalloc(1, sizeof *side);
    side->query = query;
    side->people = report_for_people(query->format);
    side->uarchs = uarchs;
    side->stream = (struct output_stream){.record = &side->made.record, .page = &page, .out = out};
    side_columns(side);
    int result = side_fields(side, err);
    if (result == 0) {
        output_begin(&side->stream, NULL);
        result = side_rows(side, store, err);
        *nrows = side->stream.n;
        output_end(&side->stream, note);
    }
    arena_free(&side->names);
    arena_free(&side->texts);
    free(side->made.fields);
    free(side);
    free(uarchs);
    return result;
}
