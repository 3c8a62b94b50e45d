// SPDX-License-Identifier: MIT
// Results again from stored samples, after the method in derive.c has changed; see
// store_rederive.h.
#include "store_internal.h"

#include "derive/derive.h"
#include "plan/plan.h"
#include "store_rederive.h"
#include "util/mem.h"

#include <math.h>
#include <string.h>

// One test on its way through derive again. All memory is the arena's, which is reset a test.
struct rederive_test {
    int64_t test_id;
    enum test_kind kind;
    enum bound bound;
    enum outcome planned;
    const char *detail;
    int issue_width;
    struct kernel_facts *facts;
    struct estimate *estimates;
    int64_t *kernel_ids;
    const char **kernel_details;
    int nkernels;
};

static const char *rederive_text(struct arena *arena, sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return arena_strdup(arena, text ? text : "");
}

static enum outcome rederive_outcome(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    int outcome = outcome_parse(text ? text : "");
    return outcome < 0 ? OUTCOME_SKIPPED : (enum outcome)outcome;
}

static int rederive_samples(struct store *store, struct arena *arena, int64_t timing_id,
                            struct timing *timing, struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM sample WHERE timing_id = ?1", "i",
                      timing_id) < 0)
        return -1;
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT kernel_tsc, before_tsc, after_tsc, canary_tsc, "
                                    "counted_clk "
                                    "FROM sample WHERE timing_id = ?1 ORDER BY seq",
                                    "i", timing_id);
    if (!stmt)
        return -1;
    struct sample *samples = arena_alloc(arena, ((size_t)n + 1) * sizeof *samples);
    int at = 0, got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW && at < n)
        samples[at++] = (struct sample){
            (uint32_t)sqlite3_column_int64(stmt, 0), (uint32_t)sqlite3_column_int64(stmt, 1),
            (uint32_t)sqlite3_column_int64(stmt, 2), (uint32_t)sqlite3_column_int64(stmt, 3),
            (uint32_t)sqlite3_column_int64(stmt, 4)};
    sqlite3_reset(stmt);
    timing->samples = samples;
    timing->nsamples = at;
    return got == SQLITE_DONE ? 0 : store_error(store, err, "read samples");
}

static int rederive_kernel(struct store *store, struct arena *arena, struct rederive_test *test,
                           int index, enum outcome outcome, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT timing_id, pass, outcome, accepted, tried, iterations, "
                                    "copies, calib_clk, overhead_tsc, "
                                    "overhead_counted_clk "
                                    "FROM timing WHERE kernel_id = ?1 ORDER BY timing_id",
                                    "i", test->kernel_ids[index]);
    if (!stmt)
        return -1;
    struct timing timings[64] = {{0}};
    int n = 0, got = SQLITE_DONE;
    while (n < (int)ARRAY_LEN(timings) && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct timing *timing = &timings[n++];
        timing->pass = sqlite3_column_int(stmt, 1);
        timing->outcome = rederive_outcome(stmt, 2);
        timing->detail = "";
        timing->accepted = sqlite3_column_int(stmt, 3);
        timing->tried = sqlite3_column_int(stmt, 4);
        timing->iterations = (uint32_t)sqlite3_column_int64(stmt, 5);
        timing->copies = (uint32_t)sqlite3_column_int64(stmt, 6);
        timing->calib_clk = sqlite3_column_double(stmt, 7);
        timing->overhead_tsc = sqlite3_column_double(stmt, 8);
        timing->counted = sqlite3_column_type(stmt, 9) != SQLITE_NULL;
        timing->overhead_counted_clk = sqlite3_column_double(stmt, 9);
        if (rederive_samples(store, arena, sqlite3_column_int64(stmt, 0), timing, err) != 0)
            return -1;
    }
    sqlite3_reset(stmt);
    if (got != SQLITE_DONE && got != SQLITE_ROW)
        return store_error(store, err, "read timings");
    struct estimate *estimate = &test->estimates[index];
    *estimate = derive_kernel(&test->facts[index], test->issue_width, timings, n);
    // What happened to the kernel stays. Only that its passes disagreed was a conclusion from its
    // samples, so that one is drawn again.
    if (outcome != OUTCOME_OK && (outcome != OUTCOME_UNSTABLE || n == 0))
        estimate->outcome = outcome;
    else if (estimate->outcome != OUTCOME_OK && !*test->kernel_details[index])
        test->kernel_details[index] = "the passes disagree";
    return 0;
}

static int rederive_kernels(struct store *store, struct arena *arena, struct rederive_test *test,
                            struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM kernel WHERE test_id = ?1", "i",
                      test->test_id) < 0)
        return -1;
    test->facts = arena_alloc(arena, ((size_t)n + 1) * sizeof *test->facts);
    test->estimates = arena_alloc(arena, ((size_t)n + 1) * sizeof *test->estimates);
    test->kernel_ids = arena_alloc(arena, ((size_t)n + 1) * sizeof *test->kernel_ids);
    test->kernel_details = arena_alloc(arena, ((size_t)n + 1) * sizeof *test->kernel_details);
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT kernel_id, shape, instances, instrs, extra_clk, "
                                    "outcome, detail "
                                    "FROM kernel WHERE test_id = ?1 ORDER BY position",
                                    "i", test->test_id);
    if (!stmt)
        return -1;
    int got = SQLITE_DONE;
    while (test->nkernels < n && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        int at = test->nkernels++;
        test->kernel_ids[at] = sqlite3_column_int64(stmt, 0);
        test->facts[at] = (struct kernel_facts){
            rederive_text(arena, stmt, 1), sqlite3_column_int(stmt, 2), sqlite3_column_int(stmt, 3),
            sqlite3_column_double(stmt, 4), test->kind == TEST_LATENCY};
        enum outcome outcome = rederive_outcome(stmt, 5);
        test->kernel_details[at] = rederive_text(arena, stmt, 6);
        if (rederive_kernel(store, arena, test, at, outcome, err) != 0)
            return -1;
    }
    sqlite3_reset(stmt);
    return got == SQLITE_DONE || got == SQLITE_ROW ? 0 : store_error(store, err, "read kernels");
}

// The reason that a test without a value gives: its first kernel's of that outcome.
static const char *rederive_detail(const struct rederive_test *test, enum outcome outcome)
{
    for (int i = 0; i < test->nkernels; i++)
        if (test->estimates[i].outcome == outcome && *test->kernel_details[i])
            return test->kernel_details[i];
    return "";
}

static int rederive_store(struct store *store, const struct rederive_test *test, struct err *err)
{
    struct test_result result = {
        .outcome = test->planned, .detail = test->detail, .kernel = -1, .bound = test->bound};
    if (test->nkernels > 0) {
        result = derive_test(test->kind, test->bound, test->facts, test->estimates, test->nkernels);
        if (result.outcome != OUTCOME_OK)
            result.detail = rederive_detail(test, result.outcome);
    }
    for (int i = 0; i < test->nkernels; i++)
        if (store_put_estimate(store, test->kernel_ids[i], &test->estimates[i], err) != 0)
            return -1;
    int64_t kernel_id = result.kernel >= 0 ? test->kernel_ids[result.kernel] : 0;
    return store_put_result(store, test->test_id, &result, kernel_id, err);
}

static int rederive_one(struct store *store, struct arena *arena, sqlite3_stmt *stmt,
                        struct err *err)
{
    struct rederive_test test = {.test_id = sqlite3_column_int64(stmt, 0)};
    const char *kind = rederive_text(arena, stmt, 1);
    test.kind = strcmp(kind, "latency") == 0 ? TEST_LATENCY : TEST_THROUGHPUT;
    test.bound = strcmp(rederive_text(arena, stmt, 2), "upper") == 0 ? BOUND_UPPER : BOUND_EXACT;
    test.planned = rederive_outcome(stmt, 3);
    test.detail = rederive_text(arena, stmt, 4);
    test.issue_width = sqlite3_column_int(stmt, 5);
    if (rederive_kernels(store, arena, &test, err) != 0)
        return -1;
    return rederive_store(store, &test, err);
}

// Removes what was derived, after keeping it aside to say later what changed.
static int rederive_forget(struct store *store, int64_t run_id, struct err *err)
{
    if (store_execute(store, err,
                      "DELETE FROM estimate_state WHERE kernel_id IN (SELECT kernel_id FROM kernel "
                      "JOIN test USING (test_id) JOIN run_form USING (run_form_id) "
                      "WHERE ?1 = 0 OR run_id = ?1)",
                      "i", run_id) != 0 ||
        store_script(store, err,
                     "DROP TABLE IF EXISTS temp.old_result; "
                     "CREATE TEMP TABLE old_result AS SELECT test_id, outcome, value_clk "
                     "FROM main.result",
                     "keep the old results") != 0 ||
        store_execute(store, err,
                      "DELETE FROM estimate WHERE kernel_id IN (SELECT kernel_id FROM kernel "
                      "JOIN test USING (test_id) JOIN run_form USING (run_form_id) "
                      "WHERE ?1 = 0 OR run_id = ?1)",
                      "i", run_id) != 0)
        return -1;
    return store_execute(store, err,
                         "DELETE FROM result WHERE test_id IN (SELECT test_id FROM test "
                         "JOIN run_form USING (run_form_id) WHERE ?1 = 0 OR run_id = ?1)",
                         "i", run_id);
}

static int rederive_tests(struct store *store, int64_t run_id, int64_t *results, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT test_id, kind, bound, test.outcome, test.detail, issue_width FROM run "
                   "JOIN run_form USING (run_id) JOIN test USING (run_form_id) "
                   "WHERE ?1 = 0 OR run_id = ?1 ORDER BY test_id",
                   "i", run_id);
    if (!stmt)
        return -1;
    int got = SQLITE_DONE, result = 0;
    for (*results = 0; result == 0 && (got = sqlite3_step(stmt)) == SQLITE_ROW; ++*results) {
        struct arena arena = {0};
        result = rederive_one(store, &arena, stmt, err);
        arena_free(&arena);
    }
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(store, err, "read tests");
    sqlite3_reset(stmt);
    return result;
}

static int rederive_all(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                        struct err *err)
{
    if (rederive_forget(store, run_id, err) != 0 ||
        rederive_tests(store, run_id, results, err) != 0)
        return -1;
    int got =
        store_get_int(store, err, changed,
                      "SELECT count(*) FROM result LEFT JOIN temp.old_result AS old "
                      "USING (test_id) WHERE result.outcome IS NOT old.outcome OR "
                      "abs(coalesce(result.value_clk, 0) - coalesce(old.value_clk, 0)) > 1e-9",
                      "");
    return got < 0 ? -1 : 0;
}

int store_rederive(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                   struct err *err)
{
    bool own;
    *results = *changed = 0;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = rederive_all(store, run_id, results, changed, err);
    return store_unit_end(store, own, result, err);
}
