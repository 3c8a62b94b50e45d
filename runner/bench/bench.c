// SPDX-License-Identifier: MIT
// Measures a snippet: chooses CPUs, builds, finds the canary's floor, and lets bench_pass.c time
// it; see bench.h.
#include "bench_internal.h"

#include "bench_gas.h"
#include "bench_listing.h"
#include "bench_text.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "util/clock.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { GIVE_UP_DEFAULT_MS = 5000, LABEL_BYTES_MAX = 200 }; // limit of the database

struct bench_spec bench_defaults(void)
{
    return (struct bench_spec){.cpu = -1};
}

// Returns true if it is code. Code of one word has no dot or slash, which names of files mostly
// have.
static bool bench_is_code(const char *operand)
{
    static const char *const endings[] = {".nasm", ".asm", ".s", ".c", ".o"};
    if (access(operand, F_OK) == 0)
        return false;
    const char *dot = strrchr(operand, '.');
    for (size_t i = 0; dot && i < ARRAY_LEN(endings); i++)
        if (strcmp(dot, endings[i]) == 0)
            return false;
    return strpbrk(operand, " \t\n;") || !strpbrk(operand, "./");
}

int bench_take_operands(struct bench_spec *spec, char **operands, int n, struct err *err)
{
    if (n > 1)
        return err_set(err,
                       "one file or piece of code at a time, '%s' is too many: code of several "
                       "words stands in quotes, 'imul rax, rbx'",
                       operands[1]);
    if (n == 1 && (spec->body || spec->file))
        return err_set(err, "either '%s' or '%s', not both", spec->body ? spec->body : spec->file,
                       operands[0]);
    if (n == 1)
        *(bench_is_code(operands[0]) ? &spec->body : &spec->file) = operands[0];
    return 0;
}

// Checks code as text; text of the assembler of binutils is checked when it is read.
static int bench_check_text(const struct bench_spec *spec, struct err *err)
{
    if (spec->syntax != BENCH_NASM || (spec->body && bench_text_is_listing(spec->body)) ||
        (spec->body && (bench_text_is_att(spec->body) || bench_text_is_intel(spec->body))))
        return 0;
    struct arena arena = {0};
    int n = spec->body ? bench_text_instructions(bench_text_lines(spec->body, &arena)) : 0;
    int bits = spec->bits ? spec->bits : 64;
    arena_free(&arena);
    if (n == 0)
        return err_set(err, "there is no instruction in the code");
    return bench_text_check_mode(spec->body, bits, err) != 0 ||
                   bench_text_check_mode(spec->init, bits, err) != 0
               ? -1
               : 0;
}

static int bench_check(const struct bench_spec *spec, struct err *err)
{
    if (!!spec->file + !!spec->body + !!spec->hex > 1)
        return err_set(err, "either code, bytes or a file, not several of them");
    if (spec->address && !spec->file)
        return err_set(err, "addresses are those of a file: an executable, a library, an object");
    if (!spec->file && !spec->hex && bench_check_text(spec, err) != 0)
        return -1;
    if (!spec->file && (spec->symbol || spec->cflags))
        return err_set(err, "a symbol and options of the compiler are for a .c or .o file");
    if (spec->bits != 0 && spec->bits != 32 && spec->bits != 64)
        return err_set(err, "%d bits: only 64 and 32 are possible", spec->bits);
    if (spec->unroll < 0 || spec->unroll > BENCH_UNROLL_MAX || spec->loop < 0 ||
        spec->loop > BENCH_LOOP_MAX || spec->repeat < 0 || spec->repeat > BENCH_REPEAT_MAX ||
        spec->instances < 0 || spec->threads < 0 || spec->threads > BENCH_THREADS_MAX ||
        spec->ncolumns < 0 || spec->ncolumns > BENCH_COLUMNS_MAX)
        return err_set(
            err, "unroll goes up to %d, loop to %d, repeat to %d, threads to %d, columns to %d",
            BENCH_UNROLL_MAX, BENCH_LOOP_MAX, BENCH_REPEAT_MAX, BENCH_THREADS_MAX,
            BENCH_COLUMNS_MAX);
    if (spec->store && !spec->db)
        return err_set(err, "the result cannot be stored without a database");
    if (spec->store && spec->label && strlen(spec->label) > LABEL_BYTES_MAX)
        return err_set(err, "a label has at most %d characters", LABEL_BYTES_MAX);
    return 0;
}

static void bench_fail(struct bench *bench, enum outcome outcome, const char *detail)
{
    bench->result->outcome = outcome;
    bench->result->detail = arena_strdup(bench->arena, detail);
}

// NASM's words where they would mislead: it takes unknown instructions for labels, and knows labels
// by names that the user has not given.
static const char *bench_reword(const struct bench *bench, const char *detail)
{
    static const char own_label[] = "k0_body.";
    const char *text = bench->spec->body;
    if (bench_text_is_unknown(detail))
        return arena_printf(bench->arena, "NASM knows no such instruction%s",
                            text && strchr(text, '\n') && strchr(text, ';')
                                ? " (`;` separates instructions; a comment begins with `;;`)"
                                : "");
    if (bench->source.file && strstr(detail, "has a section"))
        return arena_printf(bench->arena, "%s; data goes into the macro testdata", detail);
    const char *option = strstr(detail, " [-w+error=");
    if (option)
        detail = arena_strndup(bench->arena, detail, (size_t)(option - detail));
    if (strstr(detail, "symbol `rip'"))
        return "relative to rip is written [rel label], and the label must be in the code itself";
    const char *at = strstr(detail, own_label);
    if (!at)
        return detail;
    return arena_printf(bench->arena, "%.*s%s", (int)(at - detail), detail,
                        at + sizeof own_label - 2);
}

// Sets the message of NASM or the linker, and its place.
static void bench_refused(struct bench *bench, const struct assemble_failure *failure)
{
    const struct bench_source *source = &bench->source;
    struct bench_result *result = bench->result;
    const char *detail = bench_reword(bench, failure->detail);
    if (source->function && strstr(detail, "latput_function"))
        detail = arena_printf(bench->arena, "%s: there is no function '%s' in it",
                              bench->spec->file, source->function);
    else if (source->object)
        detail = arena_printf(bench->arena, "%s: %s", bench->spec->file, detail);
    bench_fail(bench, failure->outcome, detail);
    result->failed_init = failure->place.in_init;
    result->failed_line = failure->place.line;
    for (const char *at = source->breakers.body; at && *at && !result->failed_init; at++)
        result->failed_line -= *at == '\n';
    if (!source->file)
        return;
    bool in_file = failure->place.in_init && failure->place.line <= source->file_lines;
    result->failed_file = in_file ? source->file : NULL;
    if (!in_file)
        result->failed_line = 0;
}

// Assembles and links. 0 also where that is refused, or the mode is impossible: then the result has
// an outcome and the program no path.
static int bench_build(struct bench *bench, struct err *err)
{
    static const struct list_row row = {.form = "bench", .mnemonic = "bench"};
    static const struct test test = {.kind = TEST_THROUGHPUT};
    const struct bench_spec *spec = bench->spec;
    struct bench_source *source = &bench->source;
    if (bench_source_read(spec, bench->session.directory, source, bench->arena,
                          &bench->result->refused, err) != 0)
        return -1;
    bench->result->breakers = source->breakers.body ? source->breakers.body : "";
    if (source->breakers.impossible) {
        bench_fail(bench, OUTCOME_NOT_MEASURABLE, source->breakers.impossible);
        return 0;
    }
    struct gen_kernel kernel = {.row = &row, .test = &test, .spec = &source->kernel};
    const struct assemble_options options = {.directory = bench->session.directory,
                                             .stem = "bench",
                                             .bits = source->bits ? source->bits : 64,
                                             .keep = spec->keep,
                                             .include = source->include,
                                             .object = source->object};
    if (assemble_program(&kernel, 1, &options, bench->arena, &bench->program, err) != 0)
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
    struct canary_floor floor;
    struct cpu_observed observed[CPU_OBSERVED_MAX]; // of its properties, kept likewise
    int nobserved;
} bench_floor;

static int bench_measure_floor(struct bench *bench, const struct session_floor *from,
                               struct err *err)
{
    struct core_config *config = &bench->session.params.config;
    struct program nop = {0};
    const char *program = bench->program.path;
    if (bench->source.bits == 32) { // the floor is measured on the 64-bit core
        if (session_build_nop(&bench->session, "floor", 64, bench->arena, &nop, err) != 0)
            return -1;
        program = nop.path;
    }
    if (session_check_stopped(session_find_floor(&bench->session, from, program, err), err) != 0)
        return -1;
    bench_floor.known = !bench->session.floor_guessed;
    if (bench->session.floor_guessed)
        bench->result->floor_guessed = arena_strdup(bench->arena, bench->session.floor_seen.text);
    bench_floor.cpu = config->cpu;
    bench_floor.floor = (struct canary_floor){(int)config->canary, config->floor_clk_per_instr,
                                              bench->session.issue_width};
    bench_floor.nobserved = bench->session.nobserved;
    memcpy(bench_floor.observed, bench->session.observed, sizeof bench_floor.observed);
    return 0;
}

int bench_find_floor(struct bench *bench, struct err *err)
{
    struct core_config *config = &bench->session.params.config;
    struct session_floor from = {.quick = true};
    if (bench_floor.known && bench_floor.cpu == config->cpu) {
        bench->session.nobserved = bench_floor.nobserved;
        memcpy(bench->session.observed, bench_floor.observed, sizeof bench_floor.observed);
        session_take_floor(&bench->session, &bench_floor.floor);
        return 0;
    }
    if (bench->spec->db &&
        (store_open(bench->spec->db, STORE_WRITE, &from.store, err) != 0 ||
         store_put_cpu(from.store, bench->session.cpu, &from.cpu_id, err) != 0)) {
        store_close(from.store);
        from.store = NULL;
        if (!bench->spec->db_optional || bench->spec->store)
            return -1;
    }
    int status = bench_measure_floor(bench, &from, err);
    store_close(from.store);
    return status;
}

uint32_t bench_give_up_ms(const struct bench_spec *spec)
{
    return (uint32_t)(spec->give_up_ms > 0 ? spec->give_up_ms : GIVE_UP_DEFAULT_MS);
}

static int bench_prepared(struct bench *bench, struct err *err)
{
    const struct bench_spec *spec = bench->spec;
    struct bench_result *result = bench->result;
    if (bench_choose_cpus(spec, result, bench->arena, err) != 0) {
        result->refused = true;
        return -1;
    }
    result->threads = arena_alloc(bench->arena, (size_t)result->nthreads * sizeof *result->threads);
    for (int t = 0; t < result->nthreads; t++) {
        result->threads[t] = result->summary;
        result->threads[t].cpu = result->cpus[t];
    }
    if (session_begin(result->cpus[0], NULL, &bench->session, err) != 0 ||
        session_make_directory(&bench->session, err) != 0 ||
        bench_prepare_events(bench, err) != 0 || bench_prepare_columns(bench, err) != 0 ||
        bench_build(bench, err) != 0)
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
    result->uarch = arena_strdup(bench->arena, bench->session.cpu->uarch);
    bench->params = session_params(&bench->session, bench->source.bits ? bench->source.bits : 64);
    bench->params.config.give_up_ms = bench_give_up_ms(spec);
    bench->facts = (struct kernel_facts){bench->source.kernel.shape, bench->source.kernel.instances,
                                         bench->source.kernel.instrs, 0, false};
    result->instances = bench->source.kernel.instances;
    if (bench->source.invents)
        bench->params.pages = &bench->pages;
    return bench_measure_passes(bench, err);
}

int bench_measure(const struct bench_spec *spec, struct bench_result *result, struct arena *arena,
                  struct err *err)
{
    static const struct bench_summary none = {.clk = NAN, .median_clk = NAN, .spread_clk = NAN};
    struct bench bench = {.spec = spec, .result = result, .arena = arena};
    *result = (struct bench_result){
        .outcome = OUTCOME_OK, .detail = "", .breakers = "", .placement = "", .summary = none};
    result->refused = bench_check(spec, err) != 0;
    if (result->refused)
        return -1;
    bench.start_s = clock_now_s();
    int status = bench_prepared(&bench, err);
    if (status == 0 && spec->store && bench.program.path && bench_keep(&bench, err) != 0)
        result->store_failure = arena_strdup(arena, err->text);
    count_rdpmc_end(&bench.rdpmc);
    exec_pages_free(&bench.pages);
    session_end(&bench.session, spec->keep);
    return status;
}
