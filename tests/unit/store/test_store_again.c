// SPDX-License-Identifier: MIT
// A run that completes another: what a run lacks, and tables that take from each run the tests that
// have a value.
#include "fixtures/merge_fixture.h"
#include "fixtures/store_fixture.h"

#include "rederive/rederive.h"
#include "store/store_again.h"
#include "version.h"

#include <math.h>

#define L(src, got, clk)                                                                           \
    {                                                                                              \
        TEST_LATENCY, src, "op1", "", OUTCOME_OK, got, clk                                         \
    }
#define T(got, clk)                                                                                \
    {                                                                                              \
        TEST_THROUGHPUT, "", "", "", OUTCOME_OK, got, clk                                          \
    }

// Begins a run of the CPU that completes one; completed_id 0: none.
static int64_t again_begin(struct store *store, int64_t completed_id, const char *uarch)
{
    struct run_info info = {.version = LATPUT_VERSION,
                            .nasm_version = "",
                            .os_kernel = "",
                            .backend = "tsc",
                            .lists = "int:00ff sse:11ee",
                            .tables = "",
                            .frequency = "",
                            .selection = "",
                            .issue_width = 8};
    char uuid[4096] = "", sql[64];
    int64_t cpu_id, run_id = 0;
    struct err err = {0};
    snprintf(sql, sizeof sql, "SELECT uuid FROM run WHERE run_id = %d", (int)completed_id);
    if (completed_id)
        snprintf(uuid, sizeof uuid, "%s", fixture_ask(store->db, sql));
    info.completes = uuid;
    assert_int_equal(store_put_cpu(store, fixture_cpu(uarch, 1), &cpu_id, &err), 0);
    if (store_run_begin(store, cpu_id, &info, &run_id, &err) != 0)
        fail_msg("%s", err.text);
    return run_id;
}

static void again_put(struct store *store, int64_t run_id, const char *mnemonic,
                      const struct fixture_test tests[3])
{
    struct err err = {0};
    char form[32];
    snprintf(form, sizeof form, "%s r64 r64", mnemonic);
    const struct list_row row = fixture_row(mnemonic, "r64 r64", form);
    if (fixture_put(store, run_id, &row, 0, tests, 3, &err) != 0)
        fail_msg("%s", err.text);
}

static void again_finish(struct store *store, int64_t run_id)
{
    struct err err = {0};
    assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), 0);
}

// `add` has all, `xor` lacks one latency, `hlt` faults.
static int64_t again_base(struct store *store)
{
    int64_t run_id = again_begin(store, 0, "testa");
    again_put(store, run_id, "add",
              (struct fixture_test[]){L("op1", OUTCOME_OK, 1), L("op2", OUTCOME_OK, 1),
                                      T(OUTCOME_OK, 0.25)});
    again_put(store, run_id, "xor",
              (struct fixture_test[]){L("op1", OUTCOME_UNSTABLE, 9), L("op2", OUTCOME_OK, 2),
                                      T(OUTCOME_OK, 0.5)});
    again_put(store, run_id, "hlt",
              (struct fixture_test[]){L("op1", OUTCOME_OK, 1), L("op2", OUTCOME_OK, 1),
                                      T(OUTCOME_SIGNALLED, 0)});
    again_finish(store, run_id);
    return run_id;
}

// It brings what `xor` lacked, and lacks what the other had.
static int64_t again_second(struct store *store, int64_t base, double clk)
{
    int64_t run_id = again_begin(store, base, "testa");
    again_put(store, run_id, "xor",
              (struct fixture_test[]){L("op1", OUTCOME_OK, clk), L("op2", OUTCOME_UNSTABLE, 7),
                                      T(OUTCOME_UNSTABLE, 7)});
    again_finish(store, run_id);
    return run_id;
}

#define ROWS                                                                                       \
    "SELECT group_concat(printf('%s %.2f %.2f %.2f %s', mnemonic, latency_min_clk, "               \
    "latency_max_clk, rthroughput_clk, outcome), ', ') FROM "                                      \
    "(SELECT * FROM instruction_table ORDER BY mnemonic)"
#define PAIRS                                                                                      \
    "SELECT group_concat(printf('%s %.2f %s', src, latency_clk, outcome), ', ') FROM "             \
    "(SELECT * FROM latency_table WHERE mnemonic = 'xor' ORDER BY src)"
#define STALE                                                                                      \
    "SELECT count(*) FROM (SELECT * FROM run_form_result EXCEPT SELECT * FROM form_summary)"
#define LACKING "add 1.00 1.00 0.25 ok, hlt 1.00 1.00 0.00 signalled, xor 2.00 2.00 0.50 unstable"
#define WHOLE "add 1.00 1.00 0.25 ok, hlt 1.00 1.00 0.00 signalled, xor 2.00 3.00 0.50 ok"

static void expect_whole(struct store *store)
{
    fixture_expect(store, ROWS, WHOLE);
    fixture_expect(store, PAIRS, "op1 3.00 ok, op2 2.00 ok");
    fixture_expect(store, STALE, "0");
}

// Throughputs come from all runs that complete one, not from the last alone.
static void test_throughputs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct arena arena = {0};
    struct err err = {0};
    struct stored_throughputs values;
    const struct {
        const char *mnemonic;
        double clk;
    } runs[] = {
        {"add", 0.25},
        {"xor", 0.5 },
        {"sub", 2   }
    };
    int64_t base = 0;
    for (int run = 0; run < 3; run++) {
        int64_t run_id = again_begin(store, base, "testa");
        base = base ? base : run_id;
        for (int i = run; i < 3; i++)
            again_put(
                store, run_id, runs[i].mnemonic,
                (struct fixture_test[]){L("op1", OUTCOME_OK, 1), L("op2", OUTCOME_OK, 1),
                                        T(i == run ? OUTCOME_OK : OUTCOME_UNSTABLE, runs[i].clk)});
        again_finish(store, run_id);
    }
    assert_int_equal(store_get_completed_throughputs(store, base, &values, &arena, &err), 0);
    assert_int_equal(values.n, 3);
    for (int i = 0; i < 3; i++) {
        char form[32];
        snprintf(form, sizeof form, "%s r64 r64", runs[i].mnemonic);
        struct stored_form key = {form, "legacy", 64};
        assert_true(fabs(stored_throughput_clk(&values, &key) - runs[i].clk) < 1e-6);
    }
    arena_free(&arena);
    fixture_end(&fixture, store);
}

static int lacking(struct store *store, int64_t run_id)
{
    struct arena arena = {0};
    struct stored_lack *lacks;
    struct err err = {0};
    int n, found = 0;
    assert_int_equal(store_get_lacks(store, run_id, &lacks, &n, &arena, &err), 0);
    assert_int_equal(n, 3);
    for (int i = 0; i < n; i++) {
        assert_int_equal(lacks[i].values,
                         lacks[i].values && !strcmp(lacks[i].form.form, "xor r64 r64"));
        assert_false(lacks[i].ports);
        assert_true(lacks[i].no_ports);
        found += lacks[i].values;
    }
    arena_free(&arena);
    return found;
}

static void test_completed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t counts[OUTCOME_COUNT], scattered, base = again_base(store);
    fixture_expect(store, ROWS, LACKING);
    assert_int_equal(lacking(store, base), 1);
    int64_t second = again_second(store, base, 3);
    expect_whole(store);
    assert_int_equal(lacking(store, base), 0);
    assert_int_equal(store_completed_summary(store, base, counts, &scattered, &err), 0);
    assert_int_equal(counts[OUTCOME_OK], 8);
    assert_int_equal(counts[OUTCOME_SIGNALLED], 1);
    assert_int_equal(counts[OUTCOME_UNSTABLE], 0);
    // The runs themselves stay as they are.
    fixture_expect(store,
                   "SELECT group_concat(run_id || ' ' || src || ' ' || outcome, ', ') FROM "
                   "(SELECT * FROM run_latency_table WHERE mnemonic = 'xor' ORDER BY run_id, src)",
                   "1 op1 unstable, 1 op2 ok, 2 op1 ok, 2 op2 unstable");
    fixture_expect(store,
                   "SELECT group_concat(run_id, ' ') FROM (SELECT * FROM latency_table "
                   "WHERE mnemonic = 'xor' ORDER BY src)",
                   "2 1");
    fixture_expect(store,
                   "SELECT count(DISTINCT test_position || run_id) FROM kernel_table "
                   "WHERE mnemonic = 'xor'",
                   "3");
    // A pack of the machine has both.
    int64_t *run_ids;
    int nruns;
    assert_int_equal(store_table_runs(store, second, &run_ids, &nruns, &err), 0);
    assert_int_equal(nruns, 2);
    free(run_ids);
    // The results of the first are made again, with those that follow.
    int64_t results, changed;
    assert_int_equal(rederive_results(store, base, &results, &changed, &err), 0);
    assert_int_equal(changed, 0);
    expect_whole(store);
    fixture_end(&fixture, store);
}

// The newest of several counts; one of another CPU, and one whose first is not here, completes
// nothing.
static void test_several(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    int64_t base = again_base(store);
    again_second(store, base, 4);
    again_second(store, base, 3);
    expect_whole(store);
    int64_t other = again_begin(store, base, "testb");
    again_put(store, other, "xor",
              (struct fixture_test[]){L("op1", OUTCOME_OK, 8), L("op2", OUTCOME_UNSTABLE, 7),
                                      T(OUTCOME_UNSTABLE, 7)});
    again_finish(store, other);
    fixture_expect(store,
                   "SELECT group_concat(printf('%s %.2f %.2f %s', uarch, latency_max_clk, "
                   "rthroughput_clk, outcome), ', ') FROM (SELECT * FROM instruction_table "
                   "WHERE mnemonic = 'xor' ORDER BY uarch)",
                   "testa 3.00 0.50 ok, testb 8.00 0.00 unstable");
    fixture_end(&fixture, store);
}

static void again_extract(struct store *store, int64_t run_id, const char *path)
{
    struct err err = {0};
    const struct merge_extract what = {&run_id, 1, MERGE_KEEP_SAMPLES};
    if (merge_extract_runs(store, &what, path, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_merged(void **state)
{
    (void)state;
    struct fixture fixture, to;
    struct store *store = fixture_start(&fixture);
    char paths[2][128];
    int64_t base = again_base(store), second = again_second(store, base, 3);
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.db", fixture.dir, i);
        again_extract(store, i ? second : base, paths[i]);
    }
    for (int order = 0; order < 2; order++) {
        struct store *merged = fixture_start(&to);
        for (int i = 0; i < 2; i++) {
            char copy[160], command[400];
            struct store_merged what;
            struct err err = {0};
            snprintf(copy, sizeof copy, "%s/copy%d.db", to.dir, i);
            snprintf(command, sizeof command, "cp %s %s", paths[i ^ order], copy);
            assert_int_equal(system(command), 0);
            if (merge_runs(merged, copy, "pack", &what, &err) != 1)
                fail_msg("%s", err.text);
            fixture_expect(merged, STALE, "0");
            if (i == 0)
                fixture_expect(merged, ROWS, order ? "xor 3.00 3.00 0.00 unstable" : LACKING);
        }
        expect_whole(merged);
        fixture_end(&to, merged);
    }
    fixture_end(&fixture, store);
}

// The run to be completed, and the reasons for which there is none.
static void test_base(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct stored_base base;
    struct arena arena = {0};
    struct err err = {0};
    const struct cpu_info *cpu = fixture_cpu("testa", 1);
    assert_int_equal(store_get_base(store, cpu, LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_NONE);
    int64_t open = again_begin(store, 0, "testa");
    assert_int_equal(store_get_base(store, cpu, LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_NONE);
    int64_t first = again_base(store);
    assert_int_equal(store_get_base(store, cpu, LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_FOUND);
    assert_int_equal(base.run_id, first);
    assert_string_equal(base.lists, "int:00ff sse:11ee");
    assert_int_equal(store_get_base(store, cpu, "0.0.1", &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_OTHER_LATER);
    again_second(store, first, 3);
    assert_int_equal(store_get_base(store, cpu, LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.run_id, first); // the second stands for it
    assert_int_equal(
        store_get_base(store, fixture_cpu("testa", 2), LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_OTHER_CPU);
    sqlite3_exec(store->db, "INSERT INTO merged_run SELECT run_id FROM run", NULL, NULL, NULL);
    assert_int_equal(
        store_get_base(store, fixture_cpu("testa", 1), LATPUT_VERSION, &base, &arena, &err), 0);
    assert_int_equal(base.found, AGAIN_MERGED);
    assert_int_equal(open, 1);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

// Each finds runs of its own kind: those that complete nothing, or the same.
static void test_resumed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t found, first = again_base(store), second = again_begin(store, first, "testa");
    char uuid[4096];
    snprintf(uuid, sizeof uuid, "%s",
             fixture_ask(store->db, "SELECT uuid FROM run WHERE run_id = 1"));
    struct run_info info = {
        .version = LATPUT_VERSION, .backend = "tsc", .lists = "int:00ff sse:11ee", .selection = ""};
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 0);
    assert_int_equal(store_run_done(store, 1, &info, &found, &err), 1);
    assert_int_equal(found, first);
    info.completes = uuid;
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 1);
    assert_int_equal(found, second);
    assert_int_equal(store_run_done(store, 1, &info, &found, &err), 0);
    info.completes = "00112233445566778899aabbccddeeff";
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 0);
    // It never changes.
    sqlite3_exec(store->db, "UPDATE run SET completes = ''", NULL, NULL, NULL);
    fixture_expect(store, "SELECT count(*) FROM run WHERE completes <> ''", "1");
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completed), cmocka_unit_test(test_throughputs),
        cmocka_unit_test(test_several),   cmocka_unit_test(test_merged),
        cmocka_unit_test(test_base),      cmocka_unit_test(test_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
