// SPDX-License-Identifier: MIT
// latput bench: measures a snippet of the user and prints each repetition and a summary.
#include "cmd_bench.h"
#include "bench/bench_print.h"
#include "bench/bench_text.h"
#include "cli/option_backend.h"
#include "cli/option_code.h"
#include "cli/option_kind.h"
#include "cli/option_uarch.h"
#include "execute/exec.h"
#include "measure/session.h"
#include "store/store.h"
#include "util/cpulist.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct bench_spec spec;
    enum report_format format;
    const char *sweep, *plot;
    bool explain;
    int cpus[BENCH_THREADS_MAX];
    int ncpus;
    const char *columns[BENCH_COLUMNS_MAX];
};

static int take_column(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    struct bench_spec *spec = &arguments->spec;
    if (spec->ncolumns == BENCH_COLUMNS_MAX)
        return command_fail(given->cmd, EXIT_USAGE, "no more than %d columns", BENCH_COLUMNS_MAX);
    arguments->columns[spec->ncolumns++] = given->argument;
    spec->columns = arguments->columns;
    return EXIT_DONE;
}

static int value_refuse(const struct option_given *given)
{
    return command_fail(given->cmd, EXIT_USAGE, "--%s cannot be '%s'; see latput bench --help",
                        given->option->name, given->argument);
}

static int take_mode(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    int status = bench_mode_parse(given->argument, &arguments->spec.mode);
    return status == 0 ? EXIT_DONE : value_refuse(given);
}

static int take_cpus(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    arguments->ncpus = cpulist_parse(given->argument, arguments->cpus, BENCH_THREADS_MAX);
    return arguments->ncpus >= 1 ? EXIT_DONE : value_refuse(given);
}

static int take_db(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    arguments->spec.db = strcmp(given->argument, "none") == 0 ? NULL : given->argument;
    arguments->spec.db_optional = false;
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {CODE_ASM(spec)},
    {CODE_HEX(spec)},
    {CODE_SYNTAX(spec)},
    {CODE_ADDRESS(spec)},
    {CODE_INIT(spec)},
    {0, "mode", "NAME",
        "latency: the code as it is (default); throughput: chains are broken, calls may overlap",
        OPTION_CALL(take_mode)},
    {0, "symbol", "NAME", "the function of a .c or .o file to be measured",
        OPTION_TEXT(spec.symbol)},
    {CODE_ARGS(spec)},
    {0, "cflags", "OPTIONS", "options for the compiler of a .c file", OPTION_TEXT(spec.cflags)},
    {CODE_BITS(spec)},
    {0, "instances", "N", "the code counts as N instances: results are divided by N",
        OPTION_NUMBER(spec.instances, 1, BENCH_UNROLL_MAX)},
    {0, "unroll", "N", "copies of the code in the loop (default: chosen)",
        OPTION_NUMBER(spec.unroll, 1, BENCH_UNROLL_MAX)},
    {0, "loop", "N", "iterations of the loop (default: for some microseconds)",
        OPTION_NUMBER(spec.loop, 1, BENCH_LOOP_MAX)},
    {0, "repeat", "N", "repetitions after the first, cold one (default 8)",
        OPTION_NUMBER(spec.repeat, 1, BENCH_REPEAT_MAX)},
    {0, "cold", NULL, "all repetitions with code and data in no cache",
        OPTION_SWITCH(spec.cold, true)},
    {0, "cpu", "N", "the CPU to measure on (default: the last usable one)",
        OPTION_NUMBER(spec.cpu, 0, COMMAND_CPU_MAX), .without = "cpus"},
    {0, "threads", "N", "run on N CPUs in step, SMT siblings first",
        OPTION_NUMBER(spec.threads, 1, BENCH_THREADS_MAX)},
    {0, "cpus", "LIST", "the CPUs of the threads, e.g. 0,2 or 0-3", OPTION_CALL(take_cpus)},
    {0, "events", "LIST", "events to count, see latput counters; sets: @branches",
        OPTION_TEXT(spec.events)},
    {0, "backend", BACKEND_NAMES,
        "counts hardware events: perf; msr, as root; auto (default): perf, else msr; tsc: none",
        OPTION_BACKEND(spec.backend)},
    {0, "column", "EXPR", "a computed column, e.g. ipc=instructions/core_clk",
        OPTION_CALL(take_column)},
    {0, FORMAT_ALL(format)},
    {0, "keep", NULL, "keep the generated files and name their directory",
        OPTION_SWITCH(spec.keep, true)},
    {0, "store", NULL, "keep the result in the database; latput query --bench shows it",
        OPTION_SWITCH(spec.store, true)},
    {0, "label", "TEXT", "a name for the stored result; includes --store", OPTION_TEXT(spec.label)},
    {0, "db", "FILE", "the database, which also keeps the canary's floor; `none`: none",
        OPTION_CALL(take_db)},
    {0, "give-up", "SECONDS", "how long to wait for an undisturbed core (default 5)",
        OPTION_SECONDS(spec.give_up_ms, BENCH_GIVE_UP_MAX_S)},
    {COMMON_UARCH},
    {0, "sweep", "N=A..B[:STEP]", "one row for each value, in place of {N} in the code",
        OPTION_TEXT(sweep)},
    {0, "plot", "FILE", "with --sweep: a curve by gnuplot, .svg or .png; -: in characters",
        OPTION_TEXT(plot), .with = "sweep"},
    {0, "explain", NULL, "explain the time, as latput explain does; for CODE",
        OPTION_SWITCH(explain, true)},
    {0},
};
// clang-format on

static int bench_command(int argc, char **argv);

const struct command cmd_bench = {
    .name = "bench",
    .arguments = "CODE|FILE",
    .summary = "measure a piece of code of your own",
    .description =
        "CODE is in NASM's syntax; `;` separates instructions, `;;` begins a comment. A FILE is "
        "NASM's, C or an object, and its name ends in .nasm, .asm, .c or .o.\n"
        "Runs the code in a loop in a process of its own and prints the time of each repetition, "
        "the first of them cold, and a summary in core cycles. The code may use all registers but "
        "r15 (the loop's) and r14, which holds the address of 64 KiB of readable and writable "
        "memory (in 32-bit mode: all but ebp, which holds that address). Code that crashes or does "
        "not return only costs a message. That holds for the measured code only: a FILE is "
        "trusted. The compiler, the assembler and the linker read it as you, and its constructors "
        "and ifuncs run as you, before the process gives up its rights. Give latput bench no file "
        "and no code of a stranger.\n"
        "--sweep N=0..32:4 measures the code for each value: {N} in CODE, --init or --cflags is "
        "replaced by it: 'times {N} nop', 'mov rax, [r14+{N}]', -DN={N}.",
    .options = options,
    .run = bench_command,
};

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    int operand = argc;
    int status = command_read_options(&cmd_bench, argc, argv, arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    struct bench_spec *spec = &arguments->spec;
    spec->store |= spec->label != NULL;
    struct err err;
    if (bench_take_operands(spec, argv + operand, argc - operand, &err) != 0)
        return command_fail(&cmd_bench, EXIT_USAGE, "%s", err.text);
    if (arguments->ncpus) {
        if (spec->threads && spec->threads != arguments->ncpus)
            return command_fail(&cmd_bench, EXIT_USAGE, "%d threads, but %d CPUs are named",
                                spec->threads, arguments->ncpus);
        spec->threads = arguments->ncpus;
        spec->cpus = arguments->cpus;
    }
    if (arguments->explain && (!spec->body || spec->file || arguments->sweep ||
                               arguments->format != REPORT_TABLE || spec->mode != BENCH_LATENCY))
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "--explain is for code as it is, printed as a table: latput explain "
                            "has the other formats");
    if (!spec->file && !spec->body && !spec->hex)
        return command_fail(&cmd_bench, EXIT_USAGE,
                            "what to measure? e.g. latput bench 'imul rax, rax'");
    return 0;
}

// Prints NASM's message, with the offending instruction marked in the user's text.
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
    const char *option = result->failed_init ? "--init" : "code";
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
    if (arguments.sweep) {
        kind_say(&cmd_bench, arguments.spec.cpu);
        return bench_sweep_run(
            &cmd_bench, &arguments.spec,
            &(struct bench_sweep_arguments){arguments.sweep, arguments.plot, arguments.format});
    }
    if (bench_measure(&arguments.spec, &result, &arena, &err) != 0) {
        status = session_stopped_by()
                     ? command_fail(&cmd_bench, EXIT_ENVIRONMENT,
                                    "stopped by %s before it was done", session_stopped_by())
                     : command_fail(&cmd_bench, result.refused ? EXIT_USAGE : EXIT_ENVIRONMENT,
                                    "%s", err.text);
    } else {
        char doubt[160];
        bench_print(&arguments.spec, &result, arguments.format, stdout);
        kind_say(&cmd_bench, result.cpu);
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
