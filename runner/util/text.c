// SPDX-License-Identifier: MIT
// Widths and lines of text; see text.h.
#include "text.h"

#include <stdbool.h>
#include <string.h>

int text_width(const char *text, size_t len)
{
    int width = 0;
    for (size_t i = 0; i < len; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80; // not a continuation byte
    return width;
}

void text_wrap(struct strbuf *out, const char *text, int indent, int width)
{
    int column = indent;
    for (const char *at = text; *at; at += strspn(at, " ")) {
        if (*at == '\n') {
            strbuf_puts(out, "\n");
            column = 0;
            at++;
            continue;
        }
        size_t len = strcspn(at, " \n");
        int columns = text_width(at, len);
        if (column > indent && column + 1 + columns > width) {
            strbuf_puts(out, "\n");
            column = 0;
        }
        int blanks = column == 0 ? indent : column > indent;
        strbuf_printf(out, "%*s%.*s", blanks, "", (int)len, at);
        column += blanks + columns;
        at += len;
    }
    strbuf_puts(out, "\n");
}
