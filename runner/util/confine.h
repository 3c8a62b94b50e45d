// SPDX-License-Identifier: MIT
// Keeps a process that we start away from files that it has no business with, by Landlock (Linux
// 5.13). What it may open, to read or to write, lies below the directories that are named here;
// where the kernel has no Landlock it may open what we may. Starting programs is not restricted.
#ifndef LATPUT_CONFINE_H
#define LATPUT_CONFINE_H

// A descriptor (close-on-exec) of the rules: reading below `readable` (to NULL; what does not exist
// is left out) and where programs and their libraries are, reading and writing below `writable`.
// Returns -1 where there is no Landlock.
int confine_open(const char *const *readable, const char *writable);
// In a child between fork and exec: the rules hold from here on. Async-signal-safe. Returns 0 or -1
// with errno.
int confine_enter(int fd);

#endif
