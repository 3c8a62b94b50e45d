// SPDX-License-Identifier: MIT
// Aligned tables of text; see report.h. Widths count characters, not bytes, and control characters
// are replaced: a database from elsewhere must not be able to drive the terminal.
#include "report.h"

#include "util/mem.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_table {
    int ncolumns;
    const char *const *headers;
    const enum report_align *aligns;
    char **cells;
    size_t ncells, capacity;
};

struct report_table *report_table_new(const char *const *headers, const enum report_align *aligns,
                                      int ncolumns)
{
    struct report_table *table = xcalloc(1, sizeof *table);
    table->ncolumns = ncolumns;
    table->headers = headers;
    table->aligns = aligns;
    return table;
}

void report_table_cell(struct report_table *table, const char *text)
{
    table->cells = xgrow(table->cells, &table->capacity, table->ncells + 1, sizeof *table->cells);
    char *cell = xstrdup(text ? text : "");
    for (char *at = cell; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    table->cells[table->ncells++] = cell;
}

int report_table_rows(const struct report_table *table)
{
    return (int)table->ncells / table->ncolumns;
}

void report_table_free(struct report_table *table)
{
    for (size_t i = 0; i < table->ncells; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table);
}

static int text_width(const char *text, size_t len)
{
    int width = 0;
    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80; // not a continuation byte of UTF-8
    return width;
}

// Characters before the decimal point (all, if there is none) and from it on.
static void point_widths(const char *text, int *before, int *after)
{
    size_t len = strlen(text);
    size_t point = strcspn(text, ".");
    *before = text_width(text, point);
    *after = text_width(text + point, len - point);
}

struct column_width {
    int width, before, after;
    bool used;
};

static struct column_width column_measure(const struct report_table *table, int column)
{
    struct column_width got = {0};
    for (size_t i = (size_t)column; i < table->ncells; i += (size_t)table->ncolumns) {
        const char *cell = table->cells[i];
        int width = text_width(cell, strlen(cell)), before, after;
        point_widths(cell, &before, &after);
        got.used |= width > 0;
        got.width = width > got.width ? width : got.width;
        got.before = before > got.before ? before : got.before;
        got.after = after > got.after ? after : got.after;
    }
    if (table->aligns[column] == ALIGN_POINT)
        got.width = got.before + got.after;
    int header = text_width(table->headers[column], strlen(table->headers[column]));
    if (header > got.width) {
        got.before += header - got.width; // numbers stay below the end of their heading
        got.width = header;
    }
    return got;
}

static void put_cell(struct strbuf *out, const char *text, enum report_align align,
                     const struct column_width *column, bool number)
{
    int width = text_width(text, strlen(text)), before, after, left = 0;
    point_widths(text, &before, &after);
    if (align == ALIGN_RIGHT || (align == ALIGN_POINT && !number))
        left = column->width - width;
    else if (align == ALIGN_POINT)
        left = column->before - before;
    strbuf_printf(out, "%*s%s%*s", left, "", text, column->width - width - left, "");
}

static void trim_line(struct strbuf *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    strbuf_puts(out, "\n");
}

void report_table_print(const struct report_table *table, struct strbuf *out)
{
    struct column_width *columns = xcalloc((size_t)table->ncolumns, sizeof *columns);
    for (int c = 0; c < table->ncolumns; c++)
        columns[c] = column_measure(table, c);
    assert(table->ncells % (size_t)table->ncolumns == 0);
    for (int row = -1; row < report_table_rows(table); row++) {
        const char *gap = "";
        for (int c = 0; c < table->ncolumns; c++) {
            if (!columns[c].used)
                continue;
            const char *text =
                row < 0 ? table->headers[c] : table->cells[row * table->ncolumns + c];
            strbuf_puts(out, gap);
            put_cell(out, text, table->aligns[c], &columns[c], row >= 0);
            gap = "  ";
        }
        trim_line(out);
    }
    free(columns);
}

void report_table_csv(const struct report_table *table, struct strbuf *out)
{
    for (int row = -1; row < report_table_rows(table); row++) {
        for (int c = 0; c < table->ncolumns; c++) {
            strbuf_puts(out, c ? "," : "");
            report_csv_text(out,
                            row < 0 ? table->headers[c] : table->cells[row * table->ncolumns + c]);
        }
        strbuf_puts(out, "\n");
    }
}

void report_wrapped(struct strbuf *out, const char *text, int indent, int width)
{
    int column = indent;
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, " ");
        int columns = text_width(at, len);
        if (column > indent && column + 1 + columns > width) {
            strbuf_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            strbuf_puts(out, " ");
            column++;
        }
        strbuf_put(out, at, len);
        column += columns;
        at += len;
        at += strspn(at, " ");
    }
    strbuf_puts(out, "\n");
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
