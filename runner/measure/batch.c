// SPDX-License-Identifier: MIT
// Makes batches; see batch.h. The thread hands over through a slot of one batch: while one is
// measured the next is built, and no more than that lies in memory or on the disk.
#include "batch.h"

#include "assemble/high.h"
#include "util/clock.h"
#include "util/spent.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Below COMPOSED_LEAST kernels a second start of NASM costs more than composing saves.
enum { BATCH_GROWTH = 4, COMPOSED_LEAST = 100 };

struct batch_source {
    struct batch_feed feed;
    int next;
    struct batch_options options;
    int batches, kernels_wanted;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct batch *ready; // the slot
    bool taken_all, stop;
};

static int rows_bits(void *context, int index)
{
    const struct batch_rows *rows = context;
    return rows->rows[index].row->bits;
}

static bool rows_ring0(void *context, int index)
{
    const struct batch_rows *rows = context;
    return rows->rows[index].row->ring0;
}

// Returns a number that looks random and depends on the row's form and the seed alone (FNV-1a).
static uint32_t rows_draw(const struct list_row *row, uint32_t seed)
{
    uint32_t hash = 2166136261u ^ seed;
    for (const char *at = row->form; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash ^ hash >> 15;
}

static int rows_plan(void *context, int index, const struct plan_params *params,
                     struct arena *arena, struct plan *plan, struct err *err)
{
    const struct batch_rows *rows = context;
    const struct list_row *row = rows->rows[index].row;
    if (plan_row(row, params, arena, plan, err) != 0)
        return -1;
    uint32_t drawn = rows->seed ? rows_draw(row, rows->seed) : 1;
    if (drawn % BATCH_AGAIN_ONE_IN != 0)
        return 0;
    enum arrangement arrangement =
        ARRANGED_REGISTERS +
        (enum arrangement)(drawn / BATCH_AGAIN_ONE_IN % (uint32_t)(plan_arrangements(params) - 1));
    return plan_row_again(row, params, arrangement, arena, plan, err);
}

struct batch_feed batch_feed_rows(struct batch_rows *rows)
{
    return (struct batch_feed){rows->n, rows_bits, rows_plan, rows, rows_ring0};
}

static int batch_plan_item(struct batch *batch, struct batch_source *source, int index)
{
    struct batch_row *row = &batch->rows[batch->nrows];
    *row = (struct batch_row){.index = index, .first_kernel = batch->nkernels};
    if (source->feed.plan(source->feed.context, index, &source->options.plan, &batch->arena,
                          &row->plan, &batch->err) != 0)
        return -1;
    for (int t = 0; t < row->plan.ntests; t++)
        row->nkernels += row->plan.tests[t].nkernels;
    batch->nrows++;
    batch->nkernels += row->nkernels;
    return 0;
}

// Lists the batch's kernels that name r16 to r31, which are in tests asked again; specs NULL: only
// counts them.
static int batch_find_high(const struct batch *batch, struct kernel_spec **specs)
{
    int n = 0;
    for (int r = 0; r < batch->nrows; r++)
        for (int t = 0; t < batch->rows[r].plan.ntests; t++) {
            const struct test *test = &batch->rows[r].plan.tests[t];
            for (int k = 0; k < test->nkernels && plan_is_aside(test->variant); k++) {
                if (!high_is_named(&test->kernels[k]))
                    continue;
                if (specs)
                    specs[n] = &test->kernels[k];
                n++;
            }
        }
    return n;
}

// Takes the tests out that still have a kernel with such names, and numbers the kernels anew.
static void batch_drop_high(struct batch *batch)
{
    batch->nkernels = 0;
    for (int r = 0; r < batch->nrows; r++) {
        struct batch_row *row = &batch->rows[r];
        int kept = 0;
        row->first_kernel = batch->nkernels;
        row->nkernels = 0;
        for (int t = 0; t < row->plan.ntests; t++) {
            const struct test *test = &row->plan.tests[t];
            bool high = false;
            for (int k = 0; k < test->nkernels && plan_is_aside(test->variant); k++)
                high |= high_is_named(&test->kernels[k]);
            row->nkernels += high ? 0 : test->nkernels;
            row->plan.tests[kept] = *test;
            kept += !high;
        }
        row->plan.ntests = kept;
        batch->nkernels += row->nkernels;
    }
}

// Has kernels that name r16 to r31 written as bytes. Tests are left out that have an instruction
// without such a form, and all in a bare batch, which is measured no more; they come last in a row.
static int batch_write_high(struct batch *batch, const struct batch_options *options)
{
    const struct assemble_options assemble = {
        .directory = options->directory, .stem = "high", .bits = 64, .keep = options->keep};
    int status = 0, n = options->plan.high_gprs ? batch_find_high(batch, NULL) : 0;
    if (n == 0)
        return 0;
    struct kernel_spec **specs = xcalloc((size_t)n, sizeof *specs);
    batch_find_high(batch, specs);
    if (!options->bare)
        status = high_write(specs, n, &assemble, &batch->arena, &batch->err);
    batch_drop_high(batch);
    free(specs);
    return status;
}

static void batch_list_kernels(struct batch *batch)
{
    batch->kernels = arena_alloc(&batch->arena, (size_t)batch->nkernels * sizeof *batch->kernels);
    batch->measured = arena_alloc(&batch->arena, (size_t)batch->nkernels * sizeof *batch->measured);
    int k = 0;
    for (int r = 0; r < batch->nrows; r++) {
        const struct plan *plan = &batch->rows[r].plan;
        for (int t = 0; t < plan->ntests; t++)
            for (int s = 0; s < plan->tests[t].nkernels; s++, k++) {
                batch->kernels[k] = (struct gen_kernel){
                    .row = plan->row, .test = &plan->tests[t], .spec = &plan->tests[t].kernels[s]};
                batch->measured[k] = (struct exec_kernel){.selected = true, .detail = ""};
            }
    }
}

static void batch_build(struct batch *batch, const struct batch_options *options, int number)
{
    struct assemble_options build = {.directory = options->directory,
                                     .stem = arena_printf(&batch->arena, "batch%d", number),
                                     .bits = batch->bits,
                                     .keep = options->keep,
                                     .compose =
                                         batch->nkernels >= COMPOSED_LEAST && !options->keep};
    batch->failed = assemble_program(batch->kernels, batch->nkernels, &build, &batch->arena,
                                     &batch->program, &batch->err);
    for (int f = 0; f < batch->program.nfailures && !batch->failed; f++) {
        const struct assemble_failure *failure = &batch->program.failures[f];
        batch->measured[failure->kernel] = (struct exec_kernel){
            .finished = true, .outcome = failure->outcome, .detail = failure->detail};
    }
}

// Items of one program have one mode, and one privilege.
static bool batch_fits(const struct batch_feed *feed, int a, int b)
{
    return feed->bits(feed->context, a) == feed->bits(feed->context, b) &&
           (!feed->ring0 || feed->ring0(feed->context, a) == feed->ring0(feed->context, b));
}

static struct batch *batch_make(struct batch_source *source)
{
    const struct batch_feed *feed = &source->feed;
    if (source->next == feed->n)
        return NULL;
    struct batch *batch = xcalloc(1, sizeof *batch);
    batch->rows =
        arena_alloc(&batch->arena, (size_t)(feed->n - source->next) * sizeof *batch->rows);
    int first = source->next;
    batch->bits = feed->bits(feed->context, first);
    while (source->next < feed->n && batch->nkernels < source->kernels_wanted &&
           batch_fits(feed, first, source->next) && !batch->failed)
        batch->failed = batch_plan_item(batch, source, source->next++);
    if (!batch->failed)
        batch->failed = batch_write_high(batch, &source->options);
    if (!batch->failed)
        batch_list_kernels(batch);
    if (!batch->failed && !source->options.bare)
        batch_build(batch, &source->options, source->batches++);
    source->kernels_wanted *= BATCH_GROWTH;
    if (source->kernels_wanted > source->options.kernels)
        source->kernels_wanted = source->options.kernels;
    return batch;
}

static void *batch_thread(void *argument)
{
    struct batch_source *source = argument;
    for (;;) {
        struct batch *batch = batch_make(source);
        pthread_mutex_lock(&source->mutex);
        while (source->ready && !source->stop)
            pthread_cond_wait(&source->changed, &source->mutex);
        bool stop = source->stop;
        if (!stop)
            source->ready = batch;
        source->taken_all = !batch;
        pthread_cond_broadcast(&source->changed);
        pthread_mutex_unlock(&source->mutex);
        if (stop && batch)
            batch_free(batch);
        if (stop || !batch)
            return NULL;
    }
}

struct batch_source *batch_source_start(const struct batch_feed *feed,
                                        const struct batch_options *options)
{
    struct batch_source *source = xcalloc(1, sizeof *source);
    source->feed = *feed;
    source->options = *options;
    source->kernels_wanted = options->first;
    pthread_mutex_init(&source->mutex, NULL);
    pthread_cond_init(&source->changed, NULL);
    if (options->ahead && pthread_create(&source->thread, NULL, batch_thread, source) != 0)
        source->options.ahead = false;
    return source;
}

static struct batch *batch_take(struct batch_source *source)
{
    pthread_mutex_lock(&source->mutex);
    while (!source->ready && !source->taken_all)
        pthread_cond_wait(&source->changed, &source->mutex);
    struct batch *batch = source->ready;
    source->ready = NULL;
    pthread_cond_broadcast(&source->changed);
    pthread_mutex_unlock(&source->mutex);
    return batch;
}

struct batch *batch_source_next(struct batch_source *source)
{
    double start_s = clock_now_s();
    struct batch *batch = source->options.ahead ? batch_take(source) : batch_make(source);
    spent_add_time(SPENT_PROGRAMS, start_s);
    return batch;
}

void batch_source_stop(struct batch_source *source)
{
    if (source->options.ahead) {
        pthread_mutex_lock(&source->mutex);
        source->stop = true;
        pthread_cond_broadcast(&source->changed);
        pthread_mutex_unlock(&source->mutex);
        pthread_join(source->thread, NULL);
        if (source->ready)
            batch_free(source->ready);
    }
    pthread_cond_destroy(&source->changed);
    pthread_mutex_destroy(&source->mutex);
    free(source);
}

struct estimate batch_estimate(const struct batch *batch, int k, const struct exec_kernel *measured,
                               int issue_width)
{
    const struct gen_kernel *kernel = &batch->kernels[k];
    const struct kernel_facts facts = {kernel->spec->shape, kernel->spec->instances,
                                       kernel->spec->instrs, kernel->spec->extra_clk,
                                       kernel->test->kind == TEST_LATENCY};
    return derive_kernel(&facts, issue_width, measured->timings, measured->ntimings);
}

int batch_forget_timings(struct batch *batch)
{
    int again = 0;
    for (int k = 0; k < batch->nkernels; k++) {
        struct exec_kernel *kernel = &batch->measured[k];
        if (!kernel->finished || kernel->ntimings == 0 ||
            (kernel->outcome != OUTCOME_OK && kernel->outcome != OUTCOME_UNSTABLE))
            continue;
        *kernel = (struct exec_kernel){.selected = true, .detail = ""};
        again++;
    }
    return again;
}

void batch_free(struct batch *batch)
{
    if (batch->program.path)
        unlink(batch->program.path);
    arena_free(&batch->arena);
    free(batch);
}
