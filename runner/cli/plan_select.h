// SPDX-License-Identifier: MIT
// Operands of commands that show rows: each is a list (`sse_fp`, a path), a line of one
// (`sse_fp:12`), or a glob on the form in all lists ("vpadd*", "add r64 r64").
#pragma once

#include "command.h"
#include "plan/plan.h"

struct plan_select {
    struct plan_params params; // issue_width 0: plan_select_find_width()
    const char *db;            // NULL: the default one, which need not exist
    // Called for each row in turn; a result other than 0 ends the walk.
    int (*visit)(const struct list_row *row, const struct plan *plan, void *data);
    void *data;
};

// Sets the width, unless given, to the one measured on this CPU, with which `latput run` plans. If
// the database has none, the family's is taken or, without one, 8, with a note. Returns EXIT_DONE,
// or another status after a message.
int plan_select_find_width(const struct command *cmd, struct plan_select *args);

// Plans every row that the operands name. Returns 0, what visit returned, or -1 with a message.
int plan_select_walk(char **operands, int noperands, const struct plan_select *args,
                     struct err *err);

// Records of options (see command.h): of --issue-width, 1 to 16, and of the --db in which it is
// looked for; and the end of the record of --tests, e.g. "LT".
#define COMMON_WIDTH(field)                                                                        \
    'w', "issue-width", "N",                                                                       \
        "µops per cycle that the fillers assume; default: what was measured on this CPU",          \
        .take = plan_select_take_width, .offset = OPTION_FIELD(int, field)
#define COMMON_WIDTH_DB(field)                                                                     \
    0, "db", "FILE", "the database that knows the measured width", OPTION_TEXT(field)
#define OPTION_TESTS(field) .take = plan_select_take_tests, .offset = OPTION_FIELD(unsigned, field)
int plan_select_take_width(const struct option_given *given, void *to);
int plan_select_take_tests(const struct option_given *given, void *to);
