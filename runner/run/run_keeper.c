// SPDX-License-Identifier: MIT
// Derives and stores measured batches; see run_keeper.h. A row whose kernels were not all measured
// (the run was stopped) is left out, so that --resume measures it again as a whole.
#include "run_keeper.h"
#include "store/store_form.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct run_keeper {
    struct store *store;
    int64_t run_id;
    int issue_width;
    struct progress *progress;
    int64_t forms;
    int64_t doubted; // kernels whose counts were left out
    const struct selected_row *rows;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct batch *next; // the slot
    bool busy, stop;
    int status;
    struct err err;
};

static void measure_kernel(const struct exec_kernel *from, const struct kernel_facts *facts,
                           int issue_width, struct measured_kernel *to)
{
    *to = (struct measured_kernel){
        .outcome = from->outcome,
        .detail = from->detail,
        .code = from->code_bytes ? from->code : NULL,
        .code_bytes =
            (int)(from->code_bytes < CORE_CODE_MAX ? from->code_bytes : (uint32_t)CORE_CODE_MAX),
        .timings = from->timings,
        .ntimings = from->ntimings};
    to->estimate = derive_kernel(facts, issue_width, from->timings, from->ntimings);
    if (from->outcome != OUTCOME_OK)
        to->estimate.outcome = from->outcome;
    else if (to->estimate.outcome != OUTCOME_OK) {
        to->outcome = to->estimate.outcome;
        to->detail = "the passes disagree";
    }
}

// The reason that a test without a value gives: its first failed kernel's.
static const char *test_detail(const struct measured_kernel *kernels, int nkernels,
                               enum outcome outcome)
{
    for (int i = 0; i < nkernels; i++)
        if (kernels[i].outcome == outcome && kernels[i].detail && kernels[i].detail[0])
            return kernels[i].detail;
    return "";
}

static void measure_test(struct arena *arena, const struct test *test,
                         const struct exec_kernel *measured, int issue_width,
                         struct measured_test *to)
{
    size_t n = (size_t)test->nkernels;
    struct measured_kernel *kernels = arena_alloc(arena, n * sizeof *kernels);
    struct kernel_facts *facts = arena_alloc(arena, n * sizeof *facts);
    struct estimate *estimates = arena_alloc(arena, n * sizeof *estimates);
    for (int i = 0; i < test->nkernels; i++) {
        const struct kernel_spec *spec = &test->kernels[i];
        facts[i] = (struct kernel_facts){spec->shape, spec->instances, spec->instrs,
                                         spec->extra_clk, test->kind == TEST_LATENCY};
        measure_kernel(&measured[i], &facts[i], issue_width, &kernels[i]);
        estimates[i] = kernels[i].estimate;
    }
    to->kernels = kernels;
    to->result = derive_test(test->kind, test->bound, facts, estimates, test->nkernels);
    if (test->nkernels == 0) {
        to->result.outcome = test->outcome;
        to->result.detail = test->detail;
    } else if (to->result.outcome != OUTCOME_OK && !*to->result.detail) {
        to->result.detail = test_detail(kernels, test->nkernels, to->result.outcome);
    }
}

static bool row_complete(const struct batch *batch, const struct batch_row *row)
{
    for (int k = 0; k < row->nkernels; k++)
        if (!batch->measured[row->first_kernel + k].finished)
            return false;
    return true;
}

// Tests that do not make their form fail; run_test in db/views.sql says the same.
static bool is_outside(const struct test *test, enum outcome outcome)
{
    bool through_memory = strstr(test->src, ".data") || strstr(test->dst, ".data");
    return test->kind == TEST_LATENCY &&
           (outcome == OUTCOME_NOT_MEASURABLE ||
            (outcome == OUTCOME_UNSTABLE && through_memory && test->bound == BOUND_UPPER));
}

static int store_row(struct run_keeper *keeper, struct batch *batch, const struct batch_row *row,
                     struct err *err)
{
    const struct plan *plan = &row->plan;
    struct measured_test *tests = arena_alloc(&batch->arena, (size_t)plan->ntests * sizeof *tests);
    int k = row->first_kernel;
    bool ok = plan->ntests > 0;
    for (int t = 0; t < plan->ntests; t++) {
        measure_test(&batch->arena, &plan->tests[t], &batch->measured[k], keeper->issue_width,
                     &tests[t]);
        k += plan->tests[t].nkernels;
        for (int i = 0; i < plan->tests[t].nkernels; i++)
            keeper->doubted += tests[t].kernels[i].estimate.doubted;
        ok &= tests[t].result.outcome == OUTCOME_OK ||
              is_outside(&plan->tests[t], tests[t].result.outcome);
    }
    const struct selected_row *selected = &keeper->rows[row->index];
    if (store_put_form(keeper->store, keeper->run_id, selected->list->name, selected->position,
                       plan, tests, err) != 0)
        return -1;
    keeper->forms++;
    progress_form(keeper->progress, selected->list->name, selected->list->nrows, ok);
    return 0;
}

static int store_batch(struct run_keeper *keeper, struct batch *batch, struct err *err)
{
    int status = store_begin(keeper->store, err);
    for (int r = 0; r < batch->nrows && status == 0; r++)
        if (row_complete(batch, &batch->rows[r]))
            status = store_row(keeper, batch, &batch->rows[r], err);
    if (status == 0)
        status = store_commit(keeper->store, err);
    if (status != 0)
        store_rollback(keeper->store);
    return status;
}

static void *storer_thread(void *argument)
{
    struct run_keeper *keeper = argument;
    pthread_mutex_lock(&keeper->mutex);
    for (;;) {
        while (!keeper->next && !keeper->stop)
            pthread_cond_wait(&keeper->changed, &keeper->mutex);
        struct batch *batch = keeper->next;
        if (!batch)
            break;
        keeper->next = NULL;
        keeper->busy = true;
        int status = keeper->status;
        pthread_mutex_unlock(&keeper->mutex);
        struct err err = {{0}};
        if (status == 0)
            status = store_batch(keeper, batch, &err);
        batch_free(batch);
        pthread_mutex_lock(&keeper->mutex);
        if (status != 0 && keeper->status == 0)
            keeper->err = err;
        keeper->status = status;
        keeper->busy = false;
        pthread_cond_broadcast(&keeper->changed);
    }
    pthread_mutex_unlock(&keeper->mutex);
    return NULL;
}

struct run_keeper *run_keeper_start(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int issue_width,
                                    struct progress *progress)
{
    struct run_keeper *keeper = xcalloc(1, sizeof *keeper);
    keeper->store = store;
    keeper->run_id = run_id;
    keeper->rows = rows;
    keeper->issue_width = issue_width;
    keeper->progress = progress;
    pthread_mutex_init(&keeper->mutex, NULL);
    pthread_cond_init(&keeper->changed, NULL);
    keeper->threaded = pthread_create(&keeper->thread, NULL, storer_thread, keeper) == 0;
    return keeper;
}

int run_keeper_put(struct run_keeper *keeper, struct batch *batch, struct err *err)
{
    if (!keeper->threaded) {
        int status = store_batch(keeper, batch, err);
        batch_free(batch);
        return status;
    }
    pthread_mutex_lock(&keeper->mutex);
    while (keeper->next || keeper->busy)
        pthread_cond_wait(&keeper->changed, &keeper->mutex);
    int status = keeper->status;
    if (status == 0)
        keeper->next = batch;
    else
        err_set(err, "%s", keeper->err.text);
    pthread_cond_broadcast(&keeper->changed);
    pthread_mutex_unlock(&keeper->mutex);
    if (status != 0)
        batch_free(batch);
    return status;
}

int run_keeper_end(struct run_keeper *keeper, int64_t *forms, int64_t *doubted, struct err *err)
{
    if (keeper->threaded) {
        pthread_mutex_lock(&keeper->mutex);
        keeper->stop = true;
        pthread_cond_broadcast(&keeper->changed);
        pthread_mutex_unlock(&keeper->mutex);
        pthread_join(keeper->thread, NULL);
    }
    int status = keeper->status;
    if (status != 0)
        err_set(err, "%s", keeper->err.text);
    *forms = keeper->forms;
    *doubted = keeper->doubted;
    pthread_cond_destroy(&keeper->changed);
    pthread_mutex_destroy(&keeper->mutex);
    free(keeper);
    return status;
}
