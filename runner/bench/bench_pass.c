// SPDX-License-Identifier: MIT
// Times a built snippet in passes and sums up; see bench.h. Each pass has a process per thread, so
// that it has a cold first repetition and addresses of its own. Passes go on until two of them
// confirm a value in every thread, as in a run over lists.
#include "bench_internal.h"

#include "util/quantile.h"

#include <math.h>
#include <string.h>

enum {
    REPEAT_DEFAULT = 8,
    PASSES_MAX = 6,
    LONG_REPEATS = 200,      // so many repetitions make two passes enough
    SAMPLES_A_PASS_MAX = 16, // for the estimator, evenly chosen
};

// A round of the loop takes a branch, of which no core takes more than two per cycle.
static const double ROUND_LEAST_CLK = 0.25;

// Results of one thread so far.
struct thread_timings {
    struct timing timings[PASSES_MAX];
    int ntimings;
    double *accepted_clk; // over all passes, for median and spread
    int naccepted;
};

struct passes {
    struct bench *bench;
    struct thread_timings *threads;
    int done;
};

static struct timing pass_timing(const struct exec_repeat *repeat, int pass)
{
    return (struct timing){.pass = pass,
                           .outcome = OUTCOME_OK,
                           .detail = "",
                           .iterations = repeat->iterations,
                           .copies = repeat->copies,
                           .calib_clk = repeat->calib_clk,
                           .overhead_tsc = repeat->overhead_tsc};
}

// Returns true if the repetition passed the gate, and the gate can be believed.
static bool pass_accepts(const struct bench *bench, const struct exec_repeat *repeat)
{
    return repeat->accepted && !bench->result->floor_guessed;
}

// Returns a sum of tries that a database takes, whatever a body says that speaks for the core.
static int pass_add_tried(int sum, const struct exec_repeat *repeat)
{
    enum { TRIED_MAX = 1000000000 };
    return repeat->tried < 0 || repeat->tried > TRIED_MAX - sum ? TRIED_MAX : sum + repeat->tried;
}

static void pass_add_row(const struct passes *passes, const struct exec_repeat *repeat, int pass)
{
    const struct bench *bench = passes->bench;
    struct timing timing = pass_timing(repeat, pass);
    struct bench_result *result = bench->result;
    double per_clk = derive_sample_clk(&bench->facts, &timing, &repeat->sample);
    result->rows[result->nrows++] = (struct bench_row){
        .thread = repeat->thread,
        .pass = pass,
        .repetition = repeat->repetition,
        .cold = repeat->cold,
        .accepted = pass_accepts(bench, repeat),
        .tried = pass_add_tried(0, repeat),
        .late_ns = repeat->late_tsc / result->tsc_hz * 1e9,
        .tsc = repeat->sample.kernel_tsc - repeat->overhead_tsc,
        .clk = per_clk * bench->facts.instances * repeat->copies * repeat->iterations,
        .per_clk = per_clk,
        .values = arena_alloc(bench->arena,
                              (size_t)(result->nevents + result->ncolumns) * sizeof(double)),
    };
    for (int i = 0; i < result->nevents; i++)
        result->rows[result->nrows - 1].values[i] = NAN;
}

// Writes the counts of one pass over the events into the rows from `rows` on, of which there are
// fewer than repetitions if a body speaks for the core.
static void pass_add_counts(const struct bench *bench, const struct exec_bench *pass, int number,
                            struct bench_row *rows)
{
    const int nrows = (int)(bench->result->rows + bench->result->nrows - rows);
    for (int r = 0; r < pass->nrepeats && r < nrows; r++)
        for (int i = 0, at = 0; i < bench->result->nevents; i++)
            if (bench->counter_pass[i] == number)
                rows[r].values[i] = (double)pass->repeats_done[r].counts[at++];
}

static int pass_repeats(const struct bench *bench)
{
    return bench->source.repeat ? bench->source.repeat : REPEAT_DEFAULT;
}

// Adds the accepted repetitions of one thread for the estimator, warm or cold ones as requested.
static void pass_add_timing(struct passes *passes, int thread, const struct exec_bench *pass)
{
    struct bench *bench = passes->bench;
    struct thread_timings *own = &passes->threads[thread];
    struct sample *samples =
        arena_alloc(bench->arena, ((size_t)pass->nrepeats + 1) * sizeof *samples);
    struct timing *timing = &own->timings[own->ntimings];
    int n = 0;
    for (int i = thread; i < pass->nrepeats; i += bench->result->nthreads) {
        const struct exec_repeat *repeat = &pass->repeats_done[i];
        if (repeat->cold != bench->spec->cold)
            continue;
        int *tried = &bench->result->threads[thread].tried;
        *tried = pass_add_tried(*tried, repeat);
        if (!pass_accepts(bench, repeat))
            continue;
        *timing = pass_timing(repeat, passes->done);
        samples[n++] = repeat->sample;
        own->accepted_clk[own->naccepted++] =
            derive_sample_clk(&bench->facts, timing, &repeat->sample);
    }
    if (!n)
        return;
    // The estimator wants two samples per pass. If only one was requested, passes must agree.
    if (n == 1 && pass_repeats(bench) == 1)
        samples[n++] = samples[0];
    timing->samples = samples;
    timing->nsamples = n < SAMPLES_A_PASS_MAX ? n : SAMPLES_A_PASS_MAX;
    for (int i = 0; i < timing->nsamples; i++)
        samples[i] = samples[(int)((long)i * n / timing->nsamples)];
    timing->accepted = timing->nsamples;
    own->ntimings++;
}

// Sets the outcome of code that ran, but is no measurement of anything.
static void pass_refuse(struct bench_result *result, const struct exec_bench *done)
{
    if (result->outcome != OUTCOME_OK)
        return;
    const char *reason = NULL;
    if (!done->code_bytes) // NASM took it for a label or a directive
        reason = "the code has no instruction: it assembles to nothing";
    for (int i = 0; i < done->nrepeats; i++)
        if (done->repeats_done[i].sample.kernel_tsc == UINT32_MAX)
            reason = "a repetition takes longer than 2^32 ticks of the time-stamp counter: choose "
                     "a smaller loop";
    if (!reason)
        return;
    result->outcome = OUTCOME_NOT_MEASURABLE;
    result->detail = reason;
}

// Finds the pages that the code needs, by processes that only run it briefly. A fault that is left
// is the result's outcome.
static int pass_find_pages(struct bench *bench, struct err *err)
{
    struct bench_result *result = bench->result;
    struct exec_params params = bench->params;
    struct exec_kernel kernel = {.selected = true, .detail = ""};
    if (!params.pages || exec_is_text())
        return 0;
    params.config.copies = (uint32_t)bench->source.unroll;
    const struct exec_job job = {bench->program.path, &params, &kernel, 1, NULL, NULL};
    if (exec_probe(&job, bench->arena, err) != 0)
        return -1;
    if (kernel.finished) {
        result->outcome = kernel.outcome;
        result->detail = kernel.detail;
    }
    return 0;
}

// Finds copies and iterations, unless the latter are given.
static int pass_find_shape(struct bench *bench, struct err *err)
{
    const struct bench_source *source = &bench->source;
    struct bench_result *result = bench->result;
    struct exec_bench shape = {.copies = (uint32_t)source->unroll};
    result->copies = source->unroll;
    result->iterations = source->loop;
    if (source->loop)
        return 0;
    if (exec_bench(bench->program.path, &bench->params, &shape, bench->arena, err) != 0)
        return -1;
    result->copies = (int)shape.copies;
    result->iterations = (int)shape.iterations;
    result->outcome = shape.outcome;
    result->detail = shape.detail;
    pass_refuse(result, &shape);
    return 0;
}

static void pass_keep_facts(struct bench *bench, const struct exec_bench *pass)
{
    struct bench_result *result = bench->result;
    result->core_hz = pass->summary.core_hz;
    result->overhead_tsc = pass->summary.overhead_tsc;
    result->imul_per_add = pass->summary.imul_per_add;
    if (pass->nrepeats)
        result->copies = (int)pass->repeats_done[0].copies;
    if (!pass->code_bytes)
        return;
    uint8_t *code = arena_alloc(bench->arena, sizeof pass->code);
    memcpy(code, pass->code, sizeof pass->code);
    result->code = code;
    result->code_bytes = (int)pass->code_bytes;
}

// Returns true if the passes so far settle the value of a thread, and sets it then.
static bool pass_settles(struct passes *passes, int thread)
{
    const struct bench *bench = passes->bench;
    const struct thread_timings *own = &passes->threads[thread];
    if (own->ntimings < 2)
        return false;
    if (bench->spec->cold) // misses vary; there is no steady state to wait for
        return true;
    struct estimate estimate =
        derive_kernel(&bench->facts, bench_source_width(&bench->source, bench->session.issue_width),
                      own->timings, own->ntimings);
    if (estimate.outcome != OUTCOME_OK)
        return false;
    bench->result->threads[thread].clk = estimate.clk;
    if (thread == 0)
        bench->result->pass = estimate.pass;
    return true;
}

// Runs the processes of a pass, which count the events of one counter pass.
static int pass_execute(struct bench *bench, int counter_pass, struct exec_bench *pass,
                        struct err *err)
{
    const struct bench_result *result = bench->result;
    const struct bench_counting *counting = &bench->passes[counter_pass];
    struct core_counter counters[BENCH_EVENTS_MAX];
    struct count_pass chosen;
    struct err ignored;
    *pass = (struct exec_bench){.copies = (uint32_t)result->copies,
                                .iterations = (uint32_t)result->iterations,
                                .repeats = (uint32_t)pass_repeats(bench),
                                .cold = bench->spec->cold,
                                .nthreads = result->nthreads,
                                .cpus = result->cpus,
                                .counters = counters,
                                .timed = counting->timed};
    const struct count_dealt dealt = {bench->events, bench->result->nevents, bench->counter_pass};
    if (count_pass_choose(&dealt, counter_pass, BENCH_EVENTS_MAX, &chosen, err))
        return -1;
    pass->ncounters = chosen.nevents;
    for (int i = 0; i < pass->ncounters; i++)
        counters[i] = bench->counters[chosen.index[i]];
    int status = 0;
    if (counting->backend == &count_msr)
        status = bench_msr_begin(bench, counter_pass, counters, err) == COUNT_FINE ? 0 : -1;
    if (status == 0)
        status = exec_bench(bench->program.path, &bench->params, pass, bench->arena, err);
    if (counting->backend == &count_msr &&
        bench_msr_end(bench, status == 0 ? err : &ignored) != COUNT_FINE)
        status = -1;
    return status;
}

// Runs a pass over all events. The first part gives rows and timings, all parts give counts.
// Returns false if the code failed; -1: error.
static int pass_run(struct passes *passes, struct exec_bench *first, struct err *err)
{
    struct bench *bench = passes->bench;
    struct bench_result *result = bench->result;
    int row = result->nrows;
    for (int number = 0; number < bench->counter_passes; number++) {
        struct exec_bench pass;
        if (pass_execute(bench, number, &pass, err) != 0)
            return -1;
        if (number == 0) {
            *first = pass;
            pass_keep_facts(bench, &pass);
            for (int i = 0; i < pass.nrepeats; i++)
                pass_add_row(passes, &pass.repeats_done[i], passes->done);
        }
        result->outcome = pass.outcome;
        result->detail = pass.detail;
        pass_refuse(result, &pass);
        if (result->outcome != OUTCOME_OK)
            return false;
        pass_add_counts(bench, &pass, number, result->rows + row);
    }
    for (; row < result->nrows; row++)
        bench_compute_columns(bench, &result->rows[row]);
    return true;
}

// Measures one pass. Returns 1: more are of use, 0: enough, -1: error.
static int pass_measure(struct passes *passes, struct err *err)
{
    struct bench *bench = passes->bench;
    struct bench_result *result = bench->result;
    struct exec_bench pass = {0};
    passes->done++;
    int worked = pass_run(passes, &pass, err);
    if (worked != true)
        return worked;
    result->pass = passes->done;
    bool settled = true;
    for (int t = 0; t < result->nthreads; t++) {
        pass_add_timing(passes, t, &pass);
        settled &= pass_settles(passes, t);
    }
    if (settled)
        return 0;
    result->outcome = OUTCOME_UNSTABLE;
    return !result->floor_guessed && (passes->done < 2 || pass_repeats(bench) < LONG_REPEATS);
}

// Refuses a time in which no core goes round so many loops.
static void pass_check_rounds(const struct bench *bench, double median_clk)
{
    struct bench_result *result = bench->result;
    if (result->outcome != OUTCOME_OK ||
        median_clk * bench->facts.instances * result->copies >= ROUND_LEAST_CLK)
        return;
    result->outcome = OUTCOME_NOT_MEASURABLE;
    result->detail = "the loop ended before its last iteration";
}

static void pass_summarise(struct passes *passes, int thread)
{
    struct bench_result *result = passes->bench->result;
    struct bench_summary *summary = &result->threads[thread];
    struct thread_timings *own = &passes->threads[thread];
    summary->passes = passes->done;
    summary->accepted = own->naccepted;
    if (own->naccepted) {
        double *values = own->accepted_clk;
        quantile_sort(values, own->naccepted);
        summary->median_clk = quantile_median(values, own->naccepted);
        summary->spread_clk = quantile_spread(values, own->naccepted);
        pass_check_rounds(passes->bench, summary->median_clk);
    }
    if (result->outcome != OUTCOME_OK)
        summary->clk = NAN;
    else if (passes->bench->spec->cold)
        summary->clk = summary->median_clk;
}

// Returns a likely cause for such an end.
static const char *pass_hint(const struct bench *bench)
{
    struct bench_reserved written;
    struct err ignored;
    const struct bench_result *result = bench->result;
    bool wide = result->bits != 32;
    if (result->outcome == OUTCOME_TIMED_OUT && bench->source.loop)
        return arena_printf(bench->arena, ", in %d iterations: choose a smaller loop",
                            bench->source.loop);
    if (bench->spec->file || bench->source.bytes ||
        bench_reserved_writes(bench->spec, bench->session.directory, &written, &ignored) != 0)
        return "";
    if (written.loop)
        return "; the code writes r15, which is the loop's counter";
    if (written.data)
        return wide ? "; the code writes r14, which has the address of the data area"
                    : "; the code writes ebp, which has the address of the data area";
    if (written.stack && result->outcome != OUTCOME_TIMED_OUT)
        return "; the stack pointer must come back to where it was in every copy of the code";
    if (result->outcome == OUTCOME_SIGNALLED && strstr(result->detail, "no access to memory"))
        return wide ? "; r14 holds the address of memory that code may use, 64 KiB of it: write "
                      "[r14+8], or set the register first: --init 'mov rdi, r14'"
                    : "; ebp holds the address of memory that code may use, 64 KiB of it: write "
                      "[ebp+8], or set the register first: --init 'mov edi, ebp'";
    return "";
}

// Reasons that are not the core's to know.
static void pass_explain(const struct passes *passes)
{
    const struct bench *bench = passes->bench;
    struct bench_result *result = bench->result;
    int accepted = 0;
    for (int t = 0; t < result->nthreads; t++)
        accepted += result->threads[t].accepted;
    if (result->outcome == OUTCOME_UNSTABLE)
        result->detail =
            accepted ? "the repetitions have no common value that comes back: it varies by itself"
                     : "no undisturbed repetition: something else uses this core";
    if (result->outcome == OUTCOME_UNSTABLE && result->floor_guessed)
        result->detail = arena_printf(bench->arena, "the core was never seen undisturbed: %s",
                                      result->floor_guessed);
    if (result->outcome == OUTCOME_SIGNALLED || result->outcome == OUTCOME_TIMED_OUT ||
        result->outcome == OUTCOME_NOT_MEASURABLE)
        result->detail = arena_printf(bench->arena, "%s%s", result->detail, pass_hint(bench));
    // The faults of a function are usually in libc, not in the function.
    if (bench->source.function &&
        (result->outcome == OUTCOME_NOT_MEASURABLE ||
         strstr(result->detail, "system call refused") || strstr(result->detail, "or to libc")))
        result->detail = arena_printf(bench->arena,
                                      "%s; of libc only what keeps no state and makes no system "
                                      "call can be measured (not malloc, stdio, rand)",
                                      result->detail);
}

int bench_measure_passes(struct bench *bench, struct err *err)
{
    struct bench_result *result = bench->result;
    size_t threads = (size_t)result->nthreads;
    size_t rows = (size_t)(pass_repeats(bench) + 1) * PASSES_MAX;
    struct passes passes = {.bench = bench};
    passes.threads = arena_alloc(bench->arena, threads * sizeof *passes.threads);
    result->rows = arena_alloc(bench->arena, rows * threads * sizeof *result->rows);
    for (size_t t = 0; t < threads; t++)
        passes.threads[t].accepted_clk = arena_alloc(bench->arena, rows * sizeof(double));
    if (pass_find_pages(bench, err) != 0 ||
        (result->outcome == OUTCOME_OK && pass_find_shape(bench, err) != 0))
        return -1;
    int more = result->outcome == OUTCOME_OK;
    while (more == 1 && passes.done < PASSES_MAX)
        more = pass_measure(&passes, err);
    for (int t = 0; t < result->nthreads; t++)
        pass_summarise(&passes, t);
    result->summary = result->threads[0];
    pass_explain(&passes);
    return more < 0 ? -1 : 0;
}
