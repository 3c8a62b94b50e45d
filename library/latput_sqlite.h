// SPDX-License-Identifier: MIT
// Declarations that the files of the SQLite extension share: from the code text of an SQL query to
// a snippet that may be measured.
#ifndef LATPUT_SQLITE_H
#define LATPUT_SQLITE_H

#include "util/err.h"

// The text of a query may come from a stranger's table, and the assembler can read files and place
// code where it runs before the measuring process has confined itself. So only instructions, labels
// and plain data may stand in it. 0, or -1 with what is not allowed.
int code_check(const char *what, const char *text, struct err *err);

#endif
