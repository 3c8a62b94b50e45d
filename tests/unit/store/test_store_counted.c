// SPDX-License-Identifier: MIT
// Counted cycles in the database: they come back as they went in, results follow from them again
// (rederive), a pack carries them, and a database of schema 2, which had none, goes on being used.
#include "fixtures/merge_fixture.h"
#include "fixtures/store_old.h"

#include "pack/pack.h"
#include "rederive/rederive.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "store/store_form.h"
#include "store/store_run.h"

#include <math.h>

enum { COUNTED = 4 };
// Forms that take 3.02 cycles by the calibration; what a counter says of each. The last has no
// counter, and that of the third cannot be true.
static const double counted_clk[COUNTED] = {3, 2.98, 1.5, -1};

static void put_form(struct store *store, int64_t run_id, int position, double clk)
{
    char form[32];
    snprintf(form, sizeof form, "imul%d r64 r64", position);
    struct list_row row = fixture_row("imul", "r64 r64", form);
    struct kernel_spec spec = {
        .shape = "dense", .body = "", .init = "", .instances = 1, .instrs = 1};
    const struct test test = {.kind = TEST_LATENCY,
                              .src = "op1",
                              .dst = "op1",
                              .variant = "",
                              .detail = "",
                              .kernels = &spec,
                              .nkernels = 1};
    struct fixture_timing timing;
    struct err err = {0};
    fixture_time(&timing, 3.02);
    for (int i = 0; i < 8 && clk >= 0; i++)
        timing.samples[i].counted_clk = (uint32_t)(clk * 1000) + 70; // iterations times copies
    for (int pass = 0; pass < 2 && clk >= 0; pass++) {
        timing.timings[pass].counted = true;
        timing.timings[pass].overhead_counted_clk = 70;
    }
    const struct executed_kernel executed = {
        .facts = {"dense", 1, 1, 0, false},
          .detail = "", .timings = timing.timings, .ntimings = 2
    };
    struct arena arena = {0};
    struct measured_kernel kernel;
    struct measured_test measured;
    fixture_derive(&test, &executed, 8, &arena, &kernel, &measured);
    struct plan plan = {&row, (struct test *)&test, 1};
    const struct form_place place = {"int", position};
    if (store_put_form(store, run_id, &place, &plan, &measured, &err) != 0)
        fail_msg("%s", err.text);
    arena_free(&arena);
}

static int64_t put_run(struct store *store)
{
    static const struct run_event events[] = {
        {"core_clk", "event=0x3c,umask=0x00", "perf", "skylake", "1"},
        {"p0",       "event=0xa1,umask=0x01", "perf", "skylake", "1"},
    };
    const struct run_info info = {.version = "1",
                                  .nasm_version = "2",
                                  .os_kernel = "6",
                                  .backend = "perf",
                                  .lists = "",
                                  .tables = "",
                                  .frequency = "",
                                  .selection = "",
                                  .events = events,
                                  .nevents = 2};
    int64_t cpu_id, run_id = 0;
    struct err err = {0};
    if (store_put_cpu(store, fixture_cpu("skylake", 1), &cpu_id, &err) != 0 ||
        store_run_begin(store, cpu_id, &info, &run_id, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < COUNTED; i++)
        put_form(store, run_id, i, counted_clk[i]);
    return run_id;
}

static const char values[] =
    "SELECT group_concat(round(value_clk, 3) || ' ' || coalesce(round(calibrated_clk, 3), '-'), "
    "', ') FROM (SELECT * FROM result JOIN estimate USING (kernel_id) ORDER BY test_id)";
static const char values_expected[] = "3.0 3.02, 2.98 3.02, 3.02 -, 3.02 -";
static const char raw[] =
    "SELECT group_concat(line, ', ') FROM (SELECT coalesce(overhead_counted_clk, '-') || ' ' || "
    "coalesce(counted_clk, '-') || ' ' || kernel_tsc AS line FROM timing JOIN sample USING "
    "(timing_id) WHERE seq = 3 AND pass = 2 ORDER BY timing_id)";
static const char raw_expected[] = "70.0 3070 6090, 70.0 3050 6090, 70.0 1570 6090, - - 6090";
static const char events[] =
    "SELECT group_concat(position || event || code || backend || counter_table || table_version) "
    "FROM (SELECT * FROM run_event ORDER BY position)";
static const char events_expected[] =
    "0core_clkevent=0x3c,umask=0x00perfskylake1,1p0event=0xa1,umask=0x01perfskylake1";

static void test_round_trip(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    fixture_make(&fixture);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    put_run(store);
    fixture_expect(store, values, values_expected);
    fixture_expect(store, raw, raw_expected);
    fixture_expect(store, events, events_expected);
    fixture_expect(store, "SELECT counted FROM run_table",
                   "core_clk (event=0x3c,umask=0x00; perf; table skylake 1), "
                   "p0 (event=0xa1,umask=0x01; perf; table skylake 1)");
    assert_non_null(strstr(fixture_ask(store->db, "DELETE FROM run_event"), "append-only"));
    assert_non_null(
        strstr(fixture_ask(store->db, "UPDATE run_event SET code = ''"), "append-only"));
    // Results follow from the samples again.
    int64_t results, changed;
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(results, COUNTED);
    assert_int_equal(changed, 0);
    fixture_expect(store, values, values_expected);
    store_close(store);
    fixture_remove(&fixture);
}

static void test_pack(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char zip[128], merged[128];
    fixture_make(&fixture);
    snprintf(zip, sizeof zip, "%s/a.zip", fixture.dir);
    snprintf(merged, sizeof merged, "%s/merged.db", fixture.dir);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    int64_t run_id = put_run(store);
    assert_int_equal(store_run_finish(store, run_id, 9, 1.5, &err), 0);
    if (pack_write(store, &(struct pack_what){.run_id = run_id, .keep = MERGE_KEEP_SAMPLES}, zip,
                   &err) != 0)
        fail_msg("%s", err.text);
    struct store *target = fixture_open(merged, STORE_WRITE);
    struct store_merged added;
    if (pack_merge(target, zip, &added, &err) != 1)
        fail_msg("%s", err.text);
    fixture_expect(target, values, values_expected);
    fixture_expect(target, raw, raw_expected);
    fixture_expect(target, events, events_expected);
    fixture_expect(target, "PRAGMA foreign_key_check", "no row");
    store_close(target);
    store_close(store);
    fixture_remove(&fixture);
}

// Results measured without counters stay unchanged beside runs with counters.
static void test_version_2(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char today[160];
    fixture_make(&fixture);
    snprintf(today, sizeof today, "%s/today.db", fixture.dir);
    struct store *store = fixture_open(today, STORE_WRITE);
    fixture_fill(store, "testa", 0xb00f21, 1);
    static const char old_values[] = "SELECT group_concat(coalesce(value_clk, '-')) FROM (SELECT * "
                                     "FROM result ORDER BY test_id)";
    char *before = xstrdup(fixture_ask(store->db, old_values));
    store_close(store);
    old_make(fixture.db, 2, today);
    store = fixture_open(fixture.db, STORE_UPDATE);
    if (store_schema_compare(store, STORE_SCHEMA_VERSION, &err) != 0)
        fail_msg("%s", err.text);
    fixture_expect(store, old_values, before);
    fixture_expect(store, "SELECT count(*) > 50 AND count(counted_clk) = 0 FROM sample", "1");
    fixture_expect(store, "SELECT count(*) > 9 AND count(overhead_counted_clk) = 0 FROM timing",
                   "1");
    fixture_expect(store, "SELECT count(*) > 5 AND count(calibrated_clk) = 0 FROM estimate", "1");
    int64_t results, changed;
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(changed, 0);
    fixture_expect(store, old_values, before);
    free(before);
    put_run(store);
    fixture_expect(store, events, events_expected);
    fixture_expect(store, "SELECT count(*) FROM estimate WHERE calibrated_clk IS NOT NULL", "2");
    store_close(store);
    fixture_remove(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_version_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
