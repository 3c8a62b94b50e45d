// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name. Files are binary.
#pragma once
#include_next <fcntl.h>

#define O_CLOEXEC _O_NOINHERIT
enum {
    O_DIRECTORY = 1 << 24, // refused: directories are not opened
    O_NOFOLLOW = 0,
    O_NONBLOCK = 0,
};
int posix_open(const char *path, int flags, ...);
#define open posix_open
