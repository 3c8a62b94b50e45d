// SPDX-License-Identifier: MIT
// Databases of older schemas, for the tests of migrations: made by the migrations of their time,
// and filled with the rows of a database of today, as far as there were columns for them.
#ifndef LATPUT_STORE_OLD_H
#define LATPUT_STORE_OLD_H

#include "store_fixture.h"

#include "util/mem.h"
#include "util/paths.h"

#include <glob.h>
#include <sqlite3.h>

static inline void old_execute(sqlite3 *db, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

static inline void old_migrate(sqlite3 *db, int version)
{
    for (int number = 1; number <= version; number++) {
        char pattern[64];
        snprintf(pattern, sizeof pattern, "db/migrations/%04d_*.sql", number);
        glob_t found;
        assert_int_equal(glob(path_data(pattern), 0, NULL, &found), 0);
        FILE *file = fopen(found.gl_pathv[0], "r");
        assert_non_null(file);
        char *sql = NULL;
        size_t size = 0;
        assert_true(getdelim(&sql, &size, '\0', file) > 0);
        old_execute(db, sql);
        free(sql);
        fclose(file);
        globfree(&found);
    }
}

// Makes `path` a database of schema `version` with the rows of `from`. What the database says of
// itself (meta), and tables with columns that have another name today, stay empty.
static inline void old_make(const char *path, int version, const char *from)
{
    sqlite3 *db;
    sqlite3_stmt *tables;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    old_migrate(db, version);
    char *attach = sqlite3_mprintf("ATTACH %Q AS today", from);
    old_execute(db, attach);
    sqlite3_free(attach);
    static const char columns[] =
        "SELECT name, (SELECT group_concat(name) FROM pragma_table_info(made.name)) "
        "FROM sqlite_schema AS made WHERE type = 'table' AND name <> 'meta' AND NOT EXISTS ("
        "SELECT name FROM pragma_table_info(made.name) EXCEPT "
        "SELECT name FROM pragma_table_info(made.name, 'today'))";
    assert_int_equal(sqlite3_prepare_v2(db, columns, -1, &tables, NULL), SQLITE_OK);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(tables, 0);
        const char *names = (const char *)sqlite3_column_text(tables, 1);
        char *sql = sqlite3_mprintf("INSERT INTO main.%s (%s) SELECT %s FROM today.%s", table,
                                    names, names, table);
        old_execute(db, sql);
        sqlite3_free(sql);
    }
    sqlite3_finalize(tables);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

#endif
