// SPDX-License-Identifier: MIT
// See ../../README.md: libraries are linked statically, and no other is found.
#pragma once

enum { RTLD_NOW = 2, RTLD_LAZY = 1 };
typedef struct {
    const char *dli_fname;
} Dl_info;
int dladdr(const void *at, Dl_info *info);
void *dlopen(const char *file, int flags);
void *dlsym(void *library, const char *name);
