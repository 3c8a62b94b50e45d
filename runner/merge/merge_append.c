// SPDX-License-Identifier: MIT
// Copies all rows of a database that only this process uses into another one, in one transaction
// that is as short as SQLite can make it; see merge_internal.h. Rows of CPUs, lists and forms stand
// for the same in all files, so existing ones are reused. All other ids are renumbered after the
// existing ones. The schema tells which columns are ids, and of what.
#include "merge_internal.h"

#include "util/strbuf.h"

// Makes the statements of the copy, in their order. `root`: each column, and by its foreign keys
// the column whose value it has. `value`: its new value. `meta` and `canary_floor` belong to one
// file; the facts of a CPU that exists already stay unchanged.
static const char append_statements[] =
    "WITH RECURSIVE tables AS MATERIALIZED (SELECT name AS tab FROM main.sqlite_schema "
    "WHERE type = 'table' AND name NOT IN ('meta', 'canary_floor')), "
    "shared (tab, key) AS (VALUES ('cpu', 'identity'), ('list', 'name'), "
    "('form', 'form, enc, bits')), "
    "columns AS MATERIALIZED (SELECT tab, cid, name AS col, pk = 1 AND type = 'INTEGER' "
    "AND sum(pk > 0) OVER (PARTITION BY tab) = 1 AS is_id "
    "FROM tables, pragma_table_info(tab)), "
    "keys AS MATERIALIZED (SELECT tab, \"from\" AS col, \"table\" AS up_tab, coalesce(\"to\", "
    "(SELECT name FROM pragma_table_info(fk.\"table\") WHERE pk = fk.seq + 1)) AS up_col "
    "FROM tables, pragma_foreign_key_list(tab) AS fk), "
    "root (tab, col, at_tab, at_col) AS (SELECT tab, col, tab, col FROM columns UNION "
    "SELECT root.tab, root.col, up_tab, up_col FROM root JOIN keys "
    "ON keys.tab = at_tab AND keys.col = at_col), "
    "value AS (SELECT root.tab, own.cid, root.col, CASE "
    "WHEN at_tab IN (SELECT tab FROM shared) "
    "THEN '(SELECT there FROM temp.merge_' || at_tab || ' WHERE here = it.' || root.col || ')' "
    "WHEN it.is_id THEN 'it.' || root.col || ' + (SELECT last FROM temp.merge_last "
    "WHERE name = ''' || at_tab || ''')' "
    "ELSE 'it.' || root.col END AS text "
    "FROM root JOIN columns AS own ON own.tab = root.tab AND own.col = root.col "
    "JOIN columns AS it ON it.tab = at_tab AND it.col = at_col "
    "WHERE NOT EXISTS (SELECT 1 FROM keys WHERE keys.tab = at_tab AND keys.col = at_col) "
    "ORDER BY root.tab, own.cid) "
    // The last ids before rows are added.
    "SELECT 1 AS step, 'INSERT INTO temp.merge_last SELECT ''' || tab || ''', coalesce(max(' || "
    "col || '), 0) FROM main.' || tab AS statement FROM columns WHERE is_id "
    "UNION ALL SELECT 2, 'INSERT OR IGNORE INTO main.' || tab || ' (' || group_concat(col) || "
    "') SELECT ' || group_concat(col) || ' FROM staged.' || tab || '; CREATE TEMP TABLE merge_' || "
    "tab || ' (here INTEGER PRIMARY KEY, there INTEGER NOT NULL); INSERT INTO temp.merge_' || "
    "tab || ' SELECT here.' || tab || '_id, there.' || tab || '_id FROM staged.' || tab || "
    "' AS here JOIN main.' || tab || ' AS there USING (' || key || ')' "
    "FROM columns JOIN shared USING (tab) WHERE NOT is_id GROUP BY tab "
    "UNION ALL SELECT 3, 'INSERT INTO main.' || tab || ' (' || group_concat(col) || ') SELECT ' || "
    "group_concat(text) || ' FROM staged.' || tab || ' AS it' || iif(tab IN ('cpuid_leaf', "
    "'cpu_cache'), ' WHERE cpu_id IN (SELECT here FROM temp.merge_cpu WHERE there > "
    "(SELECT last FROM temp.merge_last WHERE name = ''cpu''))', '') "
    "FROM value WHERE tab NOT IN (SELECT tab FROM shared) GROUP BY tab ORDER BY step";

static const char append_begin[] =
    "CREATE TEMP TABLE merge_last (name TEXT PRIMARY KEY, last INTEGER NOT NULL)";
static const char append_end[] = "; DROP TABLE temp.merge_last; DROP TABLE temp.merge_cpu; "
                                 "DROP TABLE temp.merge_list; DROP TABLE temp.merge_form";

static int append_script(struct store *store, struct strbuf *sql, struct err *err)
{
    sqlite3_stmt *row = store_bind(store, err, append_statements, "");
    if (!row)
        return -1;
    int got;
    while ((got = sqlite3_step(row)) == SQLITE_ROW)
        strbuf_printf(sql, "; %s", (const char *)sqlite3_column_text(row, 1));
    return store_rows_end(store, row, got, err);
}

// Checks that no other process has merged one of the runs since it was looked for.
static int append_check(struct store *store, struct err *err)
{
    int64_t known = 0;
    if (store_get_int(store, err, &known,
                      "SELECT count(*) FROM staged.run JOIN main.run USING (uuid)", "") < 0)
        return -1;
    return known == 0 ? 0
                      : err_set(err,
                                "%s: another process has merged a run of these packs meanwhile; "
                                "give the command again",
                                store->path);
}

static int append_rows(struct store *store, const char *sql, int64_t *last_run_id, struct err *err)
{
    if (store_begin(store, err) != 0)
        return -1;
    if (append_check(store, err) == 0 &&
        store_get_int(store, err, last_run_id, "SELECT coalesce(max(run_id), 0) FROM main.run",
                      "") >= 0 &&
        store_script(store, err, sql, "add what was merged") == 0 && store_commit(store, err) == 0)
        return 0;
    store_rollback(store);
    return -1;
}

// Keys and constraints hold in the file, and still do so with other ids.
int merge_append(struct store *store, const char *path, int64_t *last_run_id, struct err *err)
{
    static const char before[] = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    static const char after[] = "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF; "
                                "DETACH staged";
    struct strbuf sql = {0};
    if (store_execute(store, err, "ATTACH ?1 AS staged", "s", path) != 0)
        return -1;
    strbuf_puts(&sql, append_begin);
    int status = append_script(store, &sql, err);
    strbuf_puts(&sql, append_end);
    if (status == 0)
        status = store_script(store, err, before, "begin to write");
    if (status == 0)
        status = append_rows(store, strbuf_text(&sql), last_run_id, err);
    sqlite3_exec(store->db, after, NULL, NULL, NULL);
    strbuf_free(&sql);
    return status;
}
