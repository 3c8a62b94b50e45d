// SPDX-License-Identifier: MIT
#include "select.h"

#include "form_described.h"
#include "form_glob.h"
#include "form_shown.h"
#include "form_words.h"
#include "util/paths.h"
#include "util/suggest.h"
#include "util/text.h"

#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wanted {
    char *path;
    int line; // 0: all
};

struct wanted_list {
    struct wanted *items;
    size_t n, capacity;
};

static void wanted_add(struct wanted_list *wanted, char *path, int line)
{
    wanted->items = xgrow(wanted->items, &wanted->capacity, wanted->n + 1, sizeof *wanted->items);
    wanted->items[wanted->n++] = (struct wanted){path, line};
}

static void wanted_free(struct wanted_list *wanted)
{
    for (size_t i = 0; i < wanted->n; i++)
        free(wanted->items[i].path);
    free(wanted->items);
}

static int wanted_all(struct wanted_list *wanted, struct err *err)
{
    glob_t found;
    const char *pattern = path_data("lists/*.csv");
    if (glob(pattern, 0, NULL, &found) != 0)
        return err_set(err, "no lists: nothing matches %s", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (!strstr(found.gl_pathv[i], "/exceptions.csv"))
            wanted_add(wanted, xstrdup(found.gl_pathv[i]), 0);
    globfree(&found);
    return 0;
}

char *select_list_path(const char *name)
{
    static const struct {
        const char *before, *after;
    } places[] = {
        {"lists/",           ""    },
        {"lists/",           ".csv"},
        {"lists/selection/", ""    },
        {"lists/selection/", ".csv"}
    };
    if (access(name, F_OK) == 0)
        return xstrdup(name);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        char *relative = xasprintf("%s%s%s", places[i].before, name, places[i].after);
        const char *path = path_data(relative);
        bool exists = access(path, F_OK) == 0;
        free(relative);
        if (exists)
            return xstrdup(path);
    }
    return NULL;
}

char **select_list_names(void)
{
    glob_t found;
    glob(path_data("lists/*.csv"), 0, NULL, &found);
    glob(path_data("lists/selection/*.csv"), GLOB_APPEND, NULL, &found);
    char **names = xcalloc(found.gl_pathc + 1, sizeof *names);
    for (size_t i = 0, n = 0; i < found.gl_pathc; i++) {
        const char *base = strrchr(found.gl_pathv[i], '/') + 1;
        if (strcmp(base, "exceptions.csv") != 0)
            names[n++] = xasprintf("%.*s", (int)strcspn(base, "."), base);
    }
    globfree(&found);
    return names;
}

void select_list_names_free(char **names)
{
    for (size_t i = 0; names[i]; i++)
        free(names[i]);
    free(names);
}

bool select_is_own(const struct list *list)
{
    char *real = realpath(list->path, NULL), *root = realpath(path_data("lists"), NULL);
    size_t len = root ? strlen(root) : 0;
    bool own = real && root && strncmp(real, root, len) == 0 && real[len] == '/';
    free(real);
    free(root);
    return own;
}

int select_no_list(const char *name, struct err *err)
{
    char hint[96];
    struct suggestion near = suggest_start(name, strcspn(name, ":"));
    char **names = select_list_names();
    for (size_t i = 0; names[i]; i++)
        suggest_offer(&near, names[i]);
    suggest_text(&near, hint, sizeof hint);
    err_set(err, "there is no list '%s': neither a file nor a name below lists/%s", name, hint);
    if (!*hint)
        err_set(err,
                "there is no list '%s': neither a file nor a name below lists/ (ls %s shows "
                "them); forms are chosen by latput run --filter",
                name, path_data("lists"));
    select_list_names_free(names);
    return -1;
}

static int wanted_name(struct wanted_list *wanted, const char *name, struct err *err)
{
    char *base = xstrdup(name);
    int line = 0;
    char *colon = strrchr(base, ':');
    if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
        line = atoi(colon + 1);
        *colon = '\0';
    }
    char *path = select_list_path(base);
    free(base);
    if (!path)
        return select_no_list(name, err);
    wanted_add(wanted, path, line);
    return 0;
}

// The test of rows that are selected.
struct select_by {
    struct form_globs globs;    // names; none: every row
    struct described described; // what lists say, in the place of names
};

static bool select_matches(const struct list *list, const struct list_row *row,
                           const struct select_by *by)
{
    const struct form_globs *globs = &by->globs;
    if (by->described.nwords > 0)
        return form_described_is(&by->described, list, row);

    char text[512], encoded[600];
    struct strbuf shown = {0};
    snprintf(text, sizeof text, "%s%s%s", row->mnemonic, *row->operands_text ? " " : "",
             row->operands_text);
    int prefix = *row->form == '{' ? (int)strcspn(row->form, " ") : 0; // {nf} says more
    if (prefix)
        snprintf(encoded, sizeof encoded, "%.*s %s", prefix, row->form, text);
    else
        snprintf(encoded, sizeof encoded, "{%s} %s", encoding_name(row->enc), text);
    const char *const names[] = {row->mnemonic, text, encoded, row->form,
                                 form_shown_plain(row->form, &shown)};
    bool matches = globs->n == 0;
    for (int i = 0; i < globs->n && !matches; i++)
        for (size_t j = 0; j < ARRAY_LEN(names) && !matches; j++)
            matches = fnmatch(globs->texts[i], names[j], 0) == 0;
    strbuf_free(&shown);
    return matches;
}

// Returns the list of this path, which may have been named before for another line.
static const struct list *select_list_find(const struct selection *selection, const char *path)
{
    for (int i = 0; i < selection->nlists; i++)
        if (strcmp(selection->lists[i].path, path) == 0)
            return &selection->lists[i];
    return NULL;
}

static const struct list *select_list_read(struct selection *selection, const char *path,
                                           struct err *err)
{
    const struct list *known = select_list_find(selection, path);
    if (known)
        return known;
    struct list *list = &selection->lists[selection->nlists];
    if (list_read(path, list, err) != 0)
        return NULL;
    selection->nlists++;
    return list;
}

static void select_add(struct selection *selection, size_t *capacity, const struct list *list,
                       int position)
{
    selection->rows =
        xgrow(selection->rows, capacity, (size_t)selection->nrows + 1, sizeof *selection->rows);
    selection->rows[selection->nrows++] =
        (struct selected_row){list, &list->rows[position], position};
}

static int select_read(struct selection *selection, const struct wanted *wanted,
                       const struct select_by *by, size_t *capacity, struct err *err)
{
    const struct list *list = select_list_read(selection, wanted->path, err);
    if (!list)
        return -1;
    bool line_found = wanted->line == 0;
    for (int i = 0; i < list->nrows; i++) {
        const struct list_row *row = &list->rows[i];
        if (wanted->line && row->line != wanted->line)
            continue;
        line_found = true;
        if (select_matches(list, row, by))
            select_add(selection, capacity, list, i);
    }
    if (!line_found)
        return err_set(err, "%s:%d: no instruction on this line", wanted->path, wanted->line);
    return 0;
}

static int select_wanted(struct selection *selection, const struct wanted_list *wanted,
                         const struct select_by *by, struct err *err)
{
    size_t capacity = 0;
    int status = 0;
    for (size_t i = 0; i < wanted->n && status == 0; i++)
        status = select_read(selection, &wanted->items[i], by, &capacity, err);
    return status;
}

static int select_compare_rows(const void *a, const void *b)
{
    const struct selected_row *x = a, *y = b;
    int order = strcmp(x->row->form, y->row->form);
    if (order == 0)
        order = (int)x->row->enc - (int)y->row->enc;
    return order ? order : x->row->bits - y->row->bits;
}

static int select_check_names(const struct selection *selection, struct err *err)
{
    for (int i = 1; i < selection->nlists; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(selection->lists[i].name, selection->lists[j].name) == 0)
                return err_set(err,
                               "%s and %s: two lists of one name, by which results are stored; "
                               "rename one, or run them one after the other",
                               selection->lists[j].path, selection->lists[i].path);
    return 0;
}

int select_check_once(const struct selection *selection, struct err *err)
{
    size_t n = (size_t)selection->nrows;
    struct selected_row *rows = xcalloc(n, sizeof *rows);
    memcpy(rows, selection->rows, n * sizeof *rows);
    qsort(rows, n, sizeof *rows, select_compare_rows);
    int status = 0;
    for (size_t i = 1; i < n && status == 0; i++)
        if (select_compare_rows(&rows[i - 1], &rows[i]) == 0)
            status = err_set(err,
                             "%s:%d: '%s' is selected twice, here and in %s:%d; name each list "
                             "once, and no two that have the same form",
                             rows[i].row->path, rows[i].row->line, rows[i].row->form,
                             rows[i - 1].row->path, rows[i - 1].row->line);
    free(rows);
    return status == 0 ? select_check_names(selection, err) : status;
}

// Says that no form matches; perhaps there is a mnemonic, or a word, that the glob begins like.
static int select_none(const struct selection *selection, const char *glob_, struct err *err)
{
    char hint[96];
    struct suggestion near = form_suggest(glob_);
    for (int i = 0; i < selection->nlists; i++)
        for (int j = 0; j < selection->lists[i].nrows; j++)
            suggest_offer(&near, selection->lists[i].rows[j].mnemonic);
    form_words_offer(&near);
    form_described_offer(selection->lists, selection->nlists, &near);
    return err_set(err, "no form matches '%s' in %d lists%s", glob_, selection->nlists,
                   suggest_text(&near, hint, sizeof hint));
}

int select_rows(const char *const *names, int nnames, const char *glob_,
                struct selection *selection, struct err *err)
{
    *selection = (struct selection){0};
    if (glob_ && (!text_is_plain(glob_) || strlen(glob_) > FORM_CHARS_MAX))
        return err_set(err, "the pattern '%.100s' has control characters, or more than %d bytes",
                       glob_, FORM_CHARS_MAX);
    struct wanted_list wanted = {0};
    int status = nnames == 0 ? wanted_all(&wanted, err) : 0;
    for (int i = 0; i < nnames && status == 0; i++)
        status = wanted_name(&wanted, names[i], err);
    struct select_by by = {.globs = form_globs_make(&glob_, glob_ ? 1 : 0, true)};
    // The lists never move once read: rows point into them.
    selection->lists = xcalloc(wanted.n, sizeof *selection->lists);
    if (status == 0)
        status = select_wanted(selection, &wanted, &by, err);
    // A text that is no name of a form may describe some.
    if (status == 0 && selection->nrows == 0 && glob_) {
        by.described = form_described_find(selection->lists, selection->nlists, glob_);
        if (by.described.nwords > 0)
            status = select_wanted(selection, &wanted, &by, err);
    }
    wanted_free(&wanted);
    form_globs_free(&by.globs);
    if (status == 0 && selection->nrows == 0)
        status = select_none(selection, glob_ ? glob_ : "*", err);
    if (status != 0)
        selection_free(selection);
    return status;
}

// Returns the list of that file, by whatever name it was read; mostly by this one.
static const struct list *select_file_find(const struct selection *selection, const char *path)
{
    for (int i = 0; i < selection->nlists; i++)
        if (strcmp(selection->lists[i].path, path) == 0)
            return &selection->lists[i];
    char *real = realpath(path, NULL);
    const struct list *found = NULL;
    for (int i = 0; i < selection->nlists && real && !found; i++) {
        char *other = realpath(selection->lists[i].path, NULL);
        if (other && strcmp(other, real) == 0)
            found = &selection->lists[i];
        free(other);
    }
    free(real);
    return found;
}

int select_all_beside(const struct selection *have, struct selection *all, struct err *err)
{
    *all = (struct selection){0};
    struct wanted_list wanted = {0};
    size_t capacity = 0;
    int status = wanted_all(&wanted, err);
    all->lists = xcalloc(wanted.n + 1, sizeof *all->lists);
    for (size_t i = 0; i < wanted.n && status == 0; i++) {
        const struct list *list = select_file_find(have, wanted.items[i].path);
        if (!list)
            list = select_list_read(all, wanted.items[i].path, err);
        for (int row = 0; list && row < list->nrows; row++)
            select_add(all, &capacity, list, row);
        status = list ? 0 : -1;
    }
    wanted_free(&wanted);
    if (status != 0)
        selection_free(all);
    return status;
}

void selection_free(struct selection *selection)
{
    for (int i = 0; i < selection->nlists; i++)
        list_free(&selection->lists[i]);
    free(selection->lists);
    free(selection->rows);
    *selection = (struct selection){0};
}
