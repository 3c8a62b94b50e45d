// SPDX-License-Identifier: MIT
// Derives results from stored samples again, after the method in derive.c has changed; see
// rederive.h.
#include "rederive.h"

#include "derive/derive.h"
#include "plan/plan.h"
#include "store/store_internal.h"
#include "store/store_timing.h"
#include "util/mem.h"

// A form that is derived again. All memory is the arena's, which is reset per form.
struct rederive_form {
    int64_t run_form_id;
    int issue_width, ntests;
    struct executed_test *tests;
    int64_t *test_ids, **kernel_ids; // of each test
};

#define KERNEL(...) STORE_FIELD(struct executed_kernel, __VA_ARGS__)
static const struct store_field kernel_fields[] = {KERNEL(facts.shape),
                                                   KERNEL(facts.instances),
                                                   KERNEL(facts.instrs),
                                                   KERNEL(facts.extra_clk),
                                                   KERNEL(outcome, .out.words = &words_outcome),
                                                   KERNEL(detail)};
static const struct store_record kernel_record = {
    "kernel", "test_id, position", STORE_FIELDS(struct executed_kernel, kernel_fields),
    .id = "kernel_id"};

#define TEST(...) STORE_FIELD(struct executed_test, __VA_ARGS__)
static const struct store_field test_fields[] = {
    TEST(kind, .out.words = &words_test),
    TEST(bound, .out.words = &words_bound),
    TEST(planned, .out.words = &words_outcome, .column = "outcome"),
    TEST(detail),
    TEST(variant),
    TEST(src)};
static const struct store_record test_record = {"test", "run_form_id, position",
                                                STORE_FIELDS(struct executed_test, test_fields),
                                                .id = "test_id"};

static int rederive_read(struct store *store, struct arena *arena, struct rederive_form *form,
                         struct err *err)
{
    struct store_list tests, kernels;
    if (store_get_rows(store, &test_record, form->run_form_id, arena, &tests, err) != 0)
        return -1;
    form->tests = tests.rows;
    form->test_ids = tests.ids;
    form->ntests = tests.n;
    form->kernel_ids = arena_alloc(arena, ((size_t)tests.n + 1) * sizeof *form->kernel_ids);
    for (int t = 0; t < tests.n; t++) {
        struct executed_test *test = &form->tests[t];
        if (store_get_rows(store, &kernel_record, tests.ids[t], arena, &kernels, err) != 0)
            return -1;
        form->kernel_ids[t] = kernels.ids;
        test->nkernels = kernels.n;
        test->kernels = kernels.rows;
        for (int k = 0; k < kernels.n; k++) {
            struct executed_kernel *kernel = (struct executed_kernel *)kernels.rows + k;
            kernel->facts.chain = test->kind == TEST_LATENCY;
            if (store_get_timings(store, kernels.ids[k], arena, &kernel->timings, &kernel->ntimings,
                                  err) != 0)
                return -1;
            derive_take_back(kernel);
        }
    }
    return 0;
}

static int rederive_store(struct store *store, const struct rederive_form *form, int t,
                          const struct derived_test *derived, struct err *err)
{
    const int64_t *ids = form->kernel_ids[t];
    for (int i = 0; i < form->tests[t].nkernels; i++)
        if (store_put_estimate(store, ids[i], &derived->kernels[i].estimate, err) != 0)
            return -1;
    int kernel = derived->result.kernel;
    return store_put_result(store, form->test_ids[t], &derived->result,
                            kernel >= 0 ? ids[kernel] : 0, err);
}

static int rederive_form(struct store *store, struct arena *arena, struct rederive_form *form,
                         struct err *err)
{
    if (rederive_read(store, arena, form, err) != 0)
        return -1;
    struct derived_test *derived = arena_alloc(arena, (size_t)form->ntests * sizeof *derived);
    derive_form(form->tests, form->ntests, form->issue_width, arena, derived);
    for (int t = 0; t < form->ntests; t++)
        if (rederive_store(store, form, t, &derived[t], err) != 0)
            return -1;
    return store_summary_put(store, form->run_form_id, err);
}

// Makes temp.rederived: the wanted runs that have the facts which results are made from. A timed
// run that is kept without samples, or without kernels, keeps its results, too.
static int rederive_choose(struct store *store, int64_t run_id, struct err *err)
{
    if (store_script(store, err, "DROP TABLE IF EXISTS temp.rederived", "forget what it chose") !=
        0)
        return -1;
    return store_execute(
        store, err,
        "CREATE TEMP TABLE rederived AS SELECT run_id FROM run WHERE (?1 = 0 OR run_id = ?1) AND "
        "(EXISTS (SELECT 1 FROM run_form JOIN test USING (run_form_id) JOIN kernel USING (test_id) "
        "JOIN timing USING (kernel_id) JOIN sample USING (timing_id) "
        "WHERE run_form.run_id = run.run_id) OR NOT EXISTS (SELECT 1 FROM run_form "
        "JOIN test USING (run_form_id) JOIN kernel USING (test_id) JOIN timing USING (kernel_id) "
        "WHERE run_form.run_id = run.run_id AND timing.accepted > 0) AND NOT EXISTS "
        "(SELECT 1 FROM run_form JOIN test USING (run_form_id) JOIN kernel USING (test_id) "
        "JOIN estimate USING (kernel_id) WHERE run_form.run_id = run.run_id "
        "AND estimate.outcome = 'ok')) AND NOT (" STORE_RUN_IS_SLIM ")",
        "i", run_id);
}

// Removes derived rows, after a copy that later shows what changed.
static int rederive_forget(struct store *store, struct err *err)
{
    return store_script(
        store, err,
        "DROP TABLE IF EXISTS temp.old_result; "
        "CREATE TEMP TABLE old_result AS SELECT test_id, outcome, detail, value_clk "
        "FROM main.result; "
        "DELETE FROM estimate_state WHERE kernel_id IN (SELECT kernel_id FROM kernel "
        "JOIN test USING (test_id) JOIN run_form USING (run_form_id) "
        "JOIN temp.rederived USING (run_id)); "
        "DELETE FROM estimate WHERE kernel_id IN (SELECT kernel_id FROM kernel "
        "JOIN test USING (test_id) JOIN run_form USING (run_form_id) "
        "JOIN temp.rederived USING (run_id)); "
        "DELETE FROM result WHERE test_id IN (SELECT test_id FROM test "
        "JOIN run_form USING (run_form_id) JOIN temp.rederived USING (run_id))",
        "forget the old results");
}

// Announces the kernels to come.
static int rederive_announce(struct store *store, struct progress *progress, struct err *err)
{
    int64_t kernels = 0;
    if (!progress)
        return 0;
    if (store_get_int(store, err, &kernels,
                      "SELECT count(*) FROM temp.rederived JOIN run_form USING (run_id) "
                      "JOIN test USING (run_form_id) JOIN kernel USING (test_id)",
                      "") < 0)
        return -1;
    progress_more(progress, (int)kernels, 0);
    return 0;
}

static void rederive_show(struct progress *progress, const struct rederive_form *form)
{
    for (int t = 0; progress && t < form->ntests; t++)
        progress_step(progress, form->tests[t].nkernels, false);
}

static int rederive_forms(struct store *store, struct progress *progress, int64_t *results,
                          struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT run_form_id, issue_width FROM temp.rederived JOIN run "
                                    "USING (run_id) JOIN run_form USING (run_id) "
                                    "ORDER BY run_form_id",
                                    "");
    if (!stmt)
        return -1;
    int got = SQLITE_DONE, result = 0;
    while (result == 0 && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct arena arena = {0};
        struct rederive_form form = {.run_form_id = sqlite3_column_int64(stmt, 0),
                                     .issue_width = sqlite3_column_int(stmt, 1)};
        result = rederive_form(store, &arena, &form, err);
        *results += form.ntests;
        rederive_show(progress, &form);
        arena_free(&arena);
    }
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(store, err, "read forms");
    sqlite3_reset(stmt);
    return result;
}

static int rederive_all(struct store *store, int64_t run_id, struct progress *progress,
                        int64_t *results, int64_t *changed, struct err *err)
{
    if (rederive_choose(store, run_id, err) != 0 || rederive_announce(store, progress, err) != 0 ||
        rederive_forget(store, err) != 0 || rederive_forms(store, progress, results, err) != 0)
        return -1;
    int got =
        store_get_int(store, err, changed,
                      "SELECT count(*) FROM result LEFT JOIN temp.old_result AS old "
                      "USING (test_id) WHERE result.outcome IS NOT old.outcome OR "
                      "result.detail IS NOT old.detail OR "
                      "abs(coalesce(result.value_clk, 0) - coalesce(old.value_clk, 0)) > 1e-9",
                      "");
    return got < 0 ? -1 : rederive_properties(store, run_id, results, changed, err);
}

int rederive_results(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                     struct err *err)
{
    return rederive_shown(store, run_id, NULL, results, changed, err);
}

int rederive_shown(struct store *store, int64_t run_id, struct progress *progress, int64_t *results,
                   int64_t *changed, struct err *err)
{
    bool own;
    *results = *changed = 0;
    if (store_unit_begin(store, &own, err) != 0)
        return -1;
    int result = rederive_all(store, run_id, progress, results, changed, err);
    return store_unit_end(store, own, result, err);
}

int rederive_count_bare(struct store *store, int64_t run_id, int64_t *bare, struct err *err)
{
    int got = store_get_int(store, err, bare,
                            "SELECT count(*) FROM run WHERE (?1 = 0 OR run_id = ?1) "
                            "AND run_id NOT IN (SELECT run_id FROM temp.rederived)",
                            "i", run_id);
    return got < 0 ? -1 : 0;
}
