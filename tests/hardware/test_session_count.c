// SPDX-License-Identifier: MIT
// Counting in the kernels of a run: events of a family in passes for which there are enough
// counters, refusals, and the registers that are programmed for the core on files that stand for
// them.
#include "fixtures/machine_fixture.h"
#include "fixtures/ticks_fixture.h"

#include <fcntl.h>

static void begin(struct session *session, const char *uarch)
{
    struct err err = {0};
    if (session_begin(-1, NULL, session, &err) != 0 || session_make_directory(session, &err) != 0)
        fail_msg("%s", err.text);
    if (uarch)
        snprintf(session->cpu->uarch, sizeof session->cpu->uarch, "%s", uarch);
    memset(&ticks, 0, sizeof ticks);
}

static void events_of_a_family_are_dealt_into_passes(void **state)
{
    (void)state;
    static const char *const names[] = {"core_clk", "uops_issued", "p0", "p1", "p2",
                                        "p3",       "p4",          "p5", "p6", "p7"};
    struct session session;
    struct err err = {0};
    begin(&session, "skylake");
    ticks.counters = 2;
    if (session_count_with(&session, &ticks_source, true, &err) != 0)
        fail_msg("%s", err.text);
    struct session_counting *counting = session.counting;
    assert_int_equal(counting->nevents, 10);
    assert_int_equal(counting->slots, 1);
    assert_string_equal(counting->note, "");
    int most = 0, in_pass[SESSION_EVENTS_MAX] = {0};
    for (int i = 0; i < counting->nevents; i++) {
        assert_string_equal(counting->events[i].name, names[i]);
        assert_true(counting->pass[i] < counting->npasses);
        in_pass[counting->pass[i]]++;
    }
    for (int pass = 0; pass < counting->npasses; pass++) {
        assert_true(in_pass[pass] > 0);
        most = in_pass[pass] > most ? in_pass[pass] : most;
    }
    assert_int_equal(in_pass[0], 1);
    assert_true(most <= 2);
    // Core cycles are counted first, other passes on demand.
    struct exec_params params = session_params(&session, 64);
    assert_int_equal(params.ncounters, 1);
    assert_int_equal(params.config.counts_clk, 1);
    assert_int_equal(session_count_pass(&session, 1, &err), 0);
    params = session_params(&session, 64);
    assert_int_equal(params.ncounters, in_pass[1]);
    assert_int_equal(params.config.counts_clk, 0);
    session_end(&session, false);
    assert_int_equal(ticks.opened, ticks.closed);
}

static void without_port_tests_only_cycles_are_counted(void **state)
{
    (void)state;
    struct session session;
    struct err err = {0};
    begin(&session, "skylake");
    assert_int_equal(session_count_with(&session, &ticks_source, false, &err), 0);
    assert_int_equal(session.counting->nevents, 1);
    assert_int_equal(session.counting->npasses, 1);
    session_end(&session, false);
    assert_null(session.counting);
}

// A port that cannot be counted costs the ports, not the run.
static void refused_ports_are_left_out_with_a_note(void **state)
{
    (void)state;
    struct session session;
    struct err err = {0};
    begin(&session, "skylake");
    ticks.refused = "p3";
    assert_int_equal(session_count_with(&session, &ticks_source, true, &err), 0);
    assert_int_equal(session.counting->nevents, 1);
    assert_int_equal(session.counting->slots, -1);
    assert_int_equal(session.counting->ncounters, 1);
    assert_string_equal(session.counting->note, "'p3' is refused");
    session_end(&session, false);
    assert_int_equal(ticks.opened, ticks.closed);
}

static void refused_cycles_are_an_error(void **state)
{
    (void)state;
    struct session session;
    struct err err = {0};
    begin(&session, "skylake");
    ticks.refused = "core_clk";
    assert_int_equal(session_count_with(&session, &ticks_source, true, &err), -1);
    assert_string_equal(err.text, "the backend ticks cannot be used: 'core_clk' is refused");
    assert_null(session.counting);
    snprintf(session.cpu->uarch, sizeof session.cpu->uarch, "via_nano");
    ticks.refused = NULL;
    assert_int_equal(session_count_with(&session, &ticks_source, true, &err), -1);
    assert_non_null(strstr(err.text, "no counter for core cycles"));
    session_end(&session, false);
    assert_int_equal(ticks.opened, ticks.closed);
}

// Ticks of the time-stamp counter are no core cycles, and neither is nothing; a counter of core
// cycles says what the latency of the calibration's link is.
static void the_calibration_chain_tells_core_cycles(void **state)
{
    (void)state;
    struct session session;
    struct arena arena = {0};
    struct program program;
    struct err err = {0};
    int link_clk = 0, tries = 0;
    begin(&session, NULL);
    if (session_build_nop(&session, "check", 64, &arena, &program, &err) != 0)
        fail_msg("%s", err.text);
    double clk_per_tick = ticks_calibrate(&session);
    int true_clk = session.cpu->imul64_clk ? session.cpu->imul64_clk : 3;
    ticks.events[0].event = "core_clk";
    snprintf(session.cpu->uarch, sizeof session.cpu->uarch, "skylake");
    double off[] = {0, 0.41 / true_clk, 1.57 / true_clk};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        ticks.events[0].per_tick = off[i] * clk_per_tick;
        assert_int_equal(session_count_with(&session, &ticks_source, false, &err), 0);
        assert_int_equal(session_count_check(&session, program.path, &link_clk, &err), -1);
        assert_non_null(strstr(err.text, "the backend ticks cannot be used: a multiplication"));
        session_count_end(&session);
    }
    // The frequency may change between the two measurements.
    int status = -1;
    for (; status != 0 && tries < 5; tries++) {
        ticks.events[0].per_tick = ticks_calibrate(&session);
        session.params.config.calib_link_clk = 7; // of a wrong table
        assert_int_equal(session_count_with(&session, &ticks_source, false, &err), 0);
        status = session_count_check(&session, program.path, &link_clk, &err);
        session_count_end(&session);
        session.params.config.calib_link_clk = (uint32_t)true_clk;
    }
    if (status != 0)
        fail_msg("%s", err.text);
    assert_int_equal(link_clk, true_clk);
    unlink(program.path);
    arena_free(&arena);
    session_end(&session, false);
}

// Commands up to the floor: counters that turn out not to count core cycles are given back if any
// would do, and refused if they were asked for.
static void counters_of_no_use_are_left_out_or_refused(void **state)
{
    (void)state;
    const struct session_floor patient = {.quick = false};
    struct session_counters wanted = {.choice = COUNT_CHOICE_TSC};
    struct session session;
    struct err err = {0};
    begin(&session, "skylake");
    if (session_prepare(&session, &wanted, &patient, &err) != 0)
        fail_msg("%s", err.text);
    assert_null(session.counting);
    assert_true(session.params.config.canary > 0);
    wanted.source = &ticks_source;
    assert_int_equal(session_prepare(&session, &wanted, &patient, &err), -1);
    assert_non_null(strstr(err.text, "the backend ticks cannot be used: a multiplication"));
    session_count_end(&session);
    // The same source as if it were one that was found.
    struct arena arena = {0};
    struct program program;
    int link_clk = 0;
    wanted = (struct session_counters){.choice = COUNT_CHOICE_AUTO};
    if (session_build_nop(&session, "check", 64, &arena, &program, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(session_count_with(&session, &ticks_source, false, &err), 0);
    assert_int_equal(session_count_confirm(&session, &wanted, program.path, &link_clk, &err), 0);
    assert_null(session.counting);
    assert_int_equal(link_clk, 0);
    assert_int_equal(session_count_confirm(&session, &wanted, program.path, &link_clk, &err), 0);
    assert_int_equal(ticks.opened, ticks.closed);
    unlink(program.path);
    arena_free(&arena);
    session_end(&session, false);
}

// The msr backend programs the core's registers, on files: RDPMC gets its numbers, and all is
// restored, also the permission to use RDPMC.
static void registers_are_programmed_for_the_core(void **state)
{
    (void)state;
    static const struct cpuid_leaf leaves[] = {
        {0x0a, 0, 0x07300404, 0, 0,          0x603},
        {1,    0, 0x506e3,    0, 0x7ed8b26b, 0    }
    };
    static const char rdpmc[] = "/sys/bus/event_source/devices/cpu/rdpmc";
    struct err err = {0};
    machine_begin(&count_calls_real);
    machine_file("/dev/cpu/3/msr", "");
    machine_file("/sys/bus/event_source/devices/cpu/type", "4\n");
    strcpy(machine_cpu.vendor, "GenuineIntel");
    strcpy(machine_cpu.uarch, "skylake");
    memcpy(machine_cpu.leaves, leaves, sizeof leaves);
    machine_cpu.nleaves = 2;
    struct session_counting counting = {.source = &count_source_msr, .machine = machine, .cpu = 3};
    if (counters_load_cpu(&machine_cpu, &counting.table, &err) != 0)
        fail_msg("%s", err.text);
    struct count_event events[3];
    static const char *const names[] = {"core_clk", "p0", "p5"};
    for (int i = 0; i < 3; i++)
        events[i] = count_event_make(counter_find(&counting.table, names[i]), COUNT_USER);
    struct core_counter counters[3];
    assert_int_equal(count_source_msr.open(&counting, events, 3, counters, &err), COUNT_FORBIDDEN);
    assert_non_null(strstr(err.text, "RDPMC would fault: the kernel has no driver"));
    machine_file(rdpmc, "1\n");
    if (count_source_msr.open(&counting, events, 3, counters, &err) != COUNT_FINE)
        fail_msg("%s", err.text);
    static const uint32_t numbers[] = {0x40000001, 0, 1};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(counters[i].source, CORE_COUNTER_TSC); // files count nothing
        assert_int_equal(counters[i].config, (i + 1) * TICKS_ONE);
        assert_int_equal(counters[i].rdpmc, numbers[i]);
        assert_int_equal(counters[i].bits, 48);
    }
    char path[128], allowed = 0;
    snprintf(path, sizeof path, "%s%s", machine_root, rdpmc);
    int file = open(path, O_RDONLY);
    assert_int_equal(pread(file, &allowed, 1, 0), 1);
    assert_int_equal(allowed, '2');
    snprintf(path, sizeof path, "%s/dev/cpu/3/msr", machine_root);
    int fd = open(path, O_RDONLY);
    uint64_t value = 0;
    assert_int_equal(pread(fd, &value, sizeof value, 0x186 * 8), sizeof value);
    assert_int_equal(value, 0x4101a1);
    assert_int_equal(count_source_msr.close(&counting, &err), COUNT_FINE);
    assert_int_equal(pread(fd, &value, sizeof value, 0x186 * 8), sizeof value);
    assert_int_equal(value, 0);
    count_rdpmc_end(&counting.rdpmc);
    assert_int_equal(pread(file, &allowed, 1, 0), 1);
    assert_int_equal(allowed, '1');
    close(file);
    close(fd);
    counters_free(&counting.table);
    assert_int_equal(machine_end(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_of_a_family_are_dealt_into_passes),
        cmocka_unit_test(without_port_tests_only_cycles_are_counted),
        cmocka_unit_test(refused_ports_are_left_out_with_a_note),
        cmocka_unit_test(refused_cycles_are_an_error),
        cmocka_unit_test(the_calibration_chain_tells_core_cycles),
        cmocka_unit_test(counters_of_no_use_are_left_out_or_refused),
        cmocka_unit_test(registers_are_programmed_for_the_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
