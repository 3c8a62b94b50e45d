// SPDX-License-Identifier: MIT
// Contradictions to LLVM's model as one HTML page: all entries as a table with links, and each with
// all of its members. No scripts.
#include "compare_internal.h"

#include "report/report.h"

#include <limits.h>

static const char page_more_style[] =
    "<style>\n"
    "section { margin: 2rem 0; }\n"
    "h2 { font: 600 1.05rem/1.4 ui-monospace, monospace; margin: 0 0 .3rem; }\n"
    "h2, .entries td.p { overflow-wrap: anywhere; }\n"
    ".entries td.p { min-width: 12rem; }\n"
    "td, td:first-child { white-space: normal; font-family: inherit; }\n"
    "td.p { font: 12px/1.5 ui-monospace, monospace; white-space: normal; }\n"
    "table.entries { width: auto; }\n"
    "</style>\n";

// Writes the text as HTML, and empties it.
static void page_flush(struct strbuf *out, struct strbuf *text)
{
    report_put_html(out, strbuf_text(text));
    strbuf_clear(text);
}

static void page_cell(struct strbuf *out, const char *class, struct strbuf *text)
{
    strbuf_printf(out, "<td class=%s>", class);
    page_flush(out, text);
}

static void page_term(struct strbuf *out, const char *term, struct strbuf *text)
{
    strbuf_printf(out, "<dt>%s</dt><dd>", term);
    page_flush(out, text);
    strbuf_puts(out, "</dd>\n");
}

static void page_groups(struct strbuf *out, const struct comparison *comparison,
                        const struct compare_entry *entry)
{
    struct strbuf text = {0};
    struct compare_alike *groups = compare_alike_find(entry);
    strbuf_puts(out, "<table>\n<thead><tr><th>measured<th>forms<th>LLVM's opcodes</tr></thead>\n"
                     "<tbody>\n");
    for (const struct compare_alike *group = groups; group->n > 0; group++) {
        strbuf_puts(out, "<tr>");
        compare_put_result(&text, comparison, group->members[0]->form);
        page_cell(out, "v", &text);
        compare_put_forms(&text, group, INT_MAX);
        page_cell(out, "p", &text);
        compare_put_opcodes(&text, group, INT_MAX);
        page_cell(out, "p", &text);
        strbuf_puts(out, "\n");
    }
    strbuf_puts(out, "</tbody>\n</table>\n");
    compare_alike_free(groups);
    strbuf_free(&text);
}

static void page_entry(struct strbuf *out, const struct comparison *comparison, int number)
{
    const struct compare_entry *entry = &comparison->entries[number];
    struct strbuf text = {0};
    strbuf_printf(out, "<section id=e%d>\n<h2>%d. ", number + 1, number + 1);
    report_put_html(out, entry->class->name);
    strbuf_puts(out, "</h2>\n<dl>\n");
    compare_put_differs(&text, entry);
    page_term(out, "differ", &text);
    compare_put_count(&text, comparison, entry);
    page_term(out, "how many", &text);
    compare_put_model(&text, entry->class);
    page_term(out, "model", &text);
    strbuf_puts(&text, entry->members[0].instr->text);
    page_term(out, "first one", &text);
    compare_put_evidence(&text, entry);
    page_term(out, "evidence", &text);
    strbuf_puts(out, "</dl>\n");
    page_groups(out, comparison, entry);
    strbuf_puts(out, "</section>\n");
    strbuf_free(&text);
}

static void page_contents(struct strbuf *out, const struct comparison *comparison, int shown)
{
    struct strbuf text = {0};
    strbuf_puts(out, "<table class=entries>\n"
                     "<thead><tr><th>class of the model<th>differ<th>forms<th>per "
                     "million</tr></thead>\n"
                     "<tbody>\n");
    for (int i = 0; i < shown; i++) {
        const struct compare_entry *entry = &comparison->entries[i];
        strbuf_printf(out, "<tr><td class=p><a href=\"#e%d\">", i + 1);
        report_put_html(out, entry->class->name);
        strbuf_puts(out, "</a>");
        compare_put_differs(&text, entry);
        page_cell(out, "v", &text);
        strbuf_printf(out, "<td class=n>%d of %d<td class=n>%.3g\n", entry->nmembers,
                      entry->compared, compare_per_million(comparison, entry->count));
    }
    strbuf_puts(out, "</tbody>\n</table>\n");
    strbuf_free(&text);
}

void compare_print_page(const struct comparison *comparison, int entries, struct strbuf *out)
{
    int shown = compare_shown(comparison, entries);
    struct strbuf text = {0};
    strbuf_puts(out, "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n<meta name=viewport "
                     "content=\"width=device-width\">\n<title>");
    strbuf_printf(&text, "%s and LLVM's model of %s", comparison->data->uarch, comparison->cpu);
    report_put_html(out, strbuf_text(&text));
    strbuf_printf(out, "</title>\n%s%s<h1>", report_page_style, page_more_style);
    page_flush(out, &text);
    strbuf_puts(out, "</h1>\n<p>");
    compare_put_summary(&text, comparison);
    page_flush(out, &text);
    strbuf_puts(out, "</p>\n<p>Counted in: ");
    report_put_html(out, comparison->files);
    strbuf_puts(out, "</p>\n");
    page_contents(out, comparison, shown);
    for (int i = 0; i < shown; i++)
        page_entry(out, comparison, i);
    if (shown < comparison->nentries)
        strbuf_printf(out, "<p>%d more: --entries 0 shows all.</p>\n",
                      comparison->nentries - shown);
    strbuf_free(&text);
}
