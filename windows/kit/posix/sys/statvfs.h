// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

struct statvfs {
    unsigned long long f_bavail, f_files, f_favail;
};
int statvfs(const char *path, struct statvfs *about);
