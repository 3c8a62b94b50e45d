// SPDX-License-Identifier: MIT
// The options of commands that measure that say what this machine is: --uarch, the family that this
// CPU is taken for, whatever its signature claims and whatever contradicts it; --label, its name.
#pragma once

#include "command.h"
#include "cpuinfo/cpuinfo.h"

// The option's record; see command.h.
#define COMMON_UARCH                                                                               \
    0, "uarch", "NAME",                                                                            \
        "take this CPU for one of that family (column uarch of cpus.csv), or `unknown`, "          \
        "whatever it claims to be",                                                                \
        .take = option_take_uarch
int option_take_uarch(const struct option_given *given, void *to);

#define COMMON_LABEL(field)                                                                        \
    0, "label", "NAME",                                                                            \
        "name of this machine, which tells it from others of its family: uarch is `zen5@NAME` "    \
        "from now on; '' takes it off",                                                            \
        .take = option_take_label, .offset = OPTION_FIELD(const char *, field)
int option_take_label(const struct option_given *given, void *to);

// Reads the option's text; every CPU identified from now on is of that family. Returns EXIT_DONE,
// or EXIT_USAGE after a message.
int uarch_option_read(const struct command *cmd, const char *text);

// Prints on standard error that the events of this CPU are taken from a family that it does not
// claim; nothing if it does.
void uarch_say_inferred(const struct command *cmd, const struct cpu_info *cpu);
