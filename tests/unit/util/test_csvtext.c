// SPDX-License-Identifier: MIT
// Fields of CSV: which are quoted, and how.
#include "util/csvtext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_fields(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field, *quoted;
    } cases[] = {
        {"",           "",                   "\"\""              },
        {"add r64 i8", "add r64 i8",         "\"add r64 i8\""    },
        {"a,b",        "\"a,b\"",            "\"a,b\""           },
        {"\"",         "\"\"\"\"",           "\"\"\"\""          },
        {"6\" or 7\"", "\"6\"\" or 7\"\"\"", "\"6\"\" or 7\"\"\""},
        {"a\nb",       "\"a\nb\"",           "\"a\nb\""          },
        {"a\rb",       "\"a\rb\"",           "\"a\rb\""          },
        {"µop\t'x'",  "µop\t'x'",          "\"µop\t'x'\""     },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf out = {0};
        csv_put_text(&out, cases[i].text);
        assert_string_equal(strbuf_text(&out), cases[i].field);
        strbuf_clear(&out);
        csv_put_quoted(&out, cases[i].text);
        assert_string_equal(strbuf_text(&out), cases[i].quoted);
        strbuf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
