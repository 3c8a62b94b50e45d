// SPDX-License-Identifier: MIT
// Pieces of code in the database: what goes in comes back from the views, all of it or nothing;
// facts stay; a pack carries them; text that a pack could not carry is refused.
#include "fixtures/merge_fixture.h"
#include "fixtures/store_fixture.h"

#include "pack/pack.h"
#include "store/store.h"
#include "store/store_bench.h"
#include "store/store_run.h"

#include <math.h>

// Two threads, two repetitions after the cold one; an event of which one count is missing, and a
// column with a quote in its name.
static struct stored_bench known_bench(void)
{
    static const uint8_t code[] = {0x48, 0x0f, 0xaf, 0xc0};
    static const struct bench_metric metrics[] = {
        {"event",  "instructions", "event=0xc0", "perf", "1"},
        {"column", "a\"b",         "tsc/2",      "",     "" },
    };
    static const struct bench_summary threads[] = {
        {1, 3.01, 3.02, 0.5, 4, 5, 2},
        {0, 3.11, 3.12, 0.6, 4, 5, 2},
    };
    static double values[6][2] = {
        {500,  1},
        {501,  2},
        {1000, 3},
        {2000, 4},
        {1200, 5},
        {NAN,  6},
    };
    static struct bench_row rows[6];
    for (int i = 0; i < 6; i++)
        rows[i] = (struct bench_row){.thread = i % 2,
                                     .pass = 1,
                                     .repetition = i / 2,
                                     .tried = 1 + i,
                                     .cold = i < 2,
                                     .accepted = true,
                                     .tsc = 100 * i,
                                     .clk = 300 * i,
                                     .values = values[i]};
    return (struct stored_bench){
        .label = "chain",
        .source = "text",
        .code = "imul rax, rax\nnop",
        .file = "",
        .file_sha256 = "",
        .symbol = "",
        .cflags = "",
        .compiler = "",
        .init = "",
        .mode = "latency",
        .breakers = "",
        .bits = 64,
        .instances = 2,
        .copies = 10,
        .iterations = 5,
        .pass = 1,
        .outcome = OUTCOME_OK,
        .detail = "",
        .machine_code = {code, 4},
        .code_bytes = 4,
        .threads = threads,
        .nthreads = 2,
        .metrics = metrics,
        .nmetrics = 2,
        .repetitions = rows,
        .nrepetitions = 6
    };
}

static int64_t put_known(struct store *store, const char *uarch)
{
    struct err err = {0};
    struct stored_bench bench = known_bench();
    int64_t run_id = fixture_run(store, uarch, 0xb00f21);
    if (store_put_bench(store, run_id, &bench, &err) != 0 ||
        store_run_finish(store, run_id, 1, 2, &err) != 0)
        fail_msg("%s", err.text);
    return run_id;
}

static void expect_known(struct store *store)
{
    fixture_expect(store, "SELECT count(*) FROM bench_table", "2");
    fixture_expect(
        store,
        "SELECT uarch || '|' || label || '|' || snippet || '|' || code || '|' || mode || '|' || "
        "cpu || '|' || instance_clk || '|' || median_clk || '|' || spread_clk || '|' || outcome "
        "|| '|' || copies || '|' || machine_code FROM bench_table WHERE thread = 0",
        "testa|chain|imul rax, rax; nop|imul rax, rax\nnop|latency|1|3.01|3.02|0.5|ok|10|"
        "480FAFC0");
    // 100 instances a repetition; the median is of 1000 and 1200, and of 2000 alone.
    fixture_expect(store, "SELECT counts FROM bench_table WHERE thread = 0",
                   "{\"instructions\":11.0,\"a\\\"b\":4.0}");
    fixture_expect(store, "SELECT counted FROM bench_table WHERE thread = 1",
                   "instructions 20, a\"b 5");
    fixture_expect(store, "SELECT min(json_valid(counts)) FROM bench_table", "1");
    fixture_expect(store, "SELECT min(json_valid(counts)) FROM bench_repetition_table", "1");
    fixture_expect(store, "SELECT count(*) FROM bench_repetition_table", "6");
    fixture_expect(store, "SELECT counts FROM bench_repetition_table WHERE seq = 5",
                   "{\"instructions\":null,\"a\\\"b\":6.0}");
    fixture_expect(
        store,
        "SELECT cpu || '|' || pass || '|' || repetition || '|' || cold || '|' || tried || '|' "
        "|| elapsed_tsc || '|' || instance_clk FROM bench_repetition_table WHERE seq = 3",
        "0|1|1|0|4|300.0|9.0");
    fixture_expect(store, "SELECT backend || code || table_version FROM bench_metric_table LIMIT 1",
                   "perfevent=0xc01");
}

static void test_round_trip(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char zip[128], again[128], merged[128];
    fixture_make(&fixture);
    snprintf(zip, sizeof zip, "%s/a.zip", fixture.dir);
    snprintf(again, sizeof again, "%s/b.zip", fixture.dir);
    snprintf(merged, sizeof merged, "%s/merged.db", fixture.dir);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    int64_t run_id = put_known(store, "testa"), new_id = 0;
    expect_known(store);
    if (pack_write(store, &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES}, zip,
                   &err) != 0)
        fail_msg("%s", err.text);
    char *name = pack_name(store, run_id, MERGE_KEEP_KERNELS, &err);
    assert_non_null(strstr(name, "-1.0-test-bench-"));
    free(name);
    struct store *target = fixture_open(merged, STORE_WRITE);
    fixture_fill(target, "testb", 0xb00f22, 1); // so that ids differ
    struct store_merged added;
    if (pack_merge(target, zip, &added, &err) != 1)
        fail_msg("%s", err.text);
    new_id = added.runs[0].run_id;
    expect_known(target);
    // The newest run is that of forms.
    assert_int_equal(store_run_finish(target, 1, 1, 1, &err), 0);
    run_id = 0;
    assert_int_equal(store_run_newest(target, NULL, &run_id, &err), 1);
    assert_int_equal(run_id, 1);
    if (pack_write(target, &(struct pack_what){.run_id = new_id, .keep = MERGE_KEEP_SAMPLES}, again,
                   &err) != 0)
        fail_msg("%s", err.text);
    store_close(store);
    store_close(target);
    char command[320];
    snprintf(command, sizeof command, "cmp %s %s", zip, again);
    assert_int_equal(system(command), 0);
    fixture_remove(&fixture);
}

static void test_all_or_nothing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    struct stored_bench bench = known_bench();
    struct bench_row rows[6];
    memcpy(rows, bench.repetitions, sizeof rows);
    rows[5].pass = -1; // the last of all rows is refused
    bench.repetitions = rows;
    assert_int_equal(store_put_bench(store, run_id, &bench, &err), -1);
    for (size_t i = 0; i < 5; i++) {
        static const char *const counts[] = {
            "SELECT count(*) FROM bench", "SELECT count(*) FROM bench_thread",
            "SELECT count(*) FROM bench_metric", "SELECT count(*) FROM bench_repetition",
            "SELECT count(*) FROM bench_value"};
        fixture_expect(store, counts[i], "0");
    }
    static const char *const unclean[] = {"nop\x1b[2J", "nop\xff", "nop\r"};
    for (size_t i = 0; i < 3; i++) {
        bench = known_bench();
        bench.code = unclean[i];
        assert_int_equal(store_put_bench(store, run_id, &bench, &err), -1);
        assert_non_null(strstr(err.text, "the code cannot be stored"));
    }
    fixture_end(&fixture, store);
}

static void test_facts_stay(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    put_known(store, "testa");
    static const char *const tables[] = {"bench", "bench_thread", "bench_metric",
                                         "bench_repetition", "bench_value"};
    for (size_t i = 0; i < 5; i++) {
        char sql[128], refusal[128];
        snprintf(refusal, sizeof refusal, "facts are append-only: %s", tables[i]);
        snprintf(sql, sizeof sql, "DELETE FROM %s", tables[i]);
        fixture_expect(store, sql, refusal);
        snprintf(sql, sizeof sql, "UPDATE %s SET bench_id = 7", tables[i]);
        fixture_expect(store, sql, refusal);
    }
    fixture_end(&fixture, store);
}

// A value that is not ok has no number, whatever was measured of it.
static void test_no_number_without_ok(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    struct stored_bench bench = known_bench();
    bench.outcome = OUTCOME_UNSTABLE;
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(store_put_bench(store, run_id, &bench, &err), 0);
    fixture_expect(store, "SELECT count(instance_clk) || count(median_clk) FROM bench_table", "02");
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_facts_stay),
        cmocka_unit_test(test_no_number_without_ok),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
