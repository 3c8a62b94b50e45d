// SPDX-License-Identifier: MIT
// Columns of views by the names that people use; see expr.h.
#include "expr.h"

#include "store/store_internal.h"
#include "util/mem.h"
#include "util/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *column_find(sqlite3_stmt *stmt, const char *name)
{
    for (int c = 0; c < sqlite3_column_count(stmt); c++)
        if (strcasecmp(sqlite3_column_name(stmt, c), name) == 0)
            return sqlite3_column_name(stmt, c);
    return NULL;
}

static char *column_unknown(sqlite3_stmt *stmt, enum store_view view, const char *name,
                            struct err *err)
{
    char hint[128];
    struct suggestion suggestion = suggest_start(name, strlen(name));
    for (int c = 0; c < sqlite3_column_count(stmt); c++)
        suggest_offer(&suggestion, sqlite3_column_name(stmt, c));
    int n;
    const struct column *columns = columns_of(view, &n);
    for (int i = 0; i < n; i++)
        if (columns[i].look.heading)
            suggest_offer(&suggestion, columns[i].look.heading);
    suggest_text(&suggestion, hint, sizeof hint);
    err_set(err, "there is no column '%s'%s", name,
            *hint ? hint : "; --format csv has all of them, and a text stands in quotes");
    return NULL;
}

char *expr_column(struct store *store, enum store_view view, const char *name, struct err *err)
{
    sqlite3_stmt *stmt = store_view_columns(store, view, err);
    if (!stmt)
        return NULL;
    const char *found = column_find(stmt, name);
    const struct column *called = found ? NULL : columns_called(view, name);
    if (called)
        found = column_find(stmt, called->look.name);
    char *column = found ? xstrdup(found) : column_unknown(stmt, view, name, err);
    sqlite3_finalize(stmt);
    return column;
}

char *expr_sort_parse(struct store *store, enum store_view view, const char *text, struct err *err)
{
    struct strbuf sort = {0};
    char *words = xstrdup(text), *rest = words;
    bool bad = false;
    for (char *word; !bad && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        bool down = *word == '-';
        char *column = expr_column(store, view, word + down, err);
        bad = !column;
        if (column)
            strbuf_printf(&sort, "%s\"%s\" COLLATE NOCASE %s NULLS LAST", sort.len ? ", " : "",
                          column, down ? "DESC" : "ASC");
        free(column);
    }
    free(words);
    if (!bad)
        return sort.data;
    strbuf_free(&sort);
    return NULL;
}
