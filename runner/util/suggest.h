// SPDX-License-Identifier: MIT
// "Did you mean ...?": remembers the candidate with the smallest edit distance to the user's word.
#pragma once

#include <stddef.h>

struct suggestion {
    const char *word; // need not be NUL-terminated
    size_t len;
    const char *best; // nearest candidate so far; NULL: none is near enough to be a slip
    int distance;     // of best, in half edits (a wrong letter case counts half)
};

struct suggestion suggest_start(const char *word, size_t len);
// Offers a candidate. The word itself is none.
void suggest_offer(struct suggestion *suggestion, const char *candidate);
// Writes "; did you mean 'x'?" into `text`, or "" if no candidate is near. Returns `text`.
const char *suggest_text(const struct suggestion *suggestion, char *text, size_t size);
