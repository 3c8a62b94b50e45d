// SPDX-License-Identifier: MIT
// Runs the measurement core in CORE_MODE_BENCH and collects its repetitions; see exec.h.
#include "exec_internal.h"

#include "util/clock.h"
#include "util/subproc.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct bench_process {
    struct exec_bench *bench;
    struct arena *arena;
    struct subproc_child child;
    int thread;
    int nrepeats;
    bool began;       // the kernel, ...
    int64_t began_ms; // ... on the clock
    bool ended;
    bool failed;             // the core sent an outcome
    bool outside;            // something outside ended it, as `fatal` says
    struct core_fault fault; // of a kernel that failed
    char fatal[CORE_TEXT_MAX];
};

static int bench_threads(const struct exec_bench *bench)
{
    return bench->nthreads > 1 ? bench->nthreads : 1;
}

static void bench_take_repeat(struct bench_process *process, const struct core_record *record)
{
    struct exec_bench *bench = process->bench;
    const struct core_sample *sample = &record->repeat.sample;
    if (process->nrepeats > (int)bench->repeats)
        return;
    int at = process->nrepeats++ * bench_threads(bench) + process->thread;
    bench->repeats_done[at] = (struct exec_repeat){
        .thread = process->thread,
        .repetition = (int)record->repeat.repetition,
        .cold = record->repeat.cold,
        .accepted = record->repeat.accepted,
        .tried = (int)record->repeat.tried,
        .late_tsc = record->repeat.late_tsc,
        .copies = record->repeat.copies,
        .iterations = record->repeat.iterations,
        .calib_clk = record->repeat.calib_clk,
        .overhead_tsc = record->repeat.overhead_tsc,
        .sample = {sample->kernel_tsc, sample->before_tsc, sample->after_tsc, sample->canary_tsc,
                   0},
    };
    memcpy(bench->repeats_done[at].counts, record->repeat.counts, sizeof record->repeat.counts);
}

// Records the first failure; others may follow from it. The detail may be a body's: without a NUL,
// or with what steers a terminal.
static void bench_fail(struct bench_process *process, enum outcome outcome,
                       const char detail[CORE_TEXT_MAX])
{
    const size_t len = strnlen(detail, CORE_TEXT_MAX);
    process->failed = true;
    if (process->bench->outcome != OUTCOME_OK)
        return;
    process->bench->outcome = outcome;
    process->bench->detail = text_is_clean(detail, len)
                                 ? arena_strndup(process->arena, detail, len)
                                 : "the code wrote a reason of its own, which is no text";
}

static void bench_take(void *context, const struct core_record *record)
{
    struct bench_process *process = context;
    struct exec_bench *bench = process->bench;
    switch (record->type) {
    case CORE_REC_HELLO:
        if (process->thread > 0)
            break;
        bench->summary.core_hz = record->hello.core_hz;
        bench->summary.imul_per_add = record->hello.imul_per_add;
        bench->summary.calib_link_clk = record->hello.calib_link_clk;
        bench->summary.overhead_tsc = record->hello.overhead_tsc;
        break;
    case CORE_REC_CODE:
        bench->code_bytes = record->code.bytes <= INT32_MAX ? record->code.bytes : 0;
        memcpy(bench->code, record->code.code, CORE_CODE_MAX);
        break;
    case CORE_REC_BEGIN:
        process->began = true;
        process->began_ms = clock_now_ms();
        break;
    case CORE_REC_SHAPE:
        bench->copies = record->shape.copies;
        bench->iterations = record->shape.iterations;
        break;
    case CORE_REC_REPEAT:
        bench_take_repeat(process, record);
        break;
    case CORE_REC_TIMING: // only ever sent for a kernel that failed
        process->fault = record->timing.fault;
        bench_fail(process,
                   record->timing.outcome < OUTCOME_COUNT ? (enum outcome)record->timing.outcome
                                                          : OUTCOME_NOT_MEASURABLE,
                   record->timing.detail);
        break;
    case CORE_REC_FATAL:
        snprintf(process->fatal, sizeof process->fatal, "%.*s", CORE_TEXT_MAX - 1, record->text);
        break;
    case CORE_REC_END:
        process->ended = true;
        break;
    default:
        break;
    }
}

static int bench_judge(struct bench_process *process, enum exec_end how, int hang_ms,
                       int exit_status, int signal_number, struct err *err)
{
    char detail[CORE_TEXT_MAX];
    if (process->fatal[0])
        return err_set(err, "the measurement core cannot work: %s", process->fatal);
    if (how == EXEC_STOPPED)
        return err_set(err, "stopped by a signal");
    if (process->ended || process->failed)
        return 0;
    if (exec_from_outside(how, signal_number)) {
        process->outside = true;
        exec_outside_text(how, signal_number, process->fatal);
        return 0;
    }
    if (!process->began)
        return err_set(err,
                       "the measurement core ended before it measured anything (exit status %d, "
                       "signal %d)",
                       exit_status, signal_number);
    if (how == EXEC_SILENT) {
        snprintf(detail, sizeof detail, "the code did not return within %d ms", hang_ms);
        bench_fail(process, OUTCOME_TIMED_OUT, detail);
    } else {
        snprintf(detail, sizeof detail, "the code ended the measuring process (%s %d)",
                 signal_number ? "signal" : "exit status",
                 signal_number ? signal_number : exit_status);
        bench_fail(process, OUTCOME_SIGNALLED, detail);
    }
    return 0;
}

// Makes the memory of a team. Returns its descriptor; -1: none is needed; -2 with a message.
static int bench_make_team(int nthreads, struct err *err)
{
    if (nthreads < 2)
        return -1;
    int fd = memfd_create("latput-team", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, sizeof(struct core_team)) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    err_set(err, "cannot make memory for the threads to share: %s", strerror(errno));
    return -2;
}

static int bench_start(const char *program, const struct exec_params *params, int team,
                       struct bench_process *process, struct err *err)
{
    struct {
        struct core_config config;
        uint32_t rest[1 + CORE_COUNTERS_MAX * sizeof(struct core_counter) / sizeof(uint32_t) +
                      CORE_PAGES_MAX * sizeof(uint64_t) / sizeof(uint32_t)];
    } block = {.config = params->config};
    const struct exec_bench *bench = process->bench;
    block.config.mode = CORE_MODE_BENCH;
    block.config.nselected = 1;
    block.config.copies = bench->copies;
    block.config.iterations = bench->iterations;
    block.config.repeats = bench->repeats;
    block.config.cold = bench->cold;
    if (bench->nthreads > 1) {
        block.config.threads = (uint32_t)bench->nthreads;
        block.config.thread = (uint32_t)process->thread;
        block.config.cpu = bench->cpus[process->thread];
    }
    size_t counters = (size_t)bench->ncounters * sizeof *bench->counters;
    block.config.ncounters = (uint32_t)bench->ncounters;
    block.config.timed = bench->timed;
    if (counters)
        memcpy(block.rest + 1, bench->counters, counters); // after the one id, which is 0
    struct exec_pages *pages = params->pages;
    block.config.frames = pages != NULL;
    block.config.npages = pages ? (uint32_t)pages->n : 0;
    size_t bytes = sizeof block.config + sizeof block.rest[0] + counters;
    bytes += exec_pages_put(pages, (char *)&block + bytes);
    const struct subproc_inputs inputs = {.config = &block,
                                          .config_bytes = bytes,
                                          .placed = pages != NULL,
                                          .shares = team >= 0,
                                          .shared_fd = team};
    return exec_start(program, &inputs, &process->child, err);
}

// Reads the records of all processes to their end, and judges.
static int bench_collect(struct bench_process *processes, int started, int hang_ms, bool abandon,
                         struct err *err)
{
    struct exec_stream streams[EXEC_THREADS_MAX] = {{0}};
    for (int i = 0; i < started; i++)
        streams[i] = (struct exec_stream){.fd = processes[i].child.from_fd,
                                          .pid = processes[i].child.pid,
                                          .take = bench_take,
                                          .context = &processes[i]};
    enum exec_end how = abandon ? EXEC_STOPPED : exec_read(streams, started, hang_ms);
    int status = 0;
    for (int i = 0; i < started; i++) {
        struct subproc_end end;
        subproc_finish(&processes[i].child, how != EXEC_CLOSED, &end);
        // The first process that is held or silent ends all.
        if (!abandon && status == 0)
            status = bench_judge(&processes[i], how, hang_ms, end.exit_status, end.signal, err);
    }
    return status;
}

// Makes one try with all processes in step; `outside`: what ended or held one of them; NULL:
// nothing.
static int bench_run(const char *program, const struct exec_params *params,
                     struct exec_bench *bench, struct bench_process *processes,
                     const char **outside, struct err *err)
{
    int nthreads = bench_threads(bench), started = 0;
    struct arena *arena = processes[0].arena;
    bench->outcome = OUTCOME_OK;
    bench->detail = "";
    *outside = NULL;
    int team = bench_make_team(nthreads, err);
    int status = team < -1 ? -1 : 0;
    for (int i = 0; i < nthreads && status == 0; i++) {
        processes[i] = (struct bench_process){.bench = bench, .arena = arena, .thread = i};
        status = bench_start(program, params, team, &processes[i], err);
        started += status == 0;
    }
    if (team >= 0)
        close(team);
    if (bench_collect(processes, started, params->hang_ms, status != 0, err) != 0)
        status = -1;
    int complete = started ? processes[0].nrepeats : 0;
    for (int i = 0; i < started; i++) {
        complete = processes[i].nrepeats < complete ? processes[i].nrepeats : complete;
        if (processes[i].outside)
            *outside = processes[i].fatal;
    }
    bench->nrepeats = complete * nthreads;
    return status;
}

// Takes the fault of the kernel for want of memory. Returns true if new processes map it.
static bool bench_take_fault(struct exec_bench *bench, const struct exec_params *params,
                             const struct bench_process *processes)
{
    char why[EXEC_PAGES_TEXT];
    int thread = 0;
    while (thread < bench_threads(bench) && !processes[thread].fault.missing)
        thread++;
    if (!params->pages || bench->outcome != OUTCOME_SIGNALLED || thread == bench_threads(bench))
        return false;
    if (exec_pages_add(params->pages, &bench->reach, processes[thread].fault.address,
                       clock_now_ms() - processes[thread].began_ms, why))
        return true;
    bench->detail = arena_strdup(processes[0].arena, why);
    return false;
}

int exec_bench(const char *program, const struct exec_params *params, struct exec_bench *bench,
               struct arena *arena, struct err *err)
{
    int nthreads = bench_threads(bench);
    struct bench_process *processes = arena_alloc(arena, (size_t)nthreads * sizeof *processes);
    size_t rows = (bench->repeats + 1) * (size_t)nthreads;
    bench->repeats_done = arena_alloc(arena, rows * sizeof *bench->repeats_done);
    processes[0].arena = arena;
    const char *outside = NULL;
    for (int tries = 1; tries <= EXEC_OUTSIDE_MAX;) {
        int status = bench_run(program, params, bench, processes, &outside, err);
        if (status == 0 && !outside && bench_take_fault(bench, params, processes))
            continue;
        if (status != 0 || !outside)
            return status;
        tries++;
    }
    return err_set(err, "%s, %d times in a row", outside, EXEC_OUTSIDE_MAX);
}
