// SPDX-License-Identifier: MIT
#include "suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SUGGEST_WORD_MAX = 48 }; // longer words get no suggestion

struct suggestion suggest_start(const char *word, size_t len)
{
    // Limit in half edits: up to half of the letters wrong, three at most. More is another word,
    // not a slip.
    int limit = len < 3 ? 3 : len < 6 ? (int)len + 1 : 7;
    return (struct suggestion){word, len, NULL, limit};
}

static int suggest_differ(char a, char b)
{
    if (a == b)
        return 0;
    // Letter case counts half, so that `avx2` finds AVX2 before AVX.
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

static int suggest_least(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

// Returns the Levenshtein distance in half edits.
static int suggest_distance(const char *a, size_t alen, const char *b, size_t blen)
{
    int row[SUGGEST_WORD_MAX + 1];
    for (size_t j = 0; j <= blen; j++)
        row[j] = (int)j * 2;
    for (size_t i = 1; i <= alen; i++) {
        int diagonal = row[0];
        row[0] = (int)i * 2;
        for (size_t j = 1; j <= blen; j++) {
            int above = row[j];
            row[j] = suggest_least(above + 2, row[j - 1] + 2,
                                   diagonal + suggest_differ(a[i - 1], b[j - 1]));
            diagonal = above;
        }
    }
    return row[blen];
}

void suggest_offer(struct suggestion *suggestion, const char *candidate)
{
    size_t len = strlen(candidate);
    if (len > SUGGEST_WORD_MAX || suggestion->len > SUGGEST_WORD_MAX || suggestion->len == 0)
        return;
    // Each letter more or less is an edit.
    size_t apart = len > suggestion->len ? len - suggestion->len : suggestion->len - len;
    if (2 * (int)apart >= suggestion->distance)
        return;
    int distance = suggest_distance(suggestion->word, suggestion->len, candidate, len);
    // A candidate without one common letter is never meant.
    int all = 2 * (int)(len > suggestion->len ? len : suggestion->len);
    if (distance > 0 && distance < suggestion->distance && distance < all) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}

const char *suggest_text(const struct suggestion *suggestion, char *text, size_t size)
{
    if (suggestion->best)
        snprintf(text, size, "; did you mean '%s'?", suggestion->best);
    else
        snprintf(text, size, "%s", "");
    return text;
}
