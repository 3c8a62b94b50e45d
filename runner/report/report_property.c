// SPDX-License-Identifier: MIT
// Properties as text, tables and JSON; see report_property.h.
#include "report_property.h"

#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
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

// A row of the table: a value of a conclusion, or what stands in its place.
struct value_line {
    const char *group, *property, *variant, *label, *unit, *outcome, *sentence;
    double value, low, high, confidence;
};
enum { DIGITS = 9 }; // of numbers in CSV
#define NUMBER(type, member, name)                                                                 \
    OUTPUT_NAMED(type, member, name, .look.heading = (name), .look.digits = DIGITS,                \
                 .look.align = ALIGN_POINT)
#define LINE(member, called)                                                                       \
    OUTPUT_NAMED(struct value_line, member, called, .look.heading = (called))
#define LINE_NUMBER(member) NUMBER(struct value_line, member, #member)
OUTPUT_DEFINE(line_record, struct value_line, OUTPUT_LINE, LINE(group, "group"),
              LINE(property, "property"), LINE(variant, "variant"), LINE(label, "conclusion"),
              LINE_NUMBER(value), LINE_NUMBER(low), LINE_NUMBER(high), LINE(unit, "unit"),
              LINE(outcome, "outcome"), LINE_NUMBER(confidence), LINE(sentence, "sentence"));

static struct value_line value_line(const struct swept_property *property,
                                    const struct conclusion *conclusion,
                                    const struct conclusion_value *value)
{
    struct value_line line = {.group = property->grp,
                              .property = property->name,
                              .outcome = outcome_name(property->outcome),
                              .sentence = property->detail,
                              .value = value ? value->value : (double)NAN,
                              .low = value ? value->low : (double)NAN,
                              .high = value ? value->high : (double)NAN,
                              .confidence = conclusion ? conclusion->confidence : (double)NAN};
    if (conclusion) {
        line.variant = conclusion->variant;
        line.outcome = conclusion_outcome_name(conclusion->outcome);
        line.sentence = conclusion->sentence;
    }
    if (value) {
        line.label = value->label;
        line.unit = value->unit;
    }
    return line;
}

void report_property_table(const struct swept_property *properties, int n,
                           enum report_format format, struct strbuf *out)
{
    struct value_line *lines = NULL;
    size_t capacity = 0;
    int nlines = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < properties[i].nconclusions || c == 0; c++) {
            const struct conclusion *conclusion =
                properties[i].nconclusions ? &properties[i].conclusions[c] : NULL;
            int nvalues = conclusion ? conclusion->nvalues : 0;
            for (int v = 0; v < nvalues || v == 0; v++) {
                lines = xgrow(lines, &capacity, (size_t)nlines + 1, sizeof *lines);
                lines[nlines++] =
                    value_line(&properties[i], conclusion, nvalues ? &conclusion->values[v] : NULL);
            }
        }
    output_put_table(&line_record, lines, nlines, format, out);
    free(lines);
}

// A point with the texts of its property, of which JSON has the variant only.
struct point_line {
    const char *name, *variant, *x_unit, *by_unit, *y_unit;
    struct swept_point of;
};
#define POINT(title, ...)                                                                          \
    OUTPUT_FIELD(struct point_line, __VA_ARGS__, .look.name = (title), .look.heading = (title))
#define POINT_NUMBER(member) NUMBER(struct point_line, of.member, #member)
OUTPUT_DEFINE(point_record, struct point_line, OUTPUT_LINE,
              POINT("property", name, .only = OUTPUT_TABLES),
              POINT("variant", variant, .known = true), POINT_NUMBER(x),
              POINT("x_unit", x_unit, .only = OUTPUT_TABLES), POINT_NUMBER(by),
              POINT("by_unit", by_unit, .only = OUTPUT_TABLES), POINT_NUMBER(y),
              POINT("y_unit", y_unit, .only = OUTPUT_TABLES),
              POINT("samples", of.samples, .look.align = ALIGN_RIGHT),
              POINT("outcome", of.outcome, .words = &words_outcome));

OUTPUT_DEFINE(conclusion_record, struct conclusion, OUTPUT_DENSE,
              OUTPUT_INLINE(store_conclusion.of),
              OUTPUT_ROWS(struct conclusion, values, nvalues, store_conclusion_value.of));

struct property_row {
    struct swept_property of;
    const struct point_line *lines;
};
OUTPUT_DEFINE(property_record, struct property_row, OUTPUT_LINE,
              OUTPUT_INLINE(store_swept_property.of),
              OUTPUT_ROWS(struct property_row, of.conclusions, of.nconclusions, conclusion_record),
              OUTPUT_ROWS(struct property_row, lines, of.npoints, point_record,
                          .look.name = "points"));
const struct output_kind report_property_kind = {"property", "latput property: a row per property",
                                                 &property_record, 0, 0};

// Makes the lines of all points, one property after the other.
static struct point_line *point_lines_make(const struct swept_property *properties, int n,
                                           int *nlines)
{
    struct point_line *lines = NULL;
    size_t capacity = 0;
    *nlines = 0;
    for (int i = 0; i < n; i++)
        for (int p = 0; p < properties[i].npoints; p++) {
            const struct swept_property *of = &properties[i];
            const struct swept_point *point = &of->points[p];
            lines = xgrow(lines, &capacity, (size_t)*nlines + 1, sizeof *lines);
            lines[(*nlines)++] = (struct point_line){of->name,   of->variants[point->variant].name,
                                                     of->x_unit, of->by_unit,
                                                     of->y_unit, *point};
        }
    return lines;
}

void report_property_points(const struct swept_property *properties, int n,
                            enum report_format format, struct strbuf *out)
{
    int nlines;
    struct point_line *lines = point_lines_make(properties, n, &nlines);
    output_put_table(&point_record, lines, nlines, format, out);
    free(lines);
}

void report_property_json(const struct swept_property *properties, int n, struct strbuf *out)
{
    int at = 0;
    struct point_line *lines = point_lines_make(properties, n, &at);
    struct property_row *rows = xcalloc((size_t)n + 1, sizeof *rows);
    for (int i = at = 0; i < n; at += properties[i++].npoints)
        rows[i] = (struct property_row){properties[i], lines + at};
    output_put_json(&property_record, rows, n, false, out);
    free(rows);
    free(lines);
}
