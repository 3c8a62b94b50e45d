// SPDX-License-Identifier: MIT
#include "form_words.h"

#include "util/csvfile.h"
#include "util/paths.h"
#include "util/suggest.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"categories", "intrinsics"};
static struct {
    pthread_once_t once;
    int status;
    struct err err;
    struct csv_file files[ARRAY_LEN(names)];
} words = {.once = PTHREAD_ONCE_INIT};

static void words_read(void)
{
    static const char *const columns[] = {"word", "globs"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    for (size_t i = 0; i < ARRAY_LEN(names) && words.status == 0; i++) {
        char relative[64];
        snprintf(relative, sizeof relative, "lists/words/%s.csv", names[i]);
        words.status = csv_file_read(path_data(relative), &spec, &words.files[i], &words.err);
        if (words.status != 0)
            words.files[i] = (struct csv_file){0};
    }
}

int form_words_load(struct err *err)
{
    pthread_once(&words.once, words_read);
    return words.status == 0 ? 0 : err_set(err, "%s", words.err.text);
}

const char *form_word(size_t i, const char **globs)
{
    form_words_load(NULL);
    for (size_t f = 0; f < ARRAY_LEN(words.files); f++) {
        if (i < words.files[f].nrecords) {
            *globs = words.files[f].records[i].fields[1];
            return words.files[f].records[i].fields[0];
        }
        i -= words.files[f].nrecords;
    }
    return NULL;
}

const char *form_word_globs(const char *word)
{
    const char *name, *globs;
    for (size_t i = 0; (name = form_word(i, &globs)); i++)
        if (strcmp(name, word) == 0 || (strchr(name, '*') && fnmatch(name, word, 0) == 0))
            return globs;
    return NULL;
}

const char *form_word_hint(const char *word, char *text, size_t size)
{
    struct suggestion near = suggest_start(word, strlen(word));
    const char *name, *globs;
    near.distance = near.distance < 5 ? near.distance : 5; // two edits: there are many short words
    for (size_t i = 0; (name = form_word(i, &globs)); i++)
        if (!strchr(name, '*'))
            suggest_offer(&near, name);
    return suggest_text(&near, text, size);
}
