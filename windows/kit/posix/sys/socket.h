// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { MSG_NOSIGNAL = 0 };
ssize_t send(int fd, const void *from, size_t bytes, int flags); // fails
