// SPDX-License-Identifier: MIT
// Completion for shells, printed from the command records like the help; see help.h. An argument
// whose placeholder is FILE or DIR completes file names, one with bars its alternatives. Names of
// families, lists and properties come from the data at hand, labels from the default database.
#include "help.h"

#include "cpuinfo/cpuinfo.h"
#include "export/export.h"
#include "list/select.h"
#include "option_uarch.h"
#include "property/property.h"
#include "store/store.h"
#include "store/store_machines.h"
#include "store/store_run.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void print_commands(void)
{
    for (int i = 0; commands[i]; i++)
        printf("%s ", commands[i]->name);
}

// Steps through the literal words of a synopsis, in lower case: "[list [GLOB...]|stop]" has list
// and stop. Returns the length of the next, with *at after it; 0: none.
static size_t next_action(const char **at)
{
    while (**at) {
        size_t len = 0;
        while (isalpha((unsigned char)(*at)[len]))
            len++;
        bool lower = islower((unsigned char)**at);
        *at += len > 0 ? len : 1;
        if (len > 0 && lower)
            return len;
    }
    return 0;
}

static void print_actions(const char *synopsis)
{
    for (size_t len; (len = next_action(&synopsis)) > 0;)
        printf(" %.*s", (int)len, synopsis - len);
}

// Appends the machines with a label that the default database has results of (zen5@desk, @desk),
// their owner's or one of their brand.
static void put_labels(struct strbuf *words)
{
    struct err err;
    struct store *store;
    if (store_open(store_default_path(), STORE_READ, &store, &err) != 0)
        return; // it need not exist, nor be sound
    char *uarchs = store_machines_apart(store, &err) == 0 ? store_uarchs(store, NULL, &err) : NULL;
    for (const char *at = uarchs; at && *at; at += strlen(at) + 1) {
        const char *label = strchr(at, '@');
        if (label)
            strbuf_printf(words, "%s %s ", at, label);
    }
    free(uarchs);
    store_close(store);
}

// Appends the alternatives of an argument, "N|all", without those that stand for others (N).
static void put_alternatives(struct strbuf *words, const char *argument)
{
    for (const char *at = argument; *at; at += *at == '|') {
        size_t len = strcspn(at, "|");
        if (!isupper((unsigned char)*at))
            strbuf_printf(words, "%s%.*s", words->len ? " " : "", (int)len, at);
        at += len;
    }
}

// Returns the words that an option's argument may be, with blanks between them; NULL: they are not
// known. The caller frees them.
static char *option_words(const struct command_option *option)
{
    struct strbuf words = {0};
    const char *uarch;
    if (strchr(option->argument, '|'))
        put_alternatives(&words, option->argument);
    else if (strcmp(option->name, "uarch") == 0) {
        for (int i = 0; (uarch = cpu_family_name(i)); i++)
            strbuf_printf(&words, "%s ", uarch);
        if (option->take != option_take_uarch) // which says what this CPU is
            put_labels(&words);
    } else if (strcmp(option->argument, "FORMAT") == 0)
        for (int i = 0; export_formats[i]; i++)
            strbuf_printf(&words, "%s ", export_formats[i]->name);
    return words.data;
}

// Prints what the operands of a synopsis stand for, each after a blank: lists or properties.
static void print_operands(const char *synopsis)
{
    if (strstr(synopsis, "LIST[")) {
        char **names = select_list_names();
        for (size_t i = 0; names[i]; i++)
            printf(" %s", names[i]);
        select_list_names_free(names);
    } else if (strstr(synopsis, "[NAME")) {
        struct properties properties;
        struct err err;
        if (properties_load(&properties, &err) == 0)
            for (int i = 0; i < properties.n; i++)
                printf(" %s", properties.rows[i].name);
        properties_free(&properties);
    }
}

static void bash_option(const struct command_option *option)
{
    if (!option->argument)
        return;
    fputs("        ", stdout);
    if (option->letter)
        printf("-%c | ", option->letter);
    printf("--%s) ", option->name);
    char *words = option_words(option);
    if (words) {
        printf("words='%s' ;;\n", words);
    } else if (strcmp(option->argument, "DIR") == 0) {
        puts("mapfile -t COMPREPLY < <(compgen -d -- \"$word\"); return ;;");
    } else {
        puts("return ;;");
    }
    free(words);
}

static void bash_command(const struct command *cmd)
{
    printf("    %s)\n        case $before in\n", cmd->name);
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        bash_option(option);
    fputs("        *) words='", stdout);
    for (int i = 0; (option = command_option_at(cmd, i)); i++)
        printf("--%s ", option->name);
    fputs("--help", stdout);
    print_actions(cmd->arguments);
    print_operands(cmd->arguments);
    puts("' ;;\n        esac ;;");
}

// If there are no candidates, names of files complete (-o default).
static void bash_script(void)
{
    puts("# Completion of latput for bash, printed by latput help --completion bash.\n"
         "_latput() {\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
         "    local command='' words='' i\n"
         "    COMPREPLY=()\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        [[ ${COMP_WORDS[i]} != -- ]] || return\n"
         "        [[ $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}\n"
         "    done\n"
         "    case $command in");
    fputs("    '') words='", stdout);
    print_commands();
    fputs("help", stdout);
    for (int i = 0; command_before[i]; i++)
        printf(" %s", command_before[i]);
    fputs("' ;;\n    help)\n        case $before in\n        --completion) words='bash zsh' ;;\n"
          "        *) words='",
          stdout);
    print_commands();
    puts("--man --completion' ;;\n        esac ;;");
    for (int i = 0; commands[i]; i++)
        bash_command(commands[i]);
    puts("    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
         "}\n"
         "complete -o default -F _latput latput");
}

// Quotes text for '...' of zsh and, there, for [...] of _arguments.
static void zsh_text(const char *text)
{
    for (const char *at = text; *at; at++) {
        if (*at == '\'')
            fputs("'\\''", stdout);
        else if (strchr("[]:\\", *at))
            printf("\\%c", *at);
        else
            putchar(*at == '\n' ? ' ' : *at);
    }
}

static void zsh_argument(const struct command_option *option)
{
    const char *argument = option->argument;
    putchar(':');
    zsh_text(argument);
    putchar(':');
    char *words = option_words(option);
    if (words) {
        printf("(%s)", words);
    } else if (strcmp(argument, "FILE") == 0) {
        fputs("_files", stdout);
    } else if (strcmp(argument, "DIR") == 0) {
        fputs("_files -/", stdout);
    } else {
        putchar(' ');
    }
    free(words);
}

static void zsh_spelling(const struct command_option *option, bool letter)
{
    fputs("            '", stdout);
    if (option->letter)
        printf("(-%c --%s)", option->letter, option->name);
    if (letter)
        printf("-%c%s", option->letter, option->argument ? "+" : "");
    else
        printf("--%s%s", option->name, option->argument ? "=" : "");
    putchar('[');
    zsh_text(option->help);
    putchar(']');
    if (option->argument)
        zsh_argument(option);
    puts("' \\");
}

static void zsh_command(const struct command *cmd)
{
    printf("    %s)\n        _arguments %s\\\n", cmd->name, cmd->options_first ? "-A '-*' " : "");
    const struct command_option *option;
    for (int i = 0; (option = command_option_at(cmd, i)); i++) {
        if (option->letter)
            zsh_spelling(option, true);
        zsh_spelling(option, false);
    }
    fputs("            '--help[print this help]' \\\n", stdout);
    if (next_action(&(const char *){cmd->arguments}) > 0) {
        fputs("            '1:action:(", stdout);
        print_actions(cmd->arguments);
        puts(")' \\");
    }
    fputs("            '*: :{compadd --", stdout);
    print_operands(cmd->arguments);
    puts("; _files}' ;;");
}

static void zsh_script(void)
{
    puts("#compdef latput\n"
         "# Completion of latput for zsh, printed by latput help --completion zsh.\n"
         "local context state line\n"
         "typeset -A opt_args\n"
         "local -a commands=(");
    for (int i = 0; commands[i]; i++) {
        printf("    '%s:", commands[i]->name);
        zsh_text(commands[i]->summary);
        puts("'");
    }
    puts("    'help:print the help of a command, or the man page'\n"
         ")\n"
         "_arguments -C '--version[print the version]' '--help[print the overview]' \\\n"
         "    '--show-commands[print what latput starts]' '--no-pager[page nothing]' \\\n"
         "    '--color=[when to use colour]:when:(auto always never)' '1: :->command' \\\n"
         "    '*:: :->argument'\n"
         "if [[ $state == command ]]; then\n"
         "    _describe command commands\n"
         "    return\n"
         "fi\n"
         "case $words[1] in\n"
         "    help) _arguments '--man[print the man page]' '--completion[of a shell]:shell:(bash "
         "zsh)' \\\n"
         "        '1: :{_describe command commands}' ;;");
    for (int i = 0; commands[i]; i++)
        zsh_command(commands[i]);
    puts("esac");
}

int help_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash_script();
    else if (strcmp(shell, "zsh") == 0)
        zsh_script();
    else {
        fprintf(stderr, "latput help: there is completion for bash and zsh, not for '%s'\n", shell);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}
