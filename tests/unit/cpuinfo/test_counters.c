// SPDX-License-Identifier: MIT
// Counter tables: every one in the tree can be read, events are found by all their names, and what
// users write becomes the code that the manuals give.
#include "cpuinfo/counters.h"
#include "util/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct counter_table skylake, zen5, netburst, p5, arrowlake;

static int setup(void **state)
{
    (void)state;
    struct err err = {0};
    const struct {
        const char *uarch;
        struct counter_table *table;
    } tables[] = {
        {"skylake",     &skylake  },
        {"zen5",        &zen5     },
        {"netburst",    &netburst },
        {"p5",          &p5       },
        {"arrowlake_p", &arrowlake},
    };
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (counters_load(tables[i].uarch, tables[i].table, &err) != 0) {
            fprintf(stderr, "%s\n", err.text);
            return -1;
        }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    counters_free(&skylake);
    counters_free(&zen5);
    counters_free(&netburst);
    counters_free(&p5);
    counters_free(&arrowlake);
    return 0;
}

static void test_reads_a_table(void **state)
{
    (void)state;
    assert_string_equal(skylake.uarch, "skylake");
    assert_int_equal(skylake.scheme, SCHEME_ARCH);
    assert_int_equal(skylake.general_counters, 4);
    assert_int_equal(skylake.fixed_counters, 3);
    assert_true(skylake.version[0] && skylake.source[0] && skylake.applies[0]);
    const struct counter_event *event = counter_find(&skylake, "core_clk");
    assert_non_null(event);
    assert_int_equal(event->kind, COUNTER_GENERAL);
    assert_int_equal(event->fixed_index, 1);
    assert_true(event->counters == COUNTERS_ANY);
    assert_string_equal(event->label, "core_clk");
    event = counter_find(&skylake, "ref_clk");
    assert_non_null(event);
    assert_int_equal(event->kind, COUNTER_FIXED);
    assert_int_equal(event->fixed_index, 2);
    assert_true(event->counters == 0);
    event = counter_find(&netburst, "uops_retired");
    assert_non_null(event);
    assert_true(event->counters == 0x3f000);
    assert_int_equal(event->select, 4);
    event = counter_find(&zen5, "irperf");
    assert_non_null(event);
    assert_int_equal(event->kind, COUNTER_MSR);
    assert_true(event->event == 0xc00000e9);
}

static const struct {
    int line;
    struct counter_table *table;
    const char *text;
    uint64_t code;
    const char *id;
    // clang-format off
} good[] = {
    {__LINE__, &skylake, "p0", 0x1a1, "p0"},
    {__LINE__, &skylake, "UOPS_DISPATCHED_PORT.PORT_0", 0x1a1, "p0"},
    {__LINE__, &skylake, "uops_dispatched_port:port_0", 0x1a1, "p0"},
    {__LINE__, &skylake, "uops_dispatched_port:port_0:u:c=2:i", 0x028001a1, "p0"},
    {__LINE__, &skylake, "p5:e:c=1", 0x010420a1, "p5"},
    {__LINE__, &skylake, "r1b1", 0x1b1, ""},
    {__LINE__, &skylake, "R18001B1", 0x18001b1, ""},
    {__LINE__, &skylake, "event=0xB1,umask=0x02,cmask=1,inv", 0x018002b1, ""},
    {__LINE__, &skylake, "event=177,umask=2,edge,any:u", 0x2402b1, ""},
    {__LINE__, &skylake, "event=0xb1,inv=0", 0xb1, ""},
    {__LINE__, &arrowlake, "branch_misses_cond", 0x100000011c5, "branch_misses_cond"},
    {__LINE__, &arrowlake, "event=0xc5,umask=0x111", 0x100000011c5, ""},
    {__LINE__, &arrowlake, "r100000011c5", 0x100000011c5, ""},
    {__LINE__, &zen5, "macro_fused", 0x1000000d0, "macro_fused"},
    {__LINE__, &zen5, "r1000000d0:k", 0x1000000d0, ""},
    {__LINE__, &zen5, "event=0x1d0", 0x1000000d0, ""},
    {__LINE__, &netburst, "uops_retired", 0x800002000200, "uops_retired"},
    {__LINE__, &netburst, "event=1,umask=1,select=4:c=2:i", 0x1c800002000200, ""},
    {__LINE__, &netburst, "event=1,umask=1,select=4:c=1", 0x4800002000200, ""},
    {__LINE__, &netburst, "event=1,umask=1,select=4:c=16", 0xf4800002000200, ""},
    {__LINE__, &p5, "instructions", 0x96, "instructions"},
    {__LINE__, &p5, "event=0x16,umask=2", 0x96, ""},
};
// clang-format on

static void test_parses_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct err err = {0};
        struct counter_event event, again;
        char text[128];
        if (counter_parse(good[i].table, good[i].text, &event, &err) != 0)
            fail_msg("case of line %d: %s", good[i].line, err.text);
        if (counter_event_code(&event) != good[i].code)
            fail_msg("case of line %d: code is 0x%llx", good[i].line,
                     (unsigned long long)counter_event_code(&event));
        assert_string_equal(event.id, good[i].id);
        assert_string_equal(event.label, good[i].text);
        counter_event_text(&event, text, sizeof text);
        assert_int_equal(counter_parse(good[i].table, text, &again, &err), 0);
        assert_true(counter_event_code(&again) == good[i].code);
    }
}

static const struct {
    int line;
    struct counter_table *table;
    const char *text, *message;
    // clang-format off
} bad[] = {
    {__LINE__, &skylake, "uop_issued",
        "'uop_issued' is no event of skylake; did you mean 'uops_issued'?"},
    {__LINE__, &skylake, "", "'' is no event of skylake"},
    {__LINE__, &skylake, "p0:x", "'p0:x': there is no modifier ':x'"},
    {__LINE__, &skylake, "p0:c=256", "threshold of ':c=N' is a number from 0 to 255"},
    {__LINE__, &skylake, "p0:c=", "threshold of ':c=N' is a number from 0 to 255"},
    {__LINE__, &skylake, "ref_clk:c=1",
        "only a fixed counter counts this; 'c=1' needs a general counter"},
    {__LINE__, &zen5, "aperf:i", "this is a free-running MSR; 'i' needs a general counter"},
    {__LINE__, &zen5, "instructions:t", "counters of the scheme amdv2 have no any"},
    {__LINE__, &p5, "instructions:e", "counters of the scheme p5 have no edge"},
    {__LINE__, &skylake, "r4101b1", "has bits that select no event on counters of the scheme arch"},
    {__LINE__, &skylake, "r10000000000000001", "has bits that select no event"},
    {__LINE__, &netburst, "uops_retired:c=17", "cmask 0x11 is larger than 0x10"},
    {__LINE__, &netburst, "r1b1", "write event=,umask=,select="},
    {__LINE__, &skylake, "event=0x1b1", "event 0x1b1 is larger than 0xff"},
    {__LINE__, &zen5, "event=0xc5,umask=0x111", "umask 0x111 is larger than 0xff"},
    {__LINE__, &skylake, "event=", "'event=': write a number such as event=0x2"},
    {__LINE__, &skylake, "event=0xb1,mask=1", "'mask=1' is no field of an event"},
    {__LINE__, &skylake, "event=0xb1,inv=2", "'inv=2': write a number such as inv=0x2"},
};
// clang-format on

static void test_refuses_bad_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};
        struct counter_event event;
        if (counter_parse(bad[i].table, bad[i].text, &event, &err) != -1)
            fail_msg("case of line %d was accepted", bad[i].line);
        if (!strstr(err.text, bad[i].message))
            fail_msg("case of line %d: message is: %s", bad[i].line, err.text);
    }
}

static void test_threshold_leaves_the_fixed_counter(void **state)
{
    (void)state;
    struct err err = {0};
    struct counter_event event;
    assert_int_equal(counter_parse(&skylake, "instructions:u", &event, &err), 0);
    assert_int_equal(event.fixed_index, 0);
    assert_true(event.user && !event.kernel);
    assert_int_equal(counter_parse(&skylake, "instructions:c=1", &event, &err), 0);
    assert_int_equal(event.fixed_index, -1);
    assert_int_equal(event.cmask, 1);
}

static void test_parses_lists(void **state)
{
    (void)state;
    struct err err = {0};
    struct counter_event *events;
    int n = counter_parse_list(
        &skylake, "core_clk,event=0xb1,umask=2,cmask=1:u,event=0xc0,inv,instructions,r1b1", &events,
        &err);
    if (n != 5)
        fail_msg("%d events: %s", n, err.text);
    assert_string_equal(events[0].id, "core_clk");
    assert_true(counter_event_code(&events[1]) == 0x10002b1 && events[1].user);
    assert_true(counter_event_code(&events[2]) == 0x8000c0);
    assert_string_equal(events[3].label, "instructions");
    assert_true(counter_event_code(&events[4]) == 0x1b1);
    free(events);
    n = counter_parse_list(&skylake, "instructions,@branches,p0", &events, &err);
    if (n < 6)
        fail_msg("%d events: %s", n, err.text);
    assert_string_equal(events[0].id, "instructions");
    assert_string_equal(events[1].id, "core_clk");
    assert_string_equal(events[n - 1].id, "p0");
    for (int i = 1; i < n; i++)
        assert_string_not_equal(events[i].id, "instructions");
    free(events);
    assert_int_equal(counter_parse_list(&skylake, "@branch", &events, &err), -1);
    assert_non_null(
        strstr(err.text, "skylake has no set of events 'branch'; did you mean 'branches'?"));
    assert_int_equal(counter_parse_list(&skylake, "core_clk,,p0", &events, &err), -1);
    assert_null(events);
    assert_int_equal(counter_parse_list(&skylake, "", &events, &err), -1);
    assert_string_equal(err.text, "the list of events is empty");
}

// Events of counters that a hypervisor hides do not fit.
static void test_fits_visible_counters(void **state)
{
    (void)state;
    struct counter_table few = arrowlake;
    const struct counter_event *third = counter_find(&arrowlake, "uops_executed");
    const struct counter_event *any = counter_find(&arrowlake, "p_alu");
    const struct counter_event *fixed = counter_find(&arrowlake, "ref_clk");
    assert_true(third->counters == 1u << 3);
    assert_true(counter_fits(&few, third) && counter_fits(&few, any) && counter_fits(&few, fixed));
    few.general_counters = 2;
    assert_false(counter_fits(&few, third));
    assert_true(counter_fits(&few, any));
    few.general_counters = 0;
    assert_false(counter_fits(&few, any));
    assert_true(counter_fits(&few, fixed));
    few.general_counters = 1;
    few.fixed_counters = 0;
    assert_false(counter_fits(&few, fixed));
    assert_true(counter_fits(&few, counter_find(&zen5, "aperf")));
}

// A CPU that cpus.csv does not have: what CPUID announces, and the scheme of its vendor.
static void test_unknown_cpus(void **state)
{
    (void)state;
    struct err err;
    struct counter_table table;
    struct counter_event event;
    static struct cpu_info cpu = {.uarch = "unknown", .nleaves = 1};
    cpu.leaves[0] =
        (struct cpuid_leaf){.leaf = 0x0a, .eax = 0x07300403, .ebx = 1 << 6, .edx = 0x603};
    assert_int_equal(counters_load_cpu(&cpu, &table, &err), 0);
    assert_int_equal(table.scheme, SCHEME_ARCH);
    assert_int_equal(table.general_counters, 4);
    assert_int_equal(table.fixed_counters, 3);
    assert_int_equal(counter_find(&table, "core_clk")->fixed_index, 1);
    assert_non_null(counter_find(&table, "ref_clk"));
    assert_null(counter_find(&table, "branch_misses"));
    counters_free(&table);
    cpu.leaves[0].eax = 0x02300401; // two events in the vector, no fixed counters before version 2
    cpu.leaves[0].edx = 0;
    assert_int_equal(counters_load_cpu(&cpu, &table, &err), 0);
    assert_int_equal(counter_find(&table, "core_clk")->fixed_index, -1);
    assert_int_equal(table.nevents, 2);
    counters_free(&table);
    cpu.leaves[0] = (struct cpuid_leaf){.leaf = 0x80000022, .eax = 1, .ebx = 6};
    assert_int_equal(counters_load_cpu(&cpu, &table, &err), 0);
    assert_int_equal(table.nevents, 0);
    assert_int_equal(table.general_counters, 6);
    assert_int_equal(counter_parse(&table, "event=0x1d0", &event, &err), 0);
    assert_int_equal(event.scheme, SCHEME_AMD_V2);
    counters_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_a_table),
        cmocka_unit_test(test_parses_events),
        cmocka_unit_test(test_refuses_bad_events),
        cmocka_unit_test(test_threshold_leaves_the_fixed_counter),
        cmocka_unit_test(test_parses_lists),
        cmocka_unit_test(test_fits_visible_counters),
        cmocka_unit_test(test_unknown_cpus),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
