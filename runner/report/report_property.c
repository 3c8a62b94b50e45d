// SPDX-License-Identifier: MIT
// Properties as text, CSV and JSON; see report_property.h.
#include "report_property.h"

#include "util/csvtext.h"
#include "util/json.h"
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

static void put_number(double value, struct strbuf *out)
{
    if (isfinite(value))
        strbuf_printf(out, ",%.9g", value);
    else
        strbuf_puts(out, ",");
}

static void put_field(const char *text, struct strbuf *out)
{
    strbuf_puts(out, ",");
    csv_put_text(out, text);
}

static void put_csv_value(const struct swept_property *property,
                          const struct conclusion *conclusion, const struct conclusion_value *value,
                          struct strbuf *out)
{
    csv_put_text(out, property->grp);
    put_field(property->name, out);
    put_field(conclusion ? conclusion->variant : "", out);
    put_field(value ? value->label : "", out);
    put_number(value ? value->value : (double)NAN, out);
    put_number(value ? value->low : (double)NAN, out);
    put_number(value ? value->high : (double)NAN, out);
    put_field(value ? value->unit : "", out);
    put_field(conclusion ? conclusion_outcome_name(conclusion->outcome)
                         : outcome_name(property->outcome),
              out);
    put_number(conclusion ? conclusion->confidence : (double)NAN, out);
    put_field(conclusion ? conclusion->sentence : property->detail, out);
    strbuf_puts(out, "\n");
}

void report_property_csv(const struct swept_property *properties, int n, struct strbuf *out)
{
    strbuf_puts(out, "group,property,variant,conclusion,value,low,high,unit,outcome,confidence,"
                     "sentence\n");
    for (int i = 0; i < n; i++) {
        const struct swept_property *property = &properties[i];
        for (int c = 0; c < property->nconclusions; c++) {
            const struct conclusion *conclusion = &property->conclusions[c];
            for (int v = 0; v < conclusion->nvalues; v++)
                put_csv_value(property, conclusion, &conclusion->values[v], out);
            if (!conclusion->nvalues)
                put_csv_value(property, conclusion, NULL, out);
        }
        if (!property->nconclusions)
            put_csv_value(property, NULL, NULL, out);
    }
}

void report_property_points(const struct swept_property *properties, int n, struct strbuf *out)
{
    strbuf_puts(out, "property,variant,x,x_unit,by,by_unit,y,y_unit,samples,outcome\n");
    for (int i = 0; i < n; i++)
        for (int p = 0; p < properties[i].npoints; p++) {
            const struct swept_property *property = &properties[i];
            const struct swept_point *point = &property->points[p];
            csv_put_text(out, property->name);
            put_field(property->variants[point->variant].name, out);
            put_number(point->x, out);
            put_field(property->x_unit, out);
            put_number(point->by, out);
            put_field(property->by_unit, out);
            put_number(point->y, out);
            put_field(property->y_unit, out);
            strbuf_printf(out, ",%d", point->samples);
            put_field(outcome_name(point->outcome), out);
            strbuf_puts(out, "\n");
        }
}

static void json_conclusion(struct json *json, const struct conclusion *conclusion)
{
    json_open(json_break(json, "\n    "), '{');
    json_text_known(json_name(json, "variant"), conclusion->variant);
    json_text(json_name(json, "outcome"), conclusion_outcome_name(conclusion->outcome));
    json_real(json_name(json, "confidence"), conclusion->confidence);
    json_text(json_name(json, "sentence"), conclusion->sentence);
    json_open(json_name(json, "values"), '[');
    for (int i = 0; i < conclusion->nvalues; i++) {
        const struct conclusion_value *value = &conclusion->values[i];
        json_open(json, '{');
        json_text(json_name(json, "label"), value->label);
        json_real(json_name(json, "value"), value->value);
        json_real(json_name(json, "low"), value->low);
        json_real(json_name(json, "high"), value->high);
        json_text_known(json_name(json, "unit"), value->unit);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

static void json_point(struct json *json, const struct swept_property *property,
                       const struct swept_point *point)
{
    json_open(json_break(json, "\n    "), '{');
    json_text_known(json_name(json, "variant"), property->variants[point->variant].name);
    json_real(json_name(json, "x"), point->x);
    json_real(json_name(json, "by"), point->by);
    json_real(json_name(json, "y"), point->y);
    json_int(json_name(json, "samples"), point->samples);
    json_text(json_name(json, "outcome"), outcome_name(point->outcome));
    json_close(json, '}');
}

static void json_property(struct json *json, const struct swept_property *property)
{
    json_open(json_break(json, "\n"), '{');
    json_text(json_name(json, "property"), property->name);
    json_text(json_name(json, "group"), property->grp);
    json_text(json_name(json, "title"), property->title);
    json_text(json_name(json, "question"), property->question);
    json_text_known(json_name(json, "x_unit"), property->x_unit);
    json_text_known(json_name(json, "y_unit"), property->y_unit);
    json_text(json_name(json, "outcome"), outcome_name(property->outcome));
    json_text_known(json_name(json, "detail"), property->detail);
    json_int(json_name(json, "area_bytes"), property->area_bytes);
    json_int(json_name(json, "area_huge_bytes"), property->area_huge_bytes);
    json_real(json_name(json, "seconds"), property->seconds);
    json_int(json_name(json, "run_id"), property->run_id);
    json_open(json_name(json_break(json, "\n  "), "conclusions"), '[');
    for (int i = 0; i < property->nconclusions; i++)
        json_conclusion(json, &property->conclusions[i]);
    json_close(json, ']');
    json_open(json_name(json_break(json, "\n  "), "points"), '[');
    for (int i = 0; i < property->npoints; i++)
        json_point(json, property, &property->points[i]);
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
