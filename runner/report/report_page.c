// SPDX-License-Identifier: MIT
// All instructions of a database as one HTML page that stands alone; see report.h. It is a plain
// table if no scripts run; the script only filters and sorts.
#include "report.h"

#include "store/store.h"
#include "util/mem.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char report_page_style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --line: #8884; --head: #f4f4f4; }\n"
    "@media (prefers-color-scheme: dark) { :root { --head: #222; } }\n"
    "body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 90rem; "
    "padding: 0 1rem; }\n"
    "h1 { font-size: 1.4rem; margin: 0 0 .2rem; }\n"
    "p, dl { max-width: 60rem; }\n"
    "dt { font-weight: 600; float: left; clear: left; min-width: 6.5rem; }\n"
    "dd { margin: 0 0 .3rem 7rem; }\n"
    "form { position: sticky; top: 0; background: Canvas; padding: .5rem 0; z-index: 2; }\n"
    "form ~ table th { top: 3rem; cursor: pointer; }\n"
    "input { font: inherit; width: min(26rem, 90%); padding: .25rem .5rem; }\n"
    "table { border-collapse: collapse; font-size: 13px; width: 100%; }\n"
    "th { position: sticky; top: 0; background: var(--head); text-align: left; "
    "border-bottom: 2px solid var(--line); white-space: nowrap; }\n"
    "th, td { padding: .15rem .6rem .15rem 0; vertical-align: top; }\n"
    "td { border-bottom: 1px solid var(--line); }\n"
    "td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    "td:first-child, td.p { font-family: ui-monospace, monospace; white-space: nowrap; }\n"
    "</style>\n";

static const char page_script[] =
    "<script>\n"
    "const table = document.querySelector('table'), body = table.tBodies[0];\n"
    "const box = document.querySelector('input'), count = document.querySelector('output');\n"
    "const rows = [...body.rows];\n"
    "const texts = rows.map(row => [...row.cells].map(c => c.textContent).join(' ')"
    ".toLowerCase());\n"
    "let timer = 0;\n"
    "function filter() {\n"
    "  const words = box.value.toLowerCase().split(/\\s+/).filter(w => w);\n"
    "  let shown = 0;\n"
    "  rows.forEach((row, i) => {\n"
    "    row.hidden = !words.every(w => texts[i].includes(w));\n"
    "    shown += !row.hidden;\n"
    "  });\n"
    "  count.textContent = shown + ' of ' + rows.length + ' forms';\n"
    "}\n"
    "box.form.hidden = false;\n"
    "box.form.addEventListener('submit', e => e.preventDefault());\n"
    "box.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(filter, 120);"
    " });\n"
    "const key = text => { const n = parseFloat(text.replace(/^[^0-9-]+/, ''));\n"
    "  return isNaN(n) ? text : n; };\n"
    "[...table.tHead.rows[0].cells].forEach((head, at) => head.addEventListener('click', () => {\n"
    "  const up = head.dataset.up !== '1', side = up ? 1 : -1;\n"
    "  head.dataset.up = up ? '1' : '0';\n"
    "  const number = head.dataset.n === '1';\n"
    "  const keyed = rows.map(r => [number ? key(r.cells[at].textContent) : "
    "r.cells[at].textContent, r]);\n"
    "  keyed.sort(([a], [b]) => a === b ? 0 : a === '' ? 1 : b === '' ? -1 : a < b ? -side : "
    "side);\n"
    "  body.append(...keyed.map(k => k[1]));\n"
    "}));\n"
    "filter();\n"
    "</script>\n";

// The columns of the page.
struct page_columns {
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n;
};

// Returns the class of a column's cells: n numbers, p monospaced.
static const char *page_class(const struct column *column)
{
    return column->look.type != LOOK_TEXT ? " class=n"
           : column->kind == COLUMN_USES  ? " class=p"
                                          : "";
}

void report_put_html(struct strbuf *out, const char *text)
{
    struct strbuf plain = {0};
    text_put_escaped(&plain, text);
    text_put_markup(out, strbuf_text(&plain));
    strbuf_free(&plain);
}

static void page_row(struct strbuf *out, struct store_rows *rows, const struct page_columns *page)
{
    char text[REPORT_LATENCY_MAX];
    strbuf_puts(out, "<tr>");
    for (int i = 0; i < page->n; i++) {
        strbuf_printf(out, "<td%s>", page_class(page->columns[i]));
        report_put_html(out, report_value(rows, page->columns[i]->look.name, text));
    }
    strbuf_puts(out, "\n");
}

static int page_rows(struct store *store, const struct page_columns *page, struct strbuf *out,
                     int64_t *nrows, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_INSTRUCTION, NULL, err);
    int got;
    if (!rows)
        return -1;
    for (*nrows = 0; (got = store_rows_next(rows, err)) > 0; ++*nrows)
        page_row(out, rows, page);
    store_rows_close(rows);
    return got;
}

static void page_column(struct strbuf *out, struct store_rows *run, const char *name)
{
    report_put_html(out, store_text_of(run, name));
}

static int page_head(struct store *store, int64_t run_id, struct strbuf *out, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *run = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = run ? store_rows_next(run, err) : -1;
    if (got > 0) {
        strbuf_puts(out, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n<meta "
                         "name=viewport content=\"width=device-width\">\n<title>latput: ");
        page_column(out, run, "uarch");
        strbuf_printf(out, "</title>\n%s<h1>Instructions of ", report_page_style);
        page_column(out, run, "brand");
        strbuf_puts(out, "</h1>\n<p>");
        page_column(out, run, "uarch_name");
        strbuf_puts(out, " (");
        page_column(out, run, "uarch");
        strbuf_puts(out, "), measured by latput ");
        page_column(out, run, "version");
        strbuf_printf(out, ", %.10s.</p>\n", store_text_of(run, "started_utc"));
    }
    store_rows_close(run);
    return got < 0 ? -1 : 0;
}

static void page_term(struct strbuf *out, const char *term, const char *says)
{
    strbuf_puts(out, "<dt>");
    text_put_markup(out, term);
    strbuf_puts(out, "</dt><dd>");
    text_put_markup(out, says);
    strbuf_puts(out, "</dd>\n");
}

// Appends what columns and marks mean.
static void page_legend(struct strbuf *out, const struct page_columns *page)
{
    strbuf_puts(out, "<dl>\n");
    for (int i = 0; i < page->n; i++) {
        struct strbuf says = {0};
        columns_say(page->columns[i], &says);
        page_term(out, page->columns[i]->look.heading, strbuf_text(&says));
        strbuf_free(&says);
    }
    for (int i = 0; i < COLUMN_SIGNS; i++)
        page_term(out, column_marks[i].sign, column_marks[i].says);
    strbuf_puts(out, "</dl>\n");
}

int report_page(struct store *store, int64_t run_id, struct strbuf *out, int64_t *nrows,
                struct err *err)
{
    struct page_columns page;
    page.n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_PAGE, page.columns);
    if (page_head(store, run_id, out, err) != 0)
        return -1;
    page_legend(out, &page);
    strbuf_puts(out, "<form hidden><input type=search aria-label=filter "
                     "placeholder=\"filter: words of any column, e.g. vpadd ymm evex\"> "
                     "<output></output></form>\n<table>\n<thead><tr>");
    for (int i = 0; i < page.n; i++)
        strbuf_printf(out, "<th%s>%s", page.columns[i]->look.type != LOOK_TEXT ? " data-n=1" : "",
                      report_heading(STORE_VIEW_INSTRUCTION, page.columns[i]->look.name));
    strbuf_puts(out, "</tr></thead>\n<tbody>\n");
    int result = page_rows(store, &page, out, nrows, err);
    strbuf_printf(out, "</tbody>\n</table>\n%s", page_script);
    return result;
}
