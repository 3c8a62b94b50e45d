// SPDX-License-Identifier: MIT
// JSON as it is written: commas and white space, escapes, numbers that JSON does not have.
#include "util/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void expect(struct strbuf *out, const char *expected)
{
    assert_string_equal(strbuf_text(out), expected);
    strbuf_free(out);
}

static void test_layout(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct json json = {.out = &out};
    json_open(&json, '{');
    json_text(json_name(&json, "uarch"), "zen5");
    json_open(json_name(json_break(&json, "\n  "), "ports"), '[');
    json_int(&json, 4);
    json_int(&json, -5);
    json_open(json_break(&json, "\n    "), '{');
    json_close(&json, '}');
    json_open(&json, '[');
    json_close(json_break(&json, "\n"), ']');
    json_close(json_break(&json, "\n  "), ']');
    json_bool(json_name(&json, "quick"), true);
    json_close(&json, '}');
    expect(&out,
           "{\"uarch\": \"zen5\",\n  \"ports\": [4, -5,\n    {}, [\n]\n  ], \"quick\": true}");
}

static void test_values(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct json json = {.out = &out};
    json_open(&json, '[');
    json_int(&json, INT64_MIN);
    json_uint(&json, UINT64_MAX);
    json_fixed(&json, 2.0 / 3, 3);
    json_fixed(&json, NAN, 3);
    json_fixed(&json, -INFINITY, 0);
    json_digits(&json, 1e-7, 6);
    json_digits(&json, 3, 15);
    json_digits(&json, INFINITY, 15);
    json_bool(&json, false);
    json_null(&json);
    json_text(&json, NULL);
    json_text_known(&json, NULL);
    json_text_known(&json, "");
    json_text_known(&json, "x");
    json_close(&json, ']');
    expect(&out, "[-9223372036854775808, 18446744073709551615, 0.667, null, null, 1e-07, 3, null, "
                 "false, null, \"\", null, null, \"x\"]");
}

static void test_escapes(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct json json = {.out = &out};
    json_open(&json, '{');
    json_text(json_name(&json, "a\"b\\c"), "tab\t line\n bell\a del\x7f µop € <&>");
    json_text(json_name(&json, "turned"), "\xe2\x80\xae\xc2\x9b\xd8\x9c\xff");
    json_close(&json, '}');
    expect(&out, "{\"a\\\"b\\\\c\": "
                 "\"tab\\u0009 line\\u000a bell\\u0007 del\\u007f µop € <&>\", "
                 "\"turned\": \"\\u202e\\u009b\\u061c\\ufffd\"}");
}

// For a script: nothing in it is markup, ends a line of JavaScript or is no UTF-8.
static void test_script(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct json json = {.out = &out, .script = true};
    json_open(&json, '{');
    json_text(json_name(&json, "a&b"), "</script><!--\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac\"");
    json_open(json_name(json_break(&json, "\n"), "bytes"), '[');
    json_int(&json, 1);
    json_text(&json, "\xff\xc3(\xc3\xa9");
    json_close(&json, ']');
    json_close(&json, '}');
    expect(&out, "{\"a\\u0026b\":\"\\u003c/script\\u003e\\u003c!--\\u2028\\u2029\xe2\x82\xac\\\"\","
                 "\"bytes\":[1,\"\\ufffd\\ufffd(\xc3\xa9\"]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
