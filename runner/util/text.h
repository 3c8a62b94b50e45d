// SPDX-License-Identifier: MIT
// Texts for people: their order, width, lines, and the characters that are safe to print.
#pragma once

#include "strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns the characters in `len` bytes of UTF-8: the columns that they take.
int text_width(const char *text, size_t len);
// Appends words in lines of at most `width` characters; all lines are indented but the first, which
// has `indent` characters already. A line feed in the text ends a line. Ends with a line feed.
void text_wrap(struct strbuf *out, const char *text, int indent, int width);

// Compares two texts of these lengths: numbers in them by value ("16" before "1024"), all else byte
// by byte. Returns less than 0, 0 (the same bytes) or more than 0.
int text_compare(const char *a, size_t a_len, const char *b, size_t b_len);

// Decodes the valid UTF-8 sequence at the start of `len` > 0 bytes. Returns its length; 0 if it is
// none.
size_t text_decode(const char *text, size_t len, uint32_t *code);
// Returns the length of the character at `text`, which is not at its end: 1 for a byte that is no
// valid UTF-8 (overlong forms and surrogates are none). Sets *plain if the character only shows
// itself: it is valid, no control character (C0, DEL, C1), and neither ends lines nor turns the
// direction of writing. Others can change how a terminal shows the rest.
size_t text_next(const char *text, bool *plain);
// Returns true if `len` bytes are well-formed UTF-8 without control characters but tab and line
// feed, as all text in the database must be. NUL is a control character.
bool text_is_clean(const char *text, size_t len);
// Returns true if all of the text is plain, tabs included.
bool text_is_plain(const char *text);
// Appends the text with each byte of characters that are not plain as \xNN; tabs and line feeds
// stay.
void text_put_escaped(struct strbuf *out, const char *text);
// Appends the text escaped for HTML, SVG and XML, between tags or in quotes. Control characters
// stay.
void text_put_markup(struct strbuf *out, const char *text);
