// SPDX-License-Identifier: MIT
// The options that all commands have; see command.h.
#include "command.h"

#include "util/pager.h"
#include "util/terminal.h"

static int take_no_pager(const struct option_given *given, void *to)
{
    (void)given;
    (void)to;
    pager_forbid();
    return EXIT_DONE;
}

int option_set_color(const struct command *cmd, const char *when)
{
    return terminal_set_colour(when)
               ? EXIT_DONE
               : command_fail(cmd, EXIT_USAGE, "--color cannot be '%s': auto, always or never",
                              when);
}

static int take_color(const struct option_given *given, void *to)
{
    (void)to;
    return option_set_color(given->cmd, given->argument);
}

// clang-format off
const struct command_option command_common[] = {
    {0, "no-pager", NULL, "do not page output that is longer than the screen",
        OPTION_CALL(take_no_pager)},
    {0, "color", "auto|always|never",
        "when to use colour; auto (default): on a terminal, unless NO_COLOR is set",
        OPTION_CALL(take_color)},
    {0},
};
// clang-format on

const char *const command_before[] = {"--version",  "--help",  "--show-commands",
                                      "--no-pager", "--color", NULL};

const struct command_option *command_option_at(const struct command *cmd, int i)
{
    const struct command_option *options = cmd->options;
    int own = 0;
    for (; options && options[own].name; own++)
        if (own == i)
            return &options[own];
    return command_common[i - own].name ? &command_common[i - own] : NULL;
}
