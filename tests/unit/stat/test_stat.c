// SPDX-License-Identifier: MIT
// latput stat below its command line: events dealt into passes, thresholds and values from them,
// and measurements with a backend that counts a model, which must be found again.
#include "fixtures/count_fake.h"
#include "fixtures/machine_fixture.h"
#include "stat/stat_report.h"
#include "stat/stat_usage.h"
#include "util/affinity.h"
#include "util/mem.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cmocka.h>

static struct counter_table table; // of skylake: four general counters, three fixed
static struct cpu_info cpu;

static int table_load(void **state)
{
    (void)state;
    struct err err = {0};
    strcpy(cpu.uarch, "skylake");
    return counters_load("skylake", &table, &err);
}

static int table_free(void **state)
{
    (void)state;
    counters_free(&table);
    return 0;
}

static int parse(const char *text, struct count_event **events)
{
    struct err err = {0};
    int n = count_events_parse(&table, text, COUNT_USER, events, &err);
    if (n < 0)
        fail_msg("%s", err.text);
    return n;
}

// --- passes ---

static void expect_passes(const char *text, int general, int fixed, const char *expected)
{
    struct count_event *events;
    int n = parse(text, &events), pass[64];
    char got[64];
    int npasses = count_passes_plan(events, n, (struct count_capacity){general, fixed}, pass),
        most = 0;
    for (int i = 0; i < n; i++) {
        got[i] = (char)('0' + pass[i]);
        most = pass[i] > most ? pass[i] : most;
    }
    got[n] = '\0';
    assert_string_equal(got, expected);
    assert_int_equal(npasses, most + 1);
    free(events);
}

static void test_passes(void **state)
{
    (void)state;
    expect_passes("p0,p1,p2,p3,p4,p5", 4, 3, "000011");
    expect_passes("p0,p1,p2,p3,p4,p5", 1, 0, "012345");
    // Fixed counters take what they can count, once each, also after the general ones are full.
    expect_passes("p0,p1,p2,p3,core_clk,instructions", 4, 3, "000000");
    expect_passes("p0,p1,core_clk,p2,p3", 4, 3, "00000");
    expect_passes("core_clk,instructions", 1, 0, "01");
    // A threshold is not for the fixed counter.
    expect_passes("core_clk:c=1,core_clk,p0,p1,p2,p3", 4, 3, "000001");
    // A fixed-only event without its counter is left to the backend to refuse, alone.
    expect_passes("p0,ref_clk,p1", 4, 2, "010");
    expect_passes("task-clock,p0,page-faults", 1, 0, "000");
}

// An event that only two counters can count makes those before it move.
static void test_passes_restricted(void **state)
{
    (void)state;
    struct count_event *events;
    int n = parse("p0,p1,p2", &events), pass[3];
    events[1].hardware.counters = 1;
    events[2].hardware.counters = 3;
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){3, 0}, pass), 1);
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){2, 0}, pass), 2);
    assert_true(pass[0] == 0 && pass[1] == 0 && pass[2] == 1);
    events[0].hardware.counters = 1; // two that want the same one
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){4, 0}, pass), 2);
    assert_true(pass[0] == 0 && pass[1] == 1 && pass[2] == 0);
    events[0].hardware.counters = COUNTERS_ANY;
    events[1].hardware.pair = true; // takes two
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){4, 0}, pass), 1);
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){3, 0}, pass), 2);
    assert_true(pass[0] == 0 && pass[1] == 0 && pass[2] == 1);
    events[0].hardware.extra_msr = events[2].hardware.extra_msr = 0x1a6; // one register for two
    events[0].hardware.extra_value = 1;
    assert_int_equal(count_passes_plan(events, n, (struct count_capacity){8, 0}, pass), 2);
    assert_true(pass[0] == 0 && pass[1] == 0 && pass[2] == 1);
    free(events);
    struct count_capacity capacity = {2, 3};
    assert_true(count_capacity_reduce(&capacity) && capacity.general == 1 && capacity.fixed == 3);
    assert_true(count_capacity_reduce(&capacity) && capacity.general == 1 && capacity.fixed == 0);
    assert_false(count_capacity_reduce(&capacity));
    capacity = count_capacity_of(&cpu);
    assert_true(capacity.general == 4 && capacity.fixed == 3);
}

// --- thresholds ---

static void test_thresholds(void **state)
{
    (void)state;
    struct stat_threshold t[STAT_THRESHOLDS_MAX];
    struct err err = {0};
    assert_int_equal(stat_thresholds_parse("lt2,le2,ge2,gt2,2,3", "0,0,0,0,1", t, &err), 6);
    static const struct {
        unsigned cmask;
        bool inv;
        const char *text;
    } expected[] = {
        {2, true,  "lt2"},
        {3, true,  "le2"},
        {2, false, "ge2"},
        {3, false, "gt2"},
        {2, true,  "lt2"},
        {3, false, "ge3"},
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_int_equal(t[i].cmask, expected[i].cmask);
        assert_int_equal(t[i].inv, expected[i].inv);
        assert_string_equal(t[i].text, expected[i].text);
    }
    static const struct {
        const char *compare, *invert, *says;
    } wrong[] = {
        {"",       NULL,  "empty"       },
        {"eq2",    NULL,  "no threshold"},
        {"gt",     NULL,  "no threshold"},
        {"gt2x",   NULL,  "no threshold"},
        {"-1",     NULL,  "no threshold"},
        {"gt1,,2", NULL,  "no threshold"},
        {"lt0",    NULL,  "never true"  },
        {"ge0",    NULL,  "always true" },
        {"0",      NULL,  "always true" },
        {"gt255",  NULL,  "more than"   },
        {"300",    NULL,  "no threshold"},
        {"2,3",    "0,2", "0 and 1"     },
        {"2,3",    "01",  "0 and 1"     },
        {"2",      "0,1", "more flags"  },
        {"gt2",    "1",   "says itself" },
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(stat_thresholds_parse(wrong[i].compare, wrong[i].invert, t, &err), -1);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("%s: %s", wrong[i].compare, err.text);
    }
    assert_int_equal(stat_thresholds_series(3, t), 3);
    assert_string_equal(t[2].text, "ge3");
}

static int expand(const char *list, const char *compare, bool durations, struct stat_event **out)
{
    struct stat_threshold t[STAT_THRESHOLDS_MAX];
    struct count_event *events;
    struct err err = {0};
    int nt = compare ? stat_thresholds_parse(compare, NULL, t, &err) : 0, n = parse(list, &events);
    assert_true(nt >= 0);
    const struct stat_variants variants = {t, nt, durations};
    int got = stat_events_expand(&table, events, n, &variants, out, &err);
    free(events);
    return got;
}

static void test_expand(void **state)
{
    (void)state;
    struct stat_event *events;
    int n = expand("task-clock,retire_slots,core_clk,p0:c=2", "gt1,le3", true, &events);
    static const char *const names[] = {
        "task-clock",          "retire_slots",        "retire_slots:gt1", "retire_slots:le3",
        "retire_slots:cycles", "retire_slots:begins", "core_clk",         "p0:c=2"};
    assert_int_equal(n, ARRAY_LEN(names));
    for (int i = 0; i < n; i++)
        assert_string_equal(events[i].event.name, names[i]);
    const struct counter_event *le3 = &events[3].event.hardware;
    assert_true(le3->cmask == 4 && le3->inv && le3->umask == 2 && events[3].fewer == 4);
    assert_true(events[5].event.hardware.edge && events[5].event.hardware.cmask == 1);
    assert_true(events[2].base == 1 && events[1].base == 1 && events[2].at_least == 2);
    free(events);
    n = expand("retire_slots,core_clk", "gt0", true, &events); // gt0 is the same as its cycles
    assert_int_equal(n, 4);
    assert_string_equal(events[2].event.name, "retire_slots:begins");
    free(events);
    // The total is added where it is missing.
    n = expand("retire_slots:k", "gt0", false, &events);
    assert_int_equal(n, 3);
    assert_string_equal(events[2].event.name, "core_clk");
    assert_true(events[2].event.rings == COUNT_KERNEL && events[1].event.rings == COUNT_KERNEL);
    free(events);
}

static void test_histogram(void **state)
{
    (void)state;
    struct stat_event *events;
    struct stat_histogram h;
    // Cycles with 0, 1, 2, 3 events: 100, 200, 300, 400.
    int n = expand("retire_slots", "ge1,le1,ge3", false, &events);
    assert_int_equal(n, 5);
    double means[] = {2000, 900, 300, 400, 1000};
    assert_true(stat_histogram_make(events, means, n, 0, &h));
    assert_int_equal(h.nbuckets, 4);
    assert_true(h.clk[0] == 100 && h.clk[1] == 200 && h.clk[2] == 300 && h.clk[3] == 400);
    assert_true(h.total_clk == 1000 && h.mean == 2.0);
    assert_false(stat_histogram_make(events, means, n, 4, &h)); // core_clk has no series
    means[1] = NAN; // a gap: nothing can be said about less than 2
    assert_false(stat_histogram_make(events, means, n, 0, &h));
    means[1] = 900;
    means[4] = NAN; // no total
    assert_false(stat_histogram_make(events, means, n, 0, &h));
    free(events);
    // Both sides of one threshold give the total themselves.
    n = expand("retire_slots", "le0,gt0", false, &events);
    double sides[] = {2000, 100, 900, NAN};
    assert_true(stat_histogram_make(events, sides, n, 0, &h));
    assert_true(h.nbuckets == 2 && h.total_clk == 1000 && h.clk[0] == 100 && h.clk[1] == 900);
    free(events);
}

// --- measurements ---

static const struct fake_event model[] = {
    {0xc2, 0x02, {1457, 3285, 2410, 2847}, 500}, // retire_slots
    {0x3c, 0x00, {0, 9999},                1  }, // core_clk: once in each cycle
    {0xa1, 0x01, {9000, 999},              333}, // p0
};

static int announced;

static void announce(int runs)
{
    announced = runs;
}

static struct stat_options options_make(const char *const *argv)
{
    memset(&fake, 0, sizeof fake);
    fake.events = model;
    fake.nevents = ARRAY_LEN(model);
    fake.capacity = (struct count_capacity){4, 3};
    return (struct stat_options){
        .argv = argv,
        .repeat = 2,
        .warm = 1,
        .cpu = -1,
        .announce = announce,
        .backend = &count_fake,
        .machine = count_machine_live(&cpu),
        .capacity = {4, 3}
    };
}

static const char *const program_true[] = {"true", NULL};

static void measure(const struct stat_options *options, const struct stat_event *events, int n,
                    struct stat_result *result)
{
    struct err err = {0};
    if (stat_measure(options, events, n, result, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(fake.opened, fake.closed);
}

static char *report(const struct stat_options *options, const struct stat_event *events,
                    const struct stat_result *result, enum report_format format)
{
    struct strbuf out = {0};
    const struct stat_report r = {
        .options = options, .events = events, .result = result, .table = &table, .whose = "Zen 9"};
    stat_report_put(&r, format, &out);
    return out.data;
}

static void expect_text(char *text, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strstr(text, lines[i]))
            fail_msg("missing: %s\nin:\n%s", lines[i], text);
    free(text);
}

// No line is wider than a terminal; a character of several bytes has one column.
static void expect_width(const char *text, size_t columns)
{
    size_t width = 0;
    for (const char *at = text; *at; at++) {
        width = *at == '\n' ? 0 : width + (((unsigned char)*at & 0xc0) != 0x80);
        if (width > columns)
            fail_msg("a line of more than %zu columns in:\n%s", columns, text);
    }
}

static void test_model_returns(void **state)
{
    (void)state;
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    int n = expand("retire_slots,p0", "ge1,ge2,ge3", true, &events);
    measure(&options, events, n, &result);
    assert_int_equal(fake.largest, 5); // four general counters and the fixed one of core_clk
    assert_int_equal(result.warm_runs, 1);
    assert_int_equal(result.counted_runs + result.warm_runs, announced);
    for (int i = 0; i < n; i++)
        assert_int_equal(result.series[i].n, 2);
    static const char *const lines[] = {
        "retire_slots in a cycle, share of the cycles\n",
        "   0   14.57 %  ######\n",
        "   1   32.85 %  #############\n",
        "   2   24.10 %  ##########\n",
        "  ≥3   28.47 %  ###########\n",
        "mean  1.665 by these shares, 1.665 by the count itself\n",
        "retire_slots:ge1   8,542     500                17.08\n",
        "p0:ge1               999     333                 3.00\n",
        "hardware events of skylake\nthrough fake, table version 1\n",
    };
    expect_text(report(&options, events, &result, REPORT_TABLE), lines, ARRAY_LEN(lines));
    static const char *const csv[] = {
        "\nretire_slots:ge2,fake,\"event=0xc2,",
        "umask=0x02,cmask=2\",user,clk,5257,5257,5257,0,2,ok,,skylake,1\n",
        "histogram:retire_slots:0,derived,,,clk,1457,,,,,ok,,skylake,1\n",
        "histogram:retire_slots:ge3,derived,,,clk,2847,,,,,ok,,skylake,1\n",
        "duration:p0:ge1,derived,,,clk,3,,,,,ok,,skylake,1\n",
    };
    expect_text(report(&options, events, &result, REPORT_CSV), csv, ARRAY_LEN(csv));
    static const char *const json[] = {
        "{\"event\": \"retire_slots\", \"total_clk\": 9999, ",
        "\"clk\": [1457, 3285, 2410, 2847]}",
        "\"clk\": 999, \"begins\": 333, \"mean_clk\": 3}",
        "\"values\": [5257, 5257]}",
    };
    expect_text(report(&options, events, &result, REPORT_JSON), json, ARRAY_LEN(json));
    static const char *const markdown[] = {
        "\n| retire\\_slots:ge2 | 5,257 | 5,257 | 0.0 | 2 |\n",
        "\n| retire\\_slots | ≥3 | 28.47 |\n",
        "\n| p0:ge1 | 999 | 333 | 3.00 |\n",
    };
    expect_text(report(&options, events, &result, REPORT_MARKDOWN), markdown, ARRAY_LEN(markdown));
    stat_result_free(&result);
    free(events);
}

// The names of raw events have commas, which CSV must quote wherever the name is.
static void test_raw_events(void **state)
{
    (void)state;
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    int n = expand("event=0xc2,umask=0x02", "ge1,ge2,ge3", true, &events);
    measure(&options, events, n, &result);
    static const char *const csv[] = {
        "\n\"event=0xc2,umask=0x02\",fake,\"event=0xc2,umask=0x02\",user,events,16646,",
        "\n\"histogram:event=0xc2,umask=0x02:ge3\",derived,,,clk,2847,",
        "\n\"duration:event=0xc2,umask=0x02:ge1\",derived,,,clk,17.084,",
    };
    expect_text(report(&options, events, &result, REPORT_CSV), csv, ARRAY_LEN(csv));
    char *table_text = report(&options, events, &result, REPORT_TABLE);
    expect_width(table_text, 80);
    free(table_text);
    stat_result_free(&result);
    free(events);
}

// More than one µop a cycle on a port, and a condition that holds longer than the program runs.
static void test_doubts(void **state)
{
    (void)state;
    static const struct fake_event impossible[] = {
        {0xa1, 0x01, {0, 0, 6000}, 1}, // p0: 12000
        {0x3c, 0x00, {0, 9999},    1}, // core_clk
        {0xc2, 0x02, {0, 10600},   1}, // retire_slots
    };
    static const struct {
        const char *events, *compare, *says;
        int n; // of the events above that are as said; the others are the model's
    } expected[] = {
        {"p0,core_clk",           NULL,  "p0",                                       3},
        {"retire_slots,core_clk", "ge1", "'retire_slots:ge1' holds in 10600 cycles", 3},
        {"p0,core_clk",           NULL,  NULL,                                       0},
        {"retire_slots,core_clk", "ge1", NULL,                                       0},
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        struct stat_options options = options_make(program_true);
        struct stat_event *events;
        struct stat_result result;
        if (expected[i].n) {
            fake.events = impossible;
            fake.nevents = expected[i].n;
        }
        int n = expand(expected[i].events, expected[i].compare, false, &events);
        measure(&options, events, n, &result);
        char *text = report(&options, events, &result, REPORT_TABLE);
        char *json = report(&options, events, &result, REPORT_JSON);
        const char *doubt = strstr(text, "Not to be believed: ");
        if (!expected[i].says != !doubt || (doubt && !strstr(doubt, expected[i].says)))
            fail_msg("%s:\n%s", expected[i].events, text);
        if (!strstr(json, "\"doubt\": null") != (doubt != NULL))
            fail_msg("%s", json);
        expect_width(text, 80);
        free(text);
        free(json);
        stat_result_free(&result);
        free(events);
    }
}

// Something has counters that CPUID announces: passes become smaller, no count is kept that was not
// whole, and all events are counted in the end.
static void test_fewer_counters(void **state)
{
    (void)state;
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    int n = expand("p0,p1,p2,p3,p4,p5", NULL, false, &events);
    fake.taken = 2;
    measure(&options, events, n, &result);
    assert_int_equal(result.lost_runs, 2);
    assert_int_equal(result.counted_runs, 2 * 3);
    for (int i = 0; i < n; i++)
        assert_int_equal(result.series[i].n, 2);
    stat_result_free(&result);
    fake.taken = 0;
    fake.capacity.general = 1; // refused when it is opened: no run is lost
    measure(&options, events, n, &result);
    assert_int_equal(result.lost_runs, 0);
    assert_int_equal(result.counted_runs, 2 * 6);
    stat_result_free(&result);
    free(events);
}

static void test_shared_counters(void **state)
{
    (void)state;
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    int n = expand("p0,p1", NULL, false, &events);
    fake.shared_reads = 2; // for a moment
    measure(&options, events, n, &result);
    assert_int_equal(result.lost_runs, 2);
    assert_int_equal(result.counted_runs, 2);
    assert_int_equal(fake.largest, 2);
    assert_true(result.series[0].values[0] == 999);
    stat_result_free(&result);
    fake.shared_reads = 100000; // all the time
    measure(&options, events, n, &result);
    assert_int_equal(result.series[0].obstacle, COUNT_MULTIPLEXED);
    assert_int_equal(result.series[0].n, 0);
    // Time is measured all the same.
    assert_true(result.counted_runs > 0 && result.times[STAT_WALL_NS].values[0] > 0);
    static const char *const lines[] = {"Not counted: p0, p1: shared out.\n"};
    expect_text(report(&options, events, &result, REPORT_TABLE), lines, 1);
    // JSON has each reason once.
    static const char *const json[] = {
        "\"not_counted\": [\n"
        "    {\"outcome\": \"multiplexed\", \"detail\": \"shared out\", \"events\": [\"p0\", "
        "\"p1\"]}\n"
        "  ],\n",
        "\"outcome\": \"multiplexed\", \"values\": []}",
    };
    expect_text(report(&options, events, &result, REPORT_JSON), json, ARRAY_LEN(json));
    stat_result_free(&result);
    free(events);
}

static void test_refused_events(void **state)
{
    (void)state;
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    int n = expand("p0,retire_slots", NULL, false, &events);
    fake.refused = 0xa1;
    measure(&options, events, n, &result);
    assert_int_equal(result.series[0].obstacle, COUNT_NO_EVENT);
    assert_int_equal(result.series[1].n, 2);
    assert_int_equal(result.lost_runs, 0);
    static const char *const csv[] = {
        "p0,fake,\"event=0xa1,umask=0x01\",user,events,,,,,0,no_event,'p0' is refused,"
        "skylake,1\n"};
    expect_text(report(&options, events, &result, REPORT_CSV), csv, 1);
    stat_result_free(&result);
    // No counters at all: with hardware_required nothing is run, else time is measured.
    fake.probe = COUNT_NO_PMU;
    measure(&options, events, n, &result);
    assert_int_equal(result.counted_runs, 2);
    assert_int_equal(result.series[1].obstacle, COUNT_NO_PMU);
    stat_result_free(&result);
    options.hardware_required = true;
    measure(&options, events, n, &result);
    assert_true(result.hardware_refused);
    assert_int_equal(result.counted_runs + result.warm_runs, 0);
    stat_result_free(&result);
    free(events);
}

// A kernel that refuses perf_event_open altogether: its account of the process stands in for the
// software events that it has.
static int refuse_all(struct perf_event_attr *attr, pid_t pid, int on_cpu, int group_fd)
{
    (void)attr;
    (void)pid;
    (void)on_cpu;
    (void)group_fd;
    errno = EACCES;
    return -1;
}

static void test_usage_stands_in(void **state)
{
    (void)state;
    const struct count_calls calls = {.perf_open = refuse_all};
    struct stat_options options = options_make(program_true);
    struct stat_event *events;
    struct stat_result result;
    options.machine.calls = &calls;
    int n = expand("page-faults,cpu-migrations", NULL, false, &events);
    measure(&options, events, n, &result);
    assert_true(result.series[0].from_usage && result.series[0].values[0] > 0);
    assert_int_equal(result.series[1].obstacle, COUNT_FORBIDDEN);
    static const char *const notes[] = {
        "From the kernel's account of the process, exec included: page-faults.\n"};
    expect_text(report(&options, events, &result, REPORT_TABLE), notes, 1);
    static const char *const csv[] = {"page-faults,rusage,,both,events,",
                                      "cpu-migrations,perf,,both,events,,,,,0,forbidden,"};
    expect_text(report(&options, events, &result, REPORT_CSV), csv, ARRAY_LEN(csv));
    stat_result_free(&result);
    free(events);
}

// The perf backend on a kernel that is simulated down to its system calls: it refuses the third
// event of a group although the CPU announces four counters.
static struct {
    struct {
        int leader;
        uint64_t config;
    } fds[4096];
    int nfds, largest;
} kernel;

static int kernel_open(struct perf_event_attr *attr, pid_t pid, int on_cpu, int group_fd)
{
    int members = 1, fd = kernel.nfds;
    assert_true(pid > 0 && on_cpu == -1 && fd < (int)ARRAY_LEN(kernel.fds));
    for (int i = 0; i < fd && group_fd >= 0; i++)
        members += kernel.fds[i].leader == group_fd;
    if (members > 2) {
        errno = EINVAL;
        return -1;
    }
    assert_true(attr->inherit && attr->exclude_kernel);
    assert_int_equal(attr->enable_on_exec, group_fd < 0);
    kernel.largest = members > kernel.largest ? members : kernel.largest;
    kernel.fds[fd].leader = group_fd < 0 ? fd : group_fd;
    kernel.fds[fd].config = attr->config;
    return kernel.nfds++;
}

static ssize_t kernel_read(int fd, void *bytes, size_t size)
{
    const uint64_t words[] = {kernel.fds[fd].config, 1000, 1000};
    assert_true(size == sizeof words);
    memcpy(bytes, words, size);
    return (ssize_t)size;
}

static int kernel_close(int fd)
{
    kernel.fds[fd].leader = -1;
    return 0;
}

static enum count_obstacle probe_passes(const struct count_machine *m, struct err *err)
{
    (void)m;
    (void)err;
    return COUNT_FINE;
}

static void test_perf_simulated(void **state)
{
    (void)state;
    const struct count_calls calls = {
        .perf_open = kernel_open, .read = kernel_read, .close = kernel_close};
    struct stat_options options = options_make(program_true);
    struct count_backend perf = count_perf; // probe counts real time
    struct stat_event *events;
    struct stat_result result;
    perf.probe = probe_passes;
    options.backend = &perf;
    options.machine.calls = &calls;
    options.machine.root = "/no/such/root";
    int n = expand("p0,p1,p2,p3,p4", NULL, false, &events);
    measure(&options, events, n, &result);
    assert_int_equal(kernel.largest, 2);
    assert_int_equal(result.lost_runs, 0);
    assert_int_equal(result.counted_runs, 2 * 3);
    for (int i = 0; i < n; i++) {
        assert_int_equal(result.series[i].n, 2);
        assert_true(result.series[i].values[1] == (double)(0xa1 | 0x100 << i));
    }
    stat_result_free(&result);
    free(events);
}

// The msr backend on a file that stands for the device of one CPU. The program itself stands for
// the CPU: it notes what it finds programmed and where it may run, and writes what was "counted".
static const char msr_program[] =
    "device=$1/dev/cpu/$2/msr\n"
    "get() { dd if=$device bs=8 skip=$(($1)) count=1 2>/dev/null | od -An -tx8 | sed 's/^ *0*//'; "
    "}\n"
    "put() { printf $2 | dd of=$device bs=8 seek=$(($1)) conv=notrunc 2>/dev/null; }\n"
    "echo $(get 0x186) $(get 0x187) $(get 0x38d) $(get 0x38f) >>$1/programmed\n"
    "grep Cpus_allowed_list /proc/self/status >>$1/allowed\n"
    "put 0xc1 '\\064\\022\\0\\0\\0\\0\\0\\0'\n"
    "put 0xc2 '\\001\\002\\003\\0\\0\\0\\0\\0'\n"
    "put 0x30a '\\007\\0\\0\\0\\0\\0\\0\\0'\n"
    "[ ! -e $1/thief ] || [ ! $(get 0x186) ] || put 0x186 '\\300\\000\\123\\0\\0\\0\\0\\0'\n";

// All that is in a file of the machine.
static const char *machine_read(const char *path)
{
    static char text[4096];
    char full[256];
    snprintf(full, sizeof full, "%s%s", machine_root, path);
    FILE *f = fopen(full, "re");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void msr_machine_make(int on_cpu)
{
    static const struct cpuid_leaf leaves[] = {
        {0x0a, 0, 0x07300404, 0, 0,          0x603},
        {1,    0, 0x506e3,    0, 0x7ed8b26b, 0    }
    };
    char path[64];
    machine_begin(&count_calls_real);
    strcpy(machine_cpu.uarch, "skylake");
    memcpy(machine_cpu.leaves, leaves, sizeof leaves);
    machine_cpu.nleaves = ARRAY_LEN(leaves);
    snprintf(path, sizeof path, "/dev/cpu/%d/msr", on_cpu);
    machine_file(path, "");
    snprintf(path, sizeof path, "%s/dev/cpu/%d/msr", machine_root, on_cpu);
    assert_int_equal(truncate(path, 8 * 0x4c8), 0);
}

static void test_msr(void **state)
{
    (void)state;
    int on_cpu = sched_getcpu();
    const struct affinity_visit visit = affinity_visit(&on_cpu, 1);
    affinity_return(&visit);
    if (!visit.moved)
        skip(); // the system refuses sched_setaffinity, and what counts is one CPU's
    char number[16], allowed[128];
    snprintf(number, sizeof number, "%d", on_cpu);
    const char *const argv[] = {"sh", "-c", msr_program, "sh", machine_root, number, NULL};
    struct stat_options options = options_make(argv);
    struct count_backend msr = count_msr;
    struct stat_event *events;
    struct stat_result result;
    msr_machine_make(on_cpu);
    msr.probe = probe_passes; // nothing counts in a file
    options.backend = &msr;
    options.machine = machine;
    options.cpu = on_cpu;
    int n = expand("core_clk,uops_issued,p0", NULL, false, &events);
    measure(&options, events, n, &result);
    assert_int_equal(result.counted_runs, 2);
    for (int run = 0; run < 2; run++) {
        assert_true(result.series[0].values[run] == 7);
        assert_true(result.series[1].values[run] == 0x1234);
        assert_true(result.series[2].values[run] == 0x30201);
    }
    // Programmed while it ran, in the two counted runs and not in the one that warms.
    assert_string_equal(machine_read("/programmed"),
                        "\n41010e 4101a1 20 200000003\n41010e 4101a1 20 200000003\n");
    snprintf(allowed, sizeof allowed, "Cpus_allowed_list:\t%d\n", on_cpu);
    assert_int_equal(strncmp(machine_read("/allowed"), allowed, strlen(allowed)), 0);
    static const char *const lines[] = {"sed 's/^ *0*/...: 2 runs counted",
                                        "version 1, of all that ran there\n", "\nuops_issued  "};
    char *text = report(&options, events, &result, REPORT_TABLE);
    expect_width(text, 80);
    expect_text(text, lines, ARRAY_LEN(lines));
    stat_result_free(&result);
    // Something else takes general counter 0 from us in every run: no count of it is kept.
    machine_file("/thief", "");
    measure(&options, events, n, &result);
    assert_true(result.lost_runs >= 3);
    assert_int_equal(result.series[1].obstacle, COUNT_MULTIPLEXED);
    assert_int_equal(result.series[1].n, 0);
    stat_result_free(&result);
    free(events);
    assert_int_equal(machine_end(), 0);
}

// Activity of the process before exec does not count; the name of a program may look like a field.
static void test_usage(void **state)
{
    (void)state;
    struct stat_usage before = stat_usage_before(getpid()), after;
    struct count_event event;
    struct rusage now;
    double value;
    assert_true(before.cpu_ns > 0 && before.minor_faults > 0);
    assert_int_equal(prctl(PR_SET_NAME, "a) S 1 2 (b"), 0);
    after = stat_usage_before(getpid());
    assert_true(after.minor_faults >= before.minor_faults &&
                after.major_faults >= before.major_faults);
    assert_true(after.minor_faults < before.minor_faults + 100);
    assert_int_equal(getrusage(RUSAGE_SELF, &now), 0);
    assert_true(now.ru_minflt >= (long)before.minor_faults);
    struct stat_usage since = stat_usage_since(&now, &before);
    assert_true(since.minor_faults < 100 && since.cpu_ns < 1e9);
    before = (struct stat_usage){.minor_faults = 2, .major_faults = 1, .switches = 4, .cpu_ns = 4};
    now = (struct rusage){.ru_minflt = 5, .ru_majflt = 5, .ru_nvcsw = 2, .ru_nivcsw = 7};
    now.ru_utime.tv_usec = now.ru_stime.tv_usec = 1;
    since = stat_usage_since(&now, &before);
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        {"page-faults",      7   },
        {"minor-faults",     3   },
        {"major-faults",     4   },
        {"context-switches", 5   },
        {"task-clock",       1996},
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_int_equal(count_software_find(expected[i].name, &event), 0);
        assert_true(stat_usage_value(&since, &event, &value) && value == expected[i].value);
    }
    count_software_find("cpu-migrations", &event);
    assert_false(stat_usage_value(&since, &event, &value));
}

static void test_program_ends(void **state)
{
    (void)state;
    static const char *const missing[] = {"/no/such/program", NULL};
    static const char *const killed[] = {"sh", "-c", "kill -ABRT $$", NULL};
    struct stat_options options = options_make(missing);
    struct stat_result result;
    measure(&options, NULL, 0, &result);
    assert_int_equal(result.exec_errno, ENOENT);
    assert_int_equal(result.counted_runs, 0);
    stat_result_free(&result);
    options.argv = killed;
    measure(&options, NULL, 0, &result);
    assert_int_equal(result.signal, SIGABRT);
    assert_int_equal(result.counted_runs + result.warm_runs, 0); // and it was not tried again
    static const char *const lines[] = {"no run could be counted, ended by SIGABRT"};
    expect_text(report(&options, NULL, &result, REPORT_TABLE), lines, 1);
    stat_result_free(&result);
}

static void test_summary(void **state)
{
    (void)state;
    double values[] = {5, 1, 3, 2, 4};
    struct stat_series series = {.values = values, .n = 5};
    struct stat_summary s = stat_summarise(&series);
    assert_true(s.n == 5 && s.mean == 3 && s.min == 1 && s.max == 5 && s.spread == 2);
    series.n = 1;
    assert_true(isnan(stat_summarise(&series).spread));
    series.n = 0;
    assert_true(isnan(stat_summarise(&series).mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes),         cmocka_unit_test(test_passes_restricted),
        cmocka_unit_test(test_thresholds),     cmocka_unit_test(test_expand),
        cmocka_unit_test(test_histogram),      cmocka_unit_test(test_model_returns),
        cmocka_unit_test(test_doubts),         cmocka_unit_test(test_raw_events),
        cmocka_unit_test(test_fewer_counters), cmocka_unit_test(test_shared_counters),
        cmocka_unit_test(test_refused_events), cmocka_unit_test(test_usage_stands_in),
        cmocka_unit_test(test_perf_simulated), cmocka_unit_test(test_msr),

        cmocka_unit_test(test_usage),          cmocka_unit_test(test_program_ends),
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, table_load, table_free);
}
