// SPDX-License-Identifier: MIT
// Counts of ports that cannot be true are found, true ones pass; and the choice of a backend.
#include "bench/bench.h"
#include "counters/count_choose.h"
#include "derive/plausible.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(plausible_port_width("p0"), 1);
    assert_int_equal(plausible_port_width("p015"), 3);
    assert_int_equal(plausible_port_width("p23a"), 3);
    assert_int_equal(plausible_port_width("p5b"), 2);
    assert_int_equal(plausible_port_width("p5b_cycles_ge2"), 0);
    assert_int_equal(plausible_port_width("p_alu"), 0);
    assert_int_equal(plausible_port_width("p"), 0);
    assert_int_equal(plausible_port_width("core_clk"), 0);
}

static void test_ports(void **state)
{
    (void)state;
    // clang-format off
    const struct {
        struct counted_port ports[4];
        double clk;
        int whole;
        const char *wrong; // words of the message; NULL: fine
    } cases[] = {
        // One µop, spread evenly over four ports or not.
        {{{"p0", 0.25}, {"p1", 0.25}, {"p5", 0.26}, {"p6", 0.24}}, 0.25, 1, NULL},
        {{{"p0", 0.9}, {"p1", 0.05}, {"p5", 0.0}, {"p6", 0.06}}, 1.0, 1, NULL},
        {{{"p0", -0.01}, {"p1", 1.0}}, 1.0, 1, NULL},
        {{{"p0", -0.5}, {"p1", 1.5}}, 2.0, 1, "p0 has counted -0.50"},
        {{{"p0", 1.2}, {"p1", -0.2}}, 1.0, 1, "p0 has counted 1.20 µops in 1.00 cycles"},
        {{{"p23a", 2.9}}, 1.0, 0, NULL},
        {{{"p23a", 3.2}}, 1.0, 0, "3 ports can take 3 per cycle"},
        {{{"p0", 0.5}, {"p1", 0.58}}, 1.0, 1, NULL},
        {{{"p0", 0.5}, {"p1", 0.9}}, 1.0, 1, "1.40 µops per instance"},
        {{{"p0", 0.5}, {"p1", 0.9}}, 1.0, 0, NULL}, // other ports were not counted
        {{{"p0", 0.5}, {"p1", NAN}}, 1.0, 1, NULL}, // nor was this one
        {{{"p0", 5.0}}, NAN, 1, NULL},              // cycles are not known
        {{{"p_alu", 50.0}, {"p0", 1.0}}, 1.0, 1, NULL},
        {{{"p_alu", -1.0}}, 1.0, 0, "p_alu has counted -1.00"},
    };
    // clang-format on
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[160];
        int n = 0;
        while (n < 4 && cases[i].ports[n].id)
            n++;
        const char *wrong = plausible_ports_check(cases[i].ports, n, cases[i].clk, cases[i].whole,
                                                  text, sizeof text);
        if (!wrong != !cases[i].wrong || (wrong && !strstr(wrong, cases[i].wrong)))
            fail_msg("case %zu: %s", i, wrong ? wrong : "nothing found");
    }
}

// A bench of 10 x 5 instances: disturbed and cold repetitions say nothing.
static void test_bench(void **state)
{
    (void)state;
    double good[][2] = {
        {9000, 9000},
        {25,   25  },
        {9000, 9000},
        {26,   24  }
    };
    struct bench_row rows[] = {
        {.cold = true,     .accepted = true, .values = good[0]},
        {.accepted = true,                .values = good[1]                },
        {.values = good[2]               },
        {.accepted = true, .values = good[3]}
    };
    struct bench_metric events[] = {{.name = "p0"}, {.name = "p5"}};
    struct bench_result result = {.uarch = "skylake",
                                  .rows = rows,
                                  .nrows = 4,
                                  .metrics = events,
                                  .nevents = 2,
                                  .copies = 10,
                                  .iterations = 5,
                                  .instances = 1,
                                  .summary = {.median_clk = 0.5}};
    char text[160];
    assert_null(bench_doubt_ports(&result, text, sizeof text));
    good[1][0] = -20; // one repetition in two: the mean is still above 0
    assert_null(bench_doubt_ports(&result, text, sizeof text));
    good[1][0] = -40;
    assert_non_null(bench_doubt_ports(&result, text, sizeof text));
    assert_non_null(strstr(text, "p0 has counted -0.14"));
    good[1][0] = 40;
    assert_non_null(strstr(bench_doubt_ports(&result, text, sizeof text), "0.66 µops in 0.50"));
}

static int refuse(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
    (void)attr;
    (void)pid;
    (void)cpu;
    (void)group_fd;
    errno = ENOSYS;
    return -1;
}

static void test_choice(void **state)
{
    (void)state;
    static struct cpu_info cpu;
    struct count_calls calls = count_calls_real;
    calls.perf_open = refuse;
    const struct count_machine machine = {.cpu = &cpu, .root = "/nonexistent", .calls = &calls};
    const struct count_backend *backend = &count_perf;
    struct err err = {0};
    strcpy(cpu.vendor, "AuthenticAMD");
    strcpy(cpu.uarch, "zen2");
    assert_int_equal(count_choice_parse("perf"), COUNT_CHOICE_PERF);
    assert_int_equal(count_choice_parse("pref"), -1);
    assert_int_equal(count_choose(COUNT_CHOICE_TSC, &machine, &backend, &err), COUNT_FINE);
    assert_null(backend);
    assert_int_equal(count_choose(COUNT_CHOICE_PERF, &machine, &backend, &err), COUNT_NO_CALL);
    assert_null(backend);
    assert_non_null(strstr(err.text, "the backend perf cannot be used: "));
    assert_non_null(strstr(err.text, "CONFIG_PERF_EVENTS"));
    assert_int_equal(count_choose(COUNT_CHOICE_MSR, &machine, &backend, &err), COUNT_NO_DEVICE);
    assert_non_null(strstr(err.text, "modprobe msr"));
    assert_int_equal(count_choose(COUNT_CHOICE_AUTO, &machine, &backend, &err), COUNT_FINE);
    assert_null(backend);
    assert_non_null(strstr(err.text, "CONFIG_PERF_EVENTS"));
    assert_non_null(strstr(err.text, "modprobe msr"));
}

static void test_cycles(void **state)
{
    (void)state;
    char text[160];
    assert_null(plausible_clk_check(3.00, 3.02, text, sizeof text));
    assert_null(plausible_clk_check(0.25, 0.245, text, sizeof text));
    assert_non_null(
        strstr(plausible_clk_check(2.1, 3, text, sizeof text), "2.10 cycles were counted"));
    assert_non_null(plausible_clk_check(3.2, 3, text, sizeof text));
    assert_non_null(strstr(plausible_clk_check(-1, 3, text, sizeof text), "none or fewer"));
    assert_non_null(plausible_clk_check(0, 3, text, sizeof text));
    assert_non_null(plausible_clk_check((double)NAN, 3, text, sizeof text));
    assert_non_null(plausible_clk_check(3, (double)NAN, text, sizeof text));
    // Links: reference cycles of a core at 1.4 times their frequency, and a counter that stands
    // still.
    assert_null(plausible_link_check(3.004, 0, text, sizeof text));
    assert_null(plausible_link_check(3.99, 0, text, sizeof text));
    assert_non_null(strstr(plausible_link_check(2.14, 0, text, sizeof text), "no core cycles"));
    assert_non_null(plausible_link_check(0, 0, text, sizeof text));
    assert_non_null(plausible_link_check((double)NAN, 0, text, sizeof text));
    // Reference cycles of a core at 1.49 times their frequency come close to 2, where three
    // additions take as long. A ratio that is no whole number says nothing.
    assert_null(plausible_link_check(3.004, 2.99, text, sizeof text));
    assert_non_null(
        strstr(plausible_link_check(2.015, 2.99, text, sizeof text), "2.990 additions"));
    assert_null(plausible_link_check(2.015, 2.9, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_width),  cmocka_unit_test(test_ports),  cmocka_unit_test(test_bench),
        cmocka_unit_test(test_choice), cmocka_unit_test(test_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
