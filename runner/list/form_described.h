// SPDX-License-Identifier: MIT
// Forms by what the lists say of them: the headings of sections ("Conditional move") and the titles
// of lists, for words ("conditional move") that are no names of forms.
#pragma once

#include "list.h"
#include "util/suggest.h"

enum { DESCRIBED_WORDS_MAX = 8 };

struct described_word {
    const char *at; // in the text that was given
    size_t len;
};

// Words of a description, and where all of them are found.
struct described {
    struct described_word words[DESCRIBED_WORDS_MAX];
    int nwords; // 0: the text is no description, or describes no form
    enum described_by { DESCRIBED_BY_SECTION, DESCRIBED_BY_TITLE, DESCRIBED_BY_BOTH } by;
};

// Looks for the words of a text in the lists: in the headings of sections, or else in the titles of
// lists, or else in both together. Words may end in another way ("multiply" is found in
// "Multiplication"). The text must outlive the result.
struct described form_described_find(const struct list *lists, int nlists, const char *text);
// Returns true if the row is described so.
bool form_described_is(const struct described *described, const struct list *list,
                       const struct list_row *row);

// Returns true if a text is nothing but words, of which the first is no operand: letters, blanks
// and hyphens.
bool form_described_is_text(const char *text);
// Returns a suggestion for a glob that no form matches: for all of it if it is several words, else
// for the first. The caller offers mnemonics to it, then form_words_offer() the words, and
// form_described_offer() the headings.
struct suggestion form_suggest(const char *glob);
void form_described_offer(const struct list *lists, int nlists, struct suggestion *near);
