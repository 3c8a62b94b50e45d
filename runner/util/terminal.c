// SPDX-License-Identifier: MIT
// The width of the terminal; see terminal.h.
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

int terminal_columns(int fd)
{
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}
