// SPDX-License-Identifier: MIT
// Confines a child process by Landlock (Linux 5.13): it may read and write only below the
// directories that are named here. On kernels without Landlock it may open what this process may.
// Starting programs is not restricted.
#pragma once

// Makes the rules: reading below `readable` (to NULL; missing directories are left out) and where
// programs and their libraries are, reading and writing below `writable`. Returns a descriptor
// (close-on-exec), or -1 where there is no Landlock.
int confine_open(const char *const *readable, const char *writable);
// Puts the rules in force, in a child between fork and exec. Async-signal-safe. Returns 0, or -1
// with errno.
int confine_enter(int fd);
