// SPDX-License-Identifier: MIT
// Writes docs/COLUMNS.md from the records.
#include "columns.h"

static void put_column(struct strbuf *out, const struct column *column)
{
    const struct look *look = &column->look;
    static const char *const types[] = {[LOOK_TEXT] = "text",
                                        [LOOK_INTEGER] = "integer",
                                        [LOOK_REAL] = "real",
                                        [LOOK_BOOL] = "0, 1"};
    strbuf_printf(out, "| `%s`%s | %s%s%s | %s | %s |\n", look->name, column->key ? " (key)" : "",
                  types[look->type], look->unit ? ", " : "", look->unit ? look->unit : "",
                  look->heading ? look->heading : "", look->says);
}

void columns_document(struct strbuf *out)
{
    strbuf_puts(
        out,
        "<!-- SPDX-License-Identifier: MIT -->\n"
        "# The columns of the public views\n"
        "\n"
        "What each column is, and its heading in tables. For people who read views, CSV or JSON.\n"
        "`make golden` writes this page from `runner/columns/`; "
        "[HOWTO_ADD_COLUMN.md](HOWTO_ADD_COLUMN.md) adds\n"
        "a column. CSV and JSON of `latput query` have the columns in this order. Those that are "
        "only "
        "in the\n"
        "database stand last. The `run_` twin of a view has these columns and more; its key has "
        "`run_id` for\n"
        "`uarch`. A column `NAME_bound` or `bound` says of its number: `exact`, `average`, "
        "`upper`.\n");
    columns_show_beside(true);
    for (int view = 0; view < STORE_VIEW_LIST_BEST; view++) {
        int n;
        const struct column *columns = columns_of((enum store_view)view, &n);
        if (!columns_view_name((enum store_view)view))
            continue;
        strbuf_printf(
            out, "\n## `%s`\n\n| column | type, unit | heading | meaning |\n|---|---|---|---|\n",
            columns_view_name((enum store_view)view));
        for (int i = 0; i < n; i++)
            put_column(out, &columns[i]);
    }
    columns_show_beside(false);
}
