// SPDX-License-Identifier: MIT
// Texts as people see them: how wide they are, and in lines.
#ifndef LATPUT_TEXT_H
#define LATPUT_TEXT_H

#include "strbuf.h"

#include <stdbool.h>

// Characters in `len` bytes of UTF-8: how many columns they take.
int text_width(const char *text, size_t len);
// Appends words in lines of at most `width` characters, all but the first (which has `indent`
// characters already) indented; a line feed in the text ends a line. Ends with a line feed.
void text_wrap(struct strbuf *out, const char *text, int indent, int width);

// The length of the character at `text`, which is not at its end: 1 for a byte that is no valid
// UTF-8 (overlong forms and surrogates are none). *plain: it only shows itself, and so is neither
// such a byte, nor a control character (C0, DEL, C1), nor one that ends lines or turns the
// direction of writing. What is not plain can change what a terminal shows of the rest.
size_t text_next(const char *text, bool *plain);
// Whether `len` bytes are well-formed UTF-8 without control characters but tab and line feed: what
// the database and what is made of it may have. NUL is a control character.
bool text_is_clean(const char *text, size_t len);
// Whether all of it is plain, tabs counting as plain.
bool text_is_plain(const char *text);
// Appends the text with each byte of what is not plain as \xNN; tabs and line feeds stay.
void text_put_escaped(struct strbuf *out, const char *text);
// Appends the text as HTML, SVG and XML have it, between tags or in quotes. Control characters
// stay.
void text_put_markup(struct strbuf *out, const char *text);

#endif
