// SPDX-License-Identifier: MIT
// Builds a snippet, times it in passes and sums up; see bench.h. Each pass is a process of its own,
// so that every pass has a cold first repetition and addresses of its own; passes go on until two
// of them confirm a value, as in a run over lists.
#include "bench.h"

#include "bench_source.h"
#include "bench_text.h"
#include "session.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEAT_DEFAULT = 8,
    GIVE_UP_DEFAULT_MS = 5000,
    PASSES_MAX = 6,
    LONG_REPEATS = 200,      // so many repetitions make two passes enough
    SAMPLES_A_PASS_MAX = 16, // that the estimator gets, evenly chosen
};

struct bench {
    const struct bench_spec *spec;
    struct bench_result *result;
    struct arena *arena;
    struct session session;
    struct bench_source source;
    struct program program;
    struct exec_params params;
    struct kernel_facts facts;
    struct timing timings[PASSES_MAX];
    int ntimings;
    double *accepted_clk; // of all passes, for median and spread
    int naccepted;
};

struct bench_spec bench_defaults(void)
{
    return (struct bench_spec){.cpu = -1};
}

static int bench_check(const struct bench_spec *spec, struct err *err)
{
    if (spec->file ? spec->body != NULL : !spec->body || bench_text_instructions(spec->body) == 0)
        return err_set(err, spec->file ? "either code or a file, not both"
                                       : "there is no instruction in the code");
    if (spec->bits != 0 && spec->bits != 32 && spec->bits != 64)
        return err_set(err, "%d bits: only 64 and 32 are possible", spec->bits);
    if (spec->unroll < 0 || spec->unroll > BENCH_UNROLL_MAX || spec->loop < 0 ||
        spec->loop > BENCH_LOOP_MAX || spec->repeat < 0 || spec->repeat > BENCH_REPEAT_MAX ||
        spec->instances < 0)
        return err_set(err, "unroll goes up to %d, loop to %d, repeat to %d", BENCH_UNROLL_MAX,
                       BENCH_LOOP_MAX, BENCH_REPEAT_MAX);
    return 0;
}

static void bench_fail(struct bench *bench, enum outcome outcome, const char *detail)
{
    bench->result->outcome = outcome;
    bench->result->detail = arena_strdup(bench->arena, detail);
}

// What NASM or the linker said, and where.
static void bench_refused(struct bench *bench, const struct build_failure *failure)
{
    const struct bench_source *source = &bench->source;
    struct bench_result *result = bench->result;
    const char *detail = failure->detail;
    if (source->function && strstr(detail, "latput_function"))
        detail = arena_printf(bench->arena, "%s: there is no function '%s' in it",
                              bench->spec->file, source->function);
    else if (source->object)
        detail = arena_printf(bench->arena, "%s: %s", bench->spec->file, detail);
    bench_fail(bench, failure->outcome, detail);
    result->failed_init = failure->place.in_init;
    result->failed_line = failure->place.line;
    if (!source->file)
        return;
    bool in_file = failure->place.in_init && failure->place.line <= source->file_lines;
    result->failed_file = in_file ? source->file : NULL;
    if (!in_file)
        result->failed_line = 0;
}

// Assembles and links. 0 also where the assembler refuses: then the result has an outcome and the
// program no path.
static int bench_build(struct bench *bench, struct err *err)
{
    static const struct list_row row = {.form = "bench", .mnemonic = "bench"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    const struct bench_spec *spec = bench->spec;
    struct bench_source *source = &bench->source;
    if (bench_source_read(spec, bench->session.directory, source, bench->arena,
                          &bench->result->refused, err) != 0)
        return -1;
    struct gen_kernel kernel = {.row = &row, .test = &test, .spec = &source->kernel};
    const struct build_options options = {.directory = bench->session.directory,
                                          .stem = "bench",
                                          .bits = source->bits ? source->bits : 64,
                                          .keep = spec->keep,
                                          .include = source->include,
                                          .object = source->object};
    if (build_program(&kernel, 1, &options, bench->arena, &bench->program, err) != 0)
        return -1;
    if (bench->program.nfailures > 0) {
        bench_refused(bench, &bench->program.failures[0]);
        bench->program.path = NULL;
    }
    return 0;
}

// The floor is a fact of the CPU: kept for later calls of this process where no database keeps it.
static struct {
    bool known;
    int cpu;
    uint32_t canary;
    double clk_per_instr;
} bench_floor;

static int bench_measure_floor(struct bench *bench, const struct session_floor *from,
                               struct err *err)
{
    struct core_config *config = &bench->session.params.config;
    struct program nop = {0};
    const char *program = bench->program.path;
    if (bench->source.bits == 32) { // the floor is that of the 64-bit core
        if (session_build_nop(&bench->session, "floor", 64, bench->arena, &nop, err) != 0)
            return -1;
        program = nop.path;
    }
    bool *uncertain = &bench->result->floor_uncertain;
    if (session_find_floor(&bench->session, from, program, uncertain, err) != 0)
        return -1;
    bench_floor.known = !*uncertain;
    bench_floor.cpu = config->cpu;
    bench_floor.canary = config->canary;
    bench_floor.clk_per_instr = config->floor_clk_per_instr;
    return 0;
}

static int bench_find_floor(struct bench *bench, struct err *err)
{
    struct core_config *config = &bench->session.params.config;
    struct session_floor from = {.quick = true};
    if (bench_floor.known && bench_floor.cpu == config->cpu) {
        config->canary = bench_floor.canary;
        config->floor_clk_per_instr = bench_floor.clk_per_instr;
        return 0;
    }
    if (bench->spec->db &&
        (store_open(bench->spec->db, STORE_WRITE, &from.store, err) != 0 ||
         store_put_cpu(from.store, bench->session.cpu, &from.cpu_id, err) != 0)) {
        store_close(from.store);
        return -1;
    }
    int status = bench_measure_floor(bench, &from, err);
    store_close(from.store);
    return status;
}

static struct timing bench_timing(const struct exec_repeat *repeat, int pass)
{
    return (struct timing){.pass = pass,
                           .outcome = OUTCOME_OK,
                           .detail = "",
                           .iterations = repeat->iterations,
                           .copies = repeat->copies,
                           .calib_clk = repeat->calib_clk,
                           .overhead_tsc = repeat->overhead_tsc};
}

static void bench_add_row(struct bench *bench, const struct exec_repeat *repeat, int pass)
{
    struct timing timing = bench_timing(repeat, pass);
    struct bench_result *result = bench->result;
    struct bench_row *row = &result->rows[result->nrows++];
    double per_clk = derive_sample_clk(&bench->facts, &timing, &repeat->sample);
    *row = (struct bench_row){
        .pass = pass,
        .repetition = repeat->repetition,
        .cold = repeat->cold,
        .accepted = repeat->accepted,
        .tried = repeat->tried,
        .tsc = repeat->sample.kernel_tsc - repeat->overhead_tsc,
        .clk = per_clk * bench->facts.instances * repeat->copies * repeat->iterations,
        .per_clk = per_clk,
    };
}

// Whether a repetition counts in the summary.
static bool bench_counts(const struct bench *bench, const struct exec_repeat *repeat)
{
    return repeat->cold == bench->spec->cold;
}

// A pass as the estimator takes it.
static void bench_add_timing(struct bench *bench, const struct exec_bench *pass, int number)
{
    struct sample *samples = arena_alloc(bench->arena, (size_t)pass->nrepeats * sizeof *samples);
    struct timing *timing = &bench->timings[bench->ntimings];
    *timing = bench_timing(&pass->repeats_done[0], number);
    timing->samples = samples;
    int n = 0;
    for (int i = 0; i < pass->nrepeats; i++) {
        const struct exec_repeat *repeat = &pass->repeats_done[i];
        if (!bench_counts(bench, repeat))
            continue;
        bench->result->summary.tried += repeat->tried;
        if (!repeat->accepted)
            continue;
        samples[n++] = repeat->sample;
        bench->accepted_clk[bench->naccepted++] =
            derive_sample_clk(&bench->facts, timing, &repeat->sample);
    }
    timing->nsamples = n < SAMPLES_A_PASS_MAX ? n : SAMPLES_A_PASS_MAX;
    for (int i = 0; i < timing->nsamples; i++)
        samples[i] = samples[(int)((long)i * n / timing->nsamples)];
    timing->accepted = timing->nsamples;
    bench->ntimings += n > 0;
}

static int bench_repeats(const struct bench *bench)
{
    return bench->source.repeat ? bench->source.repeat : REPEAT_DEFAULT;
}

// Finds copies and iterations, unless both are given.
static int bench_find_shape(struct bench *bench, struct err *err)
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
    return 0;
}

// One pass. 1: more are of use, 0: enough, -1: error.
static int bench_pass(struct bench *bench, int number, struct err *err)
{
    struct bench_result *result = bench->result;
    struct exec_bench pass = {.copies = (uint32_t)result->copies,
                              .iterations = (uint32_t)result->iterations,
                              .repeats = (uint32_t)bench_repeats(bench),
                              .cold = bench->spec->cold};
    if (exec_bench(bench->program.path, &bench->params, &pass, bench->arena, err) != 0)
        return -1;
    result->core_hz = pass.summary.core_hz;
    result->overhead_tsc = pass.summary.overhead_tsc;
    if (pass.code_bytes) {
        uint8_t *code = arena_alloc(bench->arena, sizeof pass.code);
        memcpy(code, pass.code, sizeof pass.code);
        result->code = code;
        result->code_bytes = (int)pass.code_bytes;
    }
    for (int i = 0; i < pass.nrepeats; i++)
        bench_add_row(bench, &pass.repeats_done[i], number);
    if (pass.outcome != OUTCOME_OK) {
        result->outcome = pass.outcome;
        result->detail = pass.detail;
        return 0;
    }
    if (pass.nrepeats)
        result->copies = (int)pass.repeats_done[0].copies;
    bench_add_timing(bench, &pass, number);
    result->summary.passes = number;
    struct estimate estimate = derive_kernel(&bench->facts, bench->session.cpu->issue_width,
                                             bench->timings, bench->ntimings);
    result->outcome = OUTCOME_UNSTABLE;
    result->pass = number;
    if (bench->ntimings < 2)
        return 1;
    if (bench->spec->cold) { // misses vary; there is no steady state to wait for
        result->outcome = OUTCOME_OK;
        return 0;
    }
    if (estimate.outcome != OUTCOME_OK)
        return bench_repeats(bench) < LONG_REPEATS;
    result->outcome = OUTCOME_OK;
    result->summary.clk = estimate.clk;
    result->pass = estimate.pass;
    return 0;
}

static int bench_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void bench_summarise(struct bench *bench)
{
    struct bench_result *result = bench->result;
    struct bench_summary *summary = &result->summary;
    summary->accepted = bench->naccepted;
    if (bench->naccepted) {
        double *values = bench->accepted_clk;
        qsort(values, (size_t)bench->naccepted, sizeof *values, bench_compare);
        summary->median_clk = derive_quantile(values, bench->naccepted, 0.5);
        summary->spread_clk = derive_quantile(values, bench->naccepted, 0.75) -
                              derive_quantile(values, bench->naccepted, 0.25);
    }
    if (bench->spec->cold && result->outcome == OUTCOME_OK)
        summary->clk = summary->median_clk;
    if (result->outcome != OUTCOME_UNSTABLE)
        return;
    result->detail =
        bench->naccepted
            ? "the repetitions have no common value that comes back: it varies by itself"
            : "no undisturbed repetition: something else uses this core";
}

// What a function may not do is libc's doing rather than its own.
static void bench_explain(struct bench *bench)
{
    struct bench_result *result = bench->result;
    if (bench->source.function && (result->outcome == OUTCOME_NOT_MEASURABLE ||
                                   strstr(result->detail, "system call refused")))
        result->detail = arena_printf(bench->arena,
                                      "%s; of libc only what keeps no state and makes no system "
                                      "call can be measured (not malloc, stdio, rand)",
                                      result->detail);
}

static int bench_passes(struct bench *bench, struct err *err)
{
    size_t rows = (size_t)(bench_repeats(bench) + 1) * PASSES_MAX;
    bench->result->rows = arena_alloc(bench->arena, rows * sizeof *bench->result->rows);
    bench->accepted_clk = arena_alloc(bench->arena, rows * sizeof *bench->accepted_clk);
    if (bench_find_shape(bench, err) != 0)
        return -1;
    int more = bench->result->outcome == OUTCOME_OK;
    for (int pass = 1; pass <= PASSES_MAX && more == 1; pass++)
        more = bench_pass(bench, pass, err);
    bench_summarise(bench);
    bench_explain(bench);
    return more < 0 ? -1 : 0;
}

static int bench_prepared(struct bench *bench, struct err *err)
{
    const struct bench_spec *spec = bench->spec;
    struct bench_result *result = bench->result;
    if (session_begin(spec->cpu, &bench->session, err) != 0 ||
        session_make_directory(&bench->session, err) != 0 || bench_build(bench, err) != 0)
        return -1;
    const struct core_config *config = &bench->session.params.config;
    result->bits = bench->source.bits ? bench->source.bits : 64;
    result->cpu = config->cpu;
    result->tsc_hz = config->tsc_hz;
    result->uarch = arena_strdup(bench->arena, bench->session.cpu->uarch);
    result->brand = arena_strdup(bench->arena, bench->session.cpu->brand);
    if (spec->keep)
        result->directory = arena_strdup(bench->arena, bench->session.directory);
    if (!bench->program.path)
        return 0;
    if (bench_find_floor(bench, err) != 0)
        return -1;
    bench->params = session_params(&bench->session, bench->source.bits ? bench->source.bits : 64);
    bench->params.config.give_up_ms =
        (uint32_t)(spec->give_up_ms > 0 ? spec->give_up_ms : GIVE_UP_DEFAULT_MS);
    bench->facts = (struct kernel_facts){bench->source.kernel.shape, bench->source.kernel.instances,
                                         bench->source.kernel.instrs, 0};
    result->instances = bench->source.kernel.instances;
    return bench_passes(bench, err);
}

int bench_measure(const struct bench_spec *spec, struct bench_result *result, struct arena *arena,
                  struct err *err)
{
    struct bench bench = {.spec = spec, .result = result, .arena = arena};
    *result = (struct bench_result){
        .outcome = OUTCOME_OK,
        .detail = "",
        .summary = {.clk = NAN, .median_clk = NAN, .spread_clk = NAN}
    };
    result->refused = bench_check(spec, err) != 0;
    if (result->refused)
        return -1;
    int status = bench_prepared(&bench, err);
    session_end(&bench.session, spec->keep);
    return status;
}
