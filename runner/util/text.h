// SPDX-License-Identifier: MIT
// Texts as people see them: how wide they are, and in lines.
#ifndef LATPUT_TEXT_H
#define LATPUT_TEXT_H

#include "strbuf.h"

// Characters in `len` bytes of UTF-8: how many columns they take.
int text_width(const char *text, size_t len);
// Appends words in lines of at most `width` characters, all but the first (which has `indent`
// characters already) indented; a line feed in the text ends a line. Ends with a line feed.
void text_wrap(struct strbuf *out, const char *text, int indent, int width);

#endif
