// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once
#include_next <stdlib.h>

int setenv(const char *name, const char *value, int replace);
int unsetenv(const char *name);
// The absolute path of what is there, with slashes.
char *realpath(const char *path, char *resolved);
