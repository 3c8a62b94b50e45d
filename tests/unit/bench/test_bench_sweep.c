// SPDX-License-Identifier: MIT
// Sweeps of a number in a piece of code: their notation, their number of points, and the texts of
// the points.
#include "bench/bench_sweep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text, *refusal; // NULL: it is good
        int64_t first, step;
        int npoints;
    } cases[] = {
        {"N=0..32",               NULL,                                   0,   1, 33  },
        {"N=0..32:4",             NULL,                                   0,   4, 9   },
        {"N=0..31:4",             NULL,                                   0,   4, 8   },
        {"offset_1=-64..0x40:8",  NULL,                                   -64, 8, 17  },
        {"N=5..5",                NULL,                                   5,   1, 1   },
        {"N=0..999",              NULL,                                   0,   1, 1000},
        {"N=0..1000",             "has 1001 points",                      0,   0, 0   },
        {"N=0..1000000",          "--sweep N=0..1000000:10001 has fewer", 0,   0, 0   },
        {"N=0..9007199254740992", "points",                               0,   0, 0   },
        {"N=0..9007199254740993", "is no sweep",                          0,   0, 0   },
        {"N=3..2",                "has no points",                        0,   0, 0   },
        {"N=0..8:0",              "has no points",                        0,   0, 0   },
        {"N=0..8:-1",             "has no points",                        0,   0, 0   },
        {"N",                     "is no sweep",                          0,   0, 0   },
        {"=0..3",                 "is no sweep",                          0,   0, 0   },
        {"1N=0..3",               "is no sweep",                          0,   0, 0   },
        {"N=0-3",                 "is no sweep",                          0,   0, 0   },
        {"N=0..3x",               "is no sweep",                          0,   0, 0   },
        {"N=0..3:",               "is no sweep",                          0,   0, 0   },
        {"N=0..3:1:1",            "is no sweep",                          0,   0, 0   },
        {"N= 0..3",               "is no sweep",                          0,   0, 0   },
        {"",                      "is no sweep",                          0,   0, 0   },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench_sweep sweep;
        struct err err = {0};
        int got = bench_sweep_parse(cases[i].text, &sweep, &err);
        if ((got != 0) != (cases[i].refusal != NULL))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (cases[i].refusal && !strstr(err.text, cases[i].refusal))
            fail_msg("%s: %s", cases[i].text, err.text);
        if (got != 0)
            continue;
        assert_int_equal(sweep.first, cases[i].first);
        assert_int_equal(sweep.step, cases[i].step);
        assert_int_equal(sweep.npoints, cases[i].npoints);
    }
}

static void test_point(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct bench_sweep sweep;
    struct err err = {0};
    struct bench_spec spec = {.body = "times {N} nop; mov rax, [r14+{N}]",
                              .cflags = "-DN={N}",
                              .init = "mov rax, {M}",
                              .label = "at {N}"},
                      filled;
    assert_int_equal(bench_sweep_parse("N=-8..8:8", &sweep, &err), 0);
    assert_int_equal(sweep.npoints, 3);
    assert_int_equal(bench_sweep_point(&sweep, 0, &spec, &arena, &filled), 3);
    assert_string_equal(filled.body, "times -8 nop; mov rax, [r14+-8]");
    assert_string_equal(filled.cflags, "-DN=-8");
    assert_string_equal(filled.init, "mov rax, {M}");
    assert_string_equal(filled.label, "at -8");
    assert_int_equal(bench_sweep_point(&sweep, 2, &spec, &arena, &filled), 3);
    assert_string_equal(filled.cflags, "-DN=8");
    spec = (struct bench_spec){.body = "nop", .label = "{N}"};
    assert_int_equal(bench_sweep_point(&sweep, 1, &spec, &arena, &filled), 0);
    arena_free(&arena);
}

static void test_plot(void **state)
{
    (void)state;
    struct bench_sweep sweep;
    struct err err = {0};
    struct strbuf text = {0};
    const struct sweep_point points[] = {
        {0, OUTCOME_OK,       1,           0,           ""      },
        {1, OUTCOME_UNSTABLE, (double)NAN, (double)NAN, "moving"},
        {2, OUTCOME_OK,       4,           0,           ""      },
        {3, OUTCOME_OK,       1,           0,           ""      }
    };
    assert_int_equal(bench_sweep_parse("N=0..3", &sweep, &err), 0);
    assert_int_equal(bench_sweep_plot(&sweep, points, "picture.gif", &text, &err), -1);
    assert_non_null(strstr(err.text, "a plot is a file .svg or .png, or -"));
    if (system("command -v gnuplot >/dev/null") != 0) {
        assert_int_equal(bench_sweep_plot(&sweep, points, "-", &text, &err), -1);
        assert_non_null(strstr(err.text, "gnuplot"));
        print_message("gnuplot is not installed: nothing was drawn\n");
        skip();
    }
    if (bench_sweep_plot(&sweep, points, "-", &text, &err) != 0)
        fail_msg("%s", err.text);
    assert_true(text.len > 1000); // 24 lines of 79 characters
    assert_non_null(strchr(text.data, '*'));
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_plot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
