// SPDX-License-Identifier: MIT
// Copies runs from a database to another, with new ids: into a fresh file when they are packed, out
// of a checked one when packs are merged, and from there into the database. Each table is copied by
// one statement. Rows of CPUs, lists and forms stand for the same in all files, so existing ones
// are reused. Keys and constraints hold in the source, and still do so with other ids. Canary
// floors are not copied: they steer measurements, and another machine's must not steer ours.
#include "merge_internal.h"

#include "util/strbuf.h"

#include <stdio.h>
#include <string.h>

// clang-format off
const struct merge_level merge_levels[MERGE_LEVELS] = {
    [MERGE_CPU] = {"cpu", "", "cpu_id", "cpu_id", NULL, 0},
    {"cpuid_leaf", "cpu", "cpu_id", NULL, "leaf, subleaf", 0},
    {"cpu_cache", "cpu", "cpu_id", NULL, "level, type", 0},
    [MERGE_RUN] = {"run", "cpu", "cpu_id", "run_id", NULL, 0},
    {"merged_run", "run", "run_id", NULL, NULL, MERGE_LOCAL},
    {"run_event", "run", "run_id", NULL, "position", 0},
    {"run_list", "run", "run_id", NULL, NULL, 0},
    {"run_form", "run", "run_id", "run_form_id", "run_form_id", 0},
    {"form_summary", "run_form", "run_form_id", NULL, NULL, MERGE_LOCAL},
    {"operand_role", "run_form", "run_form_id", NULL, "operand", 0},
    {"test", "run_form", "run_form_id", "test_id", "position", 0},
    {"kernel", "test", "test_id", "kernel_id", "position", MERGE_KERNELS},
    {"timing", "kernel", "kernel_id", "timing_id", "timing_id", MERGE_SAMPLES},
    {"sample", "timing", "timing_id", NULL, "seq", MERGE_SAMPLES},
    {"estimate", "kernel", "kernel_id", NULL, NULL, MERGE_DERIVED},
    {"estimate_state", "kernel", "kernel_id", NULL, "position", MERGE_DERIVED},
    {"result", "test", "test_id", NULL, NULL, MERGE_ROUNDS | MERGE_DERIVED},
    {"port_result", "run_form", "run_form_id", "run_form_id", NULL, MERGE_ROUNDS},
    {"port_use", "port_result", "run_form_id", NULL, "position", 0},
    {"port_use_wide", "port_result", "run_form_id", NULL, "position", 0},
    {"port_share", "port_result", "run_form_id", NULL, "unit", 0},
    {"port_trial", "port_result", "run_form_id", NULL, "position", MERGE_KERNELS},
    {"port_trial_count", "port_result", "run_form_id", NULL, "position, event", MERGE_KERNELS},
    {"port_model", "run", "run_id", "run_id", NULL, 0},
    {"port_class", "port_model", "run_id", NULL, "position", 0},
    {"port_unit", "port_model", "run_id", NULL, "position", 0},
    {"port_probe", "port_model", "run_id", NULL, "position, unit", 0},
    {"port_name", "port_model", "run_id", NULL, "ports_mask", 0},
    {"bench", "run", "run_id", "bench_id", "position", 0},
    {"bench_thread", "bench", "bench_id", NULL, "thread", 0},
    {"bench_metric", "bench", "bench_id", NULL, "position", 0},
    {"bench_repetition", "bench", "bench_id", NULL, "seq", 0},
    {"bench_value", "bench", "bench_id", NULL, "seq, position", 0},
    {"property", "run", "run_id", "property_id", "position", 0},
    {"property_variant", "property", "property_id", "variant_id", "position", 0},
    {"sweep_point", "property_variant", "variant_id", "point_id", "position, point_id", 0},
    {"sweep_timing", "sweep_point", "point_id", "timing_id", "timing_id", MERGE_KERNELS},
    {"sweep_sample", "sweep_timing", "timing_id", NULL, "seq", MERGE_SAMPLES},
    {"sweep_value", "sweep_point", "point_id", NULL, NULL, MERGE_DERIVED},
    {"conclusion", "property", "property_id", "conclusion_id", "position", MERGE_AGAIN},
    {"conclusion_value", "conclusion", "conclusion_id", NULL, "position", 0},
    {"run_warning", "run", "run_id", NULL, "text", MERGE_SAID},
    {"run_time", "run", "run_id", NULL, "position", MERGE_SAID},
    {"validation", "run", "run_id", "validation_id", "validation_id", MERGE_SAID},
    {"validation_class", "validation", "validation_id", NULL, "class", 0},
    {"validation_mix", "validation", "validation_id", NULL, "position", MERGE_ROUNDS},
};
// clang-format on

struct copy {
    struct store *from, *to;
    const struct merge_extract *what;
    struct strbuf sql;
};

// Returns true if its rows have ids of their own.
static bool copy_has_ids(const struct merge_level *level)
{
    return level->id && strcmp(level->id, level->above) != 0;
}

bool merge_keeps(enum merge_keep keep, unsigned notes)
{
    return keep >= (notes & MERGE_LOCAL     ? MERGE_KEEP_ALL
                    : notes & MERGE_SAMPLES ? MERGE_KEEP_SAMPLES
                    : notes & MERGE_KERNELS ? MERGE_KEEP_KERNELS
                                            : MERGE_KEEP_RESULTS);
}

// Returns the table whose ids are those above a level's rows.
static const char *copy_root(const char *table)
{
    for (size_t i = 0; i < MERGE_LEVELS; i++)
        if (strcmp(merge_levels[i].table, table) == 0 && *merge_levels[i].parent &&
            !copy_has_ids(&merge_levels[i]))
            return copy_root(merge_levels[i].parent);
    return table;
}

// The new ids of rows: temp.merge_TABLE has the ids of a table. SQLite numbers them itself, after
// those that are there.
static void copy_ids_begin(struct copy *copy, const char *table, const char *id)
{
    strbuf_printf(&copy->sql,
                  "CREATE TEMP TABLE merge_%s (there INTEGER PRIMARY KEY, here INTEGER UNIQUE); "
                  "INSERT INTO temp.merge_%s (there) SELECT coalesce(max(%s), 0) FROM main.%s; ",
                  table, table, id, table);
}

static void copy_ids_end(struct copy *copy, const char *table, const char *id)
{
    (void)id;
    strbuf_printf(&copy->sql, "DROP TABLE temp.merge_%s; ", table);
}

static void copy_each_ids(struct copy *copy,
                          void (*each)(struct copy *, const char *, const char *))
{
    each(copy, "list", "list_id");
    each(copy, "form", "form_id");
    each(copy, "cpu", "cpu_id");
    for (size_t i = 0; i < MERGE_LEVELS; i++)
        if (copy_has_ids(&merge_levels[i]))
            each(copy, merge_levels[i].table, merge_levels[i].id);
}

// Gives the rows of a level ids after those that are there, in the order of the rows above.
static void copy_number(struct copy *copy, const struct merge_level *level)
{
    strbuf_printf(&copy->sql,
                  "INSERT INTO temp.merge_%s (here) SELECT it.%s FROM temp.merge_%s AS above "
                  "CROSS JOIN source.%s AS it ON it.%s = above.here ORDER BY above.there, %s; ",
                  level->table, level->id, copy_root(level->parent), level->table, level->above,
                  level->order);
}

// Copies all columns: they are typed in db/schema.sql alone. Numbers are rounded far below the
// noise of any measurement, which archives cannot compress.
static int copy_level(struct copy *copy, const struct merge_level *level, struct err *err)
{
    sqlite3_stmt *columns = store_bind(
        copy->to, err,
        "SELECT group_concat(', ' || name, ''), group_concat(', ' || CASE "
        "WHEN name IN ('cpu_id', 'list_id', 'form_id', 'kernel_id') THEN '(SELECT there FROM "
        "temp.merge_' || substr(name, 1, length(name) - 3) || ' WHERE here = it.' || name || ')' "
        "WHEN ?4 AND type = 'REAL' THEN 'round(it.' || name || ' * 1000) / 1000' "
        "ELSE 'it.' || name END, '') FROM pragma_table_info(?1) WHERE name NOT IN (?2, ?3)",
        "sssi", level->table, level->above, level->id,
        (int64_t)(copy->what->keep == MERGE_KEEP_RESULTS && level->notes & MERGE_ROUNDS));
    if (!columns)
        return -1;
    int got = sqlite3_step(columns);
    bool own = copy_has_ids(level);
    const char *root = copy_root(*level->parent ? level->parent : level->table);
    if (own && level->order)
        copy_number(copy, level);
    strbuf_printf(&copy->sql, "INSERT INTO main.%s (%s%s%s%s) SELECT %sabove.there%s FROM ",
                  level->table, own ? level->id : "", own ? ", " : "", level->above,
                  store_text(columns, 0), own ? "own.there, " : "", store_text(columns, 1));
    if (own)
        strbuf_printf(&copy->sql,
                      "temp.merge_%s AS own CROSS JOIN source.%s AS it ON it.%s = own.here "
                      "CROSS JOIN temp.merge_%s AS above ON above.here = it.%s "
                      "ORDER BY own.there; ",
                      level->table, level->table, level->id, root, level->above);
    else
        strbuf_printf(&copy->sql,
                      "temp.merge_%s AS above CROSS JOIN source.%s AS it ON it.%s = above.here "
                      "ORDER BY above.there%s%s; ",
                      root, level->table, level->above, level->order ? ", " : "",
                      level->order ? level->order : "");
    return store_rows_end(copy->to, columns, got == SQLITE_ROW ? SQLITE_DONE : got, err);
}

// Gives runs their ids, and lists, forms and new CPUs theirs in the order in which runs name them.
static const char copy_names[] =
    "INSERT OR IGNORE INTO main.list (name) SELECT name FROM temp.merge_run CROSS JOIN "
    "source.run_list ON run_id = here JOIN source.list USING (list_id) ORDER BY there, name; "
    "INSERT OR IGNORE INTO main.list (name) SELECT name FROM temp.merge_run CROSS JOIN "
    "source.run_form ON run_id = here JOIN source.list USING (list_id) "
    "ORDER BY there, run_form_id; "
    "INSERT OR REPLACE INTO temp.merge_list SELECT own.list_id, it.list_id FROM source.list AS it "
    "JOIN main.list AS own USING (name); "
    "INSERT OR IGNORE INTO main.form (form, mnemonic, operands, enc, bits, options) "
    "SELECT form, mnemonic, operands, enc, bits, options FROM temp.merge_run CROSS JOIN "
    "source.run_form ON run_id = here JOIN source.form USING (form_id) "
    "ORDER BY there, run_form_id; "
    "INSERT OR REPLACE INTO temp.merge_form SELECT own.form_id, it.form_id FROM source.form AS it "
    "JOIN main.form AS own USING (form, enc, bits); "
    "INSERT INTO temp.merge_cpu (here) SELECT cpu_id FROM temp.merge_run JOIN source.run "
    "ON run_id = here JOIN source.cpu USING (cpu_id) WHERE identity NOT IN "
    "(SELECT identity FROM main.cpu) GROUP BY cpu_id ORDER BY min(there); ";

// The facts of a CPU that exists already stay unchanged.
static const char copy_cpus_known[] =
    "INSERT OR REPLACE INTO temp.merge_cpu SELECT own.cpu_id, it.cpu_id FROM source.cpu AS it "
    "JOIN main.cpu AS own USING (identity); ";

static int copy_levels(struct copy *copy, struct err *err)
{
    int result = 0;
    strbuf_puts(&copy->sql, copy_names);
    for (size_t i = 0; i < MERGE_LEVELS && result == 0; i++) {
        if (i == MERGE_RUN)
            strbuf_puts(&copy->sql, copy_cpus_known);
        if (merge_keeps(copy->what->keep, merge_levels[i].notes))
            result = copy_level(copy, &merge_levels[i], err);
    }
    return result;
}

// Puts the script together.
static int copy_script(struct copy *copy, struct err *err)
{
    copy_each_ids(copy, copy_ids_begin);
    for (int i = 0; i < copy->what->nruns; i++)
        strbuf_printf(&copy->sql, "INSERT INTO temp.merge_run (here) VALUES (%lld); ",
                      (long long)copy->what->run_ids[i]);
    int result = copy_levels(copy, err);
    copy_each_ids(copy, copy_ids_end);
    return result;
}

static int copy_execute(struct copy *copy, struct err *err)
{
    if (sqlite3_exec(copy->to->db, strbuf_text(&copy->sql), NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    if ((sqlite3_errcode(copy->to->db) & 0xff) != SQLITE_CONSTRAINT)
        return store_error(copy->to, err, "copy its rows");
    return err_set(err,
                   "%s: holds a value out of range (%s); the file is damaged or was not written by "
                   "latput",
                   copy->from->path, sqlite3_errmsg(copy->to->db));
}

// Checks that no other process has merged one of the runs since it was looked for.
static int copy_check_new(struct copy *copy, struct err *err)
{
    int64_t known = 0;
    for (int i = 0; i < copy->what->nruns && known == 0; i++)
        if (store_get_int(copy->to, err, &known,
                          "SELECT count(*) FROM source.run JOIN main.run USING (uuid) "
                          "WHERE source.run.run_id = ?1",
                          "i", copy->what->run_ids[i]) < 0)
            return -1;
    return known == 0 ? 0
                      : err_set(err,
                                "%s: another process has merged a run of these packs meanwhile; "
                                "give the command again",
                                copy->to->path);
}

static int copy_runs(struct copy *copy, int64_t *last_run_id, struct err *err)
{
    if (store_begin(copy->to, err) != 0)
        return -1;
    if (copy_check_new(copy, err) == 0 &&
        store_get_int(copy->to, err, last_run_id, "SELECT coalesce(max(run_id), 0) FROM main.run",
                      "") >= 0 &&
        copy_script(copy, err) == 0 && copy_execute(copy, err) == 0 &&
        (copy->what->keep < MERGE_KEEP_ALL || store_summary_complete(copy->to, err) == 0) &&
        store_commit(copy->to, err) == 0)
        return 0;
    store_rollback(copy->to);
    return -1;
}

int merge_copy_runs(struct store *from, const struct merge_extract *what, struct store *to,
                    int64_t *last_run_id, struct err *err)
{
    static const char before[] = "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON";
    static const char after[] = "PRAGMA foreign_keys = ON; PRAGMA ignore_check_constraints = OFF; "
                                "DETACH source";
    struct copy copy = {.from = from, .to = to, .what = what};
    if (store_execute(to, err, "ATTACH ?1 AS source", "s",
                      from->uri ? from->uri : sqlite3_db_filename(from->db, "main")) != 0)
        return -1;
    int status = store_script(to, err, before, "begin to write");
    if (status == 0)
        status = copy_runs(&copy, last_run_id, err);
    sqlite3_exec(to->db, after, NULL, NULL, NULL);
    strbuf_free(&copy.sql);
    return status;
}
