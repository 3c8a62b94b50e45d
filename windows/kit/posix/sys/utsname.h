// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

struct utsname {
    char sysname[65], release[65], version[65], machine[65];
};
int uname(struct utsname *system);
