// SPDX-License-Identifier: MIT
#include "form_words.h"

#include "util/csvfile.h"
#include "util/paths.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// The files, and what all of their words begin with.
static struct words_file {
    const char *path, *begins;
    pthread_once_t once;
    int status;
    struct err err;
    struct csv_file file;
} files[] = {
    {.path = "lists/words/categories.csv", .begins = "",  .once = PTHREAD_ONCE_INIT},
    {.path = "lists/words/intrinsics.csv", .begins = "_", .once = PTHREAD_ONCE_INIT},
    {.path = "lists/words/no_form.csv",    .begins = "_", .once = PTHREAD_ONCE_INIT},
};
enum { FILES = ARRAY_LEN(files), NO_FORM = FILES - 1 }; // the last has reasons

static void words_read(struct words_file *words)
{
    static const char *const columns[][2] = {
        {"word", "globs" },
        {"word", "reason"}
    };
    const struct csv_spec spec = {columns[words == &files[NO_FORM]], 2, 0};
    words->status = csv_file_read(path_data(words->path), &spec, &words->file, &words->err);
    if (words->status != 0)
        words->file = (struct csv_file){0};
}

static void read_categories(void)
{
    words_read(&files[0]);
}

static void read_intrinsics(void)
{
    words_read(&files[1]);
}

static void read_no_form(void)
{
    words_read(&files[NO_FORM]);
}

// Reads a file when it is first needed.
static const struct words_file *words_need(size_t i)
{
    static void (*const read[])(void) = {read_categories, read_intrinsics, read_no_form};
    pthread_once(&files[i].once, read[i]);
    return &files[i];
}

int form_words_load(struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        if (words_need(i)->status != 0)
            return err_set(err, "%s", files[i].err.text);
    return 0;
}

const char *form_word(size_t i, const char **globs)
{
    for (size_t f = 0; f < NO_FORM; f++) {
        const struct csv_file *file = &words_need(f)->file;
        if (i < file->nrecords) {
            *globs = file->records[i].fields[1];
            return file->records[i].fields[0];
        }
        i -= file->nrecords;
    }
    return NULL;
}

// Returns the other column of the line with a word; NULL: there is none.
static const char *words_find(size_t f, const char *word)
{
    if (strncmp(word, files[f].begins, strlen(files[f].begins)) != 0)
        return NULL;
    const struct csv_file *file = &words_need(f)->file;
    for (size_t i = 0; i < file->nrecords; i++) {
        const char *name = file->records[i].fields[0];
        if (strcmp(name, word) == 0 || (strchr(name, '*') && fnmatch(name, word, 0) == 0))
            return file->records[i].fields[1];
    }
    return NULL;
}

const char *form_word_globs(const char *word)
{
    const char *globs = NULL;
    for (size_t f = 0; f < NO_FORM && !globs; f++)
        globs = words_find(f, word);
    return globs;
}

const char *form_word_no_form(const char *word)
{
    return words_find(NO_FORM, word);
}

void form_words_offer(struct suggestion *near)
{
    const char *name, *globs;
    for (size_t i = 0; (name = form_word(i, &globs)); i++)
        if (!strchr(name, '*'))
            suggest_offer(near, name);
}
