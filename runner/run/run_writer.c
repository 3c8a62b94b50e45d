// SPDX-License-Identifier: MIT
// Derives and stores measured batches; see run_writer.h. A row with kernels that were not measured
// (the run was stopped) is left out, so that --resume measures it again as a whole.
#include "run_writer.h"

#include "derive/form_throughput.h"
#include "store/store_form.h"
#include "util/clock.h"
#include "util/spent.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct run_writer {
    struct store *store;
    int64_t run_id;
    int issue_width;
    struct progress *progress;
    struct run_kept kept;
    size_t capacity; // of its throughputs
    struct run_held held;
    bool holds; // rows without a value are held back
    const struct selected_row *rows;
    pthread_t thread;
    bool threaded;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct batch *next; // batch waiting to be stored
    bool busy, stop;
    int status;
    struct err err;
};

// Returns a test as it was executed; `measured`: its kernels.
static struct executed_test executed_test(struct arena *arena, const struct test *test,
                                          const struct exec_kernel *measured)
{
    struct executed_kernel *kernels = arena_alloc(arena, (size_t)test->nkernels * sizeof *kernels);
    for (int i = 0; i < test->nkernels; i++) {
        const struct kernel_spec *spec = &test->kernels[i];
        kernels[i] = (struct executed_kernel){
            .facts = {spec->shape, spec->instances, spec->instrs, spec->extra_clk,
                      test->kind == TEST_LATENCY},
            .outcome = measured[i].outcome,
            .detail = measured[i].detail,
            .timings = measured[i].timings,
            .ntimings = measured[i].ntimings
        };
    }
    return (struct executed_test){test->kind, test->bound,    test->outcome, test->detail,
                                  kernels,    test->nkernels, test->variant, test->src};
}

// Returns a test in the form that the store takes.
static struct measured_test measured_test(struct arena *arena, const struct derived_test *derived,
                                          const struct exec_kernel *executed, int nkernels)
{
    struct measured_kernel *kernels = arena_alloc(arena, (size_t)nkernels * sizeof *kernels);
    for (int i = 0; i < nkernels; i++) {
        const struct exec_kernel *from = &executed[i];
        const struct derived_kernel *follows = &derived->kernels[i];
        uint32_t kept = from->code_bytes < CORE_CODE_MAX ? from->code_bytes : CORE_CODE_MAX;
        kernels[i] = (struct measured_kernel){.outcome = follows->outcome,
                                              .detail = follows->detail,
                                              .code = from->code_bytes ? from->code : NULL,
                                              .code_bytes = (int)kept,
                                              .timings = from->timings,
                                              .ntimings = from->ntimings,
                                              .estimate = follows->estimate};
    }
    return (struct measured_test){kernels, derived->result};
}

// Derives all tests of a row.
static struct measured_test *measured_tests(struct arena *arena, const struct plan *plan,
                                            const struct exec_kernel *kernels, int issue_width)
{
    size_t n = (size_t)plan->ntests;
    struct executed_test *executed = arena_alloc(arena, n * sizeof *executed);
    struct derived_test *derived = arena_alloc(arena, n * sizeof *derived);
    struct measured_test *tests = arena_alloc(arena, n * sizeof *tests);
    const struct exec_kernel *at = kernels;
    for (int t = 0; t < plan->ntests; at += plan->tests[t++].nkernels)
        executed[t] = executed_test(arena, &plan->tests[t], at);
    derive_form(executed, plan->ntests, issue_width, arena, derived);
    at = kernels;
    for (int t = 0; t < plan->ntests; at += plan->tests[t++].nkernels)
        tests[t] = measured_test(arena, &derived[t], at, plan->tests[t].nkernels);
    return tests;
}

static bool row_complete(const struct batch *batch, const struct batch_row *row)
{
    for (int k = 0; k < row->nkernels; k++)
        if (!batch->measured[row->first_kernel + k].finished)
            return false;
    return true;
}

// Returns true for tests that do not make their form fail, like run_test in db/views.sql.
static bool is_outside(const struct test *test, enum outcome outcome)
{
    bool through_memory = strstr(test->src, ".data") || strstr(test->dst, ".data");
    if (plan_is_aside(test->variant))
        return true;
    return test->kind == TEST_LATENCY &&
           (strcmp(test->variant, PLAN_FALSE) == 0 || outcome == OUTCOME_NOT_MEASURABLE ||
            (outcome == OUTCOME_UNSTABLE && through_memory && test->bound == BOUND_UPPER));
}

// Keeps the throughput for the ports, which come later in the run.
static void keep_throughput(struct run_writer *writer, const struct plan *plan,
                            const struct measured_test *tests)
{
    struct form_throughput form = {0};
    struct stored_throughputs *values = &writer->kept.throughputs;
    for (int t = 0; t < plan->ntests; t++) {
        if (plan->tests[t].kind != TEST_THROUGHPUT)
            continue;
        writer->kept.timed = true;
        if (tests[t].result.outcome == OUTCOME_OK && isfinite(tests[t].result.clk) &&
            !derive_is_scattered(&tests[t].result))
            form_throughput_add(&form, plan->tests[t].variant, tests[t].result.clk);
    }
    double clk = form_throughput_clk(&form);
    if (isnan(clk))
        return;
    values->values =
        xgrow(values->values, &writer->capacity, (size_t)values->n + 1, sizeof *values->values);
    values->values[values->n++] = (struct stored_throughput){stored_form_of(plan->row), clk};
}

// Returns true if a test ran and has no value, but for those that are known for having none.
static bool row_lacks(const struct plan *plan, const struct measured_test *tests)
{
    bool lacks = false;
    for (int t = 0; t < plan->ntests; t++) {
        enum outcome outcome = tests[t].result.outcome;
        lacks |= (outcome_is_missing(outcome) || (plan->tests[t].kind == TEST_THROUGHPUT &&
                                                  derive_is_scattered(&tests[t].result))) &&
                 !is_outside(&plan->tests[t], outcome);
    }
    return lacks;
}

static int store_row(struct run_writer *writer, struct batch *batch, const struct batch_row *row,
                     struct err *err)
{
    const struct plan *plan = &row->plan;
    const struct measured_test *tests = measured_tests(
        &batch->arena, plan, &batch->measured[row->first_kernel], writer->issue_width);
    bool ok = plan->ntests > 0;
    if (writer->holds && row_lacks(plan, tests) &&
        run_held_put(&writer->held, row->index, &batch->measured[row->first_kernel], row->nkernels))
        return 0;
    for (int t = 0; t < plan->ntests; t++) {
        for (int i = 0; i < plan->tests[t].nkernels; i++)
            writer->kept.doubted += tests[t].kernels[i].estimate.doubted;
        ok &= tests[t].result.outcome == OUTCOME_OK ||
              is_outside(&plan->tests[t], tests[t].result.outcome);
    }
    const struct selected_row *selected = &writer->rows[row->index];
    const struct form_place place = {selected->list->name, selected->position};
    double start_s = clock_now_s();
    if (store_put_form(writer->store, writer->run_id, &place, plan, tests, err) != 0)
        return -1;
    spent_add_time(SPENT_WRITING, start_s);
    writer->kept.forms++;
    keep_throughput(writer, plan, tests);
    progress_form(writer->progress, selected->list->name, selected->list->nrows, ok);
    return 0;
}

static int store_batch(struct run_writer *writer, struct batch *batch, struct err *err)
{
    int status = store_begin(writer->store, err);
    for (int r = 0; r < batch->nrows && status == 0; r++)
        if (row_complete(batch, &batch->rows[r]))
            status = store_row(writer, batch, &batch->rows[r], err);
    double start_s = clock_now_s();
    if (status == 0)
        status = store_commit(writer->store, err);
    spent_add_time(SPENT_WRITING, start_s);
    if (status != 0)
        store_rollback(writer->store);
    return status;
}

static void *storer_thread(void *argument)
{
    struct run_writer *writer = argument;
    pthread_mutex_lock(&writer->mutex);
    for (;;) {
        while (!writer->next && !writer->stop)
            pthread_cond_wait(&writer->changed, &writer->mutex);
        struct batch *batch = writer->next;
        if (!batch)
            break;
        writer->next = NULL;
        writer->busy = true;
        int status = writer->status;
        pthread_mutex_unlock(&writer->mutex);
        struct err err = {0};
        if (status == 0)
            status = store_batch(writer, batch, &err);
        batch_free(batch);
        pthread_mutex_lock(&writer->mutex);
        if (status != 0 && writer->status == 0)
            writer->err = err;
        writer->status = status;
        writer->busy = false;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->mutex);
    return NULL;
}

void run_kept_free(struct run_kept *kept)
{
    free(kept->throughputs.values);
    *kept = (struct run_kept){0};
}

struct run_writer *run_writer_start(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int issue_width,
                                    struct progress *progress)
{
    struct run_writer *writer = xcalloc(1, sizeof *writer);
    writer->store = store;
    writer->run_id = run_id;
    writer->rows = rows;
    writer->issue_width = issue_width;
    writer->progress = progress;
    writer->holds = true;
    pthread_mutex_init(&writer->mutex, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->threaded = pthread_create(&writer->thread, NULL, storer_thread, writer) == 0;
    return writer;
}

int run_writer_put(struct run_writer *writer, struct batch *batch, struct err *err)
{
    if (!writer->threaded) {
        int status = store_batch(writer, batch, err);
        batch_free(batch);
        return status;
    }
    pthread_mutex_lock(&writer->mutex);
    while (writer->next || writer->busy)
        pthread_cond_wait(&writer->changed, &writer->mutex);
    int status = writer->status;
    if (status == 0)
        writer->next = batch;
    else
        err_set(err, "%s", writer->err.text);
    pthread_cond_broadcast(&writer->changed);
    pthread_mutex_unlock(&writer->mutex);
    if (status != 0)
        batch_free(batch);
    return status;
}

int run_writer_take_held(struct run_writer *writer, struct run_held *held, struct err *err)
{
    pthread_mutex_lock(&writer->mutex);
    while (writer->next || writer->busy)
        pthread_cond_wait(&writer->changed, &writer->mutex);
    int status = writer->status;
    if (status != 0)
        err_set(err, "%s", writer->err.text);
    *held = writer->held;
    writer->held = (struct run_held){0};
    writer->holds = false;
    pthread_mutex_unlock(&writer->mutex);
    return status;
}

int run_writer_end(struct run_writer *writer, struct run_kept *kept, struct err *err)
{
    if (writer->threaded) {
        pthread_mutex_lock(&writer->mutex);
        writer->stop = true;
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->mutex);
        pthread_join(writer->thread, NULL);
    }
    int status = writer->status;
    if (status != 0)
        err_set(err, "%s", writer->err.text);
    *kept = writer->kept;
    stored_throughputs_sort(&kept->throughputs);
    run_held_free(&writer->held);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->mutex);
    free(writer);
    return status;
}
