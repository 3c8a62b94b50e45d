// SPDX-License-Identifier: MIT
// latput bench: measures a snippet of the user's and prints each repetition and a summary.
#include "bench/bench.h"
#include "bench/bench_print.h"
#include "bench/bench_text.h"
#include "cmd_backend.h"
#include "cmd_bench_sweep.h"
#include "cmd_explain.h"
#include "cmd_format.h"
#include "cmd_uarch.h"
#include "command.h"
#include "execute/exec.h"
#include "measure/session.h"
#include "option_place.h"
#include "store/store.h"
#include "util/cpulist.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
static const struct command_option options[] = {
    {0, "asm", "CODE",
        "what to measure, in NASM's syntax; `;` separates instructions, `;;` begins a comment"},
    {0, "init", "CODE", "run before the clock of every repetition"},
    {0, "mode", "NAME", "latency: the code as it is (default); throughput: chains are broken"},
    {0, "symbol", "NAME", "the function of a .c or .o file to be measured"},
    {0, "cflags", "OPTIONS", "options for the compiler of a .c file"},
    {0, "bits", "64|32", "mode of the processor (default 64)"},
    {0, "instances", "N", "what the code counts as: results are divided by N"},
    {0, "unroll", "N", "copies of the code in the loop (default: chosen)"},
    {0, "loop", "N", "iterations of the loop (default: for some microseconds)"},
    {0, "repeat", "N", "repetitions after the first, cold one (default 8)"},
    {0, "cold", NULL, "all repetitions with code and data in no cache"},
    {0, "cpu", "N", "the CPU to measure on (default: the last usable one)"},
    {0, "threads", "N", "run on N CPUs in step, SMT siblings first"},
    {0, "cpus", "LIST", "which CPUs the threads run on, e.g. 0,2 or 0-3"},
    {0, "events", "LIST", "events to count, see latput counters; sets: @branches"},
    {0, "backend", "NAME",
        "who counts hardware events: perf; msr, as root; auto (default): perf, else msr; tsc: "
        "nobody"},
    {0, "column", "EXPR", "a computed column, e.g. ipc=instructions/core_clk"},
    {0, "format", "NAME", "table, csv or json (default table)"},
    {0, "keep", NULL, "keep the generated files and name their directory"},
    {0, "store", NULL, "keep the result in the database; latput query --bench shows it"},
    {0, "label", "TEXT", "a name for what is stored; includes --store"},
    {0, "db", "FILE", "the database, which also keeps the canary's floor; `none`: none"},
    {0, "give-up", "SECONDS", "how long to wait for an undisturbed core (default 5)"},
    {COMMON_UARCH},
    {0, "sweep", "N=A..B[:STEP]", "for each value, in place of {N} in the code: a row each"},
    {0, "plot", "FILE", "with --sweep: a curve by gnuplot, .svg or .png; -: in characters"},
    {0, "explain", NULL, "then say why, as latput explain does; for --asm"},
    {0, NULL, NULL, NULL},
};
// clang-format on
enum option_index {
    OPT_ASM,
    OPT_INIT,
    OPT_MODE,
    OPT_SYMBOL,
    OPT_CFLAGS,
    OPT_BITS,
    OPT_INSTANCES,
    OPT_UNROLL,
    OPT_LOOP,
    OPT_REPEAT,
    OPT_COLD,
    OPT_CPU,
    OPT_THREADS,
    OPT_CPUS,
    OPT_EVENTS,
    OPT_BACKEND,
    OPT_COLUMN,
    OPT_FORMAT,
    OPT_KEEP,
    OPT_STORE,
    OPT_LABEL,
    OPT_DB,
    OPT_GIVE_UP,
    OPT_UARCH,
    OPT_SWEEP,
    OPT_PLOT,
    OPT_EXPLAIN
};

static int bench_command(int argc, char **argv);

const struct command cmd_bench = {
    .name = "bench",
    .arguments = "[FILE]",
    .summary = "measure a piece of code of your own",
    .description =
        "Runs the code in a loop in a process of its own and prints the time of each repetition, "
        "the first of them cold, and a summary in core cycles. The code may use all registers but "
        "r15 (the loop's) and r14, which holds the address of 64 KiB of readable and writable "
        "memory (in 32-bit mode: all but ebp, which holds that address). Code that crashes or "
        "does not return costs nothing but a message. That holds for the measured code only: a "
        "FILE is trusted. The compiler, the assembler and the linker read it as you, and its "
        "constructors and ifuncs run as you, before the process gives up its rights. Give "
        "latput bench no file and no --asm of a stranger.\n"
        "--sweep N=0..32:4 measures the code for each value: {N} in --asm, --init or --cflags is "
        "replaced by it: 'times {N} nop', 'mov rax, [r14+{N}]', -DN={N}.",
    .options = options,
    .run = bench_command,
};

struct arguments {
    struct bench_spec spec;
    enum report_format format;
    const char *sweep, *plot;
    bool explain;
    int cpus[BENCH_THREADS_MAX];
    int ncpus;
    const char *columns[BENCH_COLUMNS_MAX];
};

static int parse_column(const char *value, struct arguments *arguments)
{
    struct bench_spec *spec = &arguments->spec;
    if (spec->ncolumns == BENCH_COLUMNS_MAX)
        return command_fail(&cmd_bench, EXIT_USAGE, "no more than %d columns", BENCH_COLUMNS_MAX);
    arguments->columns[spec->ncolumns++] = value;
    spec->columns = arguments->columns;
    return 0;
}

// Of what is neither kept as it is nor a number. 0, or -1: it cannot be that.
static int parse_value(int option, const char *value, struct arguments *arguments)
{
    struct bench_spec *spec = &arguments->spec;
    switch (option) {
    case OPT_BITS:
        spec->bits = (int)strtol(value, NULL, 10);
        return strcmp(value, "32") == 0 || strcmp(value, "64") == 0 ? 0 : -1;
    case OPT_MODE:
        return bench_mode_parse(value, &spec->mode);
    default:
        arguments->ncpus = cpulist_parse(value, arguments->cpus, BENCH_THREADS_MAX);
        return arguments->ncpus < 1 ? -1 : 0;
    }
}

static int parse_give_up(const char *value, struct bench_spec *spec)
{
    enum { SECONDS_MAX = 3600 };
    int seconds = 0;
    int status = command_option_number(&cmd_bench, OPT_GIVE_UP, value, 1, SECONDS_MAX, &seconds);
    spec->give_up_ms = seconds * 1000;
    return status;
}

static int parse_kept(int option, const char *value, struct arguments *arguments)
{
    struct bench_spec *spec = &arguments->spec;
    const struct option_place places[] = {
        [OPT_ASM] = place_text(&spec->body),
        [OPT_INIT] = place_text(&spec->init),
        [OPT_SYMBOL] = place_text(&spec->symbol),
        [OPT_CFLAGS] = place_text(&spec->cflags),
        [OPT_INSTANCES] = place_number(&spec->instances, 1, BENCH_UNROLL_MAX),
        [OPT_UNROLL] = place_number(&spec->unroll, 1, BENCH_UNROLL_MAX),
        [OPT_LOOP] = place_number(&spec->loop, 1, BENCH_LOOP_MAX),
        [OPT_REPEAT] = place_number(&spec->repeat, 1, BENCH_REPEAT_MAX),
        [OPT_COLD] = place_switch(&spec->cold, true),
        [OPT_CPU] = place_number(&spec->cpu, 0, COMMAND_CPU_MAX),
        [OPT_THREADS] = place_number(&spec->threads, 1, BENCH_THREADS_MAX),
        [OPT_EVENTS] = place_text(&spec->events),
        [OPT_BACKEND] = place_backend(&spec->backend),
        [OPT_FORMAT] = place_format(&arguments->format, FORMATS_ALL),
        [OPT_KEEP] = place_switch(&spec->keep, true),
        [OPT_STORE] = place_switch(&spec->store, true),
        [OPT_LABEL] = place_text(&spec->label),
        [OPT_UARCH] = place_uarch(),
        [OPT_SWEEP] = place_text(&arguments->sweep),
        [OPT_PLOT] = place_text(&arguments->plot),
        [OPT_EXPLAIN] = place_switch(&arguments->explain, true),
    };
    spec->store |= option == OPT_LABEL;
    return option_put(&cmd_bench, places, ARRAY_LEN(places), option, value);
}

static int parse_option(void *context, int option, const char *value)
{
    struct arguments *arguments = context;
    switch (option) {
    case OPT_COLUMN:
        return parse_column(value, arguments);
    case OPT_GIVE_UP:
        return parse_give_up(value, &arguments->spec);
    case OPT_DB:
        arguments->spec.db = strcmp(value, "none") == 0 ? NULL : value;
        arguments->spec.db_optional = false;
        return EXIT_DONE;
    case OPT_BITS:
    case OPT_MODE:
    case OPT_CPUS:
        return parse_value(option, value, arguments) == 0
                   ? EXIT_DONE
                   : command_fail(&cmd_bench, EXIT_USAGE,
                                  "--%s cannot be '%s'; see latput bench --help",
                                  options[option].name, value);
    default:
        return parse_kept(option, value, arguments);
    }
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    int operand = argc;
    int status = command_each_option(&cmd_bench, argc, argv, parse_option, arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    struct bench_spec *spec = &arguments->spec;
    if (operand < argc)
        spec->file = argv[operand];
    if (operand + 1 < argc)
        return command_fail(&cmd_bench, EXIT_USAGE, "one file at a time, '%s' is too many",
                            argv[operand + 1]);
    if (arguments->ncpus) {
        if (spec->threads && spec->threads != arguments->ncpus)
            return command_fail(&cmd_bench, EXIT_USAGE, "%d threads, but %d CPUs are named",
                                spec->threads, arguments->ncpus);
        spec->threads = arguments->ncpus;
        spec->cpus = arguments->cpus;
    }
    if (arguments->plot && !arguments->sweep)
        return command_fail(&cmd_bench, EXIT_USAGE, "--plot draws what --sweep measures");
    if (arguments->explain && (!spec->body || spec->file || arguments->sweep ||
                               arguments->format != REPORT_TABLE || spec->mode != BENCH_LATENCY))
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "--explain is for --asm as it is, printed as a table: latput explain "
                            "has the other formats");
    if (!spec->file && !spec->body)
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "what to measure? e.g. latput bench --asm 'imul rax, rax'");
    return 0;
}

// NASM's message, with the offending instruction marked in the text that the user gave.
static void report_refusal(const struct bench_spec *spec, const struct bench_result *result)
{
    if (spec->file) {
        if (result->failed_file)
            command_note(&cmd_bench, "%s:%d: %s", result->failed_file, result->failed_line,
                         result->detail);
        else
            command_note(&cmd_bench, "%s: %s", spec->file, result->detail);
        return;
    }
    const char *text = result->failed_init ? spec->init : spec->body;
    const char *option = result->failed_init ? "--init" : "--asm";
    int start, len;
    if (!result->failed_line || !bench_text_part(text, result->failed_line, &start, &len)) {
        command_note(&cmd_bench, "%s: %s", option, result->detail);
        return;
    }
    command_note(&cmd_bench, "%s:%d: %s", option, result->failed_line, result->detail);
    int from = start;
    while (from > 0 && text[from - 1] != '\n')
        from--;
    fprintf(stderr, "  %.*s\n  %*s^\n", (int)strcspn(text + from, "\n"), text + from, start - from,
            "");
}

static int exit_status(const struct bench_spec *spec, const struct bench_result *result)
{
    switch (result->outcome) {
    case OUTCOME_OK:
        return EXIT_DONE;
    case OUTCOME_ASM_FAILED:
        report_refusal(spec, result);
        return EXIT_USAGE;
    case OUTCOME_LINK_FAILED:
        return command_fail(&cmd_bench, EXIT_USAGE, "%s", result->detail);
    default:
        return command_fail(&cmd_bench, EXIT_SOME_FAILED, "%s: %s", outcome_name(result->outcome),
                            result->detail);
    }
}

static int bench_command(int argc, char **argv)
{
    struct arguments arguments = {.spec = bench_defaults()};
    arguments.spec.db = store_default_path();
    arguments.spec.db_optional = true;
    int status = parse_arguments(argc, argv, &arguments);
    if (status != 0)
        return status;
    enum count_choice backend = arguments.spec.backend;
    if (backend == COUNT_CHOICE_TSC && arguments.spec.events)
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "--backend tsc counts no events: leave --events out, or the backend");
    if ((backend == COUNT_CHOICE_PERF || backend == COUNT_CHOICE_MSR) && !arguments.spec.events)
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "--backend says who counts events: name them with --events, e.g. "
                            "--events core_clk");
    struct arena arena = {0};
    struct bench_result result;
    struct err err = {0};
    session_stop_on_signals();
    if (arguments.sweep)
        return bench_sweep_run(
            &cmd_bench, &arguments.spec,
            &(struct bench_sweep_arguments){arguments.sweep, arguments.plot, arguments.format});
    if (bench_measure(&arguments.spec, &result, &arena, &err) != 0) {
        status = session_stopped_by()
                     ? command_fail(&cmd_bench, EXIT_ENVIRONMENT,
                                    "stopped by %s before it was done", session_stopped_by())
                     : command_fail(&cmd_bench, result.refused ? EXIT_USAGE : EXIT_ENVIRONMENT,
                                    "%s", err.text);
    } else {
        char doubt[160];
        bench_print(&arguments.spec, &result, arguments.format, stdout);
        if (bench_doubt_ports(&result, doubt, sizeof doubt))
            command_note(&cmd_bench, "warning: the counted ports cannot be true: %s", doubt);
        if (result.run_id)
            command_note(&cmd_bench, "stored as run %" PRId64, result.run_id);
        if (result.directory)
            command_note(&cmd_bench, "the assembly file is in %s", result.directory);
        status = exit_status(&arguments.spec, &result);
        if (result.store_failure)
            status =
                command_fail(&cmd_bench, EXIT_ENVIRONMENT, "not stored: %s", result.store_failure);
    }
    arena_free(&arena);
    if (status == EXIT_DONE && arguments.explain) {
        puts("");
        fflush(stdout);
        status = explain_bench(&arguments.spec);
    }
    return status;
}
