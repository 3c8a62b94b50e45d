// SPDX-License-Identifier: MIT
// Properties as text, tables and JSON; see report_property.h.
#include "report_property.h"

#include "util/json.h"
#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 80, NAME_WIDTH = 24, INDENT = 26 };

static void put_wrapped(const char *text, struct strbuf *out)
{
    text_wrap(out, *text ? text : "-", INDENT, WIDTH);
}

static void put_conclusion(const struct conclusion *conclusion, struct strbuf *out)
{
    struct strbuf text = {0};
    if (*conclusion->variant)
        strbuf_printf(&text, "%s: ", conclusion->variant);
    strbuf_puts(&text, conclusion->sentence);
    if (conclusion->outcome == CONCLUSION_OK || conclusion->outcome == CONCLUSION_AMBIGUOUS)
        strbuf_printf(&text, "; confidence %s", confidence_word(conclusion->confidence));
    put_wrapped(strbuf_text(&text), out);
    strbuf_free(&text);
}

static void put_text(const struct swept_property *property, struct strbuf *out)
{
    strbuf_printf(out, "%-*s  ", NAME_WIDTH, property->title);
    if (text_width(property->title, strlen(property->title)) > NAME_WIDTH)
        strbuf_printf(out, "\n%*s", INDENT, "");
    bool first = true;
    for (int i = 0; i < property->nconclusions; i++, first = false) {
        if (!first)
            strbuf_printf(out, "%*s", INDENT, "");
        put_conclusion(&property->conclusions[i], out);
    }
    for (int v = 0; v < property->nvariants && property->nvariants > 1; v++) {
        const struct swept_variant *variant = &property->variants[v];
        if (variant->outcome == OUTCOME_OK || !property->nconclusions)
            continue;
        struct strbuf text = {0};
        strbuf_printf(&text, "%s: %s (%s)", variant->name, outcome_name(variant->outcome),
                      variant->detail);
        strbuf_printf(out, "%*s", INDENT, "");
        put_wrapped(strbuf_text(&text), out);
        strbuf_free(&text);
    }
    if (first || *property->detail) {
        struct strbuf text = {0};
        strbuf_printf(&text, "%s%s%s",
                      property->outcome == OUTCOME_OK ? "" : outcome_name(property->outcome),
                      property->outcome == OUTCOME_OK ? "" : ": ", property->detail);
        if (!first)
            strbuf_printf(out, "%*s", INDENT, "");
        put_wrapped(strbuf_text(&text), out);
        strbuf_free(&text);
    }
}

void report_property_text(const struct swept_property *properties, int n, bool colour,
                          struct strbuf *out)
{
    const char *grp = "";
    for (int i = 0; i < n; i++) {
        if (strcmp(grp, properties[i].grp) != 0)
            strbuf_printf(out, "%s%s%s%s\n", *grp ? "\n" : "",
                          text_style_begin(STYLE_HEADING, colour), properties[i].grp,
                          text_style_end(STYLE_HEADING, colour));
        grp = properties[i].grp;
        put_text(&properties[i], out);
    }
}

enum { DIGITS = 9 }; // of numbers in CSV

static void put_value(const struct swept_property *property, const struct conclusion *conclusion,
                      const struct conclusion_value *value, enum report_format format,
                      struct text_table *table)
{
    text_table_cell(table, property->grp);
    text_table_cell(table, property->name);
    text_table_cell(table, conclusion ? conclusion->variant : "");
    text_table_cell(table, value ? value->label : "");
    report_put_number(table, value ? value->value : (double)NAN, DIGITS, format);
    report_put_number(table, value ? value->low : (double)NAN, DIGITS, format);
    report_put_number(table, value ? value->high : (double)NAN, DIGITS, format);
    text_table_cell(table, value ? value->unit : "");
    text_table_cell(table, conclusion ? conclusion_outcome_name(conclusion->outcome)
                                      : outcome_name(property->outcome));
    report_put_number(table, conclusion ? conclusion->confidence : (double)NAN, DIGITS, format);
    text_table_cell(table, conclusion ? conclusion->sentence : property->detail);
}

void report_property_table(const struct swept_property *properties, int n,
                           enum report_format format, struct strbuf *out)
{
    static const char *const headers[] = {"group",   "property",   "variant", "conclusion",
                                          "value",   "low",        "high",    "unit",
                                          "outcome", "confidence", "sentence"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {
        [4] = ALIGN_POINT, [5] = ALIGN_POINT, [6] = ALIGN_POINT, [9] = ALIGN_POINT};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    for (int i = 0; i < n; i++) {
        const struct swept_property *property = &properties[i];
        for (int c = 0; c < property->nconclusions; c++) {
            const struct conclusion *conclusion = &property->conclusions[c];
            for (int v = 0; v < conclusion->nvalues; v++)
                put_value(property, conclusion, &conclusion->values[v], format, table);
            if (!conclusion->nvalues)
                put_value(property, conclusion, NULL, format, table);
        }
        if (!property->nconclusions)
            put_value(property, NULL, NULL, format, table);
    }
    text_table_put(table, format, out);
    text_table_free(table);
}

void report_property_points(const struct swept_property *properties, int n,
                            enum report_format format, struct strbuf *out)
{
    static const char *const headers[] = {"property", "variant", "x",      "x_unit",  "by",
                                          "by_unit",  "y",       "y_unit", "samples", "outcome"};
    static const enum text_align aligns[ARRAY_LEN(headers)] = {
        [2] = ALIGN_POINT, [4] = ALIGN_POINT, [6] = ALIGN_POINT, [8] = ALIGN_RIGHT};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    for (int i = 0; i < n; i++)
        for (int p = 0; p < properties[i].npoints; p++) {
            const struct swept_property *property = &properties[i];
            const struct swept_point *point = &property->points[p];
            text_table_cell(table, property->name);
            text_table_cell(table, property->variants[point->variant].name);
            report_put_number(table, point->x, DIGITS, format);
            text_table_cell(table, property->x_unit);
            report_put_number(table, point->by, DIGITS, format);
            text_table_cell(table, property->by_unit);
            report_put_number(table, point->y, DIGITS, format);
            text_table_cell(table, property->y_unit);
            report_put_number(table, point->samples, DIGITS, REPORT_CSV);
            text_table_cell(table, outcome_name(point->outcome));
        }
    text_table_put(table, format, out);
    text_table_free(table);
}

static void json_conclusion(struct json *json, const struct conclusion *conclusion)
{
    json_open(json_break(json, "\n    "), '{');
    report_fields_json(json, &store_conclusion, conclusion);
    json_open(json_name(json, "values"), '[');
    for (int i = 0; i < conclusion->nvalues; i++) {
        json_open(json, '{');
        report_fields_json(json, &store_conclusion_value, &conclusion->values[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void json_property(struct json *json, const struct swept_property *property)
{
    json_open(json_break(json, "\n"), '{');
    report_fields_json(json, &store_swept_property, property);
    json_open(json_name(json_break(json, "\n  "), "conclusions"), '[');
    for (int i = 0; i < property->nconclusions; i++)
        json_conclusion(json, &property->conclusions[i]);
    json_close(json, ']');
    json_open(json_name(json_break(json, "\n  "), "points"), '[');
    for (int i = 0; i < property->npoints; i++) {
        const struct swept_point *point = &property->points[i];
        json_open(json_break(json, "\n    "), '{');
        json_text_known(json_name(json, "variant"), property->variants[point->variant].name);
        report_fields_json(json, &store_swept_point, point);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void report_property_json(const struct swept_property *properties, int n, struct strbuf *out)
{
    struct json json = {.out = out};
    json_open(&json, '[');
    for (int i = 0; i < n; i++)
        json_property(&json, &properties[i]);
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}
