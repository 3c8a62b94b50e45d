// SPDX-License-Identifier: MIT
// The hash of a run's content: its rows in the order of merge_levels, which is the same in any
// file.
#include "merge_internal.h"

#include "util/strbuf.h"

#include <math.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>

enum { BELOW_MAX = 12 };

// Rows that name others, by these names: the row's id (or anything, if it has none), then columns;
// without the description of a form, which its first run in a database gives for all.
static const char hash_forms[] =
    "SELECT run_form_id, run_form.position, isa, form, enc, bits, list.name FROM run_form "
    "JOIN form USING (form_id) JOIN list USING (list_id) WHERE run_id = ?1 ORDER BY run_form_id";
static const char hash_lists[] =
    "SELECT 0, title, list.name FROM run_list JOIN list USING (list_id) WHERE run_id = ?1 "
    "ORDER BY list.name";

// The statement of a level, and the tables below it.
struct hash_table {
    const struct merge_level *level;
    sqlite3_stmt *select;
    struct hash_table *below[BELOW_MAX];
    int nbelow;
};

struct hash {
    struct store *store;
    enum merge_keep keep;
    struct err *err;
    SHA256_CTX sha;
    struct hash_table tables[MERGE_LEVELS];
};

// Returns true if merging derives the rows again, from others that are hashed: another version of
// latput may derive something else.
static bool hash_is_made_again(const struct hash *hash, unsigned notes)
{
    return notes & MERGE_AGAIN || (notes & MERGE_DERIVED && hash->keep == MERGE_KEEP_SAMPLES);
}

static bool hash_wants(const struct hash *hash, unsigned notes)
{
    return merge_keeps(hash->keep, notes) && !(notes & MERGE_SAID) &&
           !hash_is_made_again(hash, notes);
}

// Puts together how all columns of a table are read, in the order of their names, which is the same
// in any file; without the number of the deciding kernel, which belongs to the kernels.
static int hash_columns(struct hash *hash, const struct merge_level *level, struct strbuf *select)
{
    const char *by = level == &merge_levels[MERGE_RUN] ? level->id : level->above;
    sqlite3_stmt *columns =
        store_bind(hash->store, hash->err,
                   "SELECT group_concat(', ' || name, '') FROM (SELECT name FROM "
                   "pragma_table_info(?1) WHERE name NOT IN (?2, ?3, 'kernel_id') ORDER BY name)",
                   "sss", level->table, level->above, level->id);
    if (!columns)
        return -1;
    int got = sqlite3_step(columns);
    strbuf_printf(select, "SELECT %s%s FROM %s WHERE %s = ?1", level->id ? level->id : "0",
                  store_text(columns, 0), level->table, by);
    if (level->order)
        strbuf_printf(select, " ORDER BY %s", level->order);
    return store_rows_end(hash->store, columns, got == SQLITE_ROW ? SQLITE_DONE : got, hash->err);
}

static int hash_prepare(struct hash *hash, struct hash_table *table)
{
    struct strbuf select = {0};
    int result = 0;
    if (strcmp(table->level->table, "run_form") == 0)
        strbuf_puts(&select, hash_forms);
    else if (strcmp(table->level->table, "run_list") == 0)
        strbuf_puts(&select, hash_lists);
    else
        result = hash_columns(hash, table->level, &select);
    if (result == 0 && sqlite3_prepare_v2(hash->store->db, strbuf_text(&select), -1, &table->select,
                                          NULL) != SQLITE_OK)
        result = store_error(hash->store, hash->err, "read");
    strbuf_free(&select);
    return result;
}

// Prepares the statements of all tables; hash_end() frees them.
static int hash_begin(struct hash *hash)
{
    int result = 0;
    SHA256Init(&hash->sha);
    for (size_t i = MERGE_RUN; i < MERGE_LEVELS && result == 0; i++) {
        struct hash_table *table = &hash->tables[i];
        table->level = &merge_levels[i];
        if (!hash_wants(hash, table->level->notes))
            continue;
        for (size_t above = MERGE_RUN; above < i; above++)
            if (strcmp(merge_levels[above].table, table->level->parent) == 0)
                hash->tables[above].below[hash->tables[above].nbelow++] = table;
        result = hash_prepare(hash, table);
    }
    return result;
}

static void hash_end(struct hash *hash)
{
    for (size_t i = 0; i < MERGE_LEVELS; i++)
        sqlite3_finalize(hash->tables[i].select);
}

// Hashes the columns 1.. of a row, with their types and lengths.
static void hash_row(struct hash *hash, const struct hash_table *table)
{
    sqlite3_stmt *row = table->select;
    for (int c = 1; c < sqlite3_column_count(row); c++) {
        int type = sqlite3_column_type(row, c);
        double real = sqlite3_column_double(row, c);
        if (table->level->notes & MERGE_ROUNDS)
            real = round(real * 1000); // precision of a run kept without kernels
        const void *bytes = type == SQLITE_FLOAT ? &real : sqlite3_column_blob(row, c);
        int64_t head[2] = {type,
                           type == SQLITE_FLOAT ? (int)sizeof real : sqlite3_column_bytes(row, c)};
        SHA256Update(&hash->sha, (const uint8_t *)head, sizeof head);
        if (bytes)
            SHA256Update(&hash->sha, bytes, (size_t)head[1]);
    }
}

// Hashes the rows below the row `id`.
static int hash_rows(struct hash *hash, const struct hash_table *table, int64_t id)
{
    sqlite3_stmt *row = table->select;
    int got, result = 0;
    sqlite3_bind_int64(row, 1, id);
    SHA256Update(&hash->sha, (const uint8_t *)sqlite3_sql(row), strlen(sqlite3_sql(row)));
    while (result == 0 && (got = sqlite3_step(row)) == SQLITE_ROW) {
        int64_t own = sqlite3_column_int64(row, 0);
        hash_row(hash, table);
        for (int i = 0; i < table->nbelow && result == 0; i++)
            result = hash_rows(hash, table->below[i], own);
    }
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(hash->store, hash->err, "read");
    sqlite3_reset(row);
    return result;
}

int merge_check_identity(struct store *store, int64_t run_id, char identity[65], struct err *err)
{
    sqlite3_stmt *row = store_bind(
        store, err,
        "SELECT identity, concat_lines FROM (SELECT identity, vendor || char(10) || brand || "
        "char(10) || signature || char(10) || family || char(10) || model || char(10) || stepping "
        "|| char(10) || core_type || char(10) || native_model || char(10) || uarch || "
        "iif(inferred, '?', '') || char(10) || "
        "uarch_name || char(10) || microcode || char(10) || hypervisor || char(10) || "
        "tsc_invariant || char(10) || features || char(10) AS concat_lines FROM cpu "
        "JOIN run USING (cpu_id) WHERE run_id = ?1)",
        "i", run_id);
    if (!row)
        return -1;
    int got = sqlite3_step(row);
    const char *stored = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *text = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 1) : NULL;
    int result = 0;
    if (!stored || !text) {
        result = err_set(err, "%s: has no CPU for its run", store->path);
    } else {
        store_sha256(text, strlen(text), identity);
        if (strcmp(identity, stored) != 0)
            result = err_set(err, "%s: the identity of its CPU does not fit the CPU's columns",
                             store->path);
    }
    sqlite3_reset(row);
    return result;
}

int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err)
{
    struct hash hash = {.store = store, .keep = keep, .err = err};
    char identity[65] = "";
    int result = hash_begin(&hash);
    if (result == 0)
        result = merge_check_identity(store, run_id, identity, err);
    SHA256Update(&hash.sha, (const uint8_t *)identity, strlen(identity));
    if (result == 0)
        result = hash_rows(&hash, &hash.tables[MERGE_RUN], run_id);
    hash_end(&hash);
    SHA256End(&hash.sha, hex);
    return result;
}
