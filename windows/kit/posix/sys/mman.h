// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name. A file is read
// into memory.
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { PROT_NONE, PROT_READ, PROT_WRITE, PROT_EXEC = 4 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
enum { MFD_CLOEXEC = 1 };
#define MAP_FAILED ((void *)-1)

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from);
int munmap(void *at, size_t bytes);
int memfd_create(const char *name, unsigned flags); // fails
