// SPDX-License-Identifier: MIT
// A value that commands tell: its name for programs, its heading and layout for people. Records of
// outputs begin with it.
#pragma once

#include "util/text_table.h"

enum look_type { LOOK_TEXT, LOOK_INTEGER, LOOK_REAL, LOOK_BOOL };

struct look {
    const char *name; // in CSV, JSON and SQL
    enum look_type type;
    const char *unit, *heading; // NULL: none
    int digits;                 // significant ones in CSV; 0: all
    enum text_align align;
    struct text_fit fit;
    const char *says; // one sentence, without its subject and full stop
};
