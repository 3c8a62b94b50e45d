// SPDX-License-Identifier: MIT
#include "config.h"

#include "util/mem.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONFIG_LINES_MAX = 1000, CONFIG_LINE_MAX = 4096 };

static struct config {
    char *path;
    char **lines; // without comments and white space around them
    int nlines;
    bool read;
    struct arena texts; // values given to options, valid as long as the program runs
} config;

static const struct command *const *config_commands; // all; NULL: only the asking command is known

void config_set_commands(const struct command *const *all)
{
    config_commands = all;
}

static char *config_path(void)
{
    const char *own = getenv("LATPUT_CONFIG"), *base = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (own)
        return xstrdup(own);
    if (base && *base == '/')
        return xasprintf("%s/latput/config", base);
    return xasprintf("%s/.config/latput/config", home ? home : "");
}

static char *config_trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t len = strlen(text);
    while (len && isspace((unsigned char)text[len - 1]))
        text[--len] = '\0';
    return text;
}

// Reads the file. Returns 0, or -2 with a message.
static int config_read(struct err *err)
{
    char line[CONFIG_LINE_MAX];
    config.path = config_path();
    config.read = true;
    FILE *file = *config.path ? fopen(config.path, "re") : NULL;
    if (!file && *config.path && errno != ENOENT && errno != ENOTDIR) {
        err_set(err, "%s: %s", config.path, strerror(errno));
        return -2;
    }
    while (file && config.nlines < CONFIG_LINES_MAX && fgets(line, sizeof line, file)) {
        line[strcspn(line, "#")] = '\0';
        config.lines = xrealloc(config.lines, ((size_t)config.nlines + 1) * sizeof *config.lines);
        config.lines[config.nlines++] = xstrdup(config_trim(line));
    }
    if (file)
        fclose(file);
    return 0;
}

static int config_wrong(int line, const char *what, struct err *err)
{
    err_set(err, "%s:%d: %s; a line is `option = value` or `command.option = value`", config.path,
            line, what);
    return -2;
}

// Returns the value with `~/` replaced by the home directory.
static const char *config_value(const char *value)
{
    const char *home = getenv("HOME");
    return strncmp(value, "~/", 2) == 0 && home
               ? arena_printf(&config.texts, "%s/%s", home, value + 2)
               : value;
}

static int config_find(const struct command *cmd, const char *name)
{
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        if (strcmp(option->name, name) == 0)
            return i;
    return -1;
}

// Returns the command of that name; NULL: none.
static const struct command *config_command(const char *name)
{
    for (int i = 0; config_commands && config_commands[i]; i++)
        if (strcmp(config_commands[i]->name, name) == 0)
            return config_commands[i];
    return NULL;
}

// Returns true if any command has the option, so that the line has a meaning.
static bool config_is_known(const char *name)
{
    for (int i = 0; config_commands && config_commands[i]; i++)
        if (config_find(config_commands[i], name) >= 0)
            return true;
    return false;
}

// Returns the index of the option that a line sets for this command, -1 for none, -2 for a wrong
// line.
static int config_take(const struct command *cmd, int line, const char **argument, struct err *err)
{
    char *text = arena_strdup(&config.texts, config.lines[line - 1]);
    char *equals = strchr(text, '=');
    int found = -1;
    if (!equals)
        return *text ? config_wrong(line, "there is no = in it", err) : -1;
    *equals = '\0';
    char *name = config_trim(text), *value = config_trim(equals + 1), *dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    if (dot && config_commands && !config_command(name))
        found = config_wrong(line, "there is no such command", err);
    else if (config_commands && !config_is_known(dot ? dot + 1 : name))
        found = config_wrong(line, "there is no such option", err);
    else if (!dot || strcmp(name, cmd->name) == 0)
        found = config_find(cmd, dot ? dot + 1 : name);
    if (found >= 0 && !dot && strcmp(name, "db") == 0 && getenv("LATPUT_DB"))
        found = -1;
    if (found >= 0 && !command_option_at(cmd, found)->argument && strcmp(value, "no") == 0)
        found = -1;
    else if (found >= 0 && !command_option_at(cmd, found)->argument && strcmp(value, "yes") != 0)
        found = config_wrong(line, "this option is set by yes or no", err);
    *argument = found >= 0 ? config_value(value) : NULL;
    return found;
}

int config_next_option(const struct command *cmd, int *line, const char **argument, struct err *err)
{
    if (!config.read && config_read(err) != 0)
        return -2;
    while (*line < config.nlines) {
        int found = config_take(cmd, ++*line, argument, err);
        if (found != -1)
            return found;
    }
    return -1;
}
