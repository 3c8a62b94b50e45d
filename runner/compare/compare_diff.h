// SPDX-License-Identifier: MIT
// Explanations of the differences of two CPUs or runs (diff/): each of the two is a table of others
// beside the other one, by the same groups as those of files.
#pragma once

#include "diff/diff.h"

// Explains each pair that is faster, slower, mixed, or differs in ports, by its forms of all
// lists, whatever was selected; then counts the groups. Reads the database again, of the mnemonics
// of these pairs only, and so does every later reader. uarchs: of the sides. Returns 0, or -1 with
// the message.
int compare_diff(struct store *store, const char *const uarchs[2], struct diff *diff,
                 struct err *err);
