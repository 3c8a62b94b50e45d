// SPDX-License-Identifier: MIT
// The width of the terminal, and what it can; see terminal.h.
#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_columns(int fd)
{
    struct winsize size;
    if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

bool terminal_can_draw(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_has_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    return terminal_can_draw(fd) && (!no_color || !*no_color);
}
