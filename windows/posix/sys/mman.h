// SPDX-License-Identifier: MIT
// See ../../README.md: what the core's sources take from Linux's header of this name. Mappings of
// files fail; there are none.
#pragma once

#include <stddef.h>
#include <sys/types.h>

enum { PROT_NONE, PROT_READ, PROT_WRITE, PROT_EXEC = 4 };
enum {
    MAP_SHARED = 1,
    MAP_PRIVATE = 2,
    MAP_FIXED = 4,
    MAP_FIXED_NOREPLACE = 8,
    MAP_ANONYMOUS = 16,
    MAP_POPULATE = 32,
    MAP_NORESERVE = 64,
};
enum { MADV_DONTNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE };
enum { MFD_CLOEXEC };
#define MAP_FAILED ((void *)-1)

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
int munmap(void *at, size_t bytes);
int mprotect(void *at, size_t bytes, int protection);
int madvise(void *at, size_t bytes, int advice);    // advice is not heeded
int memfd_create(const char *name, unsigned flags); // fails
