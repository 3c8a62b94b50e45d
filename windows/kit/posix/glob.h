// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name. A pattern may have a
// star in its last part.
#pragma once

#include <stddef.h>

enum { GLOB_NOMATCH = 3, GLOB_APPEND = 32 };
typedef struct {
    size_t gl_pathc;
    char **gl_pathv;
} glob_t;
int glob(const char *pattern, int flags, int (*error)(const char *, int), glob_t *found);
void globfree(glob_t *found);
