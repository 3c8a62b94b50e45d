// SPDX-License-Identifier: MIT
// Directories for scratch files, below $TMPDIR or /tmp. Each is locked while its process lives, so
// that what a killed process has left is known for what it is, and is removed by the next one.
#ifndef LATPUT_UTIL_SCRATCH_H
#define LATPUT_UTIL_SCRATCH_H

#include "err.h"

#include <stdbool.h>

// A new, private directory, to be ended with scratch_end(), which frees the name; NULL after an
// error. Removes first what processes of this user that have ended left behind.
char *scratch_begin(struct err *err);
// Removes the directory with the files in it; with `keep` it stays, for good. NULL is fine.
void scratch_end(char *directory, bool keep);

#endif
