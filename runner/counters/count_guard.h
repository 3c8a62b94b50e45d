// SPDX-License-Identifier: MIT
// A process that waits for our end, however it comes (a signal, SIGKILL too), and then puts right
// what we have changed on the machine. Lost only if it is itself killed by SIGKILL before us.
#pragma once

#include "util/err.h"

#include <sys/types.h>

struct count_guard {
    pid_t pid; // 0: none
    int fd;
};
// Starts the guardian, a process that calls `restore` when this one has ended. Other threads may
// have held locks when it was made, so `restore` may use nothing but system calls. What `context`
// points to is copied with the process. Returns 0 or -1.
int count_guard_begin(void (*restore)(const void *context), const void *context,
                      struct count_guard *guard, struct err *err);
// Dismisses it without; it does nothing then. A guard of zeros is none.
void count_guard_end(struct count_guard *guard);
