// SPDX-License-Identifier: MIT
// The width and abilities of the terminal; see terminal.h.
#include "terminal.h"

#include "strbuf.h"
#include "text.h"

#include <stdio.h>
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

void terminal_say(const char *text)
{
    struct strbuf plain = {0}, lines = {0};
    int columns = terminal_columns(STDERR_FILENO);
    text_put_escaped(&plain, text);
    for (char *at = plain.data; at && *at;) {
        size_t len = strcspn(at, "\n"), blanks = strspn(at, " ");
        char *next = at + len + (at[len] == '\n');
        if (columns > 0 && text_width(at, len) > columns && blanks < len) {
            at[len] = '\0';
            strbuf_printf(&lines, "%*s", (int)blanks, "");
            text_wrap(&lines, at + blanks, (int)blanks, columns);
        } else {
            strbuf_put(&lines, at, len);
            strbuf_puts(&lines, "\n");
        }
        at = next;
    }
    fputs(strbuf_text(&lines), stderr);
    strbuf_free(&plain);
    strbuf_free(&lines);
}
