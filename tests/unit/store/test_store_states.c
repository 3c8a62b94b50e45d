// SPDX-License-Identifier: MIT
// Kernels with several steady states and latencies that are averages, in the database and in the
// tables: as they were derived, through a merge, derived again, and in a database of schema 9.
#include "fixtures/store_old.h"

#include "merge/merge_internal.h"
#include "rederive/rederive.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_form.h"
#include "store/store_read.h"

// Factors of the samples of a pass.
static const double steady[8] = {1, 1, 1, 1, 1, 1, 1, 1};
static const double two[8] = {1, 1, 1, 1.25, 1.25, 1.25, 1.25, 1.25};
static const double scattered[8] = {1, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07};
static const double apart[8] = {1, 1.3, 1.7, 2.2, 2.8, 3.5, 4.3, 5.2};

static const struct pair {
    enum test_kind kind;
    const char *src, *dst;
    enum bound bound;
    double clk;
    const double *factors;
} add[] =
    {
        {TEST_LATENCY,    "op1",      "op1", BOUND_EXACT, 3.47, steady   },
        {TEST_LATENCY,    "op2",      "op1", BOUND_EXACT, 4,    two      },
        {TEST_LATENCY,    "op2.base", "op1", BOUND_UPPER, 7,    scattered},
        {TEST_LATENCY,    "op2.data", "op1", BOUND_UPPER, 7,    apart    },
        {TEST_THROUGHPUT, "",         "",    BOUND_EXACT, 0.5,  steady   },
},
  sub[] = {
      {TEST_LATENCY, "op1", "op1", BOUND_EXACT, 3, apart},
      {TEST_THROUGHPUT, "", "", BOUND_EXACT, 1, steady},
};
enum { PAIRS_MAX = 5 };

static void put_form(struct store *store, int64_t run_id, int position, const char *form,
                     const struct pair *pairs, int n)
{
    struct list_row row = fixture_row(form, "r64 r64", form);
    struct fixture_timing made[PAIRS_MAX];
    struct test tests[PAIRS_MAX];
    struct measured_kernel kernels[PAIRS_MAX];
    struct measured_test measured[PAIRS_MAX];
    struct arena arena = {0};
    struct kernel_spec spec = {
        .shape = "dense", .body = "", .init = "", .instances = 1, .instrs = 1};
    struct err err = {0};
    for (int i = 0; i < n; i++) {
        const struct pair *pair = &pairs[i];
        fixture_time(&made[i], 1);
        for (int k = 0; k < 8; k++)
            made[i].samples[k].kernel_tsc = (uint32_t)(pair->clk * pair->factors[k] * 2000) + 50;
        tests[i] = (struct test){.kind = pair->kind,
                                 .src = pair->src,
                                 .dst = pair->dst,
                                 .variant = "",
                                 .bound = pair->bound,
                                 .detail = "",
                                 .kernels = &spec,
                                 .nkernels = 1};
        const struct executed_kernel executed = {
            .facts = {"dense", 1, 1, 0, pair->kind == TEST_LATENCY},
            .detail = "",
            .timings = made[i].timings,
            .ntimings = 2
        };
        fixture_derive(&tests[i], &executed, 8, &arena, &kernels[i], &measured[i]);
    }
    struct plan plan = {&row, tests, n};
    const struct form_place place = {"int", position};
    if (store_put_form(store, run_id, &place, &plan, measured, &err) != 0)
        fail_msg("%s", err.text);
    arena_free(&arena);
}

static int64_t put_run(struct store *store)
{
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    put_form(store, run_id, 0, "add", add, 5);
    put_form(store, run_id, 1, "sub", sub, 2);
    return run_id;
}

static const char states[] =
    "SELECT group_concat(printf('%.2f %.3f %d', instance_clk, share, passes), ', ') "
    "FROM (SELECT * FROM estimate_state ORDER BY kernel_id, position)";
static const char states_expected[] = "4.00 0.375 2, 5.00 0.625 2";
static const char pairs[] =
    "SELECT group_concat(bound || ' ' || mark || coalesce(' ' || round(latency_clk, 2), ' -') || "
    "coalesce(' ' || round(least_clk, 1) || ' to ' || round(most_clk, 1), '') || "
    "coalesce(' of ' || states_seen, ''), '; ') "
    "FROM (SELECT * FROM latency_table WHERE form = 'add' ORDER BY test_position)";
static const char pairs_expected[] =
    "average ~ 3.47; exact * 4.0 4.0 to 5.0 of 4.000 0.38, 5.000 0.63; "
    "upper ~ 7.25 7.0 to 7.5; upper  -";
// A pair through memory that has no value leaves the form alone, any other does not.
static const char forms[] =
    "SELECT group_concat(form || ' ' || outcome || ' ' || coalesce(latency_bound, '-') || "
    "coalesce(latency_min_mark, '-') || coalesce(latency_max_mark, '-'), '; ') "
    "FROM (SELECT * FROM instruction_table ORDER BY form)";
static const char forms_expected[] = "add ok average~~; sub unstable ---";

static void expect_all(struct store *store)
{
    fixture_expect(store, states, states_expected);
    fixture_expect(store, pairs, pairs_expected);
    fixture_expect(store, forms, forms_expected);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t results, changed, run_id = put_run(store);
    expect_all(store);
    assert_int_equal(rederive_results(store, run_id, &results, &changed, &err), 0);
    assert_int_equal(results, 7);
    assert_int_equal(changed, 0);
    expect_all(store);
    fixture_end(&fixture, store);
}

static void test_merge(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *from = fixture_start(&fixture);
    struct err err = {0};
    int64_t last, run_id = put_run(from);
    char path[160];
    snprintf(path, sizeof path, "%s/to.db", fixture.dir);
    struct store *to = fixture_open(path, STORE_WRITE);
    if (merge_copy_runs(from, &(struct merge_extract){&run_id, 1, MERGE_KEEP_SAMPLES}, to, &last,
                        &err) != 0 ||
        store_summary_renew(to, &err) != 0)
        fail_msg("%s", err.text);
    expect_all(to);
    store_close(to);
    fixture_end(&fixture, from);
}

// States that an older run did not keep are there when its results are derived again.
static void test_version_9(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    int64_t results, changed;
    char today[160];
    fixture_make(&fixture);
    snprintf(today, sizeof today, "%s/today.db", fixture.dir);
    struct store *store = fixture_open(today, STORE_WRITE);
    put_run(store);
    store_close(store);
    old_make(fixture.db, 9, today);
    store = fixture_open(fixture.db, STORE_UPDATE);
    if (store_schema_compare(store, STORE_SCHEMA_VERSION, &err) != 0)
        fail_msg("%s", err.text);
    fixture_expect(store, "SELECT count(*) FROM result WHERE average OR states IS NOT NULL", "0");
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    expect_all(store);
    store_close(store);
    fixture_remove(&fixture);
}

static void test_tables(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct strbuf text = {0};
    int64_t n, run_id = put_run(store);
    struct store_filter filter = {.run_id = run_id};
    const struct report_query query = {.view = STORE_VIEW_LATENCY, .filter = &filter};
    assert_int_equal(report_rows(store, &query, &text, NULL, &n, &err), 0);
    assert_non_null(strstr(text.data, " ~3.47 "));
    assert_non_null(strstr(text.data, " 4.00–5.00 "));
    assert_non_null(strstr(text.data, " ≤~7.2"));
    strbuf_free(&text);
    text = (struct strbuf){0};
    assert_int_equal(report_list_text(store, run_id, "int", &text, &err), 0);
    assert_non_null(strstr(text.data, " ~3.47"));
    assert_non_null(strstr(text.data, "~ mean of executions that differ"));
    assert_null(strstr(text.data, "* fastest of several"));
    strbuf_free(&text);
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_version_9),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
