// SPDX-License-Identifier: MIT
// Fields of CSV: which are quoted, and how; formulas.
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
        const char *text, *field;
    } cases[] = {
        {"",           ""                  },
        {"add r64 i8", "add r64 i8"        },
        {"a,b",        "\"a,b\""           },
        {"\"",         "\"\"\"\""          },
        {"6\" or 7\"", "\"6\"\" or 7\"\"\""},
        {"a\nb",       "\"a\nb\""          },
        {"a\rb",       "\"a\rb\""          },
        {"µop\t'x'",  "µop\t'x'"         },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf out = {0};
        csv_put_text(&out, cases[i].text);
        assert_string_equal(strbuf_text(&out), cases[i].field);
        strbuf_free(&out);
    }
}

static void test_spreadsheets(void **state)
{
    (void)state;
    static const struct {
        const char *text, *field; // NULL: as it is
    } cases[] = {
        {"=1+1",               "'=1+1"              },
        {"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"},
        {"-x",                 "'-x"                },
        {"@SUM(A1)",           "'@SUM(A1)"          },
        {"\tx",                "'\tx"               },
        {"\rx",                "\"'\rx\""           },
        {"=a,b",               "\"'=a,b\""          },
        {"-1-1",               "'-1-1"              },
        {"-1x",                "'-1x"               },
        {"-0x1f",              "'-0x1f"             },
        {"-inf",               "'-inf"              },
        {"-",                  "'-"                 },
        {"-1.5",               NULL                 },
        {"+2",                 NULL                 },
        {"-1.5e-07",           NULL                 },
        {"",                   NULL                 },
        {"a=1",                NULL                 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct strbuf out = {0};
        csv_for_spreadsheets(true);
        csv_put_text(&out, cases[i].text);
        assert_string_equal(strbuf_text(&out), cases[i].field ? cases[i].field : cases[i].text);
        csv_for_spreadsheets(false);
        strbuf_clear(&out);
        csv_put_text(&out, cases[i].text);
        const char *field = strbuf_text(&out);
        assert_true(field[*field == '"'] != '\'');
        strbuf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields),
                                       cmocka_unit_test(test_spreadsheets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
