// SPDX-License-Identifier: MIT
// Ports use what the rest of the run has in memory: the lists as they were when it began, and the
// throughputs as they were derived. Neither is read a second time, and both equal what reading
// would give.
#include "fixtures/store_fixture.h"
#include "list/select.h"
#include "portrun/portrun_model.h"
#include "run/run_writer.h"
#include "store/store_ports.h"

enum { EVERY = 150, BATCHES = 3, WIDTH = 6, SAMPLES = 8, REPEATS = 100 };

static char root[] = "/tmp/latput-test-memory-XXXXXX";

static void __attribute__((format(printf, 1, 2))) shell(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

// A data root of its own, whose lists may vanish.
static int root_make(void **state)
{
    (void)state;
    if (!mkdtemp(root))
        return -1;
    shell("ln -s $PWD/macros $PWD/db $PWD/cpuinfo %s; cp -r lists %s", root, root);
    return setenv("LATPUT_ROOT", root, 1);
}

static int root_remove(void **state)
{
    (void)state;
    shell("rm -rf %s", root);
    return 0;
}

static uint32_t drawn(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

// Two passes that agree about some time, or a failure now and then.
static void kernel_make_up(struct exec_kernel *kernel, const struct kernel_spec *spec,
                           uint32_t *seed, struct arena *arena)
{
    *kernel = (struct exec_kernel){.finished = true, .outcome = OUTCOME_OK, .detail = ""};
    if (drawn(seed) % 10 == 0) {
        kernel->outcome = OUTCOME_SIGNALLED;
        kernel->detail = "SIGILL";
        return;
    }
    double clk = (0.2 + drawn(seed) % 1000 / 100.0) * (spec->instances ? spec->instances : 1);
    struct sample *samples = arena_alloc(arena, SAMPLES * sizeof *samples);
    for (int i = 0; i < SAMPLES; i++)
        samples[i] = (struct sample){.kernel_tsc = (uint32_t)(clk * REPEATS * 2) + 50,
                                     .before_tsc = 6050,
                                     .after_tsc = 6050};
    for (kernel->ntimings = 0; kernel->ntimings < 2; kernel->ntimings++)
        kernel->timings[kernel->ntimings] = (struct timing){.pass = kernel->ntimings + 1,
                                                            .outcome = OUTCOME_OK,
                                                            .detail = "",
                                                            .accepted = SAMPLES,
                                                            .tried = SAMPLES,
                                                            .iterations = REPEATS,
                                                            .copies = 1,
                                                            .calib_clk = 3000,
                                                            .overhead_tsc = 50,
                                                            .samples = samples,
                                                            .nsamples = SAMPLES};
}

// A batch of these rows as if it had been measured.
static struct batch *batch_make_up(const struct selected_row *rows, int first, int n,
                                   unsigned tests, uint32_t *seed)
{
    const struct plan_params params = {.issue_width = WIDTH, .tests = tests};
    struct batch *batch = xcalloc(1, sizeof *batch);
    struct err err = {0};
    batch->rows = arena_alloc(&batch->arena, (size_t)n * sizeof *batch->rows);
    for (int r = 0; r < n; r++) {
        struct batch_row *row = &batch->rows[batch->nrows++];
        *row = (struct batch_row){.index = first + r, .first_kernel = batch->nkernels};
        if (plan_row(rows[first + r].row, &params, &batch->arena, &row->plan, &err) != 0)
            fail_msg("%s", err.text);
        for (int t = 0; t < row->plan.ntests; t++)
            row->nkernels += row->plan.tests[t].nkernels;
        batch->nkernels += row->nkernels;
    }
    batch->measured =
        arena_alloc(&batch->arena, ((size_t)batch->nkernels + 1) * sizeof *batch->measured);
    struct exec_kernel *kernel = batch->measured;
    for (int r = 0; r < n; r++)
        for (int t = 0; t < batch->rows[r].plan.ntests; t++)
            for (int k = 0; k < batch->rows[r].plan.tests[t].nkernels; k++)
                kernel_make_up(kernel++, &batch->rows[r].plan.tests[t].kernels[k], seed,
                               &batch->arena);
    return batch;
}

// Rows that a run might have: some of all, more of those whose time depends on data or whose
// operands are set anew.
static int rows_choose(const struct selection *all, struct selected_row *rows)
{
    int n = 0;
    for (int i = 0; i < all->nrows; i++)
        if (i % EVERY == 0 || (i % 5 == 0 && all->rows[i].row->data != DATA_ORDINARY) ||
            strncmp(all->rows[i].row->mnemonic, "vpgather", 8) == 0)
            rows[n++] = all->rows[i];
    return n;
}

static struct run_kept keep_made_up(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int nrows, unsigned tests)
{
    struct run_kept kept;
    struct err err = {0};
    uint32_t seed = 7;
    struct progress *progress = progress_start(nrows, true);
    struct run_writer *writer = run_writer_start(store, run_id, rows, WIDTH, progress);
    for (int b = 0; b < BATCHES; b++) {
        int first = nrows * b / BATCHES, end = nrows * (b + 1) / BATCHES;
        if (run_writer_put(writer, batch_make_up(rows, first, end - first, tests, &seed), &err) !=
            0)
            fail_msg("%s", err.text);
    }
    if (run_writer_end(writer, &kept, &err) != 0)
        fail_msg("%s", err.text);
    progress_end(progress);
    return kept;
}

// Numbers in the view are the same.
static void expect_as_in_view(struct store *store, int64_t run_id,
                              const struct stored_throughputs *values)
{
    sqlite3_stmt *stmt;
    int seen = 0;
    assert_int_equal(sqlite3_prepare_v2(store->db,
                                        "SELECT form, enc, bits, rthroughput_clk "
                                        "FROM run_instruction_table WHERE run_id = ?1 "
                                        "AND rthroughput_clk IS NOT NULL",
                                        -1, &stmt, NULL),
                     SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, run_id);
    for (; sqlite3_step(stmt) == SQLITE_ROW; seen++) {
        const struct stored_form form = {(const char *)sqlite3_column_text(stmt, 0),
                                         (const char *)sqlite3_column_text(stmt, 1),
                                         sqlite3_column_int(stmt, 2)};
        if (stored_throughput_clk(values, &form) != sqlite3_column_double(stmt, 3))
            fail_msg("%s: %f, but %f in the view", form.form, stored_throughput_clk(values, &form),
                     sqlite3_column_double(stmt, 3));
    }
    sqlite3_finalize(stmt);
    assert_true(seen > values->n / 2 && seen <= values->n);
}

// The writer keeps what the database gives.
static void test_throughputs(void **state)
{
    (void)state;
    struct fixture fixture;
    struct selection all;
    struct err err = {0};
    struct arena arena = {0};
    struct stored_throughputs stored;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(select_rows(NULL, 0, NULL, &all, &err), 0);
    struct selected_row *rows = xcalloc((size_t)all.nrows, sizeof *rows);
    int nrows = rows_choose(&all, rows);
    struct run_kept kept = keep_made_up(store, run_id, rows, nrows, TESTS_ALL);
    assert_int_equal(kept.forms, nrows);
    assert_true(kept.timed);
    assert_int_equal(store_get_throughputs(store, run_id, &stored, &arena, &err), 0);
    assert_true(stored.n > nrows / 2 && stored.n < nrows); // some failed
    assert_int_equal(kept.throughputs.n, stored.n);
    for (int i = 0; i < stored.n; i++) {
        assert_int_equal(
            stored_form_compare(&kept.throughputs.values[i].form, &stored.values[i].form), 0);
        assert_true(kept.throughputs.values[i].value_clk == stored.values[i].value_clk);
    }
    expect_as_in_view(store, run_id, &stored);
    // A run that asks for none has none, and the database gives those of the one before.
    int64_t later_id = fixture_run(store, "testa", 0xb00f21);
    struct run_kept none = keep_made_up(store, later_id, rows, nrows, TESTS_LATENCY);
    assert_int_equal(none.forms, nrows);
    assert_false(none.timed);
    assert_int_equal(none.throughputs.n, 0);
    assert_int_equal(store_get_throughputs(store, later_id, &stored, &arena, &err), 0);
    assert_int_equal(stored.n, kept.throughputs.n);
    run_kept_free(&none);
    run_kept_free(&kept);
    free(rows);
    selection_free(&all);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

static void expect_same_forms(const struct portrun_forms *a, const struct portrun_forms *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->first_requested, b->first_requested);
    for (int i = 0; i < a->n; i++) {
        assert_string_equal(a->forms[i].name, b->forms[i].name);
        assert_string_equal(a->rows[i]->form, b->rows[i]->form);
        assert_int_equal(a->forms[i].blocker_cost, b->forms[i].blocker_cost);
    }
}

// Begins a run: reads the lists that it is about, one of them by another spelling of its path.
static void begin(struct selection *asked, struct selection *all)
{
    struct err err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/lists/../lists/sse_fp.csv", root);
    const char *const names[] = {path, "integer_logic", "selection/quick"};
    if (select_rows(names, ARRAY_LEN(names), NULL, asked, &err) != 0)
        fail_msg("%s", err.text);
    // From here on those two are not looked at again.
    shell("echo nonsense > %s/lists/sse_fp.csv; echo nonsense > %s/lists/integer_logic.csv", root,
          root);
    if (select_all_beside(asked, all, &err) != 0)
        fail_msg("%s", err.text);
}

// The forms of the ports need the lists no more, and are those that reading the lists gives.
static void test_lists(void **state)
{
    (void)state;
    struct selection before, asked, all, none;
    struct portrun_forms read, remembered;
    struct err err = {0};
    assert_int_equal(select_rows(NULL, 0, NULL, &before, &err), 0);
    begin(&asked, &all);
    shell("rm -r %s/lists", root);
    assert_int_equal(select_rows(NULL, 0, NULL, &none, &err), -1);
    assert_int_equal(all.nrows, before.nrows);
    assert_int_equal(all.nlists, before.nlists - 2);
    portrun_forms_make(&read, &before, asked.rows, asked.nrows, NULL);
    portrun_forms_make(&remembered, &all, asked.rows, asked.nrows, NULL);
    assert_int_equal(read.n, read.first_requested + asked.nrows);
    assert_true(read.first_requested > 10000);
    expect_same_forms(&read, &remembered);
    portrun_forms_free(&read);
    portrun_forms_free(&remembered);
    selection_free(&all);
    selection_free(&asked);
    selection_free(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_throughputs),
        cmocka_unit_test(test_lists), // takes the lists away
    };
    return cmocka_run_group_tests(tests, root_make, root_remove);
}
