// SPDX-License-Identifier: MIT
// latput counters: the events that the performance counters of a CPU can count. The first operand
// is an action; each is one line of the table below.
#include "cmd_counters.h"

#include "cli/option_format.h"

#include <string.h>

struct arguments {
    struct counters_request request;
};

// clang-format off
static const struct command_option options[] = {
    {'u', "uarch", "NAME", "the events of this CPU family, e.g. zen5, instead of this CPU's",
        OPTION_TEXT(request.uarch)},
    {COMMON_FORMAT(request.format)},
    {'s', "sets", NULL, "the named sets of events instead of the events",
        OPTION_SWITCH(request.sets, true)},
    {'c', "cpu", "LIST",
        "the logical CPU to look at, if they differ; default: the one that latput runs on. For "
        "start a list (0-3,8) or all, which is the default", OPTION_TEXT(request.cpus)},
    {'l', "load", "FILE", "the CPU of a dump made by latput cpu --save",
        OPTION_TEXT(request.dump)},
    {'w', "wide", NULL, "all columns of the table, however narrow the terminal is",
        OPTION_SWITCH(request.wide, true)},
    {0},
};
// clang-format on

static const struct {
    const char *name;
    int (*run)(const struct counters_request *request);
} actions[] = {
    {"list",   counters_list  }, // also the default
    {"start",  counters_start },
    {"stop",   counters_stop  },
    {"status", counters_status},
};

static int counters_run(int argc, char **argv)
{
    struct arguments arguments = {.request = {.command = &cmd_counters}};
    struct counters_request *request = &arguments.request;
    int operand = argc;
    int status = command_read_options(&cmd_counters, argc, argv, &arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    if (operand >= argc) {
        request->globs = argv + argc;
        return actions[0].run(request);
    }
    const char *name = argv[operand];
    const char *idle = request->sets ? "--sets" : request->wide ? "--wide" : NULL;
    request->globs = argv + operand + 1;
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (strcmp(actions[i].name, name) == 0)
            return i > 0 && idle ? command_fail(&cmd_counters, EXIT_USAGE,
                                                "%s is of list, not of %s", idle, name)
                                 : actions[i].run(request);
    return command_fail(&cmd_counters, EXIT_USAGE,
                        "there is no action '%s'; events are found by latput counters list '%s'",
                        name, name);
}

const struct command cmd_counters = {
    .name = "counters",
    .arguments = "[list [GLOB...]|start EVENT...|stop|status]",
    .summary = "list what performance counters can count, start and stop them",
    .description =
        "Lists the events of this CPU's family, or of another (--uarch): the id, which is the same "
        "on every CPU and which `latput stat` and `latput bench` take, the code, the counters that "
        "can count it, the vendor's name and the meaning. With GLOBs only the events whose id, "
        "name or group match, without regard to case: latput counters list 'branch*'. With --sets "
        "the named sets, which lists of events take as @NAME.\n"
        "On a terminal the table fits its lines, as that of latput query does. Elsewhere the "
        "vendor's names are left out; --wide prints them, and --format csv and json libpfm4's as "
        "well.\n"
        "A message on standard error says if this machine lets nobody count, with the remedy; the "
        "list is printed all the same.\n"
        "Events are written by id, by the vendor's or libpfm4's name, or as a raw code (r1b1, "
        "event=0xb1,umask=0x02,cmask=1,inv), with the modifiers :u and :k (user, kernel mode), "
        ":c=N (cycles with at least N), :i (inverted), :e (rising edges), :t (either thread).\n"
        "start programs counters for another program to read with the instruction RDPMC, and "
        "prints the number that RDPMC wants in ecx for each event; status shows the counts, stop "
        "restores the registers. perf keeps counters only as long as the program that opened them "
        "lives, so this needs root and the kernel module msr. Do not use perf meanwhile.",
    .options = options,
    .run = counters_run,
};
