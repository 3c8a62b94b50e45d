// SPDX-License-Identifier: MIT
// Counted runs on this machine, with the time-stamp counter in the place of every counter: the
// oracle of the ports gives the µops that were counted in a mix, over several passes, and a run
// stores counted cycles with where they come from, in place of calibrated ones and beside them.
#include "fixtures/ticks_fixture.h"
#include "portrun/portrun_mixes.h"
#include "rederive/rederive.h"
#include "run/run.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "store/store_internal.h"

#include <unistd.h>

enum {
    TRIES = 4,
    SAMPLES_TELL = 9 // fewer say little about what a run stores
};

static char directory[64];

static const char *scratch(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int scratch_make(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/latput_test_XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    FILE *list = fopen(scratch("small.csv"), "w");
    if (!list)
        return -1;
    fputs("# Forms for counters\n"
          "mnemonic,operands,implicit,isa,tests,options\n"
          "imul,+r64 r64,=flags,X86_64,,\n"
          "nop,,,X86_64,,\n",
          list);
    return fclose(list);
}

static int scratch_remove(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command); // NOLINT: a path of mkdtemp
}

static void select_small(struct selection *selection)
{
    struct err err = {0};
    const char *const names[] = {scratch("small.csv")};
    if (select_rows(names, 1, NULL, selection, &err) != 0)
        fail_msg("%s", err.text);
}

// A session that takes every sample: the test is about counts, not about a quiet machine.
static void session_open_gates(struct session *session)
{
    struct core_config *config = &session->params.config;
    config->canary = 1;
    config->floor_clk_per_instr = 1;
    config->canary_tolerance = config->calib_tolerance = 1e9;
}

// Four multiplications and eight nops: half of the cycles on p0, half on p1, three slots per cycle.
static void set_ports(double clk_per_tick, double p0)
{
    static const char *const names[] = {"core_clk", "uops_issued", "p0", "p1"};
    const double shares[] = {1, 3, p0, 0.5};
    memset(&ticks, 0, sizeof ticks);
    ticks.counters = 3;
    for (int i = 0; i < 4; i++) {
        ticks.events[i].event = names[i];
        ticks.events[i].per_tick = shares[i] * clk_per_tick;
    }
}

static void time_mix(struct session *session, const struct selection *selection,
                     struct port_timing *timing, int64_t *doubted)
{
    struct err err = {0};
    const struct list_row *rows[] = {selection->rows[0].row, selection->rows[1].row};
    struct portrun_mixes measure = {.session = session, .rows = rows, .plan = {.issue_width = 4}};
    struct port_oracle oracle = portrun_mixes_oracle(&measure);
    assert_int_equal(oracle.ngroups, 8);
    assert_string_equal(oracle.groups[0], "p0");
    assert_string_equal(oracle.groups[7], "p7");
    assert_string_equal(portrun_mixes_slots(&measure), "uops_issued");
    const struct port_mix mix = {
        .parts = {{0, 4}, {1, 8}},
          .nparts = 2, .orders = 1
    };
    if (oracle.measure(oracle.context, &mix, 1, timing, &err) != 0)
        fail_msg("%s", err.text);
    *doubted = measure.doubted;
    // The next batch starts with core cycles again.
    assert_int_equal(session->counting->which[0], 0);
}

// Returns the relative distance of the counts from the cycles that they follow from.
static double counts_off(const struct port_timing *timing)
{
    double off = fabs(timing->uops[0] / (timing->clk / 2) - 1);
    off = fmax(off, fabs(timing->uops[1] / (timing->clk / 2) - 1));
    return fmax(off, fabs(timing->slots / (timing->clk * 3) - 1));
}

// Ticks are core cycles only while the core's clock stays. Where it was the same before and after a
// mix, the counts in it must agree with its cycles; else the test has nothing to compare with.
static const double CLOCK_STEADY = 0.02, COUNTS_AGREE = 0.05;

static void mixes_have_counted_uops(void **state)
{
    (void)state;
    struct session session;
    struct selection selection;
    struct err err = {0};
    struct port_timing timing = {.counted = false};
    int64_t doubted = 0;
    select_small(&selection);
    if (session_begin(-1, NULL, &session, &err) != 0 || session_make_directory(&session, &err) != 0)
        fail_msg("%s", err.text);
    session_open_gates(&session);
    bool steady = false;
    double off = INFINITY;
    // Counts and cycles are of different timings: one of several tries must find them together.
    for (int i = 0; i < TRIES && off > COUNTS_AGREE; i++) {
        double before = ticks_calibrate(&session);
        set_ports(before, 0.5);
        snprintf(session.cpu->uarch, sizeof session.cpu->uarch, "skylake");
        if (session_count_with(&session, &ticks_source, true, &err) != 0)
            fail_msg("%s", err.text);
        assert_true(session.counting->npasses > 3);
        time_mix(&session, &selection, &timing, &doubted);
        print_message("%s: %.2f cycles, p0 %.2f, p1 %.2f, slots %.2f\n",
                      outcome_name(timing.outcome), timing.clk, timing.uops[0], timing.uops[1],
                      timing.slots);
        session_count_end(&session);
        double after = ticks_calibrate(&session);
        if (!timing.counted || fabs(after / before - 1) > CLOCK_STEADY)
            continue;
        steady = true;
        off = fmin(off, counts_off(&timing));
    }
    if (!steady)
        fail_msg("the core's clock changes too much");
    assert_true(off <= COUNTS_AGREE);
    assert_int_equal(doubted, 0);
    for (int g = 2; g < 8; g++)
        assert_true(timing.uops[g] == 0);
    // Two µops per cycle on one port: not believed, and the timing is as good as without counters.
    timing.outcome = OUTCOME_UNSTABLE;
    for (int i = 0; i < TRIES && timing.outcome != OUTCOME_OK; i++) {
        set_ports(ticks_calibrate(&session), 2);
        assert_int_equal(session_count_with(&session, &ticks_source, true, &err), 0);
        time_mix(&session, &selection, &timing, &doubted);
        session_count_end(&session);
    }
    assert_false(timing.counted);
    assert_int_equal(doubted, timing.outcome == OUTCOME_OK);
    session_end(&session, false);
    selection_free(&selection);
}

static const char *ask(struct store *store, const char *sql)
{
    static char text[1024];
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(store->db));
    const char *value =
        sqlite3_step(stmt) == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    snprintf(text, sizeof text, "%s", value ? value : "NULL");
    sqlite3_finalize(stmt);
    return text;
}

// The canary as it runs here and now, stored as this CPU's floor: finding the true one takes long.
static void put_floor(struct store *store, const struct session *session)
{
    static struct exec_floor seen;
    struct arena arena = {0};
    struct program program = {0};
    struct err err = {0};
    int64_t cpu_id;
    int bin = 0;
    uint32_t below = 0, samples = 0;
    if (session_build_nop(session, "floor", 64, &arena, &program, &err) != 0 ||
        exec_floor(program.path, &session->params, 300, &seen, &err) != 0)
        fail_msg("%s", err.text);
    const uint32_t *mixture = seen.counts[CORE_CANARIES - 1];
    for (int i = 0; i < CORE_FLOOR_BINS; i++)
        samples += mixture[i];
    while (bin < CORE_FLOOR_BINS - 1 && (below += mixture[bin]) * 2 < samples)
        bin++;
    const struct canary_floor floor = {CORE_CANARIES - 1, (bin + 0.5) * CORE_FLOOR_BIN_CLK,
                                       session->cpu->issue_width ? session->cpu->issue_width : 4};
    if (store_put_cpu(store, session->cpu, &cpu_id, &err) != 0 ||
        store_put_floor(store, cpu_id, &floor, &err) != 0)
        fail_msg("%s", err.text);
    unlink(program.path);
    arena_free(&arena);
}

static int run_small(struct store *store, const struct selection *selection,
                     struct run_summary *summary, struct err *err)
{
    const struct run_options options = {.tests = TESTS_LATENCY | TESTS_THROUGHPUT,
                                        .cpu = -1,
                                        .quiet = true,
                                        .give_up_s = 3,
                                        .counters = {.source = &ticks_source},
                                        .selection = ""};
    return run_rows(store, selection, &options, summary, err);
}

static void provenance_is_stored(struct store *store)
{
    assert_string_equal(ask(store, "SELECT backend FROM run"), "ticks");
    assert_string_equal(ask(store, "SELECT position || ' ' || event || ' ' || backend || ' ' || "
                                   "(counter_table = (SELECT uarch FROM cpu)) || "
                                   "(length(code) > 5) || (length(table_version) > 0) "
                                   "FROM run_event"),
                        "0 core_clk ticks 111");
    assert_string_equal(ask(store, "SELECT tables LIKE '%counters/' || uarch || '.csv:%' FROM run "
                                   "JOIN cpu USING (cpu_id)"),
                        "1");
}

static void cycles_are_stored(struct store *store, const struct run_summary *summary)
{
    assert_string_equal(ask(store, "SELECT count(counted_clk) = count(*) FROM sample"), "1");
    print_message("calibrated/counted: %s; doubted: %lld\n",
                  ask(store, "SELECT group_concat(round(calibrated_clk, 3) || '/' || "
                             "round(instance_clk, 3), ' ') FROM estimate"),
                  (long long)summary->doubted);
    // Valid results are in counted cycles, near the calibrated ones, or there were doubts.
    char doubted[32];
    snprintf(doubted, sizeof doubted, "%lld", (long long)summary->doubted);
    assert_string_equal(ask(store, "SELECT count(*) FROM estimate WHERE outcome = 'ok' AND "
                                   "calibrated_clk IS NOT NULL AND "
                                   "abs(calibrated_clk / instance_clk - 1) > 0.06"),
                        "0");
    assert_string_equal(ask(store, "SELECT count(*) FROM run_warning WHERE text LIKE "
                                   "'the counted cycles of%'"),
                        summary->doubted ? "1" : "0");
}

static void a_run_stores_counted_cycles(void **state)
{
    (void)state;
    struct session session;
    struct selection selection;
    struct run_summary summary;
    struct store *store = NULL;
    struct err err = {0};
    select_small(&selection);
    if (session_begin(-1, NULL, &session, &err) != 0 ||
        session_make_directory(&session, &err) != 0 ||
        store_open(scratch("run.db"), STORE_WRITE, &store, &err) != 0)
        fail_msg("%s", err.text);
    put_floor(store, &session);
    memset(&ticks, 0, sizeof ticks);
    ticks.events[0].event = "core_clk";
    // Ticks as they are: refused before anything is measured or stored.
    ticks.events[0].per_tick = 0.5 * ticks_calibrate(&session);
    assert_int_equal(run_small(store, &selection, &summary, &err), -1);
    assert_non_null(strstr(err.text, "the backend ticks cannot be used: a multiplication"));
    assert_string_equal(ask(store, "SELECT count(*) FROM run"), "0");
    int status = -1;
    for (int i = 0; i < TRIES && status != 0; i++) {
        ticks.events[0].per_tick = ticks_calibrate(&session);
        status = run_small(store, &selection, &summary, &err);
    }
    if (status != 0)
        fail_msg("%s", err.text);
    assert_int_equal(ticks.opened, ticks.closed);
    provenance_is_stored(store);
    cycles_are_stored(store, &summary);
    const int samples = atoi(ask(store, "SELECT count(*) FROM sample"));
    int64_t results, changed;
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(changed, 0);
    store_close(store);
    session_end(&session, false);
    selection_free(&selection);
    if (samples < SAMPLES_TELL)
        fail_msg("the core was quiet for %d samples only", samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixes_have_counted_uops),
        cmocka_unit_test(a_run_stores_counted_cycles),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
