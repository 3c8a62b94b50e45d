// SPDX-License-Identifier: MIT
#include "option_uarch.h"

#include <string.h>

int option_take_uarch(const struct option_given *given, void *to)
{
    (void)to; // the identification of CPUs keeps it
    return uarch_option_read(given->cmd, given->argument);
}

int option_take_label(const struct option_given *given, void *to)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t len = strlen(given->argument);
    if (len > CPU_LABEL_MAX || strspn(given->argument, letters) != len)
        return command_fail(given->cmd, EXIT_USAGE,
                            "--label cannot be '%s'; it takes at most %d lower-case letters, "
                            "digits, - and _",
                            given->argument, (int)CPU_LABEL_MAX);
    *(const char **)to = given->argument;
    return EXIT_DONE;
}

int uarch_option_read(const struct command *cmd, const char *text)
{
    struct err err = {0};
    return cpu_override(text, &err) == 0 ? EXIT_DONE
                                         : command_fail(cmd, EXIT_USAGE, "--uarch: %s", err.text);
}

void uarch_say_inferred(const struct command *cmd, const struct cpu_info *cpu)
{
    char key[sizeof cpu->uarch];
    if (cpu->decision != CPU_DECIDED_INFERRED)
        return;
    command_note(cmd,
                 "the events are those of %s, which fits what this CPU shows; it claims to be %s "
                 "(latput cpu)",
                 cpu_uarch_key(cpu->uarch, key, sizeof key), cpu->claim);
}
