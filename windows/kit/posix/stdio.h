// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name. Files are binary,
// and none is inherited.
#pragma once
#include_next <stdio.h>

#include <sys/types.h>

FILE *posix_fopen(const char *path, const char *mode);
#define fopen posix_fopen
int posix_rename(const char *from, const char *to); // over a file that is there, too
#define rename posix_rename
int getc_unlocked(FILE *file);
ssize_t getline(char **line, size_t *room, FILE *file);
