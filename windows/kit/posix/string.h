// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#include_next <string.h>

char *strcasestr(const char *text, const char *part);
char *strndup(const char *text, size_t bytes);
char *strsep(char **rest, const char *at);
int strverscmp(const char *a, const char *b);
const char *sigabbrev_np(int number);
