// SPDX-License-Identifier: MIT
#include "text_table_internal.h"

#include "mem.h"
#include "text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLD_INDENT = 2 }; // of the second and later lines of a cell

struct text_table *text_table_new(const char *const *headers, const enum text_align *aligns,
                                  int ncolumns)
{
    struct text_table *table = xcalloc(1, sizeof *table);
    table->ncolumns = ncolumns;
    table->headers = xcalloc((size_t)ncolumns + 1, sizeof *table->headers);
    table->aligns = xcalloc((size_t)ncolumns + 1, sizeof *table->aligns);
    for (int c = 0; c < ncolumns; c++) {
        table->headers[c] = headers[c];
        table->aligns[c] = aligns[c];
    }
    return table;
}

const char *text_style_begin(enum text_style style, bool colour)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "",       [STYLE_HEADING] = "\033[1m", [STYLE_GOOD] = "\033[32m",
        [STYLE_BAD] = "\033[31m", [STYLE_FAINT] = "\033[2m",
    };
    return colour ? codes[style] : "";
}

const char *text_style_end(enum text_style style, bool colour)
{
    return colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

void text_table_colour(struct text_table *table)
{
    table->colour = true;
}

void text_table_cell(struct text_table *table, const char *text)
{
    text_table_styled(table, text, STYLE_PLAIN);
}

void text_table_styled(struct text_table *table, const char *text, enum text_style style)
{
    table->cells = xgrow(table->cells, &table->capacity, table->ncells + 1, sizeof *table->cells);
    struct strbuf cell = {0};
    text_put_escaped(&cell, text ? text : "");
    for (char *at = cell.data; at && *at; at++)
        if (*at == '\t' || *at == '\n')
            *at = ' ';
    table->cells[table->ncells++] = (struct table_cell){cell.data ? cell.data : xstrdup(""), style};
}

int text_table_rows(const struct text_table *table)
{
    return (int)table->ncells / table->ncolumns;
}

void text_table_remove(struct text_table *table, const bool *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->ncells; i++)
        if (out[i / (size_t)table->ncolumns])
            free(table->cells[i].text);
        else
            table->cells[kept++] = table->cells[i];
    table->ncells = kept;
}

void text_table_free(struct text_table *table)
{
    for (size_t i = 0; i < table->ncells; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table->headers);
    free(table->aligns);
    free(table);
}

// Counts the characters before the decimal point (all, if there is none) and from it on.
static void point_widths(const char *text, int *before, int *after)
{
    size_t len = strlen(text);
    size_t point = strcspn(text, ".");
    *before = text_width(text, point);
    *after = text_width(text + point, len - point);
}

struct column_width {
    int width, before, after;
    bool used, folded, heading_folded;
};

const char *table_text(const struct text_table *table, int row, int column)
{
    return row < 0 ? table->headers[column] : table->cells[row * table->ncolumns + column].text;
}

// Returns the style of a cell. A heading stands out as a whole line.
enum text_style table_style(const struct text_table *table, int row, int column)
{
    return row < 0 ? STYLE_PLAIN : table->cells[row * table->ncolumns + column].style;
}

// Returns the length of the longest word of a heading.
static int heading_least(const char *heading)
{
    int least = 0;
    for (const char *at = heading; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        int width = text_width(at, len);
        least = width > least ? width : least;
        at += len;
    }
    return least;
}

static struct column_width column_measure(const struct text_table *table, int column,
                                          bool fold_heading)
{
    struct column_width got = {0};
    for (int row = 0; row < text_table_rows(table); row++) {
        const char *cell = table_text(table, row, column);
        int width = text_width(cell, strlen(cell)), before, after;
        point_widths(cell, &before, &after);
        got.used |= width > 0;
        got.width = width > got.width ? width : got.width;
        got.before = before > got.before ? before : got.before;
        got.after = after > got.after ? after : got.after;
    }
    if (table->aligns[column] == ALIGN_POINT)
        got.width = got.before + got.after;
    const char *heading = table->headers[column];
    int header = text_width(heading, strlen(heading));
    if (fold_heading && header > got.width && heading_least(heading) < header) {
        int least = heading_least(heading);
        header = least > got.width ? least : got.width;
        got.heading_folded = true;
    }
    if (header > got.width) {
        got.before += header - got.width; // numbers stay below the end of their heading
        got.width = header;
    }
    return got;
}

static struct column_width *columns_measure(const struct text_table *table)
{
    struct column_width *columns = xcalloc((size_t)table->ncolumns, sizeof *columns);
    assert(table->ncells % (size_t)table->ncolumns == 0);
    for (int c = 0; c < table->ncolumns; c++)
        columns[c] = column_measure(table, c, false);
    return columns;
}

// Writes a cell; with `number` its decimal point stands below the points of others.
static void put_cell(struct strbuf *out, const char *text, enum text_align align,
                     const struct column_width *column, bool number, const char *const style[2])
{
    int width = text_width(text, strlen(text)), before, after, left = 0;
    point_widths(text, &before, &after);
    if (align == ALIGN_RIGHT || (align == ALIGN_POINT && !number))
        left = column->width - width;
    else if (align == ALIGN_POINT)
        left = column->before - before;
    strbuf_printf(out, "%*s%s%s%s%*s", left, "", *text ? style[0] : "", text, *text ? style[1] : "",
                  column->width - width - left, "");
}

// Returns how many bytes of a text go into a line of `width` characters: to the last blank, before
// the last plus sign or after the last comma, else as many as fit.
static size_t fold_bytes(const char *text, int width)
{
    size_t last = 0, at = 0;
    for (int column = 0; text[at]; column++) {
        if (at > 0 && (text[at] == ' ' || text[at] == '+' || text[at - 1] == ','))
            last = at;
        if (column == width)
            return last ? last : at;
        do
            at++;
        while (((unsigned char)text[at] & 0xc0) == 0x80);
    }
    return at;
}

// Writes the next line of a folded cell and moves *text past it. Later lines are indented.
static void put_folded(struct strbuf *out, const char **text, int width, bool first,
                       const char *const style[2])
{
    int indent = first ? 0 : FOLD_INDENT;
    size_t bytes = fold_bytes(*text, width - indent);
    int used = bytes ? indent + text_width(*text, bytes) : 0;
    strbuf_printf(out, "%*s%s%.*s%s%*s", bytes ? indent : 0, "", bytes ? style[0] : "", (int)bytes,
                  *text, bytes ? style[1] : "", width - used, "");
    *text += bytes;
    *text += strspn(*text, " ");
}

// Writes the next words of a heading that are no wider than its column.
static void put_heading(struct strbuf *out, const char **text, enum text_align align,
                        const struct column_width *column, const char *const style[2])
{
    char *part = xasprintf("%.*s", (int)fold_bytes(*text, column->width), *text);
    *text += strlen(part);
    *text += strspn(*text, " ");
    put_cell(out, part, align, column, false, style);
    free(part);
}

static void trim_line(struct strbuf *out)
{
    while (out->len > 0 && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
}

// Writes one line of a row; `rests` has what is left of each cell. Returns true if the row needs
// another line.
static bool put_line(const struct text_table *table, const struct column_width *columns, int row,
                     const char **rests, bool first, struct strbuf *out)
{
    const char *gap = "";
    bool more = false, colour = row < 0 && table->colour;
    strbuf_puts(out, text_style_begin(STYLE_HEADING, colour));
    for (int c = 0; c < table->ncolumns; c++) {
        if (!columns[c].used)
            continue;
        strbuf_puts(out, gap);
        gap = "  ";
        enum text_style of = table_style(table, row, c);
        const char *const style[] = {text_style_begin(of, table->colour),
                                     text_style_end(of, table->colour)};
        if (row < 0 && columns[c].heading_folded)
            put_heading(out, &rests[c], table->aligns[c], &columns[c], style);
        else if (columns[c].folded)
            put_folded(out, &rests[c], columns[c].width, first, style);
        else {
            put_cell(out, rests[c], table->aligns[c], &columns[c], row >= 0, style);
            rests[c] = "";
        }
        more |= *rests[c] != '\0';
    }
    trim_line(out);
    strbuf_printf(out, "%s\n", text_style_end(STYLE_HEADING, colour));
    return more;
}

static void put_rows(const struct text_table *table, const struct column_width *columns,
                     struct strbuf *out)
{
    const char **rests = xcalloc((size_t)table->ncolumns, sizeof *rests);
    for (int row = -1; row < text_table_rows(table); row++) {
        for (int c = 0; c < table->ncolumns; c++)
            rests[c] = table_text(table, row, c);
        for (bool first = true; put_line(table, columns, row, rests, first, out);)
            first = false;
    }
    free(rests);
}

void text_table_print(const struct text_table *table, struct strbuf *out)
{
    struct column_width *columns = columns_measure(table);
    put_rows(table, columns, out);
    free(columns);
}

// --- narrow tables ---

// Returns the width of a line; with `folds`, of one whose cells are folded as far as allowed.
static int line_width(const struct text_table *table, const struct column_width *columns,
                      const struct text_fit *folds)
{
    int width = 0;
    for (int c = 0; c < table->ncolumns; c++)
        if (columns[c].used)
            width += (width ? 2 : 0) + (folds && folds[c].fold && folds[c].fold < columns[c].width
                                            ? folds[c].fold
                                            : columns[c].width);
    return width;
}

static bool column_is_same(const struct text_table *table, int column)
{
    for (int row = 1; row < text_table_rows(table); row++)
        if (strcmp(table_text(table, row, column), table_text(table, 0, column)) != 0)
            return false;
    return table->aligns[column] != ALIGN_POINT;
}

// Drops columns that say the same in every row: the note says it once.
static void drop_same(const struct text_table *table, struct column_width *columns, int width,
                      const struct text_fit *fits, struct strbuf *note)
{
    const char *before = "in all rows ";
    for (int c = 0; c < table->ncolumns && line_width(table, columns, NULL) > width; c++)
        if (columns[c].used && fits[c].rank != FIT_KEEP && column_is_same(table, c)) {
            columns[c].used = false;
            strbuf_printf(note, "%s%s %s", before, table->headers[c], table_text(table, 0, c));
            before = ", ";
        }
}

// Splits headings into several lines, where only the heading makes the column so wide and folding
// cells does not do.
static void fold_headings(const struct text_table *table, struct column_width *columns, int width,
                          const struct text_fit *fits)
{
    if (line_width(table, columns, fits) <= width)
        return;
    for (int c = 0; c < table->ncolumns; c++)
        if (columns[c].used)
            columns[c] = column_measure(table, c, true);
}

static void drop_ranked(const struct text_table *table, struct column_width *columns, int width,
                        const struct text_fit *fits, struct strbuf *note)
{
    const char *before = note->len ? "; without " : "without ";
    while (line_width(table, columns, fits) > width) {
        int worst = -1;
        for (int c = 0; c < table->ncolumns; c++)
            if (columns[c].used && fits[c].rank > (worst < 0 ? 0 : fits[worst].rank))
                worst = c;
        if (worst < 0)
            return;
        columns[worst].used = false;
        strbuf_printf(note, "%s%s", before, table->headers[worst]);
        before = ", ";
    }
}

// Folds the widest of the columns that may be folded, until the line fits.
static void fold_columns(const struct text_table *table, struct column_width *columns, int width,
                         const struct text_fit *fits)
{
    for (int excess = line_width(table, columns, NULL) - width; excess > 0; excess--) {
        int widest = -1;
        for (int c = 0; c < table->ncolumns; c++)
            if (columns[c].used && fits[c].fold && columns[c].width > fits[c].fold &&
                (widest < 0 || columns[c].width > columns[widest].width))
                widest = c;
        if (widest < 0)
            return;
        columns[widest].width--;
        columns[widest].folded = true;
    }
}

void text_table_print_narrow(const struct text_table *table, int width, const struct text_fit *fits,
                             struct strbuf *out, struct strbuf *note)
{
    struct column_width *columns = columns_measure(table);
    drop_same(table, columns, width, fits, note);
    fold_headings(table, columns, width, fits);
    drop_ranked(table, columns, width, fits, note);
    fold_columns(table, columns, width, fits);
    put_rows(table, columns, out);
    free(columns);
}
