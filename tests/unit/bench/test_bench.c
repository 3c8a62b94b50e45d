// SPDX-License-Identifier: MIT
// Bench: from the user's text to a kernel, which is pure; and the results of bench_measure() for
// specs that cannot be measured.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/bench_column.h"
#include "bench/bench_print.h"
#include "bench/bench_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct arena arena;

static int free_arena(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void semicolons_separate_instructions(void **state)
{
    (void)state;
    static const struct {
        const char *text, *lines;
        int instructions;
    } cases[] = {
        {"imul rax, rax",             "imul rax, rax\n",           1},
        {"imul rax, rax\n",           "imul rax, rax\n",           1},
        {"a; b;c",                    "a\n b\nc\n",                3},
        {"a;;b",                      "a   \n",                    1},
        {"a; ;b",                     "a\n \nb\n",                 2},
        {"a ;; b; c\nd",              "a        \nd\n",            2},
        {";; a\nb;;",                 "    \nb  \n",               1},
        {"db ';;', 1; nop",           "db ';;', 1\n nop\n",        2},
        {"db ';', \";\"; nop",        "db ';', \";\"\n nop\n",     2},
        {".x: dec eax; jnz .x",       ".x: dec eax\n jnz .x\n",    2},
        {".x:; dec eax; jnz .x",      ".x:\n dec eax\n jnz .x\n",  2},
        {"%assign i 1\nadd eax, i\n", "%assign i 1\nadd eax, i\n", 1},
        {"global x; times 3 nop",     "global x\n times 3 nop\n",  1},
        {"align 16; nop",             "align 16\n nop\n",          1},
        {"",                          "",                          0},
        {" ; ;",                      " \n \n",                    0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *lines = bench_text_lines(cases[i].text, &arena);
        assert_string_equal(lines, cases[i].lines);
        assert_int_equal(bench_text_instructions(lines), cases[i].instructions);
    }
}

static void parts_are_found_for_messages(void **state)
{
    (void)state;
    const char *text = "nop;  bogus rax ;inc eax ;; it; counts\nlast";
    static const struct {
        int part;
        const char *expected;
    } cases[] = {
        {1, "nop"      },
        {2, "bogus rax"},
        {3, "inc eax"  },
        {4, "last"     },
        {5, NULL       }
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int start, len;
        bool found = bench_text_part(text, cases[i].part, &start, &len);
        assert_int_equal(found, cases[i].expected != NULL);
        if (found) {
            assert_int_equal(len, strlen(cases[i].expected));
            assert_memory_equal(text + start, cases[i].expected, (size_t)len);
        }
    }
}

static void fills_follow_from_the_text(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int vec_bits;
        uint64_t vec_fill;
    } cases[] = {
        {"imul rax, rax",                       0,   0x3ff0000000000000},
        {"mulps xmm0, xmm1",                    128, 0x3f8000003f800000},
        {"vaddpd ymm0, ymm1, ymm2",             256, 0x3ff0000000000000},
        {"VADDSS XMM0, XMM1, XMM2",             128, 0x3f8000003f800000},
        {"vpaddd zmm0, zmm1; paddd xmm3, xmm3", 512, 0x3ff0000000000000},
        {"paddb mm0, mm1",                      128, 0x3ff0000000000000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_spec spec = bench_defaults();
        spec.body = cases[i].body;
        struct kernel_spec kernel = bench_text_kernel(&spec, &arena);
        assert_int_equal(kernel.vec_bits, cases[i].vec_bits);
        assert_int_equal(kernel.vec_fill, cases[i].vec_fill);
        assert_int_equal(kernel.gpr_fill, 1);
        assert_int_equal(kernel.instances, 1);
    }
}

static void columns_are_computed(void **state)
{
    (void)state;
    static const char *const names[] = {"instructions", "core_clk", "page-faults", "r1b1:u"};
    static const double values[] = {12, 4, 3, NAN};
    static const struct {
        const char *text, *name;
        double value;
    } cases[] = {
        {"ipc=instructions/core_clk",   "ipc",             3  },
        {"x = 1 + 2 * 3",               "x ",              7  },
        {"x=(1+2)*3",                   "x",               9  },
        {"x=2-3-4",                     "x",               -5 },
        {"x=24/4/3",                    "x",               2  },
        {"x=-core_clk+5",               "x",               1  },
        {"x=--2",                       "x",               2  },
        {"page_faults*2.5",             "page_faults*2.5", 7.5},
        {"x=Instructions-1e1",          "x",               2  },
        {"x=instructions/(core_clk-4)", "x",               NAN},
        {"x=r1b1:u+1",                  "x",               NAN},
        {"x=((((((((1))))))))",         "x",               1  },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_column column;
        struct err err = {0};
        if (bench_column_parse(cases[i].text, names, 4, &arena, &column, &err) != 0)
            fail_msg("%s: %s", cases[i].text, err.text);
        double value = bench_column_value(&column, values);
        assert_string_equal(column.name, cases[i].name);
        assert_int_equal(isnan(value) != 0, isnan(cases[i].value) != 0);
        if (!isnan(value))
            assert_true(fabs(value - cases[i].value) < 1e-9);
    }
}

static void faults_in_columns_are_marked(void **state)
{
    (void)state;
    static const char *const names[] = {"instructions", "core_clk"};
    static const struct {
        const char *text, *message;
        int caret; // column under which it stands
    } cases[] = {
        {"x=",                     "a number or a name is missing",    2},
        {"x=1+",                   "a number or a name is missing",    4},
        {"x=(1+2",                 "a closing parenthesis is missing", 6},
        {"x=1 2",                  "an operator is missing",           4},
        {"x=instruction/core_clk", "did you mean 'instructions'?",     2},
        {"=1",                     "the column has no name",           0},
        {"x=1)",                   "an operator is missing",           3},
        {"x=1*/2",                 "a number or a name is missing",    4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_column column;
        struct err err = {0};
        assert_int_equal(bench_column_parse(cases[i].text, names, 2, &arena, &column, &err), -1);
        assert_non_null(strstr(err.text, cases[i].message));
        const char *last = strrchr(err.text, '\n');
        assert_int_equal(strlen(last + 1), cases[i].caret + 3);
    }
    // Too deep and too long end in a message, not in a crash.
    char deep[400];
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    struct bench_column column;
    struct err err = {0};
    assert_int_equal(bench_column_parse(deep, names, 2, &arena, &column, &err), -1);
    for (size_t i = 0; i + 2 < sizeof deep; i += 2)
        memcpy(deep + i, "1+", 3);
    strcat(deep, "1");
    assert_int_equal(bench_column_parse(deep, names, 2, &arena, &column, &err), -1);
}

// Prints a result by hand, since measured ones have other numbers each time.
static const char *print_text(const struct bench_result *result, enum report_format format)
{
    static char text[4096];
    const struct bench_spec spec = {.body = "imul rax, \"rax\""};
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    bench_print(&spec, result, format, out);
    fclose(out);
    return text;
}

static struct bench_result *made_result(void)
{
    static double values[2][2] = {
        {120, 1.25},
        {NAN, NAN }
    };
    static struct bench_row rows[] = {
        {.pass = 1,
         .cold = true,
         .tried = 1,
         .tsc = 900,
         .clk = 1300,
         .per_clk = 13,
         .values = values[0]},
        { .pass = 1,
         .repetition = 1,
         .accepted = true,
         .tried = 2,
         .tsc = 208,
         .clk = 300,
         .per_clk = 3,
         .values = values[1]},
    };
    static struct bench_summary summary = {1, 3, 3, 0.001, 1, 2, 1};
    static struct bench_metric metrics[] = {
        {"event",  "instructions", "event=0xc0",            "perf", "1"},
        {"column", "ipc",          "instructions/core_clk", "",     "" }
    };
    static const int cpus[] = {1};
    static struct bench_result result = {.detail = "",
                                         .breakers = "",
                                         .uarch = "zen5",
                                         .bits = 64,
                                         .copies = 10,
                                         .iterations = 10,
                                         .instances = 1,
                                         .core_hz = 3.7e9,
                                         .tsc_hz = 2.6e9,
                                         .nrows = 2,
                                         .pass = 1,
                                         .nevents = 1,
                                         .ncolumns = 1,
                                         .nthreads = 1,
                                         .placement = ""};
    result.rows = rows;
    result.threads = &summary;
    result.summary = summary;
    result.metrics = metrics;
    result.cpus = cpus;
    return &result;
}

static void tables_are_printed(void **state)
{
    (void)state;
    assert_string_equal(
        print_text(made_result(), REPORT_TABLE),
        "zen5, CPU 1 at 3.70 GHz, 64-bit; 10 copies x 10 iterations = 100 instances\n"
        "repetition  TSC ticks  core clk  clk/instance  instructions  disturbed\n"
        "      cold        900      1300        13.000         1.200  disturbed\n"
        "         1        208       300         3.000             -\n"
        "repetition    ipc  disturbed\n"
        "      cold  1.250  disturbed\n"
        "         1      -\n"
        "3.00 core clk per instance (median 3.000, spread 0.001)\n"
        "instructions: no value\n"
        "ipc: no value\n"
        "1 of 2 repetitions accepted in 1 pass\n");
    assert_string_equal(print_text(made_result(), REPORT_CSV),
                        "pass,repetition,cpu,cold,accepted,tried,late_ns,elapsed_tsc,elapsed_clk,"
                        "instance_clk,instructions,ipc\n"
                        "1,0,1,1,0,1,0,900,1300,13,120,1.25\n"
                        "1,1,1,0,1,2,0,208,300,3,,\n");
    assert_string_equal(print_text(made_result(), REPORT_MARKDOWN),
                        "| repetition | TSC ticks | core clk | clk/instance | instructions | ipc | "
                        "disturbed |\n"
                        "|--:|--:|--:|--:|--:|--:|---|\n"
                        "| cold | 900 | 1300 | 13.000 | 1.200 | 1.250 | disturbed |\n"
                        "| 1 | 208 | 300 | 3.000 | - | - |  |\n"
                        "| median | 208 | 300 | 3.000 | - | - |  |\n");
    struct bench_result result = *made_result();
    result.uarch = "graniterapids?";
    result.copies = 384;
    result.iterations = 1234;
    assert_non_null(strstr(print_text(&result, REPORT_TABLE),
                           "graniterapids?, CPU 1 at 3.70 GHz, 64-bit;\n"
                           "384 copies x 1234 iterations = 473856 instances\n"));
    const char *json = print_text(made_result(), REPORT_JSON);
    assert_non_null(strstr(json, "\"code\": \"imul rax, \\\"rax\\\"\""));
    assert_non_null(strstr(json, "\"instructions\": null, \"ipc\": null}"));
}

// A port can take 300 µops in the 3 cycles that each of the 100 instances takes.
static void ports_of_undisturbed_repetitions_are_doubted(void **state)
{
    (void)state;
    char text[200];
    double counts[] = {900, 200};
    struct bench_row rows[] = {
        {.values = &counts[0]},
        { .values = &counts[1],    .accepted = true}
    };
    struct bench_metric event = {.name = "p0"};
    struct bench_result result = *made_result();
    result.rows = rows;
    result.metrics = &event;
    assert_null(bench_doubt_ports(&result, text, sizeof text));
    rows[0].accepted = rows[0].cold = true;
    assert_null(bench_doubt_ports(&result, text, sizeof text));
    rows[0].cold = false;
    assert_string_equal(bench_doubt_ports(&result, text, sizeof text),
                        "p0 has counted 5.50 µops in 3.00 cycles, and 1 port can take 1 per cycle");
}

static void wrong_specs_are_refused(void **state)
{
    (void)state;
    // clang-format off
    const struct bench_spec cases[] = {
        {.body = NULL, .cpu = -1},
        {.body = " ; ", .cpu = -1},
        {.body = "nop", .bits = 16, .cpu = -1},
        {.body = "nop", .loop = -1, .cpu = -1},
        {.body = "nop", .unroll = BENCH_UNROLL_MAX + 1, .cpu = -1},
        {.body = "nop",.cpu = 100000},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bench_result result;
        struct err err = {0};
        assert_int_equal(bench_measure(&cases[i], &result, &arena, &err), -1);
        assert_true(err.text[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(semicolons_separate_instructions),
        cmocka_unit_test(parts_are_found_for_messages),
        cmocka_unit_test(fills_follow_from_the_text),
        cmocka_unit_test(columns_are_computed),
        cmocka_unit_test(faults_in_columns_are_marked),
        cmocka_unit_test(tables_are_printed),
        cmocka_unit_test(ports_of_undisturbed_repetitions_are_doubted),
        cmocka_unit_test(wrong_specs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
