// SPDX-License-Identifier: MIT
// Changes of rows by the schema; see fuzz_rows.h. Each change is one prepared statement, and a
// table that was changed is filled anew from the file that it came from.
#include "fuzz_rows.h"

#include "util/mem.h"
#include "util/strbuf.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 64, COLUMNS_MAX = 64, TABLES_MAX = 64 };

struct column {
    char *name;
    bool text;
    sqlite3_stmt *statements[CHANGE_KINDS];
};
struct table {
    char *name, *key; // key: columns of the primary key
    char *own;        // the only one, if it is a number; "" if not
    struct column columns[COLUMNS_MAX];
    int ncolumns;
    char *words[WORDS_MAX];
    int nwords;
    int64_t nrows;
    bool changed;
    sqlite3_stmt *empty, *fill;
};
struct rows {
    sqlite3 *db;
    struct table tables[TABLES_MAX];
    int ntables;
    bool loose; // constraints are not checked
};

static void broken(const char *what)
{
    fprintf(stderr, "fuzz: a database in memory: %s\n", what);
    exit(99);
}

static sqlite3_stmt *prepare(struct rows *rows, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v3(rows->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
    return stmt;
}

static sqlite3_stmt *prepare_about(struct rows *rows, const char *format, const char *name)
{
    char *sql = sqlite3_mprintf(format, name);
    sqlite3_stmt *stmt = prepare(rows, sql);
    sqlite3_free(sql);
    return stmt;
}

static void finish(struct rows *rows, sqlite3_stmt *stmt)
{
    sqlite3_step(stmt);
    if (sqlite3_reset(stmt) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
}

// The words in quotation marks of a table's SQL: those that its constraints allow.
static void read_words(struct table *table, const char *sql)
{
    for (const char *at = sql, *end; table->nwords < WORDS_MAX && (at = strchr(at, '\''));) {
        if (!(end = strchr(at + 1, '\'')))
            return;
        table->words[table->nwords++] = xasprintf("%.*s", (int)(end - at - 1), at + 1);
        at = end + 1;
    }
}

static void read_columns(struct rows *rows, struct table *table)
{
    sqlite3_stmt *stmt = prepare_about(
        rows, "SELECT name, type = 'TEXT', pk, type FROM pragma_table_info(%Q)", table->name);
    struct strbuf key = {0};
    int nkeys = 0;
    table->own = xasprintf("%s", "");
    while (sqlite3_step(stmt) == SQLITE_ROW && table->ncolumns < COLUMNS_MAX) {
        struct column *column = &table->columns[table->ncolumns++];
        column->name = xasprintf("%s", (const char *)sqlite3_column_text(stmt, 0));
        column->text = sqlite3_column_int(stmt, 1);
        if (!sqlite3_column_int(stmt, 2))
            continue;
        strbuf_printf(&key, "%s%s", nkeys++ ? ", " : "", column->name);
        free(table->own);
        bool number = strcmp((const char *)sqlite3_column_text(stmt, 3), "INTEGER") == 0;
        table->own = xasprintf("%s", number && nkeys == 1 ? column->name : "");
    }
    sqlite3_finalize(stmt);
    if (nkeys == 0)
        strbuf_puts(&key, "rowid");
    table->key = key.data;
    stmt = prepare_about(rows, "SELECT count(*) FROM main.%s", table->name);
    sqlite3_step(stmt);
    table->nrows = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
}

static void read_tables(struct rows *rows)
{
    sqlite3_stmt *stmt = prepare(rows, "SELECT name, sql FROM main.sqlite_schema WHERE type = "
                                       "'table' AND name <> 'meta' ORDER BY name");
    while (sqlite3_step(stmt) == SQLITE_ROW && rows->ntables < TABLES_MAX) {
        struct table *table = &rows->tables[rows->ntables++];
        table->name = xasprintf("%s", (const char *)sqlite3_column_text(stmt, 0));
        read_words(table, (const char *)sqlite3_column_text(stmt, 1));
    }
    sqlite3_finalize(stmt);
    for (int i = 0; i < rows->ntables; i++) {
        struct table *table = &rows->tables[i];
        read_columns(rows, table);
        table->empty = prepare_about(rows, "DELETE FROM main.%s", table->name);
        if (table->nrows == 0)
            continue;
        char *sql =
            xasprintf("INSERT INTO main.%s SELECT * FROM file.%s", table->name, table->name);
        table->fill = prepare(rows, sql);
        free(sql);
    }
}

static void load(struct rows *rows, const char *name, sqlite3 *file)
{
    sqlite3_backup *backup = sqlite3_backup_init(rows->db, name, file, "main");
    if (!backup || sqlite3_backup_step(backup, -1) != SQLITE_DONE)
        broken(sqlite3_errmsg(rows->db));
    sqlite3_backup_finish(backup);
}

// Copies a file into the database that is changed, and into one that stays as it is.
static void load_both(struct rows *rows, const char *path)
{
    sqlite3 *file;
    if (sqlite3_open(path, &file) != SQLITE_OK)
        broken(sqlite3_errmsg(file));
    if (sqlite3_exec(rows->db, "ATTACH ':memory:' AS file; PRAGMA foreign_keys = OFF", NULL, NULL,
                     NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
    load(rows, "main", file);
    load(rows, "file", file);
    sqlite3_close(file);
}

struct rows *rows_open(const char *uri, const char *path)
{
    struct rows *rows = xcalloc(1, sizeof *rows);
    if (sqlite3_open_v2(uri, &rows->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI,
                        NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
    sqlite3_db_config(rows->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    load_both(rows, path);
    read_tables(rows);
    return rows;
}

// The columns of a copy of a row: an own number is found by SQLite.
static void put_copied(struct strbuf *sql, const struct table *table, const struct column *changed)
{
    for (int i = 0; i < table->ncolumns; i++) {
        const struct column *column = &table->columns[i];
        const char *name = column->name;
        strbuf_puts(sql, i ? ", " : "");
        if (strcmp(name, table->own) == 0)
            strbuf_puts(sql, "NULL");
        else
            strbuf_printf(sql, "%s%s", name,
                          column != changed ? ""
                          : column->text    ? " || ?1"
                                            : " + ?1");
    }
}

// The statement of a change: ?1 is the value, ?2 the number of the row.
static sqlite3_stmt *statement(struct rows *rows, struct table *table, struct column *column,
                               int kind)
{
    if (column->statements[kind])
        return column->statements[kind];
    struct strbuf sql = {0};
    if (kind == CHANGE_DELETE) {
        strbuf_printf(&sql, "DELETE FROM main.%s", table->name);
    } else if (kind == CHANGE_COPY) {
        strbuf_printf(&sql, "INSERT OR IGNORE INTO main.%s SELECT ", table->name);
        put_copied(&sql, table, column);
        strbuf_printf(&sql, " FROM main.%s", table->name);
    } else {
        strbuf_printf(&sql, "UPDATE OR IGNORE main.%s SET %s = ", table->name, column->name);
        if (kind == CHANGE_STEP)
            strbuf_printf(&sql, "%s %s ?1", column->name, column->text ? "||" : "+");
        else if (kind == CHANGE_OTHER)
            strbuf_printf(&sql, "(SELECT %s FROM main.%s LIMIT 1 OFFSET ?1)", column->name,
                          table->name);
        else
            strbuf_puts(&sql, "?1");
    }
    strbuf_printf(&sql, " WHERE (%s) = (SELECT %s FROM main.%s LIMIT 1 OFFSET ?2)", table->key,
                  table->key, table->name);
    column->statements[kind] = prepare(rows, sql.data);
    strbuf_free(&sql);
    return column->statements[kind];
}

struct value {
    int64_t number;
    const char *text;
    int len;
};

static void bind_value(sqlite3_stmt *stmt, const struct table *table, int kind,
                       const struct value *value)
{
    static const double specials[] = {-5, 1e300, -1e300, 5e-324, 0.0, 1e18, 4294967296.0, -0.5};
    double real;
    memcpy(&real, &value->number, sizeof real);
    switch (kind) {
    case CHANGE_INTEGER:
    case CHANGE_STEP:
    case CHANGE_COPY:
        sqlite3_bind_int64(stmt, 1, value->number);
        break;
    case CHANGE_OTHER:
        sqlite3_bind_int64(stmt, 1, table->nrows ? (value->number & 0xffff) % table->nrows : 0);
        break;
    case CHANGE_REAL:
        sqlite3_bind_double(stmt, 1, real);
        break;
    case CHANGE_TEXT:
        sqlite3_bind_text(stmt, 1, value->text, value->len, SQLITE_STATIC);
        break;
    case CHANGE_BLOB:
        sqlite3_bind_blob(stmt, 1, value->text, value->len, SQLITE_STATIC);
        break;
    case CHANGE_SPECIAL:
        sqlite3_bind_double(stmt, 1, specials[value->number & 7]);
        break;
    case CHANGE_WORD:
        if (table->nwords)
            sqlite3_bind_text(stmt, 1, table->words[(value->number & 0xffff) % table->nwords], -1,
                              SQLITE_STATIC);
        break;
    default:
        break; // NULL, or nothing to bind
    }
}

static void change_one(struct rows *rows, const uint8_t *change, const struct value *value)
{
    struct table *table = &rows->tables[change[CHANGE_TABLE] % rows->ntables];
    struct column *column = &table->columns[change[CHANGE_COLUMN] % table->ncolumns];
    int kind = (change[CHANGE_KIND] & 0x7f) % CHANGE_KINDS;
    sqlite3_stmt *stmt = statement(rows, table, column, kind);
    bind_value(stmt, table, kind, value);
    sqlite3_bind_int64(stmt, 2, table->nrows ? change[CHANGE_ROW] % table->nrows : 0);
    sqlite3_step(stmt); // what SQLite refuses is not changed
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    table->changed = true;
}

void rows_change(struct rows *rows, const uint8_t *bytes, size_t size, bool loose)
{
    if (rows->loose != loose) {
        sqlite3_exec(rows->db,
                     loose ? "PRAGMA ignore_check_constraints = ON"
                           : "PRAGMA ignore_check_constraints = OFF",
                     NULL, NULL, NULL);
        rows->loose = loose;
    }
    sqlite3_exec(rows->db, "BEGIN", NULL, NULL, NULL);
    for (size_t at = 0; at + CHANGE_BYTES <= size;) {
        const uint8_t *change = bytes + at;
        size_t len = change[CHANGE_LENGTH], left = size - at - CHANGE_BYTES;
        int32_t number;
        memcpy(&number, change + CHANGE_NUMBER, sizeof number);
        len = len > left ? left : len;
        const struct value value = {.number = change[CHANGE_KIND] & 0x80
                                                  ? (int64_t)((uint64_t)(uint32_t)number << 32)
                                                  : number,
                                    .text = (const char *)change + CHANGE_BYTES,
                                    .len = (int)len};
        change_one(rows, change, &value);
        at += CHANGE_BYTES + len;
    }
    if (sqlite3_exec(rows->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
}

void rows_restore(struct rows *rows, int all)
{
    sqlite3_exec(rows->db, "BEGIN", NULL, NULL, NULL);
    for (int i = 0; i < rows->ntables; i++) {
        struct table *table = &rows->tables[i];
        if (!table->changed && !all)
            continue;
        finish(rows, table->empty);
        if (table->fill)
            finish(rows, table->fill);
        table->changed = false;
    }
    if (sqlite3_exec(rows->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        broken(sqlite3_errmsg(rows->db));
}

// Returns where the n-th change begins; *n becomes the number of changes if there are fewer.
static size_t find_change(const uint8_t *bytes, size_t size, unsigned *n)
{
    size_t at = 0;
    unsigned i = 0;
    for (; i < *n && at + CHANGE_BYTES <= size; i++)
        at += CHANGE_BYTES + bytes[at + CHANGE_LENGTH];
    *n = i;
    return at < size ? at : size;
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

// Makes a change of its own at this place: most numbers are small, and most texts short.
static size_t insert_change(uint8_t *bytes, size_t size, size_t max, size_t at, unsigned *seed)
{
    size_t len = next(seed) % 4 ? 0 : next(seed) % 12, more = CHANGE_BYTES + len;
    if (size + more > max)
        return size;
    memmove(bytes + at + more, bytes + at, size - at);
    for (size_t i = 0; i < more; i++)
        bytes[at + i] = (uint8_t)next(seed);
    bytes[at + CHANGE_KIND] &= next(seed) % 8 ? 0x7f : 0xff;
    int32_t number = (int32_t)(next(seed) % 64) - 8;
    if (next(seed) % 4)
        memcpy(bytes + at + CHANGE_NUMBER, &number, sizeof number);
    bytes[at + CHANGE_LENGTH] = (uint8_t)len;
    return size + more;
}

size_t rows_mutate(uint8_t *bytes, size_t size, size_t max, unsigned seed,
                   size_t (*mutate)(uint8_t *bytes, size_t size, size_t max))
{
    unsigned n = ~0u;
    size_t end = find_change(bytes, size, &n);
    unsigned which = n ? next(&seed) % n : 0;
    size_t at = find_change(bytes, size, &which);
    unsigned kind = next(&seed) % 8;
    if (n == 0 || end != size || kind < 3)
        return insert_change(bytes, end, max, at, &seed);
    size_t length = CHANGE_BYTES + bytes[at + CHANGE_LENGTH];
    if (at + length > size)
        length = size - at;
    if (kind == 3) { // without this change
        memmove(bytes + at, bytes + at + length, size - at - length);
        return size - length;
    }
    if (kind < 6 && length >= CHANGE_BYTES) { // the same elsewhere
        bytes[at + next(&seed) % CHANGE_NUMBER] = (uint8_t)next(&seed);
        return size;
    }
    return mutate(bytes, size, max);
}
