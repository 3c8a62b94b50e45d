// SPDX-License-Identifier: MIT
// The pipeline, batch by batch: the thread of batch.c plans and builds batches, this thread
// measures them, and a third derives and stores each while the next is measured. Only one thread at
// a time uses the database.
#include "run.h"

#include "execute/exec_ring0.h"
#include "measure/batch.h"
#include "measure/refuse.h"
#include "measure/retry.h"
#include "measure/run_start.h"
#include "measure/session.h"
#include "portrun/portrun.h"
#include "run_mixes.h"
#include "run_writer.h"
#include "store/store_again.h"
#include "store/store_form.h"
#include "store/store_run.h"
#include "util/clock.h"
#include "util/progress.h"
#include "util/spent.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Kernels per batch. A pass takes a second or more: long enough that a disturbance seldom covers
// all passes of a kernel, short enough that little is lost when the run is killed, and that nobody
// waits for building the next batch or storing the last one. The first batch is built soon, and is
// long enough that its passes are not spent waiting.
enum { BATCH_KERNELS = 6000, FIRST_KERNELS = 1000 };

// Everything that lives as long as a run.
struct run {
    struct store *store;
    const struct run_options *options;
    struct run_summary *summary;
    struct session session;
    struct run_start start;
    struct refusals refused;   // by this CPU, without being tried
    struct arena arena;        // owns them
    struct err skip_32;        // reason why rows with bits=32 cannot be measured here; "": they can
    struct selected_row *rows; // rows to be measured now
    int nrows;
    struct selection all; // rows of all lists, if ports are measured
    struct run_kept kept;
    struct progress *progress;
    struct run_writer *writer;
    struct retry retry;
    struct batch *poor; // measured, with too many kernels without a value; NULL: none
};

// Finds out whether 32-bit programs can be built and run, if a row needs it.
static int run_probe_32(struct run *run, struct err *err)
{
    bool wanted = false;
    for (int i = 0; i < run->nrows; i++)
        wanted |= run->rows[i].row->bits == 32;
    if (wanted && run->options->kernel)
        err_set(&run->skip_32, "interrupts are turned off in 64-bit mode only (--kernel)");
    else if (!wanted || session_probe_32(&run->session, &run->skip_32) == 0)
        return 0;
    return run_info_warn_no_32(run->store, run->summary->run_id, run->skip_32.text, err);
}

// Finds the features of which nothing is to be planned, and chooses no blockers of theirs.
static int run_find_refused(struct run *run, const struct selection *selection, struct err *err)
{
    const struct refuse_asked asked = {&run->session, selection->rows, selection->nrows};
    refuse_states(&asked, &run->arena, &run->refused);
    int status = refuse_untried(&asked, &run->arena, &run->refused, &run->summary->stopped, err);
    refuse_leave_out(&run->refused, &run->all);
    return status;
}

// Finds the facts that are needed before the first batch.
static int run_calibrate(struct run *run, struct err *err)
{
    run->start = (struct run_start){.store = run->store,
                                    .session = &run->session,
                                    .counters = &run->options->counters,
                                    .label = run->options->label,
                                    .new_floor = run->options->new_floor,
                                    .completes = run->options->completes,
                                    .resume = run->options->resume,
                                    .once = !run->options->completes,
                                    .facts.interrupts_off = run->options->kernel};
    if (run_start_calibrate(&run->start, err) != 0)
        return -1;
    run->summary->core_hz = run->start.facts.core_hz;
    run->summary->calibration_off = run_info_calibration_off(run->session.cpu, &run->start.facts);
    return 0;
}

static const char KERNEL[] = "kernel "; // in front of the selection of such a run

bool run_is_kernel(const char *selection)
{
    return strncmp(selection, KERNEL, sizeof KERNEL - 1) == 0;
}

static int run_begin(struct run *run, const struct selection *selection, struct err *err)
{
    struct strbuf text = {0}; // what --resume compares
    strbuf_printf(&text, "%s%s", run->options->kernel ? KERNEL : "", run->options->selection);
    int status = run_start_row(&run->start, selection, strbuf_text(&text), err);
    strbuf_free(&text);
    run->summary->run_id = run->start.run_id;
    run->summary->claimed = run->start.claimed;
    run->summary->done = run->start.done;
    return status;
}

static int run_put_lists(struct run *run, const struct selection *selection, struct err *err)
{
    const struct list *last = NULL;
    for (int i = 0; i < selection->nrows; i++) {
        const struct list *list = selection->rows[i].list;
        if (list != last &&
            store_put_run_list(run->store, run->summary->run_id, list->name, list->title, err) != 0)
            return -1;
        last = list;
    }
    return 0;
}

// Leaves out rows that a resumed run has already.
static int run_missing_rows(struct run *run, const struct selection *selection, struct err *err)
{
    run->rows = xcalloc((size_t)selection->nrows, sizeof *run->rows);
    for (int i = 0; i < selection->nrows; i++) {
        int have = run->options->resume ? store_has_form(run->store, run->summary->run_id,
                                                         selection->rows[i].row, err)
                                        : 0;
        if (have < 0)
            return -1;
        if (have)
            run->summary->forms_had++;
        else if (!run->options->completes ||
                 selection->rows[i].row->tests & (TESTS_LATENCY | TESTS_THROUGHPUT))
            run->rows[run->nrows++] = selection->rows[i];
    }
    return 0;
}

static void run_kernel_done(void *context, bool failed)
{
    struct run *run = context;
    progress_step(run->progress, 1, failed);
}

static void run_waiting(void *context)
{
    struct run *run = context;
    progress_waiting(run->progress);
}

// Returns the parameters for finding the floor in the middle of a run.
static struct session_floor run_floor_anew(const struct run *run)
{
    return (struct session_floor){
        .store = run->store, .cpu_id = run->start.cpu_id, .anew = true, .quick = true};
}

// Tries to replace a guessed floor, with which no result can be believed: the core may become quiet
// at any time.
static int run_seek_floor(struct run *run, const struct batch *batch, struct err *err)
{
    const struct session_floor from = run_floor_anew(run);
    if (!run->session.floor_guessed || batch->bits == 32)
        return 0;
    return session_find_floor(&run->session, &from, batch->program.path, err);
}

// Declares kernels unstable whose repeats were accepted with a guessed floor of the canary.
static void run_disbelieve(const struct run *run, struct batch *batch)
{
    char detail[sizeof run->session.floor_seen.text + 64];
    snprintf(detail, sizeof detail, "the core was never seen undisturbed: %s",
             run->session.floor_seen.text);
    const char *kept = arena_strdup(&batch->arena, detail);
    for (int k = 0; k < batch->nkernels; k++) {
        struct exec_kernel *kernel = &batch->measured[k];
        if (!kernel->finished || kernel->outcome != OUTCOME_OK)
            continue;
        kernel->outcome = OUTCOME_UNSTABLE;
        kernel->detail = kept;
        for (int t = 0; t < kernel->ntimings; t++) {
            kernel->timings[t].outcome = OUTCOME_UNSTABLE;
            kernel->timings[t].detail = kept;
            kernel->timings[t].accepted = kernel->timings[t].nsamples = 0;
        }
    }
}

// Returns the share of a batch's repeats that the gate accepted.
static double run_accepted_share(const struct batch *batch)
{
    double accepted = 0, tried = 0;
    for (int k = 0; k < batch->nkernels; k++)
        for (int t = 0; t < batch->measured[k].ntimings; t++) {
            accepted += batch->measured[k].timings[t].accepted;
            tried += batch->measured[k].timings[t].tried;
        }
    return tried > 0 ? accepted / tried : 1;
}

static int run_execute(struct run *run, struct batch *batch, struct exec_summary *summary,
                       struct err *err)
{
    const struct exec_progress progress = {run_kernel_done, run_waiting, run};
    const struct exec_params params = session_params(&run->session, batch->bits);
    return parallel_measure(&run->session, batch, &params, &progress, summary, err);
}

// Measures the batch again after finding a new floor if the gate has refused most of it: the floor
// may be wrong.
static int run_doubt_floor(struct run *run, struct batch *batch, struct exec_summary *summary,
                           struct err *err)
{
    static const double DOUBTFUL_SHARE = 0.25;
    const struct session_floor from = run_floor_anew(run);
    bool holds = true;
    if (run->session.floor_guessed || batch->bits == 32 || summary->stopped ||
        run_accepted_share(batch) >= DOUBTFUL_SHARE)
        return 0;
    if (session_check_floor(&run->session, &from, batch->program.path, &holds, err) != 0)
        return -1;
    if (holds || run->session.floor_guessed)
        return 0;
    progress_more(run->progress, batch_forget_timings(batch), 0);
    return run_execute(run, batch, summary, err);
}

static int run_measure(struct run *run, struct batch *batch, struct err *err)
{
    if (batch->failed)
        return err_set(err, "%s", batch->err.text);
    if (!batch->program.path)
        return 0;
    if (run_seek_floor(run, batch, err) != 0)
        return -1;
    struct exec_summary summary;
    if (run_execute(run, batch, &summary, err) != 0 ||
        run_doubt_floor(run, batch, &summary, err) != 0)
        return -1;
    run->summary->passes += summary.passes;
    run->summary->stopped |= summary.stopped;
    if (run->session.floor_guessed)
        run_disbelieve(run, batch);
    for (int k = 0; k < batch->nkernels; k++)
        run->summary->kernels +=
            batch->measured[k].finished && batch->measured[k].outcome == OUTCOME_OK;
    return 0;
}

// Returns true if the batch is to be measured once more before anything is concluded from it.
static bool run_is_poor(const struct run *run, const struct batch *batch)
{
    return !run->summary->stopped && retry_wanted(batch, run->session.issue_width, 1);
}

// Measures kernels of the batch without a value once more, unless the core was never undisturbed.
static int run_retry(struct run *run, struct batch *batch, struct err *err)
{
    const struct exec_progress progress = {run_kernel_done, run_waiting, run};
    if (!batch->program.path || run->summary->stopped || retry_left_s(&run->retry) <= 0)
        return 0;
    if (run_seek_floor(run, batch, err) != 0)
        return -1;
    if (run->session.floor_guessed)
        return 0;
    const struct exec_params params = session_params(&run->session, batch->bits);
    progress_more(run->progress, retry_missing(batch, run->session.issue_width), 0);
    return retry_batch(&run->retry, batch, &params, &progress, &run->summary->stopped, err);
}

// Gives the batch to the writer, or frees it after an error.
static int run_put(struct run *run, struct batch *batch, int status, struct err *err)
{
    if (status == 0)
        return run_writer_put(run->writer, batch, err); // takes ownership of the batch
    batch_free(batch);
    return status;
}

// Measures the batch that was put aside once more: another process has measured meanwhile.
static int run_put_poor(struct run *run, int status, struct err *err)
{
    struct batch *poor = run->poor;
    run->poor = NULL;
    if (!poor)
        return status;
    if (status == 0)
        status = run_retry(run, poor, err);
    return run_put(run, poor, status, err);
}

// Measures the batches of a source.
static int run_source(struct run *run, struct batch_source *source, struct err *err)
{
    int status = 0;
    struct batch *batch;
    while (status == 0 && !run->summary->stopped && (batch = batch_source_next(source))) {
        if (batch->failed && session_stopped_by()) { // the assembler was ended
            run->summary->stopped = true;
            batch_free(batch);
            break;
        }
        progress_more(run->progress, batch->nkernels, batch->nrows);
        status = run_measure(run, batch, err);
        bool poor = status == 0 && run_is_poor(run, batch);
        status = run_put_poor(run, status, err);
        if (poor && status == 0)
            run->poor = batch;
        else
            status = run_put(run, batch, status, err);
    }
    return run_put_poor(run, status, err);
}

// Gives the kernels of a batch of rows that were held back their first results, and the rows their
// numbers among all.
static void run_recall(struct batch *batch, const struct run_held *held)
{
    for (int r = 0; r < batch->nrows; r++) {
        struct batch_row *row = &batch->rows[r];
        const struct run_held_row *from = &held->rows[row->index];
        row->index = from->index;
        for (int k = 0; k < row->nkernels && k < from->nkernels; k++)
            batch->measured[row->first_kernel + k] = from->kernels[k];
    }
}

// Measures what has no value in rows that were held back once more, and has them stored.
static int run_held_again(struct run *run, const struct run_held *held,
                          const struct batch_options *first, struct err *err)
{
    struct batch_options options = *first;
    options.bare = run->summary->stopped || retry_left_s(&run->retry) <= 0;
    struct selected_row *asked = xcalloc((size_t)held->n + 1, sizeof *asked);
    for (int i = 0; i < held->n; i++)
        asked[i] = run->rows[held->rows[i].index];
    struct batch_rows rows = {asked, held->n, (uint32_t)run->summary->run_id};
    const struct batch_feed feed = batch_feed_rows(&rows);
    struct batch_source *source = batch_source_start(&feed, &options);
    struct batch *batch;
    int status = 0;
    while (status == 0 && (batch = batch_source_next(source))) {
        if (!options.bare && batch->failed && session_stopped_by())
            run->summary->stopped = true;
        else if (batch->failed)
            status = err_set(err, "%s", batch->err.text);
        if (status == 0)
            run_recall(batch, held);
        if (status == 0)
            status = run_retry(run, batch, err);
        status = run_put(run, batch, status, err);
    }
    batch_source_stop(source);
    free(asked);
    return status;
}

static int run_batches(struct run *run, struct batch_source *source,
                       const struct batch_options *options, struct err *err)
{
    struct run_held held = {.n = 0};
    int status = run_source(run, source, err);
    if (status == 0)
        status = run_writer_take_held(run->writer, &held, err);
    if (status == 0 && held.n > 0)
        status = run_held_again(run, &held, options, err);
    struct err store_err = {0};
    if (run_writer_end(run->writer, &run->kept, &store_err) != 0 && status == 0)
        status = err_set(err, "%s", store_err.text);
    run_held_free(&held); // the last batch of the writer has samples of it
    run->summary->forms_run = run->kept.forms;
    run->summary->doubted = run->kept.doubted;
    return status;
}

static int run_all(struct run *run, struct err *err)
{
    const struct batch_options options = {
        .plan = {.issue_width = run->session.issue_width,
                 .tests = run->options->tests,
                 .skip_32 = *run->skip_32.text ? run->skip_32.text : NULL,
                 .no_ring0 = exec_no_ring0(),
                 .high_gprs = cpu_has_isa(run->session.cpu, "APX_F"),
                 .refused = &run->refused},
        .directory = run->session.directory,
        .keep = run->options->keep,
        .kernels = BATCH_KERNELS,
        .first = FIRST_KERNELS,
        .ahead = run->options->ahead
    };
    run->writer = run_writer_start(run->store, run->summary->run_id, run->rows,
                                   options.plan.issue_width, run->progress);
    struct batch_rows rows = {run->rows, run->nrows, (uint32_t)run->summary->run_id};
    const struct batch_feed feed = batch_feed_rows(&rows);
    struct batch_source *source = batch_source_start(&feed, &options);
    int status = run_batches(run, source, &options, err);
    batch_source_stop(source);
    return status;
}

// Returns true if all throughputs of the run are in memory. Else the database has them: from before
// the run was resumed, or from another run.
static bool run_has_throughputs(const struct run *run)
{
    return run->kept.timed && run->summary->forms_had == 0;
}

// Measures ports, last: the blockers that a form needs follow from its throughput.
static int run_all_ports(struct run *run, const struct selection *selection, struct err *err)
{
    if (run->session.floor_guessed) {
        run->summary->ports_missing = true;
        return 0;
    }
    bool partial = selection->nrows < run->all.nrows;
    struct arena arena = {0};
    struct stored_throughputs completed;
    struct portrun_result ports;
    const struct portrun asked = {.session = &run->session,
                                  .store = run->store,
                                  .run_id = run->summary->run_id,
                                  .cpu_id = run->start.cpu_id,
                                  .all = &run->all,
                                  .refused = &run->refused,
                                  .throughputs = run->options->completes    ? &completed
                                                 : run_has_throughputs(run) ? &run->kept.throughputs
                                                                            : NULL,
                                  .resumed = run->options->resume,
                                  .reuse_model = partial || *run->options->selection,
                                  .ahead = run->options->ahead,
                                  .retry = &run->retry,
                                  .progress = run->progress,
                                  .keep = run->options->keep,
                                  .skip_32 = *run->skip_32.text ? run->skip_32.text : NULL};
    if (run_start_learn(&run->start, err) != 0)
        return -1;
    if (run->options->completes &&
        store_get_completed_throughputs(run->store, run->options->completes_id, &completed, &arena,
                                        err) != 0) {
        arena_free(&arena);
        return -1;
    }
    progress_next(run->progress, "ports");
    const struct spent before = spent_now();
    int status = portrun_measure(&asked, selection->rows, selection->nrows, &ports, err);
    spent_add_rest(SPENT_INFERRING, &before);
    arena_free(&arena);
    run->summary->kernels += ports.kernels;
    run->summary->passes += ports.passes;
    run->summary->stopped |= ports.stopped;
    run->summary->ports_missing = ports.not_measured;
    run->summary->search_lost = ports.search_lost;
    memcpy(run->summary->port_ways, ports.ways, sizeof ports.ways);
    run->summary->port_seed = ports.drawn_seed;
    return status;
}

// Times random mixes of the forms whose ports are known by now.
static int run_all_mixes(struct run *run, const struct selection *selection, struct err *err)
{
    struct run_mixes mixes = {.session = &run->session,
                              .store = run->store,
                              .run_id = run->summary->run_id,
                              .progress = run->progress,
                              .ahead = run->options->ahead,
                              .keep = run->options->keep};
    if (run->session.floor_guessed || run->summary->ports_missing)
        return 0;
    progress_next(run->progress, "mixes of");
    const struct spent before = spent_now();
    int status = run_mixes(&mixes, selection->rows, selection->nrows, err);
    spent_add_rest(SPENT_INFERRING, &before);
    run->summary->kernels += mixes.kernels;
    run->summary->passes += mixes.passes;
    run->summary->stopped |= mixes.stopped;
    run->summary->mixes = mixes.mixes;
    run->summary->mixes_mape_percent = mixes.mape_percent;
    run->summary->mixes_within_10_percent = mixes.within_10_percent;
    return status;
}

static int run_begin_counting(struct run *run, struct err *err)
{
    struct session_counters wanted = run->options->counters;
    wanted.ports = run->options->tests & TESTS_PORTS;
    return session_count_begin(&run->session, &wanted, err);
}

static bool run_wants_ports(const struct run *run, const struct selection *selection)
{
    bool wanted = false;
    for (int i = 0; i < selection->nrows; i++)
        wanted |= selection->rows[i].row->tests & TESTS_PORTS;
    return wanted && run->options->tests & TESTS_PORTS;
}

static int run_prepared(struct run *run, const struct selection *selection, struct err *err)
{
    // Lists are read before the first batch: later changes must not matter.
    if (run_wants_ports(run, selection) && select_all_beside(selection, &run->all, err) != 0)
        return -1;
    if (session_begin(run->options->cpu, run->options->kind, &run->session, err) != 0 ||
        session_make_directory(&run->session, err) != 0 || run_begin_counting(run, err) != 0 ||
        (run->options->parallel > 1 &&
         parallel_begin(&run->session, run->options->parallel, err) != 0))
        return -1;
    run->retry = (struct retry){.session = &run->session, .began_s = clock_now_s()};
    run->session.params.config.interrupts_off = run->options->kernel;
    run->session.params.config.give_up_ms = (uint32_t)run->options->give_up_s * 1000;
    if (run_calibrate(run, err) != 0 || run_begin(run, selection, err) != 0)
        return -1;
    if (run->summary->done)
        return 0;
    if (run_put_lists(run, selection, err) != 0 || run_missing_rows(run, selection, err) != 0 ||
        run_probe_32(run, err) != 0 || run_find_refused(run, selection, err) != 0)
        return -1;
    bool ports = run->options->tests & TESTS_PORTS;
    run->progress = progress_start(run->nrows, run->options->quiet);
    if (ports)
        progress_later(run->progress, portrun_expected(selection->rows, selection->nrows));
    int status = run->options->tests & (TESTS_LATENCY | TESTS_THROUGHPUT) ? run_all(run, err) : 0;
    if (status == 0 && ports && !run->summary->stopped)
        status = run_all_ports(run, selection, err);
    if (status == 0 && ports && !run->summary->stopped)
        status = run_all_mixes(run, selection, err);
    progress_end(run->progress);
    run->summary->retried = (struct run_retried){run->retry.kernels, run->retry.gained,
                                                 run->retry.forms, run->retry.forms_gained};
    run->summary->floor_guessed = run->session.floor_guessed;
    if (run->session.parallel)
        run->summary->parallel = *run->session.parallel;
    return status;
}

static int run_warn_unstable(struct store *store, const struct run_summary *summary,
                             struct err *err)
{
    int64_t tests = 0;
    if (summary->floor_guessed) // a separate warning gives the reason
        return 0;
    for (int i = 0; i < OUTCOME_COUNT; i++)
        tests += summary->counts[i];
    return run_info_warn_unstable(store, summary->run_id, summary->counts[OUTCOME_UNSTABLE], tests,
                                  err);
}

// Stores what the end of the run shows, with the warnings that follow.
static int run_finish(struct run *run, const struct spent *before, struct err *err)
{
    struct store *store = run->store;
    struct run_summary *summary = run->summary;
    int status = run_start_finish(&run->start, before, summary->kernels, !summary->stopped,
                                  &summary->seconds, err);
    if (status == 0)
        status = store_run_summary(store, summary->run_id, summary->counts, &summary->forms, err);
    if (status == 0)
        status = store_run_scattered(store, summary->run_id, &summary->scattered, err);
    if (status == 0)
        status = store_run_doubts(store, summary->run_id, &summary->doubts, err);
    if (status == 0)
        status = run_info_warn_doubts(store, summary->run_id, &summary->doubts, err);
    if (status == 0 && summary->counts[OUTCOME_UNSTABLE] > 0)
        status = run_warn_unstable(store, summary, err);
    if (status == 0 && summary->scattered > 0)
        status = run_info_warn_scattered(store, summary->run_id, summary->scattered, err);
    if (status == 0 && summary->parallel.drawn > 0)
        status = run_info_warn_parallel(store, summary->run_id, &summary->parallel, err);
    if (status == 0 && summary->doubted > 0)
        status = run_info_warn_doubted(store, summary->run_id, summary->doubted, err);
    return status;
}

int run_rows(struct store *store, const struct selection *selection,
             const struct run_options *options, struct run_summary *summary, struct err *err)
{
    const struct spent before = spent_now();
    *summary = (struct run_summary){0};
    struct run run = {.store = store, .options = options, .summary = summary};
    int status = run_prepared(&run, selection, err);
    if (options->keep && run.session.directory[0])
        fprintf(stderr, "latput run: the assembly files are in %s\n", run.session.directory);
    if (status == 0 && !summary->done)
        status = run_finish(&run, &before, err);
    free(run.rows);
    run_kept_free(&run.kept);
    selection_free(&run.all);
    arena_free(&run.arena);
    session_end(&run.session, options->keep);
    return status;
}
