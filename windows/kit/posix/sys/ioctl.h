// SPDX-License-Identifier: MIT
// See ../../../README.md: what the runner takes from Linux's header of this name.
#pragma once

enum { TIOCGWINSZ = 1 }; // the one that does not fail
struct winsize {
    unsigned short ws_row, ws_col;
};
int ioctl(int fd, unsigned long request, ...);
