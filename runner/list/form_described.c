// SPDX-License-Identifier: MIT
// Forms by headings and titles of lists; see form_described.h.
#include "form_described.h"

#include "form_glob.h"
#include "util/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// Words that say nothing about a form.
static const char *const fillers[] = {"a", "and", "by", "for", "from", "of", "the", "to", "with"};

// Steps to the next word. Returns its length; 0: there is none.
static size_t described_next(const char **at)
{
    *at += strcspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
    size_t len = 0;
    while (isalnum((unsigned char)(*at)[len]))
        len++;
    return len;
}

static bool described_is_filler(const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
        if (strlen(fillers[i]) == len && strncasecmp(fillers[i], word, len) == 0)
            return true;
    return false;
}

// Returns true if a word that goes on like this is another form of it: "rotated" of "rotate", but
// "addd" is none of "add".
static bool described_is_ending(struct described_word heading, struct described_word rest)
{
    static const char *const endings[] = {"", "s", "es", "ed", "er", "ing", "ly"};
    if (heading.len > 0 && tolower((unsigned char)heading.at[heading.len - 1]) == 'e' &&
        rest.len == 1 && tolower((unsigned char)*rest.at) == 'd')
        return true;
    for (size_t i = 0; i < ARRAY_LEN(endings); i++)
        if (strlen(endings[i]) == rest.len && strncasecmp(endings[i], rest.at, rest.len) == 0)
            return true;
    return false;
}

// Returns true if a word of a heading is what was asked for: it begins so, or both are forms of one
// word. "Division" and "divide" share all but their ends, of which one has two letters at most.
static bool described_same(struct described_word heading, struct described_word asked)
{
    enum { BEGIN_MIN = 3, STEM_MIN = 4, END_MAX = 2 };
    size_t shorter = heading.len < asked.len ? heading.len : asked.len, common = 0;
    while (common < shorter &&
           tolower((unsigned char)heading.at[common]) == tolower((unsigned char)asked.at[common]))
        common++;
    if (common == asked.len)
        return common == heading.len || common >= BEGIN_MIN;
    if (common == heading.len)
        return described_is_ending(heading,
                                   (struct described_word){asked.at + common, asked.len - common});
    return common >= STEM_MIN && shorter - common <= END_MAX;
}

static bool described_has(const char *text, struct described_word word)
{
    for (size_t len; (len = described_next(&text)) > 0; text += len)
        if (described_same((struct described_word){text, len}, word))
            return true;
    return false;
}

static bool described_by(const struct described *described, enum described_by by,
                         const char *section, const char *title)
{
    for (int i = 0; i < described->nwords; i++) {
        bool in_section = by != DESCRIBED_BY_TITLE && described_has(section, described->words[i]);
        bool in_title = by != DESCRIBED_BY_SECTION && described_has(title, described->words[i]);
        if (!in_section && !in_title)
            return false;
    }
    return described->nwords > 0;
}

bool form_described_is(const struct described *described, const struct list *list,
                       const struct list_row *row)
{
    return described_by(described, described->by, row->section, list->title);
}

bool form_described_is_text(const char *text)
{
    struct form_globs globs = form_globs_make(&text, 1, true);
    // Globs of an operand begin with a star.
    bool words = globs.n > 0 && isalpha((unsigned char)*globs.texts[0]);
    for (const char *at = text; *at && words; at++)
        words = isalpha((unsigned char)*at) || *at == ' ' || *at == '-';
    form_globs_free(&globs);
    return words;
}

// Returns true if the row begins a section.
static bool described_begins(const struct list *list, int row)
{
    return row == 0 || strcmp(list->rows[row].section, list->rows[row - 1].section) != 0;
}

static bool described_any(const struct described *described, const struct list *lists, int nlists)
{
    for (int i = 0; i < nlists; i++)
        for (int j = 0; j < lists[i].nrows; j++)
            if (described_begins(&lists[i], j) &&
                form_described_is(described, &lists[i], &lists[i].rows[j]))
                return true;
    return false;
}

struct described form_described_find(const struct list *lists, int nlists, const char *text)
{
    struct described described = {.nwords = 0};
    if (!form_described_is_text(text))
        return described;
    for (size_t len; (len = described_next(&text)) > 0; text += len) {
        if (described_is_filler(text, len))
            continue;
        if (described.nwords == DESCRIBED_WORDS_MAX)
            return (struct described){.nwords = 0};
        described.words[described.nwords++] = (struct described_word){text, len};
    }
    for (described.by = DESCRIBED_BY_SECTION; described.by <= DESCRIBED_BY_BOTH; described.by++)
        if (described_any(&described, lists, nlists))
            return described;
    return (struct described){.nwords = 0};
}

struct suggestion form_suggest(const char *glob)
{
    bool several = strchr(glob, ' ') && form_described_is_text(glob);
    struct suggestion near = suggest_start(glob, several ? strlen(glob) : strcspn(glob, " ,("));
    near.distance = near.distance < 5 ? near.distance : 5; // two edits: there are many short words
    return near;
}

void form_described_offer(const struct list *lists, int nlists, struct suggestion *near)
{
    for (int i = 0; i < nlists; i++)
        for (int j = 0; j < lists[i].nrows; j++)
            if (described_begins(&lists[i], j) &&
                strncasecmp(near->word, lists[i].rows[j].section, near->len) != 0)
                suggest_offer(near, lists[i].rows[j].section);
}
