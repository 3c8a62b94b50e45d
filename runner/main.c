// SPDX-License-Identifier: MIT
// The program's entry: dispatches to the table of commands and reads the options before them.
// Commands are in files of their own; this one only knows their names.
#include "cli/command.h"
#include "cli/config.h"
#include "cli/help.h"
#include "util/limits.h"
#include "util/pager.h"
#include "util/subproc.h"
#include "version.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    int at = 1;
    signal(SIGXFSZ, SIG_IGN); // a file size limit becomes an error with a message
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--version") == 0) {
            puts("latput " LATPUT_VERSION);
            return command_end("", EXIT_DONE);
        }
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            help_overview(stdout);
            return command_end("", EXIT_DONE);
        }
        if (strcmp(argv[at], "--show-commands") == 0) {
            subproc_show_commands(true);
            continue;
        }
        if (strcmp(argv[at], "--no-pager") == 0) {
            pager_forbid();
            continue;
        }
        if (strncmp(argv[at], "--color", 7) == 0 && (argv[at][7] == '=' || !argv[at][7])) {
            const char *when = argv[at][7] ? argv[at] + 8 : at + 1 < argc ? argv[++at] : "";
            if (option_set_color(NULL, when) != EXIT_DONE)
                return EXIT_USAGE;
            continue;
        }
        return help_no_option(argv[at]);
    }
    if (at == argc) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[at], "help") == 0)
        return command_end("help", help_command(argc - at, argv + at));
    const struct command *cmd = command_find(argv[at]);
    if (!cmd)
        return help_no_command("latput", argv[at]);
    struct err err;
    if (limits_check(&err) != 0) {
        fprintf(stderr, "latput: %s\n", err.text);
        return EXIT_ENVIRONMENT;
    }
    config_set_commands(commands);
    return command_end(cmd->name, cmd->run(argc - at, argv + at));
}
