// SPDX-License-Identifier: MIT
// "Did you mean ...?": remembers, of the candidates offered, the one with the smallest edit
// distance to a word that the user wrote.
#ifndef LATPUT_SUGGEST_H
#define LATPUT_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *word; // need not be NUL-terminated
    size_t len;
    const char *best; // nearest candidate so far; NULL if none is near enough to be a slip
    int distance;     // of best, in half edits (a wrong letter case counts half)
};

struct suggestion suggest_start(const char *word, size_t len);
void suggest_offer(struct suggestion *suggestion, const char *candidate);
// "; did you mean 'x'?" in `text`, or "" when nothing is near.
const char *suggest_text(const struct suggestion *suggestion, char *text, size_t size);

#endif
