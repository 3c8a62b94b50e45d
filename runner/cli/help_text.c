// SPDX-License-Identifier: MIT
// The help of one command; see help.h.
#include "help.h"

#include "store/store.h"
#include "util/strbuf.h"
#include "util/text.h"

#include <string.h>

enum { HELP_WIDTH = 80, OPTION_COLUMN = 26 };

void help_wrap(FILE *out, const char *text, int indent)
{
    struct strbuf lines = {0};
    text_wrap(&lines, text, indent, HELP_WIDTH);
    fputs(lines.data, out);
    strbuf_free(&lines);
}

static void help_option(FILE *out, const struct command_option *option)
{
    struct strbuf name = {0};
    if (option->letter)
        strbuf_printf(&name, "  -%c, ", option->letter);
    else
        strbuf_puts(&name, "      ");
    strbuf_printf(&name, "--%s%s%s", option->name, option->argument ? " " : "",
                  option->argument ? option->argument : "");
    int column = (int)name.len;
    fputs(name.data, out);
    if (column + 2 > OPTION_COLUMN)
        fprintf(out, "\n%*s", OPTION_COLUMN, "");
    else
        fprintf(out, "%*s", OPTION_COLUMN - column, "");
    help_wrap(out, option->help, OPTION_COLUMN);
    strbuf_free(&name);
}

// Prints where the database is for this program: source trees and installed programs have different
// places.
static void help_database(const struct command *cmd, FILE *out)
{
    const struct command_option *option = cmd->options;
    while (option && option->name && strcmp(option->name, "db") != 0)
        option++;
    if (!option || !option->name)
        return;
    fputc('\n', out);
    help_wrap(out, "Without --db the database is that of LATPUT_DB or the configuration file, else",
              0);
    fprintf(out, "%s\n", store_own_path());
}

void help_print(const struct command *cmd, FILE *out)
{
    fprintf(out, "Usage: latput %s [OPTIONS]%s%s\n\n", cmd->name, *cmd->arguments ? " " : "",
            cmd->arguments);
    help_wrap(out, cmd->description, 0);
    fputs("\nOptions:\n", out);
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        help_option(out, option);
    fprintf(out, "  -h, --help%*sprint this help\n", OPTION_COLUMN - 12, "");
    help_database(cmd, out);
}
