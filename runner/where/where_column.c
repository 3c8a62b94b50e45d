// SPDX-License-Identifier: MIT
// Columns of views by the names that people use; see where.h.
#include "where.h"

#include "store/store_internal.h"
#include "util/mem.h"
#include "util/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Names of columns in heads of tables, and in common use. The first of the columns that the view
// has is meant.
static const struct column_alias {
    const char *alias, *column;
} aliases[] = {
    {"latency",     "latency_clk"         },
    {"latency",     "latency_min_clk"     },
    {"max",         "latency_max_clk"     },
    {"throughput",  "rthroughput_clk"     },
    {"tput",        "rthroughput_clk"     },
    {"rthroughput", "rthroughput_clk"     },
    {"slow",        "rthroughput_slow_clk"},
    {"instruction", "form"                },
    {"from",        "src"                 },
    {"to",          "dst"                 },
    {"role",        "src_role"            },
    {"data",        "variant"             },
    {"least",       "least_clk"           },
    {"most",        "most_clk"            },
    {"spread",      "spread_clk"          },
    {"busy",        "busy_clk"            },
    {"beside",      "blocker"             },
    {"cycles",      "clk"                 },
    {"run",         "run_id"              },
    {"code",        "snippet"             },
    {"started",     "started_utc"         },
};

static const char *column_find(sqlite3_stmt *stmt, const char *name)
{
    for (int c = 0; c < sqlite3_column_count(stmt); c++)
        if (strcasecmp(sqlite3_column_name(stmt, c), name) == 0)
            return sqlite3_column_name(stmt, c);
    return NULL;
}

static char *column_unknown(sqlite3_stmt *stmt, const char *name, struct err *err)
{
    char hint[128];
    struct suggestion suggestion = suggest_start(name, strlen(name));
    for (int c = 0; c < sqlite3_column_count(stmt); c++)
        suggest_offer(&suggestion, sqlite3_column_name(stmt, c));
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (column_find(stmt, aliases[i].column))
            suggest_offer(&suggestion, aliases[i].alias);
    suggest_text(&suggestion, hint, sizeof hint);
    err_set(err, "there is no column '%s'%s", name,
            *hint ? hint : "; --format csv has all of them, and a text stands in quotes");
    return NULL;
}

char *where_column(struct store *store, enum store_view view, const char *name, struct err *err)
{
    sqlite3_stmt *stmt = store_view_columns(store, view, err);
    if (!stmt)
        return NULL;
    const char *found = column_find(stmt, name);
    for (size_t i = 0; i < ARRAY_LEN(aliases) && !found; i++)
        if (strcasecmp(aliases[i].alias, name) == 0)
            found = column_find(stmt, aliases[i].column);
    char *column = found ? xstrdup(found) : column_unknown(stmt, name, err);
    sqlite3_finalize(stmt);
    return column;
}

char *where_sort_parse(struct store *store, enum store_view view, const char *text, struct err *err)
{
    struct strbuf sort = {0};
    char *words = xstrdup(text), *rest = words;
    bool bad = false;
    for (char *word; !bad && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        bool down = *word == '-';
        char *column = where_column(store, view, word + down, err);
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
