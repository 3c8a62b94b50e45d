// SPDX-License-Identifier: MIT
// latput stat: counts events of a whole program over repeated runs. The program keeps its standard
// files, the terminal and the signals; the report goes to standard error or to a file, and the exit
// status is the program's.
#include "cli/option_backend.h"
#include "cli/option_format.h"
#include "measure/session.h"
#include "stat/stat_report.h"
#include "store/store_whose.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/subproc.h"
#include "util/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct command cmd_stat;

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };
enum { REPEAT_MAX = 100000, HISTOGRAM_MAX = STAT_BUCKETS_MAX - 1 };

struct arguments {
    const char *events, *compare, *invert, *output;
    int histogram;
    bool durations;
    enum count_rings rings;
    enum report_format format;
    enum count_choice choice; // of the backend
    struct stat_options options;
    struct session session; // with its CPU if the program is pinned to one; else none
    struct cpu_info cpu;
    struct counter_table table;
    struct stat_event *list;
    int nlist;
};

static int take_rings(const struct option_given *given, void *to)
{
    struct arguments *s = to;
    s->rings = (enum count_rings)given->option->value;
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {'e', "events", "LIST",
        "the events to count, separated by commas: ids of the table (latput counters), "
        "names of libpfm4 or the vendor, raw codes (event=0xb1,umask=1 or r1b1), "
        "sets of them (@branches), software events (task-clock); default: all of this CPU",
        OPTION_TEXT(events)},
    {0, "user", NULL, "hardware events in user mode (default)", OPTION_CALL(take_rings),
        .value = COUNT_USER},
    {0, "kernel", NULL, "in the kernel", OPTION_CALL(take_rings), .value = COUNT_KERNEL},
    {0, "both", NULL, "in both", OPTION_CALL(take_rings), .value = COUNT_BOTH},
    {0, "compare", "LIST",
        "thresholds, e.g. gt0,le2: count also the cycles in which each event happened "
        "more often, at most so often, ...; lt le gt ge with a number, or a number",
        OPTION_TEXT(compare)},
    {0, "invert", "LIST",
        "one 0 or 1 for each plain number of --compare: 1 means 'fewer' instead of 'at least'",
        OPTION_TEXT(invert), .with = "compare"},
    {0, "histogram", "N", "the same as --compare ge1,ge2,...,geN",
        OPTION_NUMBER(histogram, 1, HISTOGRAM_MAX)},
    {0, "durations", NULL,
        "count also in how many cycles each event happened and how often such "
        "cycles began: the mean duration", OPTION_SWITCH(durations, true)},
    {'r', "repeat", "N", "count each event in N runs; default 3",
        OPTION_NUMBER(options.repeat, 1, REPEAT_MAX)},
    {0, "warm", "N", "runs before them that are not counted; default 1",
        OPTION_NUMBER(options.warm, 0, REPEAT_MAX)},
    {0, "backend", BACKEND_NAMES,
        "counts hardware events: perf; msr (root: all that runs on one CPU, where the program is "
        "then kept); tsc: none; auto (default): perf, else msr", OPTION_BACKEND(choice)},
    {0, "cpu", "N", "keep the program on CPU N, and latput off it",
        OPTION_NUMBER(options.cpu, 0, CPU_SETSIZE - 1)},
    {COMMON_FORMAT(format)},
    {'o', "output", "FILE",
        "write the report there instead of standard error; `-`: to standard output",
        OPTION_TEXT(output)},
    {0},
};
// clang-format on

static int stat_parse(int argc, char **argv, struct arguments *s)
{
    int operand = argc;
    int status = command_read_options(&cmd_stat, argc, argv, s, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc)
        return command_fail(&cmd_stat, EXIT_USAGE,
                            "no program given: latput stat [OPTIONS] -- PROGRAM [ARGS...]");
    if (s->compare && s->histogram)
        return command_fail(&cmd_stat, EXIT_USAGE, "--compare and --histogram exclude each other");
    if ((s->compare || s->histogram || s->durations) && !s->events)
        return command_fail(&cmd_stat, EXIT_USAGE,
                            "--compare, --histogram and --durations multiply the events: choose "
                            "some with --events");
    s->options.argv = (const char *const *)argv + operand;
    return EXIT_DONE;
}

// Chooses the CPU to pin the program to: `wanted`, or the last one.
static int cpu_keep(struct arguments *s)
{
    struct err err = {0};
    int wanted = s->options.cpu < 0 ? SESSION_CPU_LAST : s->options.cpu;
    if (session_begin(wanted, NULL, &s->session, &err) != 0)
        return command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
    s->options.cpu = s->session.params.config.cpu;
    s->cpu = *s->session.cpu;
    return EXIT_DONE;
}

static int backend_choose(struct arguments *s)
{
    struct err err = {0};
    const struct count_backend *backend;
    int status = EXIT_DONE;
    if (s->options.cpu >= 0 || s->choice == COUNT_CHOICE_MSR)
        status = cpu_keep(s);
    else if (cpu_identify(CPU_HERE, &s->cpu, &err) != 0)
        status = command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
    if (status != EXIT_DONE)
        return status;
    s->options.machine = count_machine_live(&s->cpu);
    if (count_choose(s->choice, &s->options.machine, &backend, &err) != COUNT_FINE)
        return command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
    // If auto finds no backend, perf gives the reason.
    s->options.backend = backend ? backend : &count_perf;
    s->options.capacity = count_capacity_of(&s->cpu);
    return s->options.backend->whole_cpu && s->options.cpu < 0 ? cpu_keep(s) : EXIT_DONE;
}

// Chooses all events of the table, and those that the kernel counts for every program.
static int default_events(struct arguments *s, struct count_event **events)
{
    static const char *const software[] = {"task-clock", "page-faults", "context-switches",
                                           "cpu-migrations"};
    int n = 0;
    *events = xcalloc((size_t)s->table.nevents + ARRAY_LEN(software), sizeof **events);
    for (size_t i = 0; i < ARRAY_LEN(software); i++)
        count_software_find(software[i], &(*events)[n++]);
    for (int i = 0; i < s->table.nevents && s->choice != COUNT_CHOICE_TSC; i++) {
        const struct counter_event *event = &s->table.events[i];
        // Free-running registers always count for the whole CPU.
        if ((event->kind != COUNTER_MSR || s->options.backend->whole_cpu) &&
            counter_fits(&s->table, event))
            (*events)[n++] = count_event_make(event, s->rings);
    }
    return n;
}

static int stat_choose(struct arguments *s, struct err *err)
{
    struct stat_threshold thresholds[STAT_THRESHOLDS_MAX];
    struct count_event *events;
    int nthresholds = 0;
    if (s->compare)
        nthresholds = stat_thresholds_parse(s->compare, s->invert, thresholds, err);
    else if (s->histogram)
        nthresholds = stat_thresholds_series(s->histogram, thresholds);
    if (nthresholds < 0)
        return -1;
    int n = s->events ? count_events_parse(&s->table, s->events, s->rings, &events, err)
                      : default_events(s, &events);
    if (n < 0)
        return -1;
    const struct stat_variants variants = {thresholds, nthresholds, s->durations};
    s->nlist = stat_events_expand(&s->table, events, n, &variants, &s->list, err);
    free(events);
    return s->nlist < 0 ? -1 : 0;
}

static void runs_announce(int runs)
{
    command_note(&cmd_stat, "the program runs %d times; -e chooses fewer events", runs);
}

static int stat_prepare(struct arguments *s)
{
    struct err err = {0};
    int status = backend_choose(s);
    if (status != EXIT_DONE)
        return status;
    if (counters_load_cpu(&s->cpu, &s->table, &err) != 0)
        return command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
    if (stat_choose(s, &err) != 0)
        return command_fail(&cmd_stat, EXIT_USAGE, "%s", err.text);
    for (int i = 0; i < s->nlist && s->choice == COUNT_CHOICE_TSC; i++)
        if (s->list[i].event.kind == COUNT_HARDWARE)
            return command_fail(&cmd_stat, EXIT_USAGE,
                                "--backend tsc counts no hardware events such as '%s'",
                                s->list[i].event.name);
    s->options.hardware_required = s->events != NULL;
    s->options.announce = isatty(STDERR_FILENO) ? runs_announce : NULL;
    return EXIT_DONE;
}

// Warns if the program would find standard input empty after its first run, unless that can be
// rewound.
static void input_warn(const struct arguments *s)
{
    struct stat about;
    if (s->options.repeat + s->options.warm > 1 && fstat(STDIN_FILENO, &about) == 0 &&
        (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)))
        command_note(&cmd_stat, "standard input is a pipe: only the first run can read it; "
                                "give the program a file");
}

// Returns the exit status by which the shell and env(1) report that a program could not be started.
static int not_started(const struct arguments *s, int error)
{
    if (error == ENOENT)
        return command_fail(&cmd_stat, STATUS_NOT_FOUND,
                            "cannot start '%s': not found; check the name and PATH",
                            s->options.argv[0]);
    return command_fail(&cmd_stat, STATUS_NOT_EXECUTABLE, "cannot start '%s': %s",
                        s->options.argv[0], strerror(error));
}

static int report_emit(const struct arguments *s, const struct stat_result *result)
{
    struct strbuf out = {0}, whose = {0};
    store_whose_here(&s->cpu, &whose);
    int fd = !s->output ? STDERR_FILENO : strcmp(s->output, "-") == 0 ? STDOUT_FILENO : -1;
    const struct stat_report report = {.options = &s->options,
                                       .events = s->list,
                                       .result = result,
                                       .table = &s->table,
                                       .whose = strbuf_text(&whose),
                                       .all_events = s->events == NULL,
                                       .colour =
                                           s->format == REPORT_TABLE && terminal_has_colour(fd)};
    struct err err = {0};
    int status = EXIT_DONE;
    stat_report_put(&report, s->format, &out);
    if (!s->output)
        fputs(strbuf_text(&out), stderr);
    else if (strcmp(s->output, "-") == 0)
        fputs(strbuf_text(&out), stdout);
    else if (file_write(s->output, strbuf_text(&out), out.len, &err) != 0)
        status = command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
    strbuf_free(&out);
    strbuf_free(&whose);
    return status;
}

// Returns the exit status: the program's own, or a failed measurement's.
static int result_judge(const struct arguments *s, const struct stat_result *result)
{
    if (result->exec_errno)
        return not_started(s, result->exec_errno);
    for (int i = 0; i < result->nevents && result->hardware_refused; i++)
        if (s->list[i].event.kind == COUNT_HARDWARE)
            return command_fail(&cmd_stat, EXIT_ENVIRONMENT,
                                "the program was not run, since none of the hardware events can "
                                "be counted: %s",
                                result->series[i].why);
    int status = report_emit(s, result);
    if (result->signal)
        return STATUS_SIGNAL + result->signal;
    if (result->abandoned)
        return STATUS_SIGNAL + result->interrupted;
    return status != EXIT_DONE ? status : result->exit_status;
}

static int stat_run(int argc, char **argv)
{
    struct arguments s = {
        .rings = COUNT_USER, .options = {.repeat = 3, .warm = 1, .cpu = -1}
    };
    struct stat_result result;
    struct err err = {0};
    int status = stat_parse(argc, argv, &s);
    if (status == EXIT_DONE)
        status = stat_prepare(&s);
    if (status == EXIT_DONE) {
        input_warn(&s);
        subproc_forward();
        if (stat_measure(&s.options, s.list, s.nlist, &result, &err) != 0)
            status = command_fail(&cmd_stat, EXIT_ENVIRONMENT, "%s", err.text);
        else
            status = result_judge(&s, &result);
        stat_result_free(&result);
    }
    if (s.session.cpu)
        session_end(&s.session, false);
    free(s.list);
    counters_free(&s.table);
    return status;
}

const struct command cmd_stat = {
    .name = "stat",
    .arguments = "-- PROGRAM [ARGS...]",
    .summary = "count events of a whole program over repeated runs",
    .description =
        "Runs PROGRAM once to warm the caches and then again and again, a few events each time, "
        "until every event was counted in N runs without sharing counters out in time. Prints "
        "mean, minimum and spread (interquartile range) over the runs: wall, user and system time, "
        "the largest memory, software events, and hardware events if there are counters. Events "
        "that could not be counted are named with the reason and the remedy.\n"
        "Thresholds (--compare, --histogram) give the number of events per cycle; the cycles of a "
        "condition and its beginnings (--durations) give its length.\n"
        "The program inherits standard input, output and error, gets the signals that latput gets, "
        "and begins again for every run: a program that changes its input should be started by a "
        "script that restores it. A file on standard input is rewound.\n"
        "The backend msr programs the registers of one CPU, as root, and counts all that runs "
        "there: the program is kept on it, and nothing else should run there.\n"
        "The exit status is that of the program's last run, 128+N if signal N ended it, which also "
        "ends the measurement, 127 if it was not found, 126 if it could not be executed. Status 2 "
        "and 3 with a message 'latput stat:' are latput's own: wrong usage, and no hardware "
        "counters although --events asks for them.",
    .options = options,
    .options_first = true,
    .run = stat_run,
};
