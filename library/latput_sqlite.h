// SPDX-License-Identifier: MIT
// Declarations that the files of the SQLite extension share: from the code text of an SQL query to
// a snippet that may be measured.
#pragma once

#include "util/err.h"

// Checks code from a query, which may come from a stranger's table: the assembler can read files,
// and code can run before the measuring process has confined itself. So only instructions, labels
// and plain data are allowed. Returns 0, or -1 with what is not allowed.
int code_check(const char *what, const char *text, struct err *err);
