// SPDX-License-Identifier: MIT
// A record is told in the same way by JSON, CSV and tables.
#include "output/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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
    strbuf_clear(&out);
    output_put_line(&inner_record, &row.inner[1], true, &out);
    assert_string_equal(strbuf_text(&out), "");
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(json_has_every_type),
                                       cmocka_unit_test(csv_has_what_is_no_array),
                                       cmocka_unit_test(people_see_headings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
