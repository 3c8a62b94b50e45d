// SPDX-License-Identifier: MIT
// Files that appear under their name only when they are complete.
#pragma once

#include "err.h"

#include <stdbool.h>
#include <stddef.h>

// Returns true if a new file may take the place of what is there: not of a device, a pipe or a
// link.
bool file_is_replaceable(const char *path);
// Writes `len` bytes to a file that appears under its name only when it is complete. A device, pipe
// or link is written to directly.
int file_write(const char *path, const char *bytes, size_t len, struct err *err);
// Writes a text to a file that nobody else reads meanwhile, as in a scratch directory.
int file_write_scratch(const char *path, const char *text, struct err *err);
