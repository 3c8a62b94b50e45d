// SPDX-License-Identifier: MIT
// Derives results from stored samples again, after the method in derive.c has changed; see
// store_rederive.h.
#include "store_internal.h"

#include "derive/derive.h"
#include "plan/plan.h"
#include "store_property.h"
#include "store_rederive.h"
#include "store_timing.h"
#include "util/mem.h"

#include <string.h>

// A form that is derived again. All memory is the arena's, which is reset per form.
struct rederive_form {
    int64_t run_form_id;
    int issue_width, ntests;
    struct executed_test *tests;
    struct rederive_test {
        int64_t test_id;
        int64_t *kernel_ids;
    } * ids; // of each test
};

static int rederive_end(struct store *store, sqlite3_stmt *stmt, int got, const char *doing,
                        struct err *err)
{
    sqlite3_reset(stmt);
    return got == SQLITE_DONE || got == SQLITE_ROW ? 0 : store_error(store, err, doing);
}

static int rederive_kernels(struct store *store, struct arena *arena, struct rederive_test *ids,
                            struct executed_test *test, struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM kernel WHERE test_id = ?1", "i",
                      ids->test_id) < 0)
        return -1;
    struct executed_kernel *kernels = arena_alloc(arena, ((size_t)n + 1) * sizeof *kernels);
    ids->kernel_ids = arena_alloc(arena, ((size_t)n + 1) * sizeof *ids->kernel_ids);
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT kernel_id, shape, instances, instrs, extra_clk, "
                                    "outcome, detail "
                                    "FROM kernel WHERE test_id = ?1 ORDER BY position",
                                    "i", ids->test_id);
    if (!stmt)
        return -1;
    int at = 0, got = SQLITE_DONE;
    for (; at < n && (got = sqlite3_step(stmt)) == SQLITE_ROW; at++) {
        struct executed_kernel *kernel = &kernels[at];
        ids->kernel_ids[at] = sqlite3_column_int64(stmt, 0);
        kernel->facts =
            (struct kernel_facts){store_column_text(stmt, 1, arena), sqlite3_column_int(stmt, 2),
                                  sqlite3_column_int(stmt, 3), sqlite3_column_double(stmt, 4),
                                  test->kind == TEST_LATENCY};
        kernel->outcome = store_column_outcome(stmt, 5);
        kernel->detail = store_column_text(stmt, 6, arena);
        if (store_get_timings(store, ids->kernel_ids[at], arena, &kernel->timings,
                              &kernel->ntimings, err) != 0)
            return -1;
        derive_take_back(kernel);
    }
    test->kernels = kernels;
    test->nkernels = at;
    return rederive_end(store, stmt, got, "read kernels", err);
}

static int rederive_read(struct store *store, struct arena *arena, struct rederive_form *form,
                         struct err *err)
{
    int64_t n = 0;
    if (store_get_int(store, err, &n, "SELECT count(*) FROM test WHERE run_form_id = ?1", "i",
                      form->run_form_id) < 0)
        return -1;
    form->tests = arena_alloc(arena, ((size_t)n + 1) * sizeof *form->tests);
    form->ids = arena_alloc(arena, ((size_t)n + 1) * sizeof *form->ids);
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT test_id, kind, bound, outcome, detail, variant, src "
                                    "FROM test WHERE run_form_id = ?1 ORDER BY test_id",
                                    "i", form->run_form_id);
    if (!stmt)
        return -1;
    int got = SQLITE_DONE;
    while (form->ntests < n && (got = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct executed_test *test = &form->tests[form->ntests];
        struct rederive_test *ids = &form->ids[form->ntests++];
        bool latency = strcmp(store_column_text(stmt, 1, arena), "latency") == 0;
        bool upper = strcmp(store_column_text(stmt, 2, arena), "upper") == 0;
        ids->test_id = sqlite3_column_int64(stmt, 0);
        test->kind = latency ? TEST_LATENCY : TEST_THROUGHPUT;
        test->bound = upper ? BOUND_UPPER : BOUND_EXACT;
        test->planned = store_column_outcome(stmt, 3);
        test->detail = store_column_text(stmt, 4, arena);
        test->variant = store_column_text(stmt, 5, arena);
        test->src = store_column_text(stmt, 6, arena);
        if (rederive_kernels(store, arena, ids, test, err) != 0)
            return -1;
    }
    return rederive_end(store, stmt, got, "read tests", err);
}

static int rederive_store(struct store *store, const struct rederive_test *ids, int nkernels,
                          const struct derived_test *derived, struct err *err)
{
    for (int i = 0; i < nkernels; i++)
        if (store_put_estimate(store, ids->kernel_ids[i], &derived->kernels[i].estimate, err) != 0)
            return -1;
    int kernel = derived->result.kernel;
    return store_put_result(store, ids->test_id, &derived->result,
                            kernel >= 0 ? ids->kernel_ids[kernel] : 0, err);
}

static int rederive_form(struct store *store, struct arena *arena, struct rederive_form *form,
                         struct err *err)
{
    if (rederive_read(store, arena, form, err) != 0)
        return -1;
    struct derived_test *derived = arena_alloc(arena, (size_t)form->ntests * sizeof *derived);
    derive_form(form->tests, form->ntests, form->issue_width, arena, derived);
    for (int t = 0; t < form->ntests; t++)
        if (rederive_store(store, &form->ids[t], form->tests[t].nkernels, &derived[t], err) != 0)
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

static int rederive_forms(struct store *store, int64_t *results, struct err *err)
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
        arena_free(&arena);
    }
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(store, err, "read forms");
    sqlite3_reset(stmt);
    return result;
}

static int rederive_all(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                        struct err *err)
{
    if (rederive_choose(store, run_id, err) != 0 || rederive_forget(store, err) != 0 ||
        rederive_forms(store, results, err) != 0)
        return -1;
    int got =
        store_get_int(store, err, changed,
                      "SELECT count(*) FROM result LEFT JOIN temp.old_result AS old "
                      "USING (test_id) WHERE result.outcome IS NOT old.outcome OR "
                      "result.detail IS NOT old.detail OR "
                      "abs(coalesce(result.value_clk, 0) - coalesce(old.value_clk, 0)) > 1e-9",
                      "");
    return got < 0 ? -1 : store_rederive_properties(store, run_id, results, changed, err);
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

int store_count_bare(struct store *store, int64_t run_id, int64_t *bare, struct err *err)
{
    int got = store_get_int(store, err, bare,
                            "SELECT count(*) FROM run WHERE (?1 = 0 OR run_id = ?1) "
                            "AND run_id NOT IN (SELECT run_id FROM temp.rederived)",
                            "i", run_id);
    return got < 0 ? -1 : 0;
}
