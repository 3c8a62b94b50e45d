// SPDX-License-Identifier: MIT
// Measures many pieces of code in the same processes, as `latput run` does with forms; see bench.h.
// Calibration, floor, assembler and linker are paid for once, and the passes of all wait together.
#include "bench_internal.h"

#include <math.h>
#include <string.h>

struct many {
    struct bench bench; // of the first spec: session, floor, and parameters of all
    struct bench_result whole;
    const struct bench_spec *specs;
    int n;
    struct bench_result *results;
    struct bench_source *sources;
    struct gen_kernel *kernels;
    struct exec_kernel *measured;
    struct arena *arena;
};

static void many_fail(struct many *many, int i, enum outcome outcome, const char *detail)
{
    many->results[i].outcome = outcome;
    many->results[i].detail = arena_strdup(many->arena, detail);
    many->kernels[i].left_out = true;
    many->measured[i].finished = true;
    many->measured[i].outcome = outcome;
}

static int many_read(struct many *many, struct err *err)
{
    static const struct list_row row = {.form = "bench", .mnemonic = "bench"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    for (int i = 0; i < many->n; i++) {
        struct bench_source *source = &many->sources[i];
        struct err why = {0};
        bool refused;
        many->measured[i] = (struct exec_kernel){.selected = true, .detail = ""};
        many->kernels[i] = (struct gen_kernel){.row = &row, .test = &test, .spec = &source->kernel};
        int status = bench_source_read(&many->specs[i], many->bench.session.directory, source,
                                       many->arena, &refused, &why);
        if (status != 0 && !refused)
            return err_set(err, "%s", why.text);
        if (status != 0)
            many_fail(many, i, OUTCOME_ASM_FAILED, why.text);
        source->kernel.copies = source->unroll;
        if (source->invents)
            many->bench.params.pages = &many->bench.pages;
    }
    return 0;
}

static int many_build(struct many *many, struct err *err)
{
    struct bench *bench = &many->bench;
    int bits = many->specs[0].bits ? many->specs[0].bits : 64;
    const struct assemble_options options = {
        .directory = bench->session.directory, .stem = "many", .bits = bits};
    if (assemble_program(many->kernels, many->n, &options, many->arena, &bench->program, err) != 0)
        return -1;
    for (int i = 0; i < bench->program.nfailures; i++) {
        const struct assemble_failure *failure = &bench->program.failures[i];
        many_fail(many, failure->kernel, failure->outcome, failure->detail);
    }
    bench->source.bits = bits;
    return 0;
}

// Takes the value of a kernel. Returns false if it ran and has none.
static bool many_take(struct many *many, int i)
{
    const struct exec_kernel *kernel = &many->measured[i];
    const struct kernel_spec *spec = &many->sources[i].kernel;
    struct bench_result *result = &many->results[i];
    const struct kernel_facts facts = {spec->shape, spec->instances, spec->instrs, 0, false};
    if (many->kernels[i].left_out)
        return true;
    struct estimate estimate = derive_kernel(
        &facts, bench_source_width(&many->sources[i], many->bench.session.issue_width),
        kernel->timings, kernel->ntimings);
    bool ran = kernel->outcome == OUTCOME_OK;
    result->outcome = ran ? estimate.outcome : kernel->outcome;
    result->detail = ran && estimate.outcome != OUTCOME_OK
                         ? "the repetitions have no common value that comes back"
                         : kernel->detail;
    result->instances = spec->instances;
    result->summary =
        (struct bench_summary){.clk = result->outcome == OUTCOME_OK ? estimate.clk : (double)NAN,
                               .median_clk = NAN,
                               .spread_clk = ran ? estimate.spread_clk : (double)NAN,
                               .accepted = estimate.accepted,
                               .tried = estimate.tried,
                               .passes = kernel->ntimings};
    result->code_bytes = (int)kernel->code_bytes;
    if (ran && kernel->code_bytes == 0) {
        result->outcome = OUTCOME_NOT_MEASURABLE;
        result->detail = "the code has no instruction: it assembles to nothing";
        result->summary.clk = NAN;
    }
    return result->outcome != OUTCOME_UNSTABLE;
}

// Measures what is not finished. Returns how many have no value yet, or -1.
static int many_run(struct many *many, struct err *err)
{
    struct exec_summary summary;
    const struct bench *bench = &many->bench;
    const struct exec_job job = {
        bench->program.path, &bench->params, many->measured, many->n, NULL, NULL};
    if (session_check_stopped(exec_run(&job, many->arena, &summary, err), err) != 0)
        return -1;
    int left = 0;
    for (int i = 0; i < many->n; i++) {
        if (many_take(many, i))
            continue;
        struct exec_reach reach = many->measured[i].reach;
        many->measured[i] = (struct exec_kernel){.selected = true, .detail = "", .reach = reach};
        left++;
    }
    return left;
}

static int many_measure(struct many *many, struct err *err)
{
    struct bench *bench = &many->bench;
    struct exec_pages *pages = bench->params.pages;
    if (bench_find_floor(bench, err) != 0)
        return -1;
    bench->params = session_params(&bench->session, bench->source.bits);
    bench->params.pages = pages;
    bench->params.config.give_up_ms = bench_give_up_ms(bench->spec);
    const struct exec_job job = {
        bench->program.path, &bench->params, many->measured, many->n, NULL, NULL};
    if (pages && !exec_is_text() && exec_probe(&job, many->arena, err) != 0)
        return -1;
    int left = many_run(many, err);
    if (left > 0) // a process of their own, with other addresses and another time
        left = many_run(many, err);
    return left < 0 ? -1 : 0;
}

static int many_prepared(struct many *many, struct err *err)
{
    struct bench *bench = &many->bench;
    if (bench_choose_cpus(bench->spec, bench->result, many->arena, err) != 0 ||
        session_begin(bench->result->cpus[0], NULL, &bench->session, err) != 0 ||
        session_make_directory(&bench->session, err) != 0 || many_read(many, err) != 0 ||
        many_build(many, err) != 0)
        return -1;
    if (bench->program.path && many_measure(many, err) != 0)
        return -1;
    for (int i = 0; i < many->n; i++) {
        many->results[i].cpu = bench->session.params.config.cpu;
        many->results[i].floor_guessed = bench->result->floor_guessed;
        if (bench->result->floor_guessed && many->results[i].outcome == OUTCOME_OK) {
            many->results[i].outcome = OUTCOME_UNSTABLE;
            many->results[i].detail = "the core was never seen undisturbed";
            many->results[i].summary.clk = NAN;
        }
    }
    return 0;
}

int bench_measure_many(const struct bench_spec *specs, int n, struct bench_result *results,
                       struct arena *arena, struct err *err)
{
    size_t each = (size_t)n;
    struct many many = {.specs = specs,
                        .n = n,
                        .results = results,
                        .sources = arena_alloc(arena, each * sizeof *many.sources),
                        .kernels = arena_alloc(arena, each * sizeof *many.kernels),
                        .measured = arena_alloc(arena, each * sizeof *many.measured),
                        .arena = arena};
    many.bench = (struct bench){.spec = &specs[0], .result = &many.whole, .arena = arena};
    for (int i = 0; i < n; i++)
        results[i] = (struct bench_result){
            .outcome = OUTCOME_OK,
            .detail = "",
            .summary = {.clk = NAN, .median_clk = NAN, .spread_clk = NAN}
        };
    int status = many_prepared(&many, err);
    exec_pages_free(&many.bench.pages);
    session_end(&many.bench.session, false);
    return status;
}
