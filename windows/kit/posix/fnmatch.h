// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name.
#pragma once

enum { FNM_NOMATCH = 1, FNM_CASEFOLD = 16 };
int fnmatch(const char *pattern, const char *text, int flags);
