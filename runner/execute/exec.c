// SPDX-License-Identifier: MIT
#include "exec_internal.h"

#include "util/affinity.h"
#include "util/clock.h"
#include "util/spent.h"
#include "util/subproc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    FAILED_STARTS_MAX = 3,
    PORTION_LEAST = 16, // kernels in a process, where what is outside ends every one
};

uint32_t exec_canary_iterations(int issue_width)
{
    enum { ROUNDS_PER_WIDTH = 12, USUAL_WIDTH = 6 }; // 11,520 cycles, some 3 µs
    return (uint32_t)(ROUNDS_PER_WIDTH * (issue_width > 0 ? issue_width : USUAL_WIDTH));
}

struct exec_params exec_defaults(void)
{
    return (struct exec_params){
        .config = {.abi_version = CORE_ABI_VERSION,
                   .canary_tolerance = 0.02,
                   .calib_tolerance = 0.006,
                   .passes_tolerance = 0.005,
                   // Kernel and calibration of about one length: then what a timing costs beside
                   // its work matters little, however well it is known.
                   .window_ns = 4000,
                   .canary_iterations = exec_canary_iterations(0),
                   .calib_ns = 3500,
                   .accept = 8,
                   .enough = 3,
                   .together = 3,
                   .tries = 120,
                   .requeues = 200,
                   .requeues_ms = 4000,
                   .give_up_ms = 30000,
                   .passes = CORE_PASSES_MAX,
                   .pass_gap_ms = 150},
        .hang_ms = 2000,
    };
}

// State of one invocation: a batch over all processes that it takes.
struct exec_batch {
    const struct exec_params *params;
    struct exec_kernel *kernels;
    int nkernels;
    struct exec_share share;
    const struct exec_progress *progress;
    struct exec_mover *mover;
    int cpu;   // that the process runs on, or the next one
    pid_t pid; // of the process
    struct arena *arena;
    struct exec_summary *summary;
    int current;      // the kernel that runs now, -1: none yet
    int64_t began_ms; // it did, on the clock
    // The kernel that ran when a process fell silent or ended; -1: none. It runs once more,
    // `alone`: an earlier kernel may have been at fault, or the machine may have stood still.
    int suspect;
    bool alone;
    int failed_starts; // processes in a row that ended before they ran a kernel
    // Number of successive ends from outside during the same kernel.
    int outside, outside_kernel;
    int portion;             // kernels that the next process is given at most
    int nstarted;            // kernels given to this process
    int ndone;               // finished ones
    bool ended;              // the core said END
    struct core_tally tally; // last report of this process
    struct exec_order order;
    struct exec_secrets secrets; // for this process
    int nfaulted;                // kernels that want pages, and are begun anew with them
    const char *refused;         // reason why a record was refused, which ends the process
    double overhead_counts[CORE_TIMED_MAX], loop_counts[CORE_TIMED_MAX]; // this process'
    struct core_record counts; // counts of the next timing
    char fatal[CORE_TEXT_MAX];
    char aside[CORE_TEXT_MAX]; // reason why the process was put aside; ""
};

// Returns true if the kernel is to be measured, and by this invocation.
static bool exec_wants(const struct exec_batch *batch, int kernel)
{
    return exec_share_has(batch->share, kernel) && batch->kernels[kernel].selected &&
           !batch->kernels[kernel].finished;
}

static void exec_finish_kernel(struct exec_batch *batch, uint32_t id, enum outcome outcome,
                               const char *detail)
{
    struct exec_kernel *kernel = &batch->kernels[id];
    if (kernel->finished)
        return;
    kernel->finished = true;
    batch->ndone++;
    kernel->outcome = outcome;
    kernel->detail = arena_strdup(batch->arena, detail);
    if (batch->progress && batch->progress->kernel_done)
        batch->progress->kernel_done(batch->progress->context,
                                     outcome != OUTCOME_OK && outcome != OUTCOME_UNSUPPORTED);
}

// Finishes a kernel by a pass that brought an outcome in place of samples.
static void exec_fail_kernel(struct exec_batch *batch, uint32_t id, int pass, enum outcome outcome,
                             int tried, const char *detail)
{
    struct exec_kernel *kernel = &batch->kernels[id];
    if (kernel->ntimings < EXEC_TIMINGS_MAX)
        kernel->timings[kernel->ntimings++] =
            (struct timing){.pass = pass,
                            .outcome = outcome,
                            .detail = arena_strdup(batch->arena, detail),
                            .tried = tried};
    exec_finish_kernel(batch, id, outcome, detail);
}

// Takes the fault of a kernel for want of memory. Returns true if the next process maps it; else
// `detail` may say why not.
static bool exec_take_fault(struct exec_batch *batch, const struct core_record *record,
                            char detail[CORE_TEXT_MAX])
{
    struct exec_kernel *kernel = &batch->kernels[record->kernel];
    char why[EXEC_PAGES_TEXT];
    if (!batch->params->pages || !record->timing.fault.missing ||
        record->timing.outcome != OUTCOME_SIGNALLED)
        return false;
    if (!exec_pages_add(batch->params->pages, &kernel->reach, record->timing.fault.address,
                        clock_now_ms() - batch->began_ms, why)) {
        snprintf(detail, CORE_TEXT_MAX, "%s", why);
        return false;
    }
    kernel->began = false;
    kernel->ntimings = 0;
    batch->nfaulted++;
    return true;
}

// Returns the counts that came in front of a timing; NULL if none did.
static const struct exec_counts *exec_match_counts(struct exec_batch *batch,
                                                   const struct core_record *timing)
{
    const struct core_record *record = &batch->counts;
    if (record->type != CORE_REC_COUNTS || record->kernel != timing->kernel ||
        record->counts.pass != timing->timing.pass || record->counts.ncounters > CORE_TIMED_MAX)
        return NULL;
    struct exec_counts *counts = arena_alloc(batch->arena, sizeof *counts);
    counts->ncounters = (int)record->counts.ncounters;
    memcpy(counts->overhead, batch->overhead_counts, sizeof counts->overhead);
    memcpy(counts->loop, batch->loop_counts, sizeof counts->loop);
    memcpy(counts->samples, record->counts.samples, sizeof counts->samples);
    return counts;
}

static void exec_take_timing(struct exec_batch *batch, const struct core_record *record)
{
    struct exec_kernel *kernel = &batch->kernels[record->kernel];
    if (record->timing.outcome != OUTCOME_OK) {
        char detail[CORE_TEXT_MAX];
        snprintf(detail, sizeof detail, "%.*s", CORE_TEXT_MAX - 1, record->timing.detail);
        if (exec_take_fault(batch, record, detail))
            return;
        enum outcome outcome = record->timing.outcome < OUTCOME_COUNT
                                   ? (enum outcome)record->timing.outcome
                                   : OUTCOME_NOT_MEASURABLE;
        exec_fail_kernel(batch, record->kernel, (int)record->timing.pass, outcome,
                         (int)record->timing.tried, detail);
        return;
    }
    if (kernel->ntimings == EXEC_TIMINGS_MAX || record->timing.accepted > CORE_SAMPLES_MAX)
        return;
    struct sample *samples = arena_alloc(batch->arena, record->timing.accepted * sizeof *samples);
    const struct exec_counts *counts = exec_match_counts(batch, record);
    bool counted = counts && batch->params->config.counts_clk;
    for (uint32_t i = 0; i < record->timing.accepted; i++) {
        const struct core_sample *from = &record->timing.samples[i];
        samples[i] = (struct sample){from->kernel_tsc, from->before_tsc, from->after_tsc,
                                     from->canary_tsc, counted ? counts->samples[i][0] : 0};
    }
    kernel->counts[kernel->ntimings] = counts;
    kernel->timings[kernel->ntimings++] = (struct timing){
        .pass = (int)record->timing.pass,
        .outcome = OUTCOME_OK,
        .detail = "",
        .cpu = record->cpu,
        .accepted = (int)record->timing.accepted,
        .tried = (int)record->timing.tried,
        .iterations = record->timing.iterations,
        .copies = record->timing.copies,
        .calib_clk = record->timing.calib_clk,
        .overhead_tsc = record->timing.overhead_tsc,
        .counted = counted,
        .overhead_counted_clk = counted ? counts->overhead[0] : 0,
        .samples = samples,
        .nsamples = (int)record->timing.accepted,
    };
    batch->summary->passes++;
    if (record->timing.last)
        exec_finish_kernel(batch, record->kernel, OUTCOME_OK, "");
}

// Takes a report of how the process fares, and moves it to a CPU where it fares better.
static void exec_take_tally(struct exec_batch *batch, const struct core_tally *tally)
{
    batch->tally = *tally;
    if (!batch->mover || !exec_move_due(batch->mover, clock_now_ms()))
        return;
    double tsc_per_ms = batch->params->config.tsc_hz / 1000;
    const struct exec_fare fare = {.accepted = tally->accepted,
                                   .disturbed = tally->refused[CORE_REFUSED_CANARY],
                                   .waited_ms = (int64_t)((double)tally->quiet_tsc / tsc_per_ms),
                                   .at_ms = clock_now_ms(),
                                   .ran = subproc_ran(batch->pid)};
    int to = exec_move_consider(batch->mover, &fare, batch->cpu);
    if (to != batch->cpu)
        affinity_pin(batch->pid, to); // fails where it has ended: the next one begins there
    batch->cpu = to;
}

static void exec_take(struct exec_batch *batch, const struct core_record *record)
{
    if (!batch->refused)
        batch->refused = exec_order_refuses(&batch->order, record);
    if (batch->refused)
        return;
    switch (record->type) {
    case CORE_REC_HELLO:
        batch->summary->core_hz = record->hello.core_hz;
        batch->summary->imul_per_add = record->hello.imul_per_add;
        batch->summary->calib_link_clk = record->hello.calib_link_clk;
        batch->summary->overhead_tsc = record->hello.overhead_tsc;
        batch->summary->confirmed = record->hello.confirmed;
        batch->summary->area_bytes = record->hello.area_bytes;
        batch->summary->area_huge_bytes = record->hello.area_huge_bytes;
        memcpy(batch->summary->link_counts, record->hello.link_counts,
               sizeof record->hello.link_counts);
        memcpy(batch->overhead_counts, record->hello.overhead_counts,
               sizeof record->hello.overhead_counts);
        memcpy(batch->loop_counts, record->hello.loop_counts, sizeof record->hello.loop_counts);
        break;
    case CORE_REC_BEGIN:
        batch->current = (int)record->kernel;
        batch->began_ms = clock_now_ms();
        batch->kernels[record->kernel].began = true;
        exec_take_tally(batch, &record->begin.tally);
        break;
    case CORE_REC_COUNTS:
        batch->counts = *record;
        break;
    case CORE_REC_TIMING:
        exec_take_timing(batch, record);
        break;
    case CORE_REC_WAIT:
        exec_take_tally(batch, &record->begin.tally);
        if (batch->progress && batch->progress->waiting)
            batch->progress->waiting(batch->progress->context);
        break;
    case CORE_REC_CODE:
        batch->kernels[record->kernel].code_bytes = record->code.bytes;
        memcpy(batch->kernels[record->kernel].code, record->code.code, CORE_CODE_MAX);
        break;
    case CORE_REC_FATAL:
        snprintf(batch->fatal, sizeof batch->fatal, "%.*s", CORE_TEXT_MAX - 1, record->text);
        break;
    case CORE_REC_ASIDE:
        snprintf(batch->aside, sizeof batch->aside, "%.*s", CORE_TEXT_MAX - 1, record->text);
        break;
    case CORE_REC_END:
        batch->tally = record->begin.tally;
        batch->ended = true;
        break;
    default:
        break;
    }
}

static void exec_take_void(void *context, const struct core_record *record)
{
    exec_take(context, record);
}

// Gives the first processes of a batch a third of the time without an accepted repeat after which
// all is given up: what keeps the gate of one shut may not be so in the next. The last one has what
// is left, or all of it where some pass was accepted.
static void exec_share_patience(const struct exec_batch *batch, struct core_config *config)
{
    uint32_t third_ms = config->give_up_ms / (EXEC_ASIDE_MAX + 1);
    bool last = batch->summary->aside >= EXEC_ASIDE_MAX;
    config->aside_ms = last ? 0 : third_ms + 1;
    if (last && batch->summary->passes == 0)
        config->give_up_ms -= EXEC_ASIDE_MAX * third_ms;
}

static void *exec_config(struct exec_batch *batch, struct arena *arena, size_t *bytes)
{
    struct core_config config = batch->params->config;
    config.mode = CORE_MODE_MEASURE;
    config.nselected = 0;
    config.cpu = batch->cpu;
    config.ncounters = (uint32_t)batch->params->ncounters;
    config.ncorunners = (uint32_t)batch->params->ncorunners;
    exec_share_patience(batch, &config);
    struct exec_pages *pages = batch->params->pages;
    config.frames = pages != NULL;
    config.npages = pages ? (uint32_t)pages->n : 0;
    size_t counters = config.ncounters * sizeof *batch->params->counters;
    size_t corunners = config.ncorunners * sizeof *batch->params->corunners;
    struct core_config *block =
        arena_alloc(arena, sizeof config + (size_t)batch->nkernels * sizeof(uint32_t) + counters +
                               corunners + config.npages * sizeof *pages->at);
    uint32_t *ids = (uint32_t *)(block + 1);
    for (int i = 0; i < batch->nkernels && (int)config.nselected < batch->portion; i++)
        if (exec_wants(batch, i) && (!batch->alone || i == batch->suspect))
            ids[config.nselected++] = (uint32_t)i;
    *block = config;
    exec_secrets_begin(&batch->secrets, &block->secret);
    batch->alone = false;
    batch->nstarted = (int)config.nselected;
    batch->ndone = 0;
    if (counters) // after the ids, wherever that is: the core reads bytes
        memcpy(ids + config.nselected, batch->params->counters, counters);
    if (corunners)
        memcpy((char *)(ids + config.nselected) + counters, batch->params->corunners, corunners);
    *bytes = sizeof config + config.nselected * sizeof(uint32_t) + counters + corunners;
    *bytes += exec_pages_put(pages, (char *)block + *bytes);
    return config.nselected ? block : NULL;
}

// Handles a process that something outside ended or held. The kernel that ran last is not to blame;
// lost kernels are measured again, in smaller portions if need be, so that some are finished before
// the next such end.
static int exec_judge_outside(struct exec_batch *batch, enum exec_end how, int signal_number,
                              struct err *err)
{
    char text[CORE_TEXT_MAX], detail[CORE_TEXT_MAX + 40];
    exec_outside_text(how, signal_number, text);
    if (batch->ndone == 0 && batch->portion > PORTION_LEAST)
        batch->portion = (batch->nstarted + 1) / 2;
    batch->outside = batch->outside_kernel == batch->current ? batch->outside + 1 : 1;
    batch->outside_kernel = batch->current;
    if (batch->outside < EXEC_OUTSIDE_MAX)
        return 0;
    if (batch->current < 0)
        return err_set(err, "%s before it measured anything, %d times in a row", text,
                       batch->outside);
    snprintf(detail, sizeof detail, "%s, %d times in a row", text, batch->outside);
    exec_finish_kernel(batch, (uint32_t)batch->current, OUTCOME_UNSTABLE, detail);
    return 0;
}

// Handles a process that was put aside: another one measures what is left. That is unstable where
// the last of them was put aside, too.
static void exec_judge_aside(struct exec_batch *batch)
{
    char detail[CORE_TEXT_MAX + 60];
    if (batch->summary->aside++ < EXEC_ASIDE_MAX)
        return;
    snprintf(detail, sizeof detail, "%d measuring processes were put aside: %s",
             batch->summary->aside, batch->aside);
    for (int i = 0; i < batch->nkernels; i++)
        if (exec_wants(batch, i)) {
            batch->kernels[i].ntimings = 0;
            exec_fail_kernel(batch, (uint32_t)i, 1, OUTCOME_UNSTABLE, 0, detail);
        }
}

// Judges what the end of a process means for the kernel that ran last.
static int exec_judge(struct exec_batch *batch, enum exec_end how, int exit_status,
                      int signal_number, struct err *err)
{
    if (batch->fatal[0])
        return err_set(err, "the measurement core cannot work: %s", batch->fatal);
    if (how == EXEC_STOPPED) {
        batch->summary->stopped = true;
        return 0;
    }
    batch->summary->restarts++;
    if (batch->aside[0]) {
        exec_judge_aside(batch);
        return 0;
    }
    if (how == EXEC_REFUSED && batch->current >= 0) {
        char text[CORE_TEXT_MAX];
        snprintf(text, sizeof text, "the measuring process was taken over: %s", batch->refused);
        exec_finish_kernel(batch, (uint32_t)batch->current, OUTCOME_NOT_MEASURABLE, text);
        return 0;
    }
    if (exec_from_outside(how, signal_number))
        return exec_judge_outside(batch, how, signal_number, err);
    if (batch->current < 0) {
        if (++batch->failed_starts < FAILED_STARTS_MAX)
            return 0;
        return err_set(err,
                       "the measurement core ended before it measured anything (exit status %d, "
                       "signal %d), %d times",
                       exit_status, signal_number, batch->failed_starts);
    }
    batch->failed_starts = 0;
    char detail[CORE_TEXT_MAX];
    bool tampered = how == EXEC_CLOSED && exit_status == CORE_EXIT_TAMPERED;
    if (tampered && batch->nstarted > 1) { // by any of them: they are asked apart
        batch->portion = (batch->nstarted + 1) / 2;
        return 0;
    }
    if (tampered || (how == EXEC_CLOSED && exit_status == CORE_EXIT_DAMAGED)) {
        exec_finish_kernel(batch, (uint32_t)batch->current, OUTCOME_NOT_MEASURABLE,
                           "the body writes over the memory of the measurement core");
        return 0;
    }
    if (batch->suspect != batch->current) {
        batch->suspect = batch->current;
        batch->alone = true;
        return 0;
    }
    if (how == EXEC_SILENT) {
        snprintf(detail, sizeof detail, "the body did not return within %d ms",
                 batch->params->hang_ms);
        exec_finish_kernel(batch, (uint32_t)batch->current, OUTCOME_TIMED_OUT, detail);
    } else {
        snprintf(detail, sizeof detail, "the body ended the measuring process (%s %d)",
                 signal_number ? "signal" : "exit status",
                 signal_number ? signal_number : exit_status);
        exec_finish_kernel(batch, (uint32_t)batch->current, OUTCOME_SIGNALLED, detail);
    }
    return 0;
}

// Forgets the passes of unfinished kernels: all passes of a kernel are of one process.
static void exec_forget_unfinished(struct exec_batch *batch)
{
    for (int i = 0; i < batch->nkernels; i++)
        if (exec_share_has(batch->share, i) && !batch->kernels[i].finished) {
            batch->kernels[i].ntimings = 0;
            batch->kernels[i].began = false;
        }
}

// Adds the time of a process to the account of the run.
static void exec_spend(double start_s, const struct rusage *usage)
{
    spent_add_time(SPENT_MEASURING, start_s);
    spent_add(SPENT_USER, (double)usage->ru_utime.tv_sec + (double)usage->ru_utime.tv_usec / 1e6);
    spent_add(SPENT_KERNEL, (double)usage->ru_stime.tv_sec + (double)usage->ru_stime.tv_usec / 1e6);
}

_Static_assert(SPENT_REFUSED_LAST - SPENT_REFUSED + 1 == CORE_REFUSALS, "spent.h");

// Adds the waits and repeats that the process reported, as far as they fit into its life.
static void exec_spend_tally(const struct core_tally *tally, double tsc_hz, double start_s)
{
    static const double REPEATS_MOST = 1e9;
    double passed_s = clock_now_s() - start_s;
    double quiet_s = fmin((double)tally->quiet_tsc / tsc_hz, passed_s);
    spent_add(SPENT_QUIET, quiet_s);
    spent_add(SPENT_GAPS, fmin((double)tally->gap_tsc / tsc_hz, passed_s - quiet_s));
    spent_add(SPENT_ACCEPTED, fmin((double)tally->accepted, REPEATS_MOST));
    for (int i = 0; i < CORE_REFUSALS; i++)
        spent_add((enum spent_on)(SPENT_REFUSED + i),
                  fmin((double)tally->refused[i], REPEATS_MOST));
}

// Finishes what ran without a fault in a process that timed nothing.
static void exec_finish_probed(struct exec_batch *batch)
{
    for (int i = 0; i < batch->nkernels; i++)
        if (exec_wants(batch, i) && batch->kernels[i].began)
            exec_finish_kernel(batch, (uint32_t)i, OUTCOME_OK, "");
}

// Runs one process, and fills how it ended.
static int exec_process_run(const char *program, struct exec_batch *batch, const void *config,
                            size_t bytes, struct err *err)
{
    struct subproc_child child;
    double start_s = clock_now_s();
    exec_forget_unfinished(batch);
    batch->current = -1;
    batch->ended = false;
    batch->nfaulted = 0;
    batch->refused = NULL;
    batch->aside[0] = '\0';
    batch->tally = (struct core_tally){0};
    exec_order_begin(&batch->order, batch->kernels, batch->nkernels, &batch->params->config,
                     &batch->secrets);
    batch->order.share = batch->share;
    const struct subproc_inputs inputs = {
        .config = config, .config_bytes = bytes, .placed = batch->params->pages != NULL};
    if (exec_start(program, &inputs, &child, err) != 0)
        return -1;
    batch->secrets.fd = child.to_fd;
    batch->pid = child.pid;
    if (batch->mover)
        exec_move_begin(batch->mover, clock_now_ms());
    struct exec_stream stream = {.fd = child.from_fd,
                                 .pid = child.pid,
                                 .secrets = &batch->secrets,
                                 .take = exec_take_void,
                                 .context = batch,
                                 .refused = &batch->refused};
    enum exec_end how = exec_read(&stream, 1, batch->params->hang_ms);
    struct subproc_end end;
    subproc_finish(&child, how != EXEC_CLOSED, &end);
    exec_spend(start_s, &end.usage);
    exec_spend_tally(&batch->tally, batch->params->config.tsc_hz, start_s);
    if (!batch->ended)
        return exec_judge(batch, how, end.exit_status, end.signal, err);
    if (batch->params->config.probe)
        exec_finish_probed(batch);
    if (batch->ndone == 0 && batch->nfaulted == 0)
        return err_set(err, "the measurement core ended without a result");
    batch->portion = batch->portion < batch->nkernels / 2 ? 2 * batch->portion : batch->nkernels;
    return 0;
}

// Measures a portion of what is left; `complete` when nothing was.
static int exec_process(const char *program, struct exec_batch *batch, bool *complete,
                        struct err *err)
{
    struct arena scratch = {0};
    size_t bytes = 0;
    void *config = exec_config(batch, &scratch, &bytes);
    int status = 0;
    *complete = !config;
    if (config)
        status = exec_process_run(program, batch, config, bytes, err);
    arena_free(&scratch);
    return status;
}

int exec_run(const struct exec_job *job, struct arena *arena, struct exec_summary *summary,
             struct err *err)
{
    return exec_run_share(job, (struct exec_share){0, 1}, arena, summary, err);
}

int exec_run_share(const struct exec_job *job, struct exec_share share, struct arena *arena,
                   struct exec_summary *summary, struct err *err)
{
    struct exec_batch batch = {.params = job->params,
                               .kernels = job->kernels,
                               .nkernels = job->nkernels,
                               .share = share,
                               .suspect = -1,
                               .outside_kernel = -1,
                               .portion = job->nkernels,
                               .progress = job->progress,
                               .mover = job->mover,
                               .cpu = job->params->config.cpu,
                               .arena = arena,
                               .summary = summary};
    *summary = (struct exec_summary){0};
    int status = 0;
    bool complete = false;
    while (status == 0 && !complete && !summary->stopped)
        status = exec_process(job->program, &batch, &complete, err);
    return status;
}

int exec_probe(const struct exec_job *job, struct arena *arena, struct err *err)
{
    struct exec_params params = *job->params;
    struct exec_job probing = {job->program, &params, job->kernels, job->nkernels, NULL, NULL};
    struct exec_summary summary;
    params.config.probe = true;
    if (exec_run(&probing, arena, &summary, err) != 0)
        return -1;
    for (int i = 0; i < job->nkernels; i++) {
        struct exec_kernel *kernel = &job->kernels[i];
        kernel->finished = kernel->finished && kernel->outcome != OUTCOME_OK;
    }
    return summary.stopped ? err_set(err, "stopped by a signal") : 0;
}

struct floor_taker {
    struct exec_floor *floor;
    uint64_t samples;
    char fatal[CORE_TEXT_MAX];
};

static void exec_take_floor(void *context, const struct core_record *record)
{
    struct floor_taker *taker = context;
    if (record->type == CORE_REC_FATAL)
        snprintf(taker->fatal, sizeof taker->fatal, "%.*s", CORE_TEXT_MAX - 1, record->text);
    if (record->type == CORE_REC_HELLO)
        taker->floor->imul_per_add = record->hello.imul_per_add;
    if (record->type != CORE_REC_FLOOR || record->floor.canary >= CORE_CANARIES ||
        record->floor.first > CORE_FLOOR_BINS - CORE_FLOOR_CHUNK)
        return;
    uint32_t *counts = taker->floor->counts[record->floor.canary] + record->floor.first;
    for (int i = 0; i < CORE_FLOOR_CHUNK; i++) {
        counts[i] += record->floor.counts[i];
        taker->samples += record->floor.counts[i];
    }
}

int exec_floor(const char *program, const struct exec_params *params, uint32_t floor_ms,
               struct exec_floor *floor, struct err *err)
{
    struct core_config config = params->config;
    config.mode = CORE_MODE_FLOOR;
    config.floor_ms = floor_ms;
    config.nselected = 0;
    struct floor_taker taker = {.floor = floor};
    double start_s = clock_now_s();
    struct subproc_child child;
    const struct subproc_inputs inputs = {.config = &config, .config_bytes = sizeof config};
    if (exec_start(program, &inputs, &child, err) != 0)
        return -1;
    struct exec_stream stream = {
        .fd = child.from_fd, .pid = child.pid, .take = exec_take_floor, .context = &taker};
    enum exec_end how = exec_read(&stream, 1, (int)floor_ms + params->hang_ms);
    struct subproc_end end;
    subproc_finish(&child, how != EXEC_CLOSED, &end);
    exec_spend(start_s, &end.usage);
    if (taker.fatal[0])
        return err_set(err, "the measurement core cannot work: %s", taker.fatal);
    if (how == EXEC_STOPPED)
        return err_set(err, "stopped by a signal");
    if (taker.samples == 0 || how != EXEC_CLOSED)
        return err_set(err, "the canary could not be timed (exit status %d, signal %d)",
                       end.exit_status, end.signal);
    return 0;
}
