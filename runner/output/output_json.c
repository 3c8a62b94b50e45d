// SPDX-License-Identifier: MIT
// Outputs as JSON; see output.h.
#include "output_internal.h"

// Breaks the line before what comes next.
static struct json *line_break(struct json *json, int depth)
{
    static const char spaces[] = "\n                ";
    enum { DEEPEST = (sizeof spaces - 2) / 2 };
    static char lines[DEEPEST + 1][sizeof spaces];
    int at = depth < DEEPEST ? depth : DEEPEST;
    for (int i = 0; i <= 2 * at; i++)
        lines[at][i] = spaces[i];
    return json_break(json, lines[at]);
}

static void put_real(const struct output_field *field, double value, struct json *json)
{
    if (field->digits)
        json_digits(json, value, field->digits);
    else if (field->decimals)
        json_fixed(json, value, field->decimals);
    else
        json_real(json, value);
}

// Writes an array of texts or of numbers; `depth`: of a line for each, or -1.
static void put_list(const struct output_field *field, const void *row, int depth,
                     struct json *json)
{
    const void *list = output_field_elements(field, row);
    int n = output_field_count(field, row);
    json_open(json, '[');
    for (int i = 0; i < n; i++) {
        if (depth >= 0)
            line_break(json, depth + 1);
        if (field->at.kind == FIELD_TEXTS)
            json_text(json, ((const char *const *)list)[i]);
        else
            put_real(field, ((const double *)list)[i], json);
    }
    json_close(n && depth >= 0 ? line_break(json, depth) : json, ']');
}

static void put_any(const struct output_field *field, const struct field_value *value,
                    struct json *json)
{
    if (value->type == LOOK_TEXT)
        json_text(json, value->text);
    else if (value->type == LOOK_REAL)
        put_real(field, value->real, json);
    else
        json_int(json, value->integer);
}

static void put_value(const struct output_field *field, const void *row, struct json *json)
{
    if (output_field_none(field, row))
        json_null(json);
    else if (field->at.kind == FIELD_VALUE)
        put_any(field, output_value(field, row), json);
    else if (output_field_is_text(field))
        json_text(json, field_text(&field->at, field->words, row));
    else if (output_field_type(field) == LOOK_REAL)
        put_real(field, field_real(&field->at, row), json);
    else if (output_field_type(field) == LOOK_BOOL)
        json_bool(json, field_integer(&field->at, row));
    else if (field->at.kind == FIELD_UINT64)
        json_uint(json, (uint64_t)field_integer(&field->at, row));
    else
        json_int(json, field_integer(&field->at, row));
}

static void put_more(const struct output_more *more, struct json *json)
{
    for (int i = 0; i < more->n; i++)
        json_real(json_name(json, more->looks[i].name), more->values[i]);
}

static void put_members(const struct output_record *record, const void *row, int depth,
                        enum output_layout layout, struct json *json)
{
    for (int i = 0; i < record->nfields; i++) {
        const struct output_field *field = output_field_at(record, i);
        const void *at = (const char *)row + field->at.offset;
        if (field->at.kind == FIELD_WITHIN)
            put_members(field->of, at, depth, layout, json);
        if (field->at.kind == FIELD_MORE)
            put_more(at, json);
        if (field->at.kind == FIELD_WITHIN || field->at.kind == FIELD_MORE ||
            field->only > OUTPUT_JSON || !*output_field_name(field) ||
            (field->optional && output_field_none(field, row)))
            continue;
        bool rows = output_field_is_rows(field);
        if (layout == OUTPUT_LINES || (rows && layout == OUTPUT_LINE))
            line_break(json, depth + 1);
        json_name(json, output_field_name(field));
        if (rows)
            output_json_array(field->of, output_field_elements(field, row),
                              output_field_count(field, row),
                              layout == OUTPUT_DENSE ? -1 : depth + 1, json);
        else if (field->at.kind == FIELD_TEXTS || field->at.kind == FIELD_REALS)
            put_list(field, row, layout == OUTPUT_LINES ? depth + 1 : -1, json);
        else
            put_value(field, row, json);
    }
}

void output_json_row(const struct output_record *record, const void *row, int depth,
                     struct json *json)
{
    json_open(json, '{');
    put_members(record, row, depth, depth < 0 ? OUTPUT_DENSE : record->layout, json);
    json_close(record->layout == OUTPUT_LINES ? line_break(json, depth) : json, '}');
}

void output_json_array(const struct output_record *record, const void *rows, int n, int depth,
                       struct json *json)
{
    json_open(json, '[');
    for (int i = 0; i < n; i++)
        output_json_row(record, (const char *)rows + (size_t)i * record->bytes,
                        depth < 0 ? depth : depth + 1,
                        depth < 0 ? json : line_break(json, depth + 1));
    json_close(n && depth >= 0 ? line_break(json, depth) : json, ']');
}

void output_put_json(const struct output_record *record, const void *rows, int n, bool one,
                     struct strbuf *out)
{
    struct json json = {.out = out};
    if (one) {
        json_open(&json, '[');
        for (int i = 0; i < n; i++)
            output_json_row(record, rows, 0, &json);
        json_close(&json, ']');
    } else {
        output_json_array(record, rows, n, 0, &json);
    }
    strbuf_puts(out, "\n");
}
