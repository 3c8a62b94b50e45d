// SPDX-License-Identifier: MIT
// Counters of this machine in the kernels of a run. Skipped, with the reason, where user code
// cannot read a counter of core cycles; then the same is tested with the time-stamp counter in the
// place of every counter (test_counted, test_run_counted).
#include "fixtures/ticks_fixture.h"
#include "portrun/portrun_mixes.h"

enum { SKIPPED = 77, HARNESS = 99, LINKS = 4, TRIES = 4 };

static struct session session;
static struct list_row row;
static struct selection selection;

static int rows_load(void)
{
    char path[] = "/tmp/latput_test_XXXXXX.csv";
    const char *const names[] = {path};
    struct err err = {0};
    int fd = mkstemps(path, 4);
    FILE *list = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!list)
        return -1;
    fputs("# One form\nmnemonic,operands,implicit,isa,tests,options\n"
          "imul,+r64 r64,=flags,X86_64,,\n",
          list);
    fclose(list);
    int status = select_rows(names, 1, NULL, &selection, &err);
    unlink(path);
    if (status == 0)
        row = *selection.rows[0].row;
    return status;
}

// A link of the calibration chain takes what the table of the CPU says.
static void counted_cycles_are_core_cycles(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct program program;
    struct err err = {0};
    int link_clk = 0;
    if (session_build_nop(&session, "check", 64, &arena, &program, &err) != 0 ||
        session_count_check(&session, program.path, &link_clk, &err) != 0)
        fail_msg("%s", err.text);
    print_message("a link takes %d cycles by %s\n", link_clk, session.counting->source->name);
    if (session.cpu->imul64_clk)
        assert_int_equal(link_clk, session.cpu->imul64_clk);
    unlink(program.path);
    arena_free(&arena);
}

// Independent multiplications: a whole number of slots each, and of µops on ports.
static void counted_slots_and_ports_are_whole(void **state)
{
    (void)state;
    struct err err = {0};
    const struct list_row *rows[] = {&row};
    struct core_config *config = &session.params.config;
    config->canary = 1; // whatever the machine is doing: µops stay µops
    config->floor_clk_per_instr = 1;
    config->canary_tolerance = config->calib_tolerance = 1e9;
    struct portrun_mixes measure = {.session = &session, .rows = rows, .plan = {.issue_width = 4}};
    struct port_oracle oracle = portrun_mixes_oracle(&measure);
    const struct port_mix mix = {.parts = {{0, LINKS}}, .nparts = 1, .orders = 1};
    struct port_timing timing;
    if (session.counting->nevents == 1) {
        print_message("no event of ports or slots: %s\n",
                      *session.counting->note ? session.counting->note : "none in the table");
        skip();
    }
    timing.outcome = OUTCOME_UNSTABLE; // as it may be on a busy machine
    for (int i = 0; i < TRIES && timing.outcome == OUTCOME_UNSTABLE; i++)
        if (oracle.measure(oracle.context, &mix, 1, &timing, &err) != 0)
            fail_msg("%s", err.text);
    print_message("%.2f cycles, %.2f slots in %d passes\n", timing.clk, timing.slots,
                  session.counting->npasses);
    for (int g = 0; g < oracle.ngroups; g++)
        print_message("%s %.2f\n", oracle.groups[g], timing.uops[g]);
    assert_int_equal(timing.outcome, OUTCOME_OK);
    assert_true(timing.counted);
    if (portrun_mixes_slots(&measure)) {
        assert_true(timing.slots > LINKS - 0.1);
        assert_true(fabs(timing.slots / LINKS - round(timing.slots / LINKS)) < 0.1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_cycles_are_core_cycles),
        cmocka_unit_test(counted_slots_and_ports_are_whole),
    };
    struct err err = {0};
    if (rows_load() != 0 || session_begin(-1, NULL, &session, &err) != 0 ||
        session_make_directory(&session, &err) != 0) {
        printf("%s\n", err.text);
        return HARNESS;
    }
    int status = SKIPPED;
    if (session_count_with(&session, &count_source_perf, true, &err) == 0)
        status = cmocka_run_group_tests(tests, NULL, NULL);
    else
        printf("%s\n", err.text);
    session_end(&session, false);
    selection_free(&selection);
    return status;
}
