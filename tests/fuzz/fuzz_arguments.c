// SPDX-License-Identifier: MIT
// Command lines. Each line of the input is a word. If the first names a command, the others are its
// arguments; if not, each is the value of an option that has a small language.
#include "fuzz.h"

#include "bench/bench_column.h"
#include "cli/command.h"
#include "cli/plan_select.h"
#include "cpuinfo/counters.h"
#include "stat/stat_threshold.h"
#include "util/cpulist.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS_MAX = 12, OPTIONS_MAX = 32 };

static int take_checked(const struct option_given *given, void *to)
{
    int *number = to;
    if (!given->option->argument) {
        fuzz_check(!given->argument, "a switch has no argument");
        return EXIT_DONE;
    }
    fuzz_check(given->argument != NULL, "an option has its argument");
    if (option_take_number(given, number) == EXIT_DONE)
        fuzz_check(*number >= 2 && *number <= 1000, "a number is in its range");
    return EXIT_DONE;
}

// Returns the command with a number for each option that is no switch; one int is all of its
// arguments.
static struct command with_numbers(const struct command *cmd,
                                   struct command_option options[OPTIONS_MAX + 1])
{
    struct command copy = *cmd;
    int n = 0;
    for (; cmd->options[n].name; n++) {
        fuzz_check(n < OPTIONS_MAX, "no more options than there is room for");
        fuzz_check(cmd->options[n].take != NULL, "an option says where its argument goes");
        options[n] = cmd->options[n];
        options[n].take = take_checked;
        options[n].offset = 0;
        options[n].least = 2;
        options[n].most = 1000;
    }
    options[n] = (struct command_option){0};
    copy.options = options;
    return copy;
}

// Returns true if a word may ask for help, which is printed before the process exits: --h and
// longer words, or h among letters.
static bool asks_help(const char *word)
{
    return strncmp(word, "--h", 3) == 0 || (word[0] == '-' && word[1] != '-' && strchr(word, 'h'));
}

static void read_options(const struct command *which, const char *const *arguments, int n)
{
    char *argv[ARGUMENTS_MAX + 2] = {xasprintf("%s", which->name)};
    char *own[ARGUMENTS_MAX + 1] = {argv[0]}; // getopt moves what is in argv
    int argc = 1, operands = 0, number = 0;
    struct command_option options[OPTIONS_MAX + 1];
    const struct command cmd = with_numbers(which, options);
    for (int i = 0; i < n; i++)
        if (!asks_help(arguments[i]))
            own[argc] = argv[argc] = xasprintf("%s", arguments[i]), argc++;
    int status = command_read_options(&cmd, argc, argv, &number, &operands);
    if (status == EXIT_DONE)
        fuzz_check(operands >= 1 && operands <= argc, "operands lie in the arguments");
    for (int i = 0; i < argc; i++)
        free(own[i]);
}

static void read_events(const char *text)
{
    static struct counter_table table;
    struct counter_event *events;
    struct err err = {0};
    if (!table.uarch && counters_load("skylake", &table, &err) != 0)
        fuzz_check(false, err.text);
    int n = counter_parse_list(&table, text, &events, &err);
    if (n < 0)
        fuzz_check_message(&err);
    fuzz_check(n >= 0 || !events, "no events without a number of them");
    free(events);
}

static void read_column(const char *text)
{
    static const char *const names[] = {"tsc", "core_clk", "page-faults"};
    static const double values[] = {3, 0, -1e300};
    struct arena arena = {0};
    struct bench_column column;
    struct err err = {0};
    if (bench_column_parse(text, names, 3, &arena, &column, &err) == 0)
        bench_column_value(&column, values);
    else
        fuzz_check_message(&err);
    arena_free(&arena);
}

static void read_cpus(const char *text)
{
    int cpus[64];
    cpu_set_t set;
    int n = cpulist_parse(text, cpus, (int)ARRAY_LEN(cpus));
    fuzz_check(n <= (int)ARRAY_LEN(cpus), "no more CPUs than there is room for");
    for (int i = 0; i < n; i++)
        fuzz_check(cpus[i] >= 0 && cpus[i] < CPU_SETSIZE, "a CPU is one");
    if (cpulist_parse_set(text, &set) == 0) {
        struct strbuf written = {0};
        cpu_set_t again;
        cpulist_write(&set, &written);
        fuzz_check(cpulist_parse_set(strbuf_text(&written), &again) == 0 && CPU_EQUAL(&set, &again),
                   "a set of CPUs that is written is the same set");
        strbuf_free(&written);
    }
}

static void read_values(const char *text, const char *next)
{
    struct stat_threshold thresholds[STAT_THRESHOLDS_MAX];
    int width = 0;
    unsigned tests;
    struct err err = {0};
    if (stat_thresholds_parse(text, next, thresholds, &err) < 0)
        fuzz_check_message(&err);
    const struct option_given given = {.cmd = command_find("plan"), .argument = text};
    if (plan_select_take_width(&given, &width) == EXIT_DONE)
        fuzz_check(width >= 1 && width <= 16, "a width is in its range");
    plan_select_take_tests(&given, &tests);
    read_events(text);
    read_column(text);
    read_cpus(text);
}

void fuzz_arguments(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size), *rest = text, *line;
    const char *arguments[ARGUMENTS_MAX];
    int n = 0;
    while (n < ARGUMENTS_MAX && (line = strsep(&rest, "\n")))
        arguments[n++] = line;
    const struct command *which = command_find(arguments[0]);
    if (which)
        read_options(which, arguments + 1, n - 1);
    for (int i = 0; i < n && !which; i++)
        read_values(arguments[i], i + 1 < n ? arguments[i + 1] : NULL);
    free(text);
}
