// SPDX-License-Identifier: MIT
// Runs the measurement core in CORE_MODE_BENCH and collects its repetitions; see exec.h.
#include "exec_internal.h"

#include "util/subproc.h"

#include <stdio.h>
#include <string.h>

struct bench_process {
    struct exec_bench *bench;
    struct arena *arena;
    bool began; // the kernel
    bool ended;
    bool failed; // the core sent an outcome
    char fatal[CORE_TEXT_MAX];
};

static void bench_take_repeat(struct bench_process *process, const struct core_record *record)
{
    struct exec_bench *bench = process->bench;
    const struct core_sample *sample = &record->repeat.sample;
    if (bench->nrepeats > (int)bench->repeats)
        return;
    bench->repeats_done[bench->nrepeats++] = (struct exec_repeat){
        .repetition = (int)record->repeat.repetition,
        .cold = record->repeat.cold,
        .accepted = record->repeat.accepted,
        .tried = (int)record->repeat.tried,
        .copies = record->repeat.copies,
        .iterations = record->repeat.iterations,
        .calib_clk = record->repeat.calib_clk,
        .overhead_tsc = record->repeat.overhead_tsc,
        .sample = {sample->kernel_tsc, sample->before_tsc, sample->after_tsc, sample->canary_tsc},
    };
}

static void bench_fail(struct bench_process *process, enum outcome outcome, const char *detail)
{
    process->failed = true;
    process->bench->outcome = outcome;
    process->bench->detail = arena_strdup(process->arena, detail);
}

static void bench_take(void *context, const struct core_record *record)
{
    struct bench_process *process = context;
    struct exec_bench *bench = process->bench;
    switch (record->type) {
    case CORE_REC_HELLO:
        bench->summary.core_hz = record->hello.core_hz;
        bench->summary.imul_per_add = record->hello.imul_per_add;
        bench->summary.calib_link_clk = record->hello.calib_link_clk;
        bench->summary.overhead_tsc = record->hello.overhead_tsc;
        break;
    case CORE_REC_CODE:
        bench->code_bytes = record->code.bytes;
        memcpy(bench->code, record->code.code, CORE_CODE_MAX);
        break;
    case CORE_REC_BEGIN:
        process->began = true;
        break;
    case CORE_REC_SHAPE:
        bench->copies = record->shape.copies;
        bench->iterations = record->shape.iterations;
        break;
    case CORE_REC_REPEAT:
        bench_take_repeat(process, record);
        break;
    case CORE_REC_TIMING: // only ever sent for a kernel that failed
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

// What the end of the process means.
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

int exec_bench(const char *program, const struct exec_params *params, struct exec_bench *bench,
               struct arena *arena, struct err *err)
{
    struct {
        struct core_config config;
        uint32_t ids[1];
    } block = {.config = params->config};
    block.config.mode = CORE_MODE_BENCH;
    block.config.nselected = 1;
    block.config.copies = bench->copies;
    block.config.iterations = bench->iterations;
    block.config.repeats = bench->repeats;
    block.config.cold = bench->cold;
    bench->outcome = OUTCOME_OK;
    bench->detail = "";
    bench->nrepeats = 0;
    bench->repeats_done = arena_alloc(arena, (bench->repeats + 1) * sizeof *bench->repeats_done);
    struct bench_process process = {.bench = bench, .arena = arena};
    const char *const argv[] = {program, NULL};
    struct subproc_child child;
    size_t bytes = sizeof block.config + sizeof block.ids;
    if (subproc_start(argv, &block, bytes, false, &child, err) != 0)
        return -1;
    struct exec_stream stream = {.fd = child.from_fd, .take = bench_take, .context = &process};
    enum exec_end how = exec_read(&stream, 1, params->hang_ms);
    int exit_status, signal_number;
    subproc_finish(&child, how != EXEC_CLOSED, &exit_status, &signal_number);
    return bench_judge(&process, how, params->hang_ms, exit_status, signal_number, err);
}
