// SPDX-License-Identifier: MIT
// Commands that there are not on Windows, in the place of theirs in runner/commands/.
#include "cli/command.h"
#include "commands/cmd_bench.h"

#include <stdio.h>

static int lacks_counters(int argc, char **argv);
static int lacks_linux(int argc, char **argv);

#define LACKING "not on Windows (docs/REMOTE.md)"
#define COMMAND_LACKING(word, lacks)                                                               \
    const struct command cmd_##word = {                                                            \
        .name = #word, .summary = LACKING, .description = LACKING ".", .run = lacks}
COMMAND_LACKING(counters, lacks_counters);
COMMAND_LACKING(explain, lacks_linux);
COMMAND_LACKING(stat, lacks_counters);
COMMAND_LACKING(validate, lacks_linux);

static int lacks_counters(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr, "latput %s: not on Windows: the time stamp is all that is read there\n",
            argv[0]);
    return EXIT_USAGE;
}

static int lacks_linux(int argc, char **argv)
{
    (void)argc;
    fprintf(stderr,
            "latput %s: not on Windows: it takes tools of Linux; merge the pack there, and ask "
            "there\n",
            argv[0]);
    return EXIT_USAGE;
}

// `bench --explain`
int explain_bench(const struct bench_spec *spec)
{
    static char name[] = "explain", *argv[] = {name, NULL};
    (void)spec;
    return lacks_linux(1, argv);
}
