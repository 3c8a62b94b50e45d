// SPDX-License-Identifier: MIT
// The option --backend.
#pragma once

#include "command.h"
#include "counters/count_choose.h"
#include "measure/session.h"

// Help of the option in commands where it selects the counter of core cycles.
#define BACKEND_OF_CYCLES                                                                          \
    "where cycles come from: perf or msr, a counter; tsc, the calibrated time-stamp counter; "     \
    "auto (default), the first of these that works here"
// Its argument.
#define BACKEND_NAMES "auto|perf|msr|tsc"
// The end of an option's record (see command.h), and a whole one.
#define OPTION_BACKEND(field)                                                                      \
    .take = option_take_backend, .offset = OPTION_FIELD(enum count_choice, field)
#define COMMON_BACKEND(field) 0, "backend", BACKEND_NAMES, BACKEND_OF_CYCLES, OPTION_BACKEND(field)
int option_take_backend(const struct option_given *given, void *to);

// Prints on standard error what a session counts, and which events of the tables it does not;
// nothing if it does not count.
void backend_say(const struct command *cmd, const struct session *session);
