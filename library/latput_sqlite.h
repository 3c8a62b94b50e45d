// SPDX-License-Identifier: MIT
// What the files of the SQLite extension share: from the code text of an SQL query to a snippet
// that may be measured.
#ifndef LATPUT_SQLITE_H
#define LATPUT_SQLITE_H

#include "../runner/bench.h"
#include "../runner/util/err.h"
#include "../runner/util/mem.h"

// The text of a query may come from a stranger's table, and the assembler can read files and place
// code where it runs before the measuring process has confined itself. So only instructions, labels
// and plain data may stand in it. 0, or -1 with what is not allowed.
int code_check(const char *what, const char *text, struct err *err);

// Makes the copies of spec->body independent of each other: registers and flags that one copy hands
// to the next are set anew before each, from registers that the code does not name, which
// spec->init fills. *reason is NULL, or why that is not possible. 0, or -1 where the environment
// lacks something. A body that the assembler refuses stays as it is. Texts are owned by the arena.
int code_make_independent(struct bench_spec *spec, const char **reason, struct arena *arena,
                          struct err *err);

#endif
