// SPDX-License-Identifier: MIT
// Command-line options of the subcommands, by getopt_long over their option records; see command.h.
#include "command.h"
#include "config.h"
#include "help.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/strbuf.h"
#include "util/suggest.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 40, OPTION_BASE = 256, OPTION_HELP = 1000 };

static int options_build(const struct command *cmd, struct option *longs, char *letters)
{
    int n = 0;
    bool own_h = false;
    if (cmd->options_first)
        *letters++ = '+';
    *letters++ = ':'; // distinguishes a missing argument from an unknown option
    for (const struct command_option *option; (option = command_option_at(cmd, n));) {
        longs[n] = (struct option){option->name, option->argument ? required_argument : no_argument,
                                   NULL, OPTION_BASE + n};
        own_h |= option->letter == 'h';
        if (option->letter) {
            *letters++ = option->letter;
            if (option->argument)
                *letters++ = ':';
        }
        n++;
    }
    if (!own_h)
        *letters++ = 'h';
    longs[n] = (struct option){"help", no_argument, NULL, OPTION_HELP};
    longs[n + 1] = (struct option){0};
    *letters = '\0';
    return n;
}

// Returns the option of a value or letter of getopt; NULL: none.
static const struct command_option *option_of(const struct command *cmd, int value)
{
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        if (OPTION_BASE + i == value || (option->letter && option->letter == value))
            return option;
    return NULL;
}

static int option_begins(const struct command *cmd, const char *name)
{
    int n = strncmp("help", name, strlen(name)) == 0;
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        n += strncmp(option->name, name, strlen(name)) == 0;
    return n;
}

// Reports getopt's complaint about `word`. Returns -2.
static int option_wrong(const struct command *cmd, int got, const char *word)
{
    const struct command_option *option = option_of(cmd, optopt);
    char hint[96] = "";
    size_t len = strcspn(word, "=");
    if (got == ':')
        command_fail(cmd, EXIT_USAGE, "option '--%s' needs an argument: %s",
                     option ? option->name : "", option ? option->argument : "");
    else if (option)
        command_fail(cmd, EXIT_USAGE, "option '--%s' takes no argument", option->name);
    else if (optopt)
        command_fail(cmd, EXIT_USAGE, "unrecognized option '-%c'", optopt);
    else {
        char *name = xasprintf("%.*s", (int)len, word);
        struct suggestion suggestion = suggest_start(name + 2, strlen(name + 2));
        for (int i = 0; (option = command_option_at(cmd, i)); i++)
            suggest_offer(&suggestion, option->name);
        suggest_offer(&suggestion, "help");
        if (suggestion.best)
            snprintf(hint, sizeof hint, "; did you mean '--%s'?", suggestion.best);
        bool ambiguous = option_begins(cmd, name + 2) > 1;
        command_fail(cmd, EXIT_USAGE, "%s option '%s'%s", ambiguous ? "ambiguous" : "unrecognized",
                     name, ambiguous ? "" : hint);
        free(name);
    }
    command_note(cmd, "see latput %s --help", cmd->name);
    return -2;
}

struct option_state {
    int started;
    int config_line; // line of the configuration file, whose options come first
    bool configured; // the last option is of that file
    int operand_index;
};

// Returns the index of the next option's record (command_option_at()), and its *argument; -1 after
// the last option (operands then start at operand_index); -2 after a wrong option, already
// reported.
static int command_next_option(const struct command *cmd, int argc, char **argv,
                               struct option_state *state, const char **argument)
{
    struct option longs[OPTIONS_MAX + 2];
    char letters[2 * OPTIONS_MAX + 5];
    int n = options_build(cmd, longs, letters);
    if (!state->started) {
        optind = 0; // makes getopt start again
        opterr = 0;
        state->started = 1;
    }
    struct err err = {0};
    int configured = config_next_option(cmd, &state->config_line, argument, &err);
    state->configured = configured >= 0;
    if (configured == -2)
        command_fail(cmd, EXIT_USAGE, "%s", err.text);
    if (configured != -1)
        return configured;
    int got = getopt_long(argc, argv, letters, longs, NULL);
    *argument = optarg;
    state->operand_index = optind;
    if (got == -1)
        return -1;
    if (got == OPTION_HELP || (got == 'h' && !option_of(cmd, 'h'))) {
        FILE *out = pager_open();
        help_print(cmd, out);
        pager_close(out);
        exit(command_end(cmd->name, EXIT_DONE));
    }
    if (got >= OPTION_BASE)
        return got - OPTION_BASE;
    for (int i = 0; i < n; i++)
        if (command_option_at(cmd, i)->letter == got)
            return i;
    return option_wrong(cmd, got, argv[optind > 1 ? optind - 1 : 1]);
}

// Options of a command that are given, by index.
struct options_given {
    bool any[OPTIONS_MAX];     // at all
    bool command[OPTIONS_MAX]; // on the command line
};

// Returns true if one of the names, which are separated by |, is this one.
static bool option_is_among(const char *name, const char *names)
{
    size_t len = strlen(name);
    for (const char *at = names; *at; at += *at == '|') {
        size_t next = strcspn(at, "|");
        if (next == len && strncmp(at, name, len) == 0)
            return true;
        at += next;
    }
    return false;
}

static bool options_give_one(const struct command *cmd, const struct options_given *given,
                             const char *names)
{
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        if (given->any[i] && option_is_among(option->name, names))
            return true;
    return false;
}

static int option_lacks(const struct command *cmd, const struct command_option *option)
{
    struct strbuf names = {0};
    for (const char *at = option->with; *at; at++)
        strbuf_printf(&names, *at == '|' ? " or --" : "%c", *at);
    int status = command_fail(cmd, EXIT_USAGE, "--%s does nothing without --%s", option->name,
                              strbuf_text(&names));
    strbuf_free(&names);
    return status;
}

// Returns true if an option of the command itself has no meaning beside another one.
static bool option_is_idle(const struct command_option *option, const struct command_option *other)
{
    return option != other && ((option->without && option_is_among(other->name, option->without)) ||
                               (other->beside && !option_is_among(option->name, other->beside)));
}

// Refuses what would do nothing.
static int options_check(const struct command *cmd, const struct options_given *given)
{
    const struct command_option *option, *other;
    for (int i = 0; cmd->options && (option = &cmd->options[i])->name; i++) {
        if (given->command[i] && option->with && !options_give_one(cmd, given, option->with))
            return option_lacks(cmd, option);
        for (int j = 0; given->command[i] && (other = &cmd->options[j])->name; j++)
            if (given->any[j] && option_is_idle(option, other))
                return command_fail(cmd, EXIT_USAGE, "--%s does nothing beside --%s", option->name,
                                    other->name);
    }
    return EXIT_DONE;
}

int command_read_options(const struct command *cmd, int argc, char **argv, void *arguments,
                         int *operand_index)
{
    struct option_state state = {0};
    struct option_given given = {.cmd = cmd};
    struct options_given all = {0};
    int option, status;
    while ((option = command_next_option(cmd, argc, argv, &state, &given.argument)) >= 0) {
        given.option = command_option_at(cmd, option);
        all.any[option] = true;
        all.command[option] |= !state.configured;
        status = given.option->take(&given, (char *)arguments + given.option->offset);
        if (status != EXIT_DONE)
            return status;
    }
    *operand_index = state.operand_index;
    return option == -1 ? options_check(cmd, &all) : EXIT_USAGE;
}

int command_read_alone(const struct command *cmd, int argc, char **argv, void *arguments)
{
    int operand;
    int status = command_read_options(cmd, argc, argv, arguments, &operand);
    if (status == EXIT_DONE && operand < argc)
        status = command_fail(cmd, EXIT_USAGE, "unexpected argument '%s'", argv[operand]);
    return status;
}

int option_take_text(const struct option_given *given, void *to)
{
    *(const char **)to = given->argument;
    return EXIT_DONE;
}

int option_take_switch(const struct option_given *given, void *to)
{
    *(bool *)to = given->option->value;
    return EXIT_DONE;
}

int option_take_number(const struct option_given *given, void *to)
{
    const struct command_option *option = given->option;
    char *end;
    long value = strtol(given->argument, &end, 10);
    if (!*given->argument || *end || value < option->least || value > option->most)
        return command_fail(given->cmd, EXIT_USAGE, "--%s needs a number from %d to %d, not '%s'",
                            option->name, option->least, option->most, given->argument);
    *(int *)to = (int)value;
    return EXIT_DONE;
}

int option_take_seconds(const struct option_given *given, void *to)
{
    int seconds = 0;
    int status = option_take_number(given, &seconds);
    if (status == EXIT_DONE)
        *(int *)to = seconds * 1000;
    return status;
}
