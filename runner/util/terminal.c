// SPDX-License-Identifier: MIT
#include "terminal.h"

#include "mem.h"
#include "strbuf.h"
#include "text.h"
#include "text_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// Returns a size of the terminal: what the environment says, else what the terminal says.
static int terminal_size(int fd, const char *variable, bool rows)
{
    struct winsize size;
    const char *set = getenv(variable);
    if (!isatty(fd))
        return 0;
    if (set && atoi(set) > 0)
        return atoi(set);
    if (ioctl(fd, TIOCGWINSZ, &size) != 0)
        return 0;
    return rows ? size.ws_row : size.ws_col;
}

int terminal_columns(int fd)
{
    return terminal_size(fd, "COLUMNS", false);
}

int terminal_rows(int fd)
{
    return terminal_size(fd, "LINES", true);
}

bool terminal_can_draw(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

static enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour_when;

bool terminal_set_colour(const char *when)
{
    static const char *const words[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(when, words[i]) == 0) {
            colour_when = i;
            return true;
        }
    return false;
}

bool terminal_has_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR");
    if (colour_when != COLOUR_AUTO)
        return colour_when == COLOUR_ALWAYS && fd >= 0;
    return terminal_can_draw(fd) && (!no_color || !*no_color);
}

// Writes lines to standard error; a warning says in bold that it is one.
static void say_lines(const char *text)
{
    static const char word[] = "warning:";
    const char *at = strstr(text, word);
    bool colour = at && terminal_has_colour(STDERR_FILENO);
    int before = at ? (int)(at - text) : 0, len = at ? (int)strlen(word) : 0;
    fprintf(stderr, "%.*s%s%.*s%s%s", before, text, text_style_begin(STYLE_HEADING, colour), len,
            text + before, text_style_end(STYLE_HEADING, colour), text + before + len);
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
    say_lines(strbuf_text(&lines));
    strbuf_free(&plain);
    strbuf_free(&lines);
}
