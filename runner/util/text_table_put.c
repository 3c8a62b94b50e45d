// SPDX-License-Identifier: MIT
// Tables as CSV, Markdown, HTML and LaTeX; see text_table.h.
#include "csvtext.h"
#include "mem.h"
#include "text.h"
#include "text_table_internal.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool report_for_people(enum report_format format)
{
    return format != REPORT_CSV && format != REPORT_JSON;
}

// --- texts ---

// Appends a text in which each character that Markdown could read is escaped, `$` of formulas and
// `~` of struck words included.
static void put_markdown(struct strbuf *out, const char *text)
{
    for (; *text; text++)
        strbuf_printf(out, strchr("\\`*_[]<>&|~$#", *text) ? "\\%c" : "%c", *text);
}

// Appends a text in HTML. Characters outside ASCII are numbers, so that the table reads the same in
// a page of any encoding.
static void put_html(struct strbuf *out, const char *text)
{
    struct strbuf escaped = {0};
    text_put_markup(&escaped, text);
    for (const char *at = strbuf_text(&escaped); *at;) {
        uint32_t code;
        size_t len = text_decode(at, strnlen(at, 4), &code);
        if (code < 0x80)
            strbuf_put(out, at, 1);
        else
            strbuf_printf(out, "&#%u;", len ? code : 0xfffdu);
        at += len ? len : 1;
    }
    strbuf_free(&escaped);
}

// Appends a text in LaTeX. What fonts of 7 bits lack or join is written out; `[` and `*` in braces
// are no argument of the `\\` before them.
static void put_latex(struct strbuf *out, const char *text)
{
    static const struct {
        const char *text, *latex;
    } words[] = {
        {"\\",  "\\textbackslash{}"         },
        {"{",   "\\{"                       },
        {"}",   "\\}"                       },
        {"#",   "\\#"                       },
        {"$",   "\\$"                       },
        {"%",   "\\%"                       },
        {"&",   "\\&"                       },
        {"_",   "\\_"                       },
        {"~",   "\\textasciitilde{}"        },
        {"^",   "\\textasciicircum{}"       },
        {"<",   "\\textless{}"              },
        {">",   "\\textgreater{}"           },
        {"|",   "\\textbar{}"               },
        {"\"",  "\\textquotedbl{}"          },
        {"-",   "-{}"                       },
        {"[",   "{[}"                       },
        {"*",   "{*}"                       },
        {"`",   "{`}"                       },
        {"'",   "{'}"                       },
        {"µ",  "\\ensuremath{\\mu}"        },
        {"≤", "\\ensuremath{\\leq}"       },
        {"≥", "\\ensuremath{\\geq}"       },
        {"→", "\\ensuremath{\\rightarrow}"},
        {"×",  "\\ensuremath{\\times}"     },
    };
    while (*text) {
        size_t w = 0;
        while (w < ARRAY_LEN(words) && strncmp(text, words[w].text, strlen(words[w].text)) != 0)
            w++;
        if (w < ARRAY_LEN(words))
            strbuf_puts(out, words[w].latex);
        else
            strbuf_put(out, text, 1);
        text += w < ARRAY_LEN(words) ? strlen(words[w].text) : 1;
    }
}

// --- tables ---

// Syntax of a format.
struct form {
    const char *begin, *body, *end;      // of the table
    const char *row, *between, *row_end; // of a row
    const char *bold[2];                 // around a text that stands out
    bool tags;                           // cells are elements
    void (*put)(struct strbuf *out, const char *text);
};
// clang-format off
static const struct form forms[] = {
    [REPORT_CSV] = {"", "", "", "", ",", "\n", {"", ""}, false, csv_put_text},
    [REPORT_MARKDOWN] = {"", "", "", "| ", " | ", " |\n", {"**", "**"}, false, put_markdown},
    [REPORT_HTML] = {"<table>\n<thead>\n", "</thead>\n<tbody>\n", "</tbody>\n</table>\n",
                     "<tr>", "", "</tr>\n", {"<b>", "</b>"}, true, put_html},
    [REPORT_LATEX] = {"\\begin{tabular}", "\\hline\n", "\\hline\n\\end{tabular}\n",
                      "", " & ", " \\\\\n", {"\\textbf{", "}"}, false, put_latex},
};
// clang-format on

// Marks the columns that are written. A table without rows has all of them.
static bool *columns_used(const struct text_table *table, enum report_format format)
{
    bool *used = xcalloc((size_t)table->ncolumns, sizeof *used);
    int rows = text_table_rows(table);
    for (int c = 0; c < table->ncolumns; c++) {
        used[c] = format == REPORT_CSV || rows == 0;
        for (int row = 0; row < rows && !used[c]; row++)
            used[c] = *table_text(table, row, c) != '\0';
    }
    return used;
}

static void put_cell(const struct text_table *table, const struct form *form, int row, int column,
                     struct strbuf *out)
{
    const char *text = table_text(table, row, column);
    bool bold = *text && row >= 0 && table_style(table, row, column) == STYLE_HEADING;
    char tag = row < 0 ? 'h' : 'd';
    const char *left = row < 0 ? " style=\"text-align:left\"" : ""; // that of cells by default
    if (form->tags)
        strbuf_printf(out, "<t%c%s>", tag,
                      table->aligns[column] == ALIGN_LEFT ? left : " style=\"text-align:right\"");
    strbuf_puts(out, bold ? form->bold[0] : "");
    form->put(out, text);
    strbuf_puts(out, bold ? form->bold[1] : "");
    if (form->tags)
        strbuf_printf(out, "</t%c>", tag);
}

static void put_row(const struct text_table *table, const struct form *form, const bool *used,
                    int row, struct strbuf *out)
{
    const char *before = form->row;
    for (int c = 0; c < table->ncolumns; c++) {
        if (!used[c])
            continue;
        strbuf_puts(out, before);
        put_cell(table, form, row, c, out);
        before = form->between;
    }
    strbuf_puts(out, form->row_end);
}

// Writes what tells the alignment of the columns, a text a column.
static void put_aligns(const struct text_table *table, const bool *used, const char *const texts[2],
                       struct strbuf *out)
{
    for (int c = 0; c < table->ncolumns; c++)
        if (used[c])
            strbuf_puts(out, texts[table->aligns[c] != ALIGN_LEFT]);
}

void text_table_put(const struct text_table *table, enum report_format format, struct strbuf *out)
{
    static const char *const markdown[] = {"|---", "|--:"}, *const latex[] = {"l", "r"};
    assert(format != REPORT_JSON);
    if (format == REPORT_TABLE) {
        text_table_print(table, out);
        return;
    }
    const struct form *form = &forms[format];
    bool *used = columns_used(table, format);
    strbuf_puts(out, form->begin);
    if (format == REPORT_LATEX) {
        strbuf_puts(out, "{");
        put_aligns(table, used, latex, out);
        strbuf_puts(out, "}\n\\hline\n");
    }
    put_row(table, form, used, -1, out);
    if (format == REPORT_MARKDOWN) {
        put_aligns(table, used, markdown, out);
        strbuf_puts(out, "|\n");
    }
    strbuf_puts(out, form->body);
    for (int row = 0; row < text_table_rows(table); row++)
        put_row(table, form, used, row, out);
    strbuf_puts(out, form->end);
    free(used);
}

void text_table_say(const char *text, enum report_format format, struct strbuf *out)
{
    struct strbuf plain = {0};
    assert(report_for_people(format));
    text_put_escaped(&plain, text);
    strbuf_puts(out, format == REPORT_HTML ? "<p>" : "");
    (format == REPORT_TABLE ? strbuf_puts : forms[format].put)(out, strbuf_text(&plain));
    strbuf_puts(out, format == REPORT_HTML ? "</p>\n" : format == REPORT_TABLE ? "\n" : "\n\n");
    strbuf_free(&plain);
}
