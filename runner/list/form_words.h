// SPDX-License-Identifier: MIT
// Words that people type for forms and that are no mnemonics of lists: jcc, jne, shuffle,
// _mm_add_ps. Data: lists/words/*.csv, read once; format: lists/README.md.
#pragma once

#include "util/err.h"
#include "util/suggest.h"

#include <stddef.h>

// Returns the globs of forms that a word means, or several with single blanks between them, in
// lower case. The globs have ; between them; NULL: none.
// Where the data cannot be read, no word means anything: form_words_load() says why.
const char *form_word_globs(const char *word);
// Returns why an intrinsic is no form: "several instructions: vmovd vpinsrd"; NULL: not known.
const char *form_word_no_form(const char *word);
// Returns the i-th word, with its globs; NULL: there are no more.
const char *form_word(size_t i, const char **globs);
void form_words_offer(struct suggestion *near);
int form_words_load(struct err *err);
