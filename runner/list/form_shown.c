// SPDX-License-Identifier: MIT
// Names of forms for people; see form_shown.h.
#include "form_shown.h"

#include "util/csvfile.h"
#include "util/mem.h"
#include "util/paths.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    int status;
    struct err err;
    struct csv_file file;
} shown = {.once = PTHREAD_ONCE_INIT};

static void shown_read(void)
{
    static const char *const columns[] = {"option", "words"};
    static const struct csv_spec spec = {columns, ARRAY_LEN(columns), 0};
    shown.status =
        csv_file_read(path_data("lists/words/shown.csv"), &spec, &shown.file, &shown.err);
    if (shown.status != 0)
        shown.file = (struct csv_file){0};
}

int form_shown_load(struct err *err)
{
    pthread_once(&shown.once, shown_read);
    return shown.status == 0 ? 0 : err_set(err, "%s", shown.err.text);
}

// Appends the n-th part of an option's value: arguments of a macro, which is the first part, have :
// before them, and parts of an opcode a dot.
static void shown_part(struct strbuf *out, const char *value, int n)
{
    while (n-- > 1) {
        value += strcspn(value, ":.");
        value += *value != '\0';
    }
    strbuf_put(out, value, strcspn(value, ":."));
}

// Appends the words of all rows that the value of an option matches.
static void shown_words(struct strbuf *out, const char *value, const char *comma)
{
    form_shown_load(NULL);
    for (size_t i = 0; i < shown.file.nrecords; i++) {
        const char *const *row = shown.file.records[i].fields;
        if (fnmatch(row[0], value, 0) != 0)
            continue;
        strbuf_puts(out, comma);
        for (const char *at = row[1]; *at; at++)
            if (*at == '%' && at[1])
                shown_part(out, value, *++at - '0');
            else
                strbuf_put(out, at, 1);
    }
}

// Returns the value of an option that is said in words, which begins after the blank at `at`; NULL:
// it is another one. A macro's value begins after its file.
static const char *shown_value(const char *at)
{
    if (strncmp(at, " opcode=", 8) == 0)
        return at + 8;
    if (strncmp(at, " macro=", 7) != 0)
        return NULL;
    at += strcspn(at, ":");
    return at + (*at == ':');
}

static const char *shown_put(const char *form, const char *comma, struct strbuf *text)
{
    const char *at = form, *value = NULL;
    struct strbuf words = {0};
    text->len = 0;
    while (*at) {
        size_t len = 1 + strcspn(at + 1, " ");
        value = shown_value(at);
        if (value) {
            char *own = xasprintf("%.*s", (int)(at + len - value), value);
            shown_words(&words, own, comma);
            free(own);
        } else {
            strbuf_put(text, at, len);
        }
        at += len;
    }
    strbuf_puts(text, strbuf_text(&words));
    strbuf_free(&words);
    return strbuf_text(text);
}

static bool shown_differs(const char *form)
{
    return strstr(form, " macro=") || strstr(form, " opcode=");
}

const char *form_shown(const char *form, struct strbuf *text)
{
    return shown_differs(form) ? shown_put(form, ", ", text) : form;
}

const char *form_shown_plain(const char *form, struct strbuf *text)
{
    return shown_differs(form) ? shown_put(form, " ", text) : form;
}
