// SPDX-License-Identifier: MIT
// Directories for scratch files, below $TMPDIR or /tmp, files on their way to their names, and
// directories that are made for them. A scratch directory is locked while its process lives, so
// that what a killed process has left is known for what it is, and is removed by the next one.
#ifndef LATPUT_SCRATCH_H
#define LATPUT_SCRATCH_H

#include "err.h"

#include <stdbool.h>

// A new, private directory, to be ended with scratch_end(), which frees the name; NULL after an
// error. Removes first what processes of this user that have ended left behind. SIGINT, SIGTERM and
// SIGHUP remove it where they would end the process.
char *scratch_begin(struct err *err);
// Removes the directory with the files in it; with `keep` it stays, for good. NULL is fine.
void scratch_end(char *directory, bool keep);
// Whether the file lies in a directory of ours: one that is locked, and nobody else uses.
bool scratch_has(const char *file);
// Whether the file lies in a directory of ours that somebody else has removed; then the message
// says so.
bool scratch_is_gone(const char *file, struct err *err);

// The name under which a file is to be written that shall appear at `path` only when it is
// complete, valid until scratch_file_end(): an empty file beside it of a name that nobody else has.
// The same signals remove what lies there (and, where it is a database, beside it); what processes
// that have ended otherwise left on its way to `path` is removed first.
const char *scratch_file_begin(const char *path);
// What in this name nobody else has: its last characters.
const char *scratch_file_own(const char *name);
// The file gets its name; with `path` NULL it is removed. -1 with errno where it cannot be renamed:
// then it is removed, too.
int scratch_file_end(const char *name, const char *path);

// Makes a directory for what is to stay, unless it is there. 0, or -1 with a message, also where no
// files can be made in it. One that is still empty when this process ends, by exit() or the same
// signals, goes again.
int scratch_keep_directory(const char *path, struct err *err);

#endif
