// SPDX-License-Identifier: MIT
// The table of commands, in the order in which --help lists them.
#include "cli/command.h"

#include <stddef.h>
#include <string.h>

// X-macro list: one line per command; its record is cmd_<name> in cmd_<name>.c.
// clang-format off
#define COMMAND_LIST(X) \
    X(cpu) \
    X(check) \
    X(plan) \
    X(asm) \
    X(run) \
    X(property) \
    X(bench) \
    X(explain) \
    X(stat) \
    X(counters) \
    X(ports) \
    X(validate) \
    X(record) \
    X(query) \
    X(diff) \
    X(report) \
    X(export) \
    X(site) \
    X(compare) \
    X(pack) \
    X(merge) \
    X(rederive)
// clang-format on

#define COMMAND_DECLARE(name) extern const struct command cmd_##name;
COMMAND_LIST(COMMAND_DECLARE)

#define COMMAND_ENTRY(name) &cmd_##name,
const struct command *const commands[] = {COMMAND_LIST(COMMAND_ENTRY) NULL};

const struct command *command_find(const char *name)
{
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}
