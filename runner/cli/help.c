// SPDX-License-Identifier: MIT
#include "help.h"

#include "util/mem.h"
#include "util/pager.h"
#include "util/suggest.h"
#include "version.h"

#include <string.h>

static const char help_intro[] =
    "latput measures x86 instructions on the machine it runs on: latency, reciprocal throughput, "
    "µops and execution ports, in core clock cycles. It also measures code of your own. It needs "
    "neither privileges nor performance counters, and keeps the results in an SQLite database.";

static const struct {
    int status;
    const char *meaning;
} help_exit[] = {
    {EXIT_DONE,        "all done"                                                     },
    {EXIT_SOME_FAILED, "done, but the results are in doubt, or tests failed"          },
    {EXIT_USAGE,       "wrong usage or input"                                         },
    {EXIT_ENVIRONMENT, "the environment lacks something, or nothing could be measured"},
};

void help_overview(FILE *out)
{
    fputs("Usage: latput [--version] [--help] [--show-commands] [--no-pager] [--color WHEN]\n"
          "              COMMAND [OPTIONS]\n\n",
          out);
    help_wrap(out, help_intro, 0);
    fputs("\nCommands:\n", out);
    for (int i = 0; commands[i]; i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\nExit status:\n", out);
    for (size_t i = 0; i < sizeof help_exit / sizeof help_exit[0]; i++)
        fprintf(out, "  %d  %s\n", help_exit[i].status, help_exit[i].meaning);
    fputs("\nlatput COMMAND --help describes a command, latput help --man is the man page.\n", out);
}

// Prints text for troff: a leading dot or quote and every backslash and hyphen are escaped.
static void man_text(const char *text)
{
    for (const char *at = text; *at; at++) {
        if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
            fputs("\\&", stdout);
        if (*at == '\n')
            fputs("\n.PP\n", stdout);
        else if (*at == '\\')
            fputs("\\e", stdout);
        else if (*at == '-')
            fputs("\\-", stdout);
        else
            putchar(*at);
    }
    putchar('\n');
}

static void man_option(const struct command_option *option)
{
    fputs(".TP\n\\fB", stdout);
    if (option->letter)
        printf("\\-%c, ", option->letter);
    fputs("\\-\\-", stdout);
    for (const char *at = option->name; *at; at++)
        fputs(*at == '-' ? "\\-" : (const char[]){*at, '\0'}, stdout);
    fputs("\\fR", stdout);
    if (option->argument)
        printf(" \\fI%s\\fR", option->argument);
    putchar('\n');
    man_text(option->help);
}

static void man_command(const struct command *cmd)
{
    printf(".SS latput %s [OPTIONS] ", cmd->name);
    man_text(cmd->arguments);
    man_text(cmd->description);
    for (const struct command_option *option = cmd->options; option && option->name; option++)
        man_option(option);
}

static void man_environment(void)
{
    puts(".SH ENVIRONMENT\n"
         ".TP\n"
         ".B LATPUT_DB\n"
         "The database, if \\-\\-db names none.\n"
         ".TP\n"
         ".B LATPUT_CONFIG\n"
         "The configuration file; empty: none.\n"
         ".TP\n"
         ".B LATPUT_ROOT\n"
         "Directory that holds lists, macros, cpuinfo and db instead of the program's own.\n"
         ".TP\n"
         ".B XDG_DATA_HOME, XDG_CONFIG_HOME\n"
         "Replace ~/.local/share and ~/.config above.\n"
         ".TP\n"
         ".B TMPDIR\n"
         "Directory for scratch files; /tmp if not set.\n"
         ".TP\n"
         ".B LATPUT_PAGER, PAGER\n"
         "The pager: words between blanks, no shell; empty or cat: none. Without both it is less "
         "\\-FRX.\n"
         ".TP\n"
         ".B COLUMNS, LINES\n"
         "The size of the terminal, if it is not to be asked.\n"
         ".TP\n"
         ".B NO_COLOR\n"
         "If set, no colour is used but with \\-\\-color always.");
}

// clang-format off
static const struct {
    const char *command, *what;
} man_example_lines[] = {
    {"latput cpu", "what this machine is, and what can be measured on it"},
    {"latput run --quick", "measure a small selection; latput run measures everything"},
    {"latput query 'vpadd* ymm*'", "results of some forms"},
    {"latput query 'latency > 20' --sort -latency --limit 10", "the slowest"},
    {"latput query --latency 'imul r64 r64'", "latency of each pair of operands"},
    {"latput bench 'imul rax, rbx' --mode latency", "a piece of your own code"},
    {"latput diff zen4 zen5", "two CPUs, only what differs"},
    {"latput pack --tables --output .",
     "an archive for a colleague, who reads it without latput"},
};
// clang-format on

static void man_examples(void)
{
    puts(".SH EXAMPLES");
    for (size_t i = 0; i < sizeof man_example_lines / sizeof man_example_lines[0]; i++) {
        fputs(".TP\n.B ", stdout);
        man_text(man_example_lines[i].command);
        man_text(man_example_lines[i].what);
    }
}

static void man_page(void)
{
    puts(".TH LATPUT 1 \"\" \"latput " LATPUT_VERSION "\" \"User Commands\"");
    puts(".SH NAME\nlatput \\- measure latency, throughput and ports of x86 instructions");
    puts(".SH SYNOPSIS\n.B latput\n[\\-\\-version] [\\-\\-help] [\\-\\-show\\-commands] "
         "[\\-\\-no\\-pager] [\\-\\-color WHEN] COMMAND [OPTIONS]");
    puts(".SH DESCRIPTION");
    man_text(help_intro);
    puts(".SH OPTIONS\n"
         ".TP\n.B \\-\\-version\nprint the version\n"
         ".TP\n.B \\-h, \\-\\-help\nprint the overview, or after a command its help\n"
         ".TP\n.B \\-\\-show\\-commands\nprint the programs that latput starts, each with its "
         "arguments\n"
         ".PP\nOf every command, before it or among its own:");
    for (const struct command_option *option = command_common; option->name; option++)
        man_option(option);
    puts(".SH COMMANDS");
    for (int i = 0; commands[i]; i++)
        man_command(commands[i]);
    puts(".SS latput help [COMMAND | \\-\\-man | \\-\\-completion bash|zsh]\n"
         "Prints the overview, the help of a command, this page, or what a shell reads to complete "
         "commands and options.");
    puts(".SH EXIT STATUS");
    for (size_t i = 0; i < sizeof help_exit / sizeof help_exit[0]; i++)
        printf(".TP\n.B %d\n%s\n", help_exit[i].status, help_exit[i].meaning);
    puts(".PP\nlatput stat ends with the status of the program that it runs.");
    puts(".SH FILES\n"
         ".TP\n"
         ".I db/latput.db\n"
         "The database, if no other is named: in the source tree that latput was built in. For an "
         "installed latput it is\n"
         ".I ~/.local/share/latput/latput.db\n"
         ".TP\n"
         ".I published.db\n"
         "The published runs of other machines, beside the program or in its lib/latput: what "
         "commands that only read ask as long as the database has no run.\n"
         ".TP\n"
         ".I ~/.config/latput/config\n"
         "Values of options that the command line does not give: lines like\n"
         ".B db = ~/measured.db\n"
         "for every command that has the option, or\n"
         ".B query.format = csv\n"
         "for one; switches are set by yes or no. What follows # is a comment.");
    man_environment();
    man_examples();
    if (*LATPUT_CONTACT) {
        puts(".SH REPORTING BUGS");
        man_text(LATPUT_CONTACT);
    }
    puts(".SH SEE ALSO\n.BR perf (1),\n.BR nasm (1),\n.BR sqlite3 (1),\n.BR objdump (1)\n.PP\n"
         "docs/ of the source: README.md, MEASUREMENT.md (the method), QUERIES.md, BENCH.md, "
         "PORTS.md, OUTPUT.md");
}

int help_no_command(const char *before, const char *name)
{
    char hint[96];
    struct suggestion suggestion = suggest_start(name, strlen(name));
    for (int i = 0; commands[i]; i++)
        suggest_offer(&suggestion, commands[i]->name);
    suggest_text(&suggestion, hint, sizeof hint);
    fprintf(stderr, "%s: there is no command '%s'%s\n", before, name,
            *hint ? hint : "; latput --help lists them");
    return EXIT_USAGE;
}

int help_no_option(const char *name)
{
    char hint[96];
    struct suggestion suggestion = suggest_start(name, strlen(name));
    for (int i = 0; command_before[i]; i++)
        suggest_offer(&suggestion, command_before[i]);
    suggest_text(&suggestion, hint, sizeof hint);
    fprintf(stderr, "latput: unknown option '%s' before the command%s\n", name,
            *hint ? hint : "; see latput --help");
    return EXIT_USAGE;
}

int help_command(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--man") == 0) {
        man_page();
        return EXIT_DONE;
    }
    if (argc == 3 && strcmp(argv[1], "--completion") == 0)
        return help_completion(argv[2]);
    if (argc < 2) {
        help_overview(stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        puts("Usage: latput help [COMMAND | --man | --completion bash|zsh]\n\nPrints the overview, "
             "the help of a command, the man page, or what a shell\nreads to complete commands and "
             "options.");
        return EXIT_DONE;
    }
    const struct command *cmd = command_find(argv[1]);
    if (!cmd)
        return help_no_command("latput help", argv[1]);
    FILE *out = pager_open();
    help_print(cmd, out);
    pager_close(out);
    return EXIT_DONE;
}
