// SPDX-License-Identifier: MIT
// Expressions over the columns of a view: the rows that they find, and what is said of those that
// mean nothing.
#include "expr/expr.h"
#include "fixtures/store_fixture.h"
#include "util/mem.h"

static const struct {
    const char *text;
    int rows; // of three forms: add (latency 1 to 2), div (10 to 18, 1/tput 5, slow 7), and another
} found[] = {
    {"latency_min_clk = 10",                   1},
    {"latency = 10",                           1},
    {"Latency = 10 and LATENCY_MAX_CLK = 18",  1},
    {"latency = 10 or tput = 0.25",            2},
    {"max between 9 and 11",                   1},
    {"not (max between 9 and 11)",             2},
    {"throughput + 1 = 6",                     1},
    {"latency * 2 > max and slow is not null", 1},
    {"instruction ~ 'DIV*'",                   1},
    {"form !~ 'div*'",                         2},
    {"form like 'div%'",                       1},
    {"form in (\"div r64\", 'no such')",       1},
    {"form not in ('div r64')",                2},
    {"run > 0",                                3},
    {"-latency < -9",                          1},
};

static const struct {
    const char *text, *message;
} refused[] = {
    {"latenzy > 1",         "there is no column 'latenzy'"          },
    {"1 > 'a'",             "a number and a text cannot be compared"},
    {"(latency > 1",        "a ) is missing here"                   },
    {"latency",             "a comparison is missing"               },
    {"latency > 1 latency", "the expression should end here"        },
    {"form ~ 1",            "a text in quotes belongs here"         },
    {"latency between 1",   "the word and belongs here"             },
    {"form = 'div",         "this text has no end"                  },
    {"",                    "a"                                     },
};

static void test_rows(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    fixture_fill(store, "testa", 1, 1);
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        struct store_filter filter = {
            .where = expr_parse(store, STORE_VIEW_INSTRUCTION, found[i].text, &err)};
        if (!filter.where)
            fail_msg("%s: %s", found[i].text, err.text);
        struct store_rows *rows = store_rows_open(store, STORE_VIEW_INSTRUCTION, &filter, &err);
        int n = 0;
        assert_non_null(rows);
        while (store_rows_next(rows, &err) > 0)
            n++;
        if (n != found[i].rows)
            fail_msg("%s: %d rows, expected %d", found[i].text, n, found[i].rows);
        store_rows_close(rows);
        expr_free((struct store_where *)filter.where);
    }
    fixture_end(&fixture, store);
}

static void test_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        struct err err = {0};
        assert_null(expr_parse(store, STORE_VIEW_INSTRUCTION, refused[i].text, &err));
        if (!strstr(err.text, refused[i].message))
            fail_msg("%s: %s", refused[i].text, err.text);
    }
    fixture_end(&fixture, store);
}

// Orders are of columns by any of their names; what is not known comes last.
static void test_sort(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    char *sort = expr_sort_parse(store, STORE_VIEW_INSTRUCTION, "-max, instruction", &err);
    assert_string_equal(sort, "\"result_latency_max_clk\" COLLATE NOCASE DESC NULLS LAST, "
                              "\"form\" COLLATE NOCASE ASC NULLS LAST");
    free(sort);
    assert_null(expr_sort_parse(store, STORE_VIEW_INSTRUCTION, "max,no_such", &err));
    assert_non_null(strstr(err.text, "there is no column 'no_such'"));
    assert_null(expr_column(store, STORE_VIEW_LATENCY, "slow", &err));
    fixture_end(&fixture, store);
}

// An operand of a command is an expression if it has a sign or a word that no glob has.
static void test_is_one(void **state)
{
    (void)state;
    static const char *const expressions[] = {"latency>20", "max is null", "form like 'a%'"};
    static const char *const globs[] = {"add r64 *", "is", "vpadd*", "in al, dx"};
    for (size_t i = 0; i < ARRAY_LEN(expressions); i++)
        assert_true(expr_is_one(expressions[i]));
    for (size_t i = 0; i < ARRAY_LEN(globs); i++)
        assert_false(expr_is_one(globs[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
