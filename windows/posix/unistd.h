// SPDX-License-Identifier: MIT
// See ../README.md: what the core's sources take from Linux's header of this name.
#pragma once

#include <stddef.h>
#include <sys/types.h>

ssize_t read(int fd, void *to, size_t bytes); // CORE_CONFIG_FD only
int close(int fd);
int getpid(void);
_Noreturn void _exit(int status);
int ftruncate(int fd, off_t bytes); // fails: there are no such files
