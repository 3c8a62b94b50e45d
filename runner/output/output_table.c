// SPDX-License-Identifier: MIT
// Outputs as CSV and as tables for people; see output.h.
#include "output_internal.h"

#include "util/csvtext.h"
#include "util/mem.h"
#include "util/text.h"

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
struct output_columns {
    struct column *of;
    size_t capacity;
    int n;
};

static void columns_add(struct output_columns *columns, struct column column)
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
                         bool csv, struct output_columns *columns)
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

static void put_any(const struct output_field *field, const struct field_value *value,
                    struct strbuf *out)
{
    if (value->type == LOOK_TEXT)
        text_put_escaped(out, value->text);
    else if (value->type == LOOK_REAL)
        put_real(field, value->real, false, false, out);
    else
        strbuf_printf(out, "%" PRId64, value->integer);
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
    } else if (people && field->at.kind == FIELD_VALUE) {
        strbuf_puts(out, output_value(field, base)->shown);
    } else if (output_field_none(field, base)) {
        return;
    } else if (field->at.kind == FIELD_VALUE) {
        put_any(field, output_value(field, base), out);
    } else if (output_field_is_text(field)) {
        const char *text = field_text(&field->at, field->words, base);
        strbuf_puts(out, text ? text : "");
    } else if (output_field_type(field) == LOOK_REAL) {
        put_real(field, field_real(&field->at, base), people, false, out);
    } else if (!people || !field->gap || field_integer(&field->at, base) != 0) {
        strbuf_printf(out, "%" PRId64, field_integer(&field->at, base));
    }
}

static void csv_head(const struct output_columns *columns, struct strbuf *out)
{
    for (int i = 0; i < columns->n; i++) {
        const struct column *column = &columns->of[i];
        strbuf_puts(out, i ? "," : "");
        csv_put_text(out,
                     column->more >= 0 ? column->look->name : output_field_name(column->field));
    }
    strbuf_puts(out, "\n");
}

static void csv_row(const struct output_columns *columns, const void *row, struct strbuf *out)
{
    struct strbuf text = {0};
    for (int i = 0; i < columns->n; i++) {
        strbuf_puts(out, i ? "," : "");
        strbuf_clear(&text);
        put_value(&columns->of[i], row, false, &text);
        csv_put_text(out, strbuf_text(&text));
    }
    strbuf_puts(out, "\n");
    strbuf_free(&text);
}

// Appends a line of a table that is printed row by row; NULL: its headings.
static void put_line(const struct output_stream *stream, const void *row)
{
    enum { NARROWEST = 12 };
    bool colour = !row && stream->page->colour;
    struct strbuf text = {0}, line = {0};
    for (int i = 0; i < stream->columns->n; i++) {
        const struct column *column = &stream->columns->of[i];
        int width = (int)strlen(column->look->heading);
        width = width > NARROWEST ? width : NARROWEST;
        strbuf_clear(&text);
        if (row)
            put_value(column, row, true, &text);
        else
            strbuf_puts(&text, column->look->heading);
        strbuf_printf(&line, "%s%*s", i ? "  " : "",
                      column->look->align == ALIGN_LEFT ? -width : width, strbuf_text(&text));
    }
    while (line.len && line.data[line.len - 1] == ' ')
        line.data[--line.len] = '\0';
    strbuf_printf(stream->out, "%s%s%s\n", text_style_begin(STYLE_HEADING, colour),
                  strbuf_text(&line), text_style_end(STYLE_HEADING, colour));
    strbuf_free(&line);
    strbuf_free(&text);
}

static void table_begin(struct output_stream *stream)
{
    const struct output_columns *columns = stream->columns;
    const char **headings = xcalloc((size_t)columns->n + 1, sizeof *headings);
    enum text_align *aligns = xcalloc((size_t)columns->n + 1, sizeof *aligns);
    for (int c = 0; c < columns->n; c++) {
        headings[c] = columns->of[c].look->heading;
        aligns[c] = columns->of[c].look->align;
    }
    stream->table = text_table_new(headings, aligns, columns->n);
    if (stream->page->colour)
        text_table_colour(stream->table);
    free(headings);
    free(aligns);
}

static void table_row(struct output_stream *stream, const void *row)
{
    struct strbuf text = {0};
    for (int c = 0; c < stream->columns->n; c++) {
        const struct column *column = &stream->columns->of[c];
        const struct output_field *field = column->field;
        strbuf_clear(&text);
        put_value(column, row, true, &text);
        text_table_styled(stream->table, strbuf_text(&text),
                          field->at.kind == FIELD_VALUE
                              ? output_value(field, (const char *)row + column->offset)->style
                              : STYLE_PLAIN);
    }
    strbuf_free(&text);
}

void output_begin(struct output_stream *stream, const void *first)
{
    const struct output_page *page = stream->page;
    stream->n = 0;
    stream->json = (struct json){.out = stream->out};
    stream->columns = xcalloc(1, sizeof *stream->columns);
    if (page->format == REPORT_JSON) {
        json_open(&stream->json, '[');
        return;
    }
    columns_make(stream->record, first, 0, page->format == REPORT_CSV, stream->columns);
    if (page->format == REPORT_CSV)
        csv_head(stream->columns, stream->out);
    else if (stream->lines && page->format == REPORT_TABLE)
        put_line(stream, NULL);
    else
        table_begin(stream);
}

void output_row(struct output_stream *stream, const void *row)
{
    stream->n++;
    if (stream->page->format == REPORT_JSON)
        output_json_row(stream->record, row, 1, json_break(&stream->json, "\n  "));
    else if (stream->page->format == REPORT_CSV)
        csv_row(stream->columns, row, stream->out);
    else if (stream->table)
        table_row(stream, row);
    else
        put_line(stream, row);
}

// Prints the table in lines of a limited length.
static void print_narrow(struct output_stream *stream, struct strbuf *note)
{
    const struct output_columns *columns = stream->columns;
    struct text_fit *fits = xcalloc((size_t)columns->n + 1, sizeof *fits);
    for (int c = 0; c < columns->n; c++)
        fits[c] = columns->of[c].look->fit;
    text_table_print_narrow(stream->table, stream->page->width, fits, stream->out, note);
    free(fits);
}

void output_end(struct output_stream *stream, struct strbuf *note)
{
    const struct output_page *page = stream->page;
    if (page->format == REPORT_JSON) {
        json_close(stream->n ? json_break(&stream->json, "\n") : &stream->json, ']');
        strbuf_puts(stream->out, "\n");
    } else if (stream->table && page->width > 0 && stream->n > 0) {
        print_narrow(stream, note);
    } else if (stream->table && (page->format != REPORT_TABLE || stream->n > 0)) {
        text_table_put(stream->table, page->format, stream->out);
    }
    if (stream->table)
        text_table_free(stream->table);
    free(stream->columns->of);
    free(stream->columns);
}

void output_print(const struct output_record *record, const void *rows, int n,
                  const struct output_page *page, struct strbuf *out, struct strbuf *note)
{
    struct output_stream stream = {.record = record, .page = page, .out = out};
    output_begin(&stream, n ? rows : NULL);
    for (int i = 0; i < n; i++)
        output_row(&stream, (const char *)rows + (size_t)i * record->bytes);
    output_end(&stream, note);
}

void output_put_table(const struct output_record *record, const void *rows, int n,
                      enum report_format format, struct strbuf *out)
{
    output_print(record, rows, n, &(struct output_page){format, 0, false}, out, NULL);
}
