// SPDX-License-Identifier: MIT
// Directories for scratch files, below $TMPDIR or /tmp. Each is locked while its process lives, so
// that what a killed process has left is known for what it is, and is removed by the next one.
#ifndef LATPUT_UTIL_SCRATCH_H
#define LATPUT_UTIL_SCRATCH_H

#include "err.h"

#include <stdbool.h>

// A new, private directory, to be ended with scratch_end(), which frees the name; NULL after an
// error. Removes first what processes of this user that have ended left behind. SIGINT, SIGTERM and
// SIGHUP remove it where they would end the process.
char *scratch_begin(struct err *err);
// Removes the directory with the files in it; with `keep` it stays, for good. NULL is fine.
void scratch_end(char *directory, bool keep);
// Whether the file lies in a directory of ours that somebody else has removed; then the message
// says so.
bool scratch_is_gone(const char *file, struct err *err);

#endif
