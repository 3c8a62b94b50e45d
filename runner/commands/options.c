// SPDX-License-Identifier: MIT
// Command-line options of the subcommands, by getopt_long over their option records; see command.h.
#include "command.h"
#include "help.h"
#include "util/text.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS_MAX = 32, OPTION_BASE = 256, OPTION_HELP = 1000 };

static int options_build(const struct command *cmd, struct option *longs, char *letters)
{
    int n = 0;
    if (cmd->options_first)
        *letters++ = '+';
    for (const struct command_option *option = cmd->options; option && option->name; option++) {
        longs[n] = (struct option){option->name, option->argument ? required_argument : no_argument,
                                   NULL, OPTION_BASE + n};
        if (option->letter) {
            *letters++ = option->letter;
            if (option->argument)
                *letters++ = ':';
        }
        n++;
    }
    longs[n] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    longs[n + 1] = (struct option){0};
    *letters = '\0';
    return n;
}

int command_next_option(const struct command *cmd, int argc, char **argv,
                        struct option_state *state, const char **argument)
{
    struct option longs[OPTIONS_MAX + 2];
    char letters[2 * OPTIONS_MAX + 3];
    int n = options_build(cmd, longs, letters);
    if (!state->started) {
        optind = 0; // makes getopt start afresh
        state->started = 1;
    }
    char name[64];
    snprintf(name, sizeof name, "latput %s", cmd->name);
    char *own_name = argv[0];
    argv[0] = name; // for getopt's own messages
    int got = getopt_long(argc, argv, letters, longs, NULL);
    argv[0] = own_name;
    *argument = optarg;
    state->operand_index = optind;
    if (got == -1)
        return -1;
    if (got == OPTION_HELP) {
        help_print(cmd, stdout);
        exit(EXIT_DONE);
    }
    if (got >= OPTION_BASE)
        return got - OPTION_BASE;
    for (int i = 0; i < n; i++)
        if (cmd->options[i].letter == got)
            return i;
    fprintf(stderr, "latput %s: see latput %s --help\n", cmd->name, cmd->name);
    return -2;
}

int command_each_option(const struct command *cmd, int argc, char **argv,
                        int (*take)(void *context, int option, const char *argument), void *context,
                        int *operand_index)
{
    struct option_state state = {0};
    const char *argument;
    int option, status;
    while ((option = command_next_option(cmd, argc, argv, &state, &argument)) >= 0)
        if ((status = take(context, option, argument)) != EXIT_DONE)
            return status;
    *operand_index = state.operand_index;
    return option == -1 ? EXIT_DONE : EXIT_USAGE;
}

int command_no_operands(const struct command *cmd, int argc, char **argv, int operand_index)
{
    return operand_index < argc
               ? command_fail(cmd, EXIT_USAGE, "unexpected argument '%s'", argv[operand_index])
               : EXIT_DONE;
}

int command_option_number(const struct command *cmd, int option, const char *text, int least,
                          int most, int *number)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (!*text || *end || value < least || value > most)
        return command_fail(cmd, EXIT_USAGE, "--%s wants a number from %d to %d, not '%s'",
                            cmd->options[option].name, least, most, text);
    *number = (int)value;
    return EXIT_DONE;
}

int command_fail(const struct command *cmd, int status, const char *format, ...)
{
    struct strbuf shown = {0};
    va_list ap;
    va_start(ap, format);
    char *message = NULL;
    if (vasprintf(&message, format, ap) < 0)
        message = NULL;
    va_end(ap);
    text_put_escaped(&shown, message ? message : format);
    fprintf(stderr, "latput %s: %s\n", cmd->name, strbuf_text(&shown));
    strbuf_free(&shown);
    free(message);
    return status;
}
