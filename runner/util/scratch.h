// SPDX-License-Identifier: MIT
// Scratch directories below $TMPDIR or /tmp, files that appear under their name when complete, and
// directories made for them. A scratch directory is locked while its process lives, so that the
// next process recognises and removes what a killed one has left.
#pragma once

#include "err.h"

#include <stdbool.h>

// Makes a new, private directory. Removes first what processes of this user that have ended left
// there. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE and SIGXCPU remove it if they end the process.
// Returns its name, for scratch_end() to free; NULL after an error.
char *scratch_begin(struct err *err);
// The same in the directory `parent`: what is made there can be renamed into it.
char *scratch_begin_in(const char *parent, struct err *err);
// Removes the directory with the files in it, and frees the name; with `keep` the directory stays
// for good. NULL is fine.
void scratch_end(char *directory, bool keep);
// Returns true if the file lies in a scratch directory of this process: locked, and used by nobody
// else.
bool scratch_has(const char *file);
// Returns true if the file lies in a scratch directory of this process that somebody else has
// removed; then the message says so.
bool scratch_is_gone(const char *file, struct err *err);

// Begins a file that is to appear at `path` only when complete: makes an empty file of a unique
// name beside it and returns that name, valid until scratch_file_end(). Signals remove it as they
// do scratch directories, with the files that SQLite puts beside a database. What ended processes
// left on the way to `path` is removed first.
const char *scratch_file_begin(const char *path);
// Returns the part of such a name that is unique: its last characters.
const char *scratch_file_own(const char *name);
// Gives the file its name; removes it if `path` is NULL. Returns -1 with errno if it cannot be
// renamed: then it is removed, too.
int scratch_file_end(const char *name, const char *path);

// Makes a directory for files that stay, unless it is there. Returns 0, or -1 with a message, also
// if no files can be made in it. If it is still empty when this process ends, by exit() or those
// signals, it is removed.
int scratch_keep_directory(const char *path, struct err *err);
