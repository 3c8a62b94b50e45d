// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#include_next <sys/stat.h>

#include <io.h>
#include <sys/types.h>
#include <time.h>

#define lstat stat
#define mkdir(path, mode) mkdir(path)
int fchmod(int fd, int mode);
