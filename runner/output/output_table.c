// SPDX-License-Identifier: MIT
// Outputs as CSV and as tables for people; see output.h.
#include "output_internal.h"

#include "util/csvtext.h"
#include "util/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A column: a field, or an element of members that are known only at run time.
struct column {
    const struct output_field *field;
    size_t offset; // of the structure that has it
    const struct look *look;
    int more; // number of the element; -1: a field
};
struct columns {
    struct column *of;
    size_t capacity;
    int n;
};

static void columns_add(struct columns *columns, struct column column)
{
    columns->of = xgrow(columns->of, &columns->capacity, (size_t)columns->n + 1, sizeof column);
    columns->of[columns->n++] = column;
}

static bool is_column(const struct output_field *field, bool csv)
{
    bool other = field->only == OUTPUT_JSON || field->only == (csv ? OUTPUT_PEOPLE : OUTPUT_CSV);
    return field->at.kind < FIELD_TEXTS && !other &&
           (csv ? *output_field_name(field) != '\0' : field->look.heading != NULL);
}

static void columns_make(const struct output_record *record, const void *row, size_t offset,
                         bool csv, struct columns *columns)
{
    for (int i = 0; i < record->nfields; i++) {
        const struct output_field *field = output_field_at(record, i);
        size_t at = offset + field->at.offset;
        if (field->at.kind == FIELD_WITHIN)
            columns_make(field->of, row, at, csv, columns);
        else if (is_column(field, csv))
            columns_add(columns, (struct column){field, offset, &field->look, -1});
        if (field->at.kind != FIELD_MORE || !row)
            continue;
        const struct output_more *more = (const void *)((const char *)row + at);
        for (int m = 0; m < more->n; m++)
            columns_add(columns, (struct column){field, offset, &more->looks[m], m});
    }
}

static void put_real(const struct output_field *field, double value, bool people, bool whole,
                     struct strbuf *out)
{
    char number[32];
    if (!isfinite(value))
        return;
    if (!people && field->look.digits)
        strbuf_printf(out, "%.*g", field->look.digits, value);
    else if (!people)
        strbuf_put_real(out, value);
    else if (field->shown || whole)
        strbuf_printf(out, "%.*f", whole ? 0 : field->shown, value);
    else
        strbuf_puts(out, output_number(value, number));
}

// Appends the value of a column, for people or for CSV; nothing if there is none.
static void put_value(const struct column *column, const void *row, bool people, struct strbuf *out)
{
    const struct output_field *field = column->field;
    const char *base = (const char *)row + column->offset;
    if (column->more >= 0) {
        const struct output_more *more = (const void *)(base + field->at.offset);
        double value = column->more < more->n ? more->values[column->more] : (double)NAN;
        put_real(field, value, people, column->more < more->whole, out);
        strbuf_puts(out, people && !isfinite(value) ? "-" : "");
    } else if (output_field_none(field, base)) {
        return;
    } else if (output_field_is_text(field)) {
        const char *text = field_text(&field->at, field->words, base);
        strbuf_puts(out, text ? text : "");
    } else if (output_field_type(field) == LOOK_REAL) {
        put_real(field, field_real(&field->at, base), people, false, out);
    } else if (!people || !field->gap || field_integer(&field->at, base) != 0) {
        strbuf_printf(out, "%" PRId64, field_integer(&field->at, base));
    }
}

void output_csv_head(const struct output_record *record, const void *row, struct strbuf *out)
{
    struct columns columns = {0};
    columns_make(record, row, 0, true, &columns);
    for (int i = 0; i < columns.n; i++) {
        strbuf_puts(out, i ? "," : "");
        csv_put_text(out, columns.of[i].more >= 0 ? columns.of[i].look->name
                                                  : output_field_name(columns.of[i].field));
    }
    strbuf_puts(out, "\n");
    free(columns.of);
}

void output_csv_row(const struct output_record *record, const void *row, struct strbuf *out)
{
    struct columns columns = {0};
    struct strbuf text = {0};
    columns_make(record, row, 0, true, &columns);
    for (int i = 0; i < columns.n; i++) {
        strbuf_puts(out, i ? "," : "");
        strbuf_clear(&text);
        put_value(&columns.of[i], row, false, &text);
        csv_put_text(out, strbuf_text(&text));
    }
    strbuf_puts(out, "\n");
    strbuf_free(&text);
    free(columns.of);
}

// Appends the rows, without a heading, of columns that were made.
static void put_cells(const struct columns *columns, const struct output_record *record,
                      const void *rows, int n, struct text_table *table)
{
    struct strbuf text = {0};
    for (int i = 0; i < n; i++) {
        const char *row = (const char *)rows + (size_t)i * record->bytes;
        for (int c = 0; c < columns->n; c++) {
            const struct column *column = &columns->of[c];
            strbuf_clear(&text);
            put_value(column, row, true, &text);
            text_table_styled(table, strbuf_text(&text),
                              column->field->style ? column->field->style(row + column->offset)
                                                   : STYLE_PLAIN);
        }
    }
    strbuf_free(&text);
}

void output_print(const struct output_record *record, const void *rows, int n,
                  const struct output_page *page, struct strbuf *out, struct strbuf *note)
{
    struct columns columns = {0};
    columns_make(record, n ? rows : NULL, 0, false, &columns);
    const char **headings = xcalloc((size_t)columns.n + 1, sizeof *headings);
    enum text_align *aligns = xcalloc((size_t)columns.n + 1, sizeof *aligns);
    struct text_fit *fits = xcalloc((size_t)columns.n + 1, sizeof *fits);
    for (int c = 0; c < columns.n; c++) {
        headings[c] = columns.of[c].look->heading;
        aligns[c] = columns.of[c].look->align;
        fits[c] = columns.of[c].look->fit;
    }
    struct text_table *table = text_table_new(headings, aligns, columns.n);
    if (page->colour)
        text_table_colour(table);
    put_cells(&columns, record, rows, n, table);
    if (page->width > 0)
        text_table_print_narrow(table, page->width, fits, out, note);
    else
        text_table_put(table, page->format, out);
    text_table_free(table);
    free(columns.of);
    free(headings);
    free(aligns);
    free(fits);
}

void output_put_line(const struct output_record *record, const void *row, bool heading,
                     struct strbuf *out)
{
    struct columns columns = {0};
    struct strbuf text = {0}, line = {0};
    columns_make(record, row, 0, false, &columns);
    for (int i = 0; i < columns.n; i++) {
        const struct look *look = columns.of[i].look;
        int width = (int)strlen(look->heading);
        width = width > OUTPUT_STREAMED ? width : OUTPUT_STREAMED;
        strbuf_clear(&text);
        if (heading)
            strbuf_puts(&text, look->heading);
        else
            put_value(&columns.of[i], row, true, &text);
        strbuf_printf(&line, "%s%*s", i ? "  " : "", look->align == ALIGN_LEFT ? -width : width,
                      strbuf_text(&text));
    }
    while (line.len && line.data[line.len - 1] == ' ')
        line.data[--line.len] = '\0';
    strbuf_puts(out, strbuf_text(&line));
    strbuf_free(&line);
    strbuf_free(&text);
    free(columns.of);
}

void output_put_table(const struct output_record *record, const void *rows, int n,
                      enum report_format format, struct strbuf *out)
{
    if (format != REPORT_CSV) {
        output_print(record, rows, n, &(struct output_page){format, 0, false}, out, NULL);
        return;
    }
    output_csv_head(record, n ? rows : NULL, out);
    for (int i = 0; i < n; i++)
        output_csv_row(record, (const char *)rows + (size_t)i * record->bytes, out);
}
