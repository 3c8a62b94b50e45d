// SPDX-License-Identifier: MIT
// The messages of the subcommands, and the end of their output; see command.h.
#include "command.h"

#include "util/mem.h"
#include "util/terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 0))) static void command_say(const struct command *cmd,
                                                              const char *format, va_list ap)
{
    char *message = NULL;
    if (vasprintf(&message, format, ap) < 0)
        message = NULL;
    char *text = xasprintf("latput%s%s: %s", cmd ? " " : "", cmd ? cmd->name : "",
                           message ? message : format);
    terminal_say(text);
    free(text);
    free(message);
}

int command_fail(const struct command *cmd, int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    command_say(cmd, format, ap);
    va_end(ap);
    return status;
}

void command_note(const struct command *cmd, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    command_say(cmd, format, ap);
    va_end(ap);
}

int command_end(const char *name, int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    // The reason of an earlier refused write is no longer known.
    fprintf(stderr, "latput%s%s: cannot write the output%s%s\n", *name ? " " : "", name,
            errno ? ": " : "", errno ? strerror(errno) : "");
    return status > EXIT_ENVIRONMENT ? status : EXIT_ENVIRONMENT;
}
