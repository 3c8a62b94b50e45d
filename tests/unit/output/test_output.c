// SPDX-License-Identifier: MIT
// A record is told in the same way by JSON, CSV and tables.
#include "output/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct inner {
    const char *name;
    double clk;
};
#define INNER(...) OUTPUT_FIELD(struct inner, __VA_ARGS__)
OUTPUT_DEFINE(inner_record, struct inner, OUTPUT_LINE, INNER(name, .known = true),
              INNER(clk, .decimals = 2, .always = true));

struct row {
    int n, missing;
    bool yes, one;
    double real, none;
    char text[8];
    const char *empty, *shown;
    const char *const *texts;
    const double *reals;
    size_t ntexts, nreals;
    struct inner inner[2];
    int ninner;
    struct output_more more;
};
#define ROW(...) OUTPUT_FIELD(struct row, __VA_ARGS__)
OUTPUT_DEFINE(record, struct row, OUTPUT_LINE, OUTPUT_NAMED(struct row, n, "number"),
              ROW(missing, .known = true, .none = -1, .look.heading = "missing"), ROW(yes),
              ROW(one, .zero_one = true, .only = OUTPUT_JSON),
              ROW(real, .look.digits = 4, .digits = 3, .look.heading = "Real", .shown = 1),
              ROW(none, .look.heading = "None"), ROW(text, .look.heading = "Text"),
              ROW(empty, .optional = true),
              ROW(shown, .only = OUTPUT_PEOPLE, .look.heading = "Shown"),
              OUTPUT_LIST(struct row, texts, ntexts),
              OUTPUT_LIST(struct row, reals, nreals, .digits = 3),
              OUTPUT_ARRAY(struct row, inner, ninner, inner_record), OUTPUT_MORE(struct row, more));

static struct row row_make(void)
{
    static const char *const texts[] = {"x", "y\"z"};
    static const double reals[] = {1.23456}, counts[] = {7, NAN};
    static const struct look looks[] = {
        {.name = "a",   .heading = "A"},
        {.name = "b,c", .heading = "B"}
    };
    return (struct row){
        .n = 3,
        .missing = -1,
        .yes = true,
        .one = true,
        .real = 2.71828,
        .none = (double)NAN,
        .text = "t",
        .shown = "s",
        .texts = texts,
        .reals = reals,
        .ntexts = 2,
        .nreals = 1,
        .inner = {{"", 1}, {"i", 2.345}},
        .ninner = 2,
        .more = { looks, counts,                 2, 1}
    };
}

static void json_has_every_type(void **state)
{
    (void)state;
    struct strbuf out = {0};
    const struct row row = row_make();
    output_put_json(&record, &row, 1, true, &out);
    assert_string_equal(strbuf_text(&out),
                        "[{\"number\": 3, \"missing\": null, \"yes\": true, \"one\": 1, "
                        "\"real\": 2.72, \"none\": null, \"text\": \"t\", "
                        "\"texts\": [\"x\", \"y\\\"z\"], \"reals\": [1.23],\n"
                        "  \"inner\": [\n"
                        "    {\"name\": null, \"clk\": 1.00},\n"
                        "    {\"name\": \"i\", \"clk\": 2.35}\n"
                        "  ], \"a\": 7, \"b,c\": null}]\n");
    strbuf_clear(&out);
    output_put_json(&inner_record, NULL, 0, false, &out);
    assert_string_equal(strbuf_text(&out), "[]\n");
    strbuf_free(&out);
}

static void csv_has_what_is_no_array(void **state)
{
    (void)state;
    struct strbuf out = {0};
    const struct row row = row_make();
    output_put_table(&record, &row, 1, REPORT_CSV, &out);
    assert_string_equal(strbuf_text(&out), "number,missing,yes,real,none,text,empty,a,\"b,c\"\n"
                                           "3,,1,2.718,,t,,7,\n");
    strbuf_free(&out);
}

static void people_see_headings(void **state)
{
    (void)state;
    struct strbuf out = {0};
    const struct row row = row_make();
    output_put_table(&record, &row, 1, REPORT_MARKDOWN, &out);
    assert_string_equal(strbuf_text(&out), "| Real | Text | Shown | A | B |\n"
                                           "|---|---|---|---|---|\n"
                                           "| 2.7 | t | s | 7 | - |\n");
    strbuf_free(&out);
}

// Values of any type are told as they are, and as they are shown.
struct value_row {
    struct {
        struct field_value value;
        int other;
    } cells[3];
};

static void values_have_types_of_their_own(void **state)
{
    (void)state;
    static const struct {
        enum report_format format;
        bool lines;
        const char *wanted;
    } cases[] = {
        {REPORT_JSON,     false,
         "[\n  {\"n\": 7, \"m\": \"a,\", \"o\": 2.5},\n"
         "  {\"n\": null, \"m\": null, \"o\": 3}\n]\n"                                },
        {REPORT_CSV,      false, "n,m,o\n7,\"a,\",2.5\n,,3\n"                         },
        {REPORT_MARKDOWN, false, "| N | O |\n|---|---|\n| seven | o |\n| - | 3 |\n"   },
        {REPORT_TABLE,    true,  "N             O\nseven         o\n-             3\n"},
    };
    static const struct value_row rows[] = {
        {{{{LOOK_INTEGER, false, 7, 7, "", "seven", STYLE_PLAIN}, 0},
          {{LOOK_TEXT, false, 0, NAN, "a,", "", STYLE_PLAIN}, 0},
          {{LOOK_REAL, false, 2, 2.5, "", "o", STYLE_GOOD}, 0}}},
        {{{{LOOK_INTEGER, true, 0, NAN, "", "-", STYLE_PLAIN}, 0},
          {{LOOK_TEXT, false, 0, NAN, "", "", STYLE_PLAIN}, 0},
          {{LOOK_INTEGER, false, 3, 3, "", "3", STYLE_PLAIN}, 0}}},
    };
    struct output_made made = {.record.bytes = sizeof(struct value_row)};
    struct output_field field = OUTPUT_FIELD(struct value_row, cells[0].value, .known = true);
    for (int i = 0; i < 3; i++) {
        field.look.name = &"n\0m\0o"[2 * i];
        field.look.heading = i == 1 ? NULL : &"N\0M\0O"[2 * i];
        output_made_add(&made, output_element(field, i, sizeof rows[0].cells[0]));
    }
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        struct strbuf out = {0};
        const struct output_page page = {cases[c].format, 0, false};
        struct output_stream stream = {
            .record = &made.record, .page = &page, .out = &out, .lines = cases[c].lines};
        output_begin(&stream, NULL);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            output_row(&stream, &rows[i]);
        output_end(&stream, NULL);
        assert_int_equal(stream.n, 2);
        assert_string_equal(strbuf_text(&out), cases[c].wanted);
        strbuf_free(&out);
    }
    free(made.fields);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_every_type), cmocka_unit_test(csv_has_what_is_no_array),
        cmocka_unit_test(people_see_headings), cmocka_unit_test(values_have_types_of_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
