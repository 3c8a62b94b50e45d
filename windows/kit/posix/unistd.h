// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#define __USE_MINGW_ACCESS 1
#include_next <unistd.h>

#include <stddef.h>
#include <sys/types.h>

enum { _SC_PAGESIZE = 30, _SC_AVPHYS_PAGES = 86 };

extern char **environ;
int fsync(int fd);
int getpgrp(void);
int tcgetpgrp(int fd);
unsigned geteuid(void); // 0 always: whose a file is the system's own rights say
long sysconf(int name);
// None of these are there: they fail with ENOSYS.
int fork(void);
int pipe2(int fds[2], int flags);
int setsid(void);
ssize_t pread(int fd, void *to, size_t bytes, off_t from);
ssize_t pwrite(int fd, const void *from, size_t bytes, off_t to);
ssize_t readlink(const char *path, char *to, size_t bytes);
