// SPDX-License-Identifier: MIT
// Names of forms for people: what lists write for the assembler is said in words, or left out where
// it tells nothing. Data: lists/words/shown.csv, read once; format: lists/README.md.
#pragma once

#include "util/err.h"
#include "util/strbuf.h"

// Returns the name of a form for people: "rep movsb, 256 bytes" for "rep movsb macro=...". It is
// the form itself where that has no such option, else it is in `text`, which the caller frees.
// Where the data cannot be read, all such options are left out: form_shown_load() says why.
const char *form_shown(const char *form, struct strbuf *text);
// The same without commas, as globs are compared with it.
const char *form_shown_plain(const char *form, struct strbuf *text);
int form_shown_load(struct err *err);
