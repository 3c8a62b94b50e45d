// SPDX-License-Identifier: MIT
// Copies one run from a database to another, with new ids: into a fresh file when a run is packed,
// out of an untrusted file when packs are merged. So every text and number is checked on its way;
// the tables' own constraints check ranges, for a merge when the file is opened. Canary floors are
// not copied: they steer measurements, and those of another machine must not steer ours. The same
// walk through a run makes the hash of its content.
#include "merge_internal.h"

#include "util/strbuf.h"
#include "util/text.h"

#include <math.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>

enum { TABLE_RUN, TABLE_CPU, BELOW_MAX = 12 };

// Notes on a table.
enum {
    SAMPLES = 1, // it is copied with samples
    KERNELS = 2, // it is copied with kernels or samples
    ROUNDS = 4,  // numbers of runs kept without kernels are rounded
    DERIVED = 8, // merging derives its rows again where there are samples
    AGAIN = 16,  // merging derives its rows again
    SAID = 32,   // remarks, which may come later or from a merge, and are not measured
};

// A table whose rows belong to rows of another, which stands above it. All columns are copied: they
// are typed in db/schema.sql alone. A pass says nothing without its samples, but one of a sweep
// says which points were measured.
struct copy_level {
    const char *table, *parent;
    const char *above; // column with the id of the parent's row
    const char *id;    // its own, for rows below; NULL: there are none
    const char *order; // columns; NULL: there is one row
    unsigned notes;
};
// clang-format off
static const struct copy_level levels[] = {
    [TABLE_RUN] = {"run", "", "cpu_id", "run_id", NULL, 0},
    [TABLE_CPU] = {"cpu", "", "cpu_id", "cpu_id", NULL, 0},
    {"cpuid_leaf", "cpu", "cpu_id", NULL, "leaf, subleaf", 0},
    {"cpu_cache", "cpu", "cpu_id", NULL, "level, type", 0},
    {"run_event", "run", "run_id", NULL, "position", 0},
    {"run_list", "run", "run_id", NULL, NULL, 0},
    {"run_form", "run", "run_id", "run_form_id", NULL, 0},
    {"operand_role", "run_form", "run_form_id", NULL, "operand", 0},
    {"test", "run_form", "run_form_id", "test_id", "position", 0},
    {"kernel", "test", "test_id", "kernel_id", "position", KERNELS},
    {"timing", "kernel", "kernel_id", "timing_id", "timing_id", SAMPLES},
    {"sample", "timing", "timing_id", NULL, "seq", SAMPLES},
    {"estimate", "kernel", "kernel_id", NULL, NULL, DERIVED},
    {"estimate_state", "kernel", "kernel_id", NULL, "position", DERIVED},
    {"result", "test", "test_id", NULL, NULL, ROUNDS | DERIVED},
    {"port_result", "run_form", "run_form_id", "run_form_id", NULL, ROUNDS},
    {"port_use", "port_result", "run_form_id", NULL, "position", 0},
    {"port_use_wide", "port_result", "run_form_id", NULL, "position", 0},
    {"port_share", "port_result", "run_form_id", NULL, "unit", 0},
    {"port_trial", "port_result", "run_form_id", NULL, "position", KERNELS},
    {"port_trial_count", "port_result", "run_form_id", NULL, "position, event", 0},
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
    {"sweep_timing", "sweep_point", "point_id", "timing_id", "timing_id", KERNELS},
    {"sweep_sample", "sweep_timing", "timing_id", NULL, "seq", SAMPLES},
    {"sweep_value", "sweep_point", "point_id", NULL, NULL, DERIVED},
    {"conclusion", "property", "property_id", "conclusion_id", "position", AGAIN},
    {"conclusion_value", "conclusion", "conclusion_id", NULL, "position", 0},
    {"run_warning", "run", "run_id", NULL, "text", SAID},
    {"run_time", "run", "run_id", NULL, "position", SAID},
    {"validation", "run", "run_id", "validation_id", "validation_id", SAID},
    {"validation_class", "validation", "validation_id", NULL, "class", 0},
    {"validation_mix", "validation", "validation_id", NULL, "position", 0},
};
// clang-format on

// Tables whose rows name others, which are found by these names, or added. `select`: the row's id
// (or anything, if it has none), then the columns; its parameter is the id above. `insert`: the id
// above, then the columns.
struct copy_named {
    const char *table, *select, *insert;
};
static const struct copy_named copy_forms = {
    .table = "run_form",
    .select =
        "SELECT run_form_id, run_form.position, isa, form, mnemonic, operands, enc, bits, options, "
        "list.name FROM run_form JOIN form USING (form_id) JOIN list USING (list_id) "
        "WHERE run_id = ?1 ORDER BY run_form_id",
    .insert = "INSERT INTO run_form (run_id, position, isa, form_id, list_id) VALUES (?1, ?2, ?3, "
              "(SELECT form_id FROM form WHERE form = ?4 AND enc = ?7 AND bits = ?8), "
              "(SELECT list_id FROM list WHERE name = ?10))",
};
static const struct copy_named copy_lists = {
    .table = "run_list",
    .select = "SELECT 0, title, list.name FROM run_list JOIN list USING (list_id) "
              "WHERE run_id = ?1 ORDER BY list.name",
    .insert = "INSERT INTO run_list (run_id, title, list_id) VALUES (?1, ?2, "
              "(SELECT list_id FROM list WHERE name = ?3))",
};

// The statements of a level, and the tables below it.
struct copy_table {
    const struct copy_level *level;
    const struct copy_named *named; // NULL: all columns
    sqlite3_stmt *select, *insert;  // insert: NULL where rows are hashed
    struct copy_table *below[BELOW_MAX];
    int nbelow, decides; // the column with the deciding kernel; 0: none
};

struct store_copy {
    struct store *from, *to;
    enum merge_keep keep;
    struct err *err;
    SHA256_CTX *hash; // if not NULL, rows are hashed instead of copied
    struct copy_table tables[ARRAY_LEN(levels)];
};

static bool column_is_clean(sqlite3_stmt *row, int column)
{
    return text_is_clean(store_text(row, column), (size_t)sqlite3_column_bytes(row, column));
}

static int copy_refuse(struct store_copy *copy, sqlite3_stmt *row, int column)
{
    return err_set(copy->err,
                   "%s: a value of column %s is malformed (control characters, bad UTF-8, or not a "
                   "finite number); the file is damaged or was not written by latput",
                   copy->from->path, sqlite3_column_name(row, column));
}

// Binds columns 1.. of `row` to the parameters 2.. of `insert`; `rounds` numbers to thousandths,
// far below the noise of any measurement, which archives cannot compress.
static int copy_bind(struct store_copy *copy, sqlite3_stmt *row, sqlite3_stmt *insert, bool rounds)
{
    for (int c = 1; c < sqlite3_column_count(row); c++) {
        sqlite3_value *value = sqlite3_column_value(row, c);
        int type = sqlite3_value_type(value);
        if (type == SQLITE_TEXT && !text_is_clean((const char *)sqlite3_value_text(value),
                                                  (size_t)sqlite3_value_bytes(value)))
            return copy_refuse(copy, row, c);
        if (type == SQLITE_FLOAT && !isfinite(sqlite3_value_double(value)))
            return copy_refuse(copy, row, c);
        int got = type == SQLITE_FLOAT && rounds
                      ? sqlite3_bind_double(insert, c + 1,
                                            nearbyint(sqlite3_value_double(value) * 1000) / 1000)
                      : sqlite3_bind_value(insert, c + 1, value);
        if (got != SQLITE_OK)
            return store_error(copy->to, copy->err, "copy a value");
    }
    return 0;
}

// Puts together how all columns of a table are read, and how they are stored. A deciding kernel is
// copied by its position in the test. Columns are in the order of their names, which is the same in
// any file.
static int copy_columns(struct store_copy *copy, struct copy_table *table, struct strbuf *select,
                        struct strbuf *insert)
{
    const struct copy_level *level = table->level;
    const char *by = *level->parent ? level->above : level->id;
    sqlite3_stmt *columns =
        store_bind(copy->from, copy->err,
                   "SELECT name FROM pragma_table_info(?1) WHERE name NOT IN (?2, ?3, ?4) "
                   "ORDER BY name",
                   "ssss", level->table, level->above, by, level->id);
    struct strbuf values = {0};
    int got, n = 0;
    if (!columns)
        return -1;
    strbuf_printf(select, "SELECT %s", level->id ? level->id : "0");
    strbuf_printf(insert, "INSERT INTO %s (%s", level->table, level->above);
    while ((got = sqlite3_step(columns)) == SQLITE_ROW) {
        const char *column = store_text(columns, 0);
        n++;
        strbuf_printf(insert, ", %s", column);
        if (strcmp(column, "kernel_id") == 0) {
            table->decides = n;
            strbuf_printf(select,
                          ", (SELECT position FROM kernel WHERE kernel.kernel_id = "
                          "%s.kernel_id AND kernel.test_id = ?1)",
                          level->table);
            strbuf_printf(&values,
                          ", (SELECT kernel_id FROM kernel WHERE test_id = ?1 "
                          "AND position = ?%d)",
                          n + 1);
            continue;
        }
        strbuf_printf(select, ", %s", column);
        strbuf_printf(&values, ", ?%d", n + 1);
    }
    strbuf_printf(select, " FROM %s WHERE %s = ?1", level->table, by);
    if (level->order)
        strbuf_printf(select, " ORDER BY %s", level->order);
    strbuf_printf(insert, ") VALUES (?1%s)", strbuf_text(&values));
    strbuf_free(&values);
    return store_rows_end(copy->from, columns, got, copy->err);
}

static int copy_prepare(struct store_copy *copy, struct store *store, const char *sql,
                        sqlite3_stmt **stmt)
{
    return sqlite3_prepare_v2(store->db, sql, -1, stmt, NULL) == SQLITE_OK
               ? 0
               : store_error(store, copy->err, "read or write");
}

static int copy_table_begin(struct store_copy *copy, struct copy_table *table)
{
    struct strbuf select = {0}, insert = {0};
    const struct copy_named *own = strcmp(table->level->table, copy_forms.table) == 0 ? &copy_forms
                                   : strcmp(table->level->table, copy_lists.table) == 0
                                       ? &copy_lists
                                       : NULL;
    table->named = own;
    int result = own ? 0 : copy_columns(copy, table, &select, &insert);
    if (result == 0)
        result = copy_prepare(copy, copy->from, own ? own->select : select.data, &table->select);
    if (result == 0 && copy->to)
        result = copy_prepare(copy, copy->to, own ? own->insert : insert.data, &table->insert);
    strbuf_free(&select);
    strbuf_free(&insert);
    return result;
}

// Returns true if merging derives the rows again, from others that are hashed: another version of
// latput may derive something else.
static bool copy_is_made_again(const struct store_copy *copy, unsigned notes)
{
    return notes & AGAIN || (notes & DERIVED && copy->keep == MERGE_KEEP_SAMPLES);
}

static bool copy_wants(const struct store_copy *copy, unsigned notes)
{
    enum merge_keep least = notes & SAMPLES   ? MERGE_KEEP_SAMPLES
                            : notes & KERNELS ? MERGE_KEEP_KERNELS
                                              : MERGE_KEEP_RESULTS;
    return copy->keep >= least &&
           !(copy->hash && (notes & SAID || copy_is_made_again(copy, notes)));
}

// Returns 1 if a table is to be copied or hashed. To ask an empty one for each row above would take
// a third of the time; hashes have it.
static int copy_has(struct store_copy *copy, const struct copy_level *level)
{
    char sql[80];
    int64_t found;
    snprintf(sql, sizeof sql, "SELECT 1 FROM %s LIMIT 1", level->table);
    return !copy_wants(copy, level->notes) ? 0
           : copy->hash                    ? 1
                                           : store_get_int(copy->from, copy->err, &found, sql, "");
}

// Prepares the statements of all tables; copy_end() frees them.
static int copy_begin(struct store_copy *copy)
{
    int result = 0;
    for (size_t i = 0; i < ARRAY_LEN(levels) && result == 0; i++) {
        struct copy_table *table = &copy->tables[i];
        table->level = &levels[i];
        int has = copy_has(copy, table->level);
        for (size_t above = 0; above < i && has > 0; above++)
            if (strcmp(levels[above].table, table->level->parent) == 0)
                copy->tables[above].below[copy->tables[above].nbelow++] = table;
        result = has < 0 ? -1 : copy_table_begin(copy, table);
    }
    return result;
}

static void copy_end(struct store_copy *copy)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        sqlite3_finalize(copy->tables[i].select);
        sqlite3_finalize(copy->tables[i].insert);
    }
}

// `above` 0: there is no row above.
static int copy_insert(struct store_copy *copy, const struct copy_table *table, int64_t above,
                       int64_t *id)
{
    sqlite3_stmt *insert = table->insert;
    bool rounds = copy->keep == MERGE_KEEP_RESULTS && table->level->notes & ROUNDS;
    if (above)
        sqlite3_bind_int64(insert, 1, above);
    if (copy_bind(copy, table->select, insert, rounds) != 0)
        return -1;
    int got = sqlite3_step(insert);
    int result = 0;
    if ((got & 0xff) == SQLITE_CONSTRAINT)
        result = err_set(copy->err,
                         "%s: holds a value out of range (%s); the file is damaged or was not "
                         "written by latput",
                         copy->from->path, sqlite3_errmsg(copy->to->db));
    else if (got != SQLITE_DONE)
        result = store_error(copy->to, copy->err, "copy a row");
    sqlite3_reset(insert);
    sqlite3_clear_bindings(insert);
    *id = sqlite3_last_insert_rowid(copy->to->db);
    return result;
}

static int copy_list_name(struct store_copy *copy, sqlite3_stmt *row, int column)
{
    if (!column_is_clean(row, column))
        return copy_refuse(copy, row, column);
    return store_execute(copy->to, copy->err, "INSERT OR IGNORE INTO list (name) VALUES (?)", "s",
                         store_text(row, column));
}

static int copy_names(struct store_copy *copy, sqlite3_stmt *row)
{
    static const char add_form[] =
        "INSERT OR IGNORE INTO form (form, mnemonic, operands, enc, bits, "
        "options) VALUES (?, ?, ?, ?, ?, ?)";
    for (int c = 2; c <= 8; c++) // before rows are looked up by them
        if (sqlite3_column_type(row, c) == SQLITE_TEXT && !column_is_clean(row, c))
            return copy_refuse(copy, row, c);
    if (store_execute(copy->to, copy->err, add_form, "ssssis", store_text(row, 3),
                      store_text(row, 4), store_text(row, 5), store_text(row, 6),
                      (int64_t)sqlite3_column_int64(row, 7), store_text(row, 8)) != 0)
        return -1;
    return copy_list_name(copy, row, 9);
}

// Hashes the columns 1.. of a row, with their types and lengths, except the description of a form,
// which its first run in a database gives for all, and the number of the deciding kernel, which
// belongs to the kernels.
static void copy_digest(struct store_copy *copy, const struct copy_table *table)
{
    sqlite3_stmt *row = table->select;
    bool is_form = table->named == &copy_forms;
    for (int c = 1; c < sqlite3_column_count(row); c++) {
        if ((is_form && (c == 4 || c == 5 || c == 8)) || c == table->decides)
            continue;
        int type = sqlite3_column_type(row, c);
        double real = sqlite3_column_double(row, c);
        if (table->level->notes & ROUNDS)
            real = nearbyint(real * 1000); // precision of a run kept without kernels
        const void *bytes = type == SQLITE_FLOAT ? &real : sqlite3_column_blob(row, c);
        int64_t head[2] = {type,
                           type == SQLITE_FLOAT ? (int)sizeof real : sqlite3_column_bytes(row, c)};
        SHA256Update(copy->hash, (const uint8_t *)head, sizeof head);
        if (bytes)
            SHA256Update(copy->hash, bytes, (size_t)head[1]);
    }
}

static int copy_add_named(struct store_copy *copy, const struct copy_table *table)
{
    if (!table->named)
        return 0;
    return table->named == &copy_forms ? copy_names(copy, table->select)
                                       : copy_list_name(copy, table->select, 2);
}

// Copies or hashes the rows below `from`, which has become `to`.
static int copy_rows(struct store_copy *copy, const struct copy_table *table, int64_t from,
                     int64_t to);
static int copy_below(struct store_copy *copy, const struct copy_table *table, int64_t from,
                      int64_t to)
{
    int result = 0;
    for (int i = 0; i < table->nbelow && result == 0; i++)
        result = copy_rows(copy, table->below[i], from, to);
    return result;
}

static int copy_row(struct store_copy *copy, const struct copy_table *table, int64_t to)
{
    int64_t id = 0, own = sqlite3_column_int64(table->select, 0);
    if (copy->hash)
        copy_digest(copy, table);
    else if (copy_add_named(copy, table) != 0 || copy_insert(copy, table, to, &id) != 0)
        return -1;
    return copy_below(copy, table, own, id);
}

static int copy_rows(struct store_copy *copy, const struct copy_table *table, int64_t from,
                     int64_t to)
{
    sqlite3_stmt *row = table->select;
    sqlite3_bind_int64(row, 1, from);
    if (copy->hash)
        SHA256Update(copy->hash, (const uint8_t *)sqlite3_sql(row), strlen(sqlite3_sql(row)));
    int got, result = 0;
    while (result == 0 && (got = sqlite3_step(row)) == SQLITE_ROW)
        result = copy_row(copy, table, to);
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(copy->from, copy->err, "read");
    sqlite3_reset(row);
    return result;
}

// Checks that the CPU's identity is the hash of its columns, or rows of two CPUs could pass for
// one.
static int copy_check_identity(struct store_copy *copy, int64_t cpu_id, char identity[65])
{
    sqlite3_stmt *row = store_bind(
        copy->from, copy->err,
        "SELECT identity, concat_lines FROM (SELECT identity, vendor || char(10) || brand || "
        "char(10) || signature || char(10) || family || char(10) || model || char(10) || stepping "
        "|| char(10) || core_type || char(10) || native_model || char(10) || uarch || "
        "iif(inferred, '?', '') || char(10) || "
        "uarch_name || char(10) || microcode || char(10) || hypervisor || char(10) || "
        "tsc_invariant || char(10) || features || char(10) AS concat_lines FROM cpu "
        "WHERE cpu_id = ?1)",
        "i", cpu_id);
    if (!row)
        return -1;
    int got = sqlite3_step(row);
    const char *stored = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *text = got == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 1) : NULL;
    int result = 0;
    if (!stored || !text) {
        result = err_set(copy->err, "%s: has no CPU for its run", copy->from->path);
    } else {
        store_sha256(text, strlen(text), identity);
        if (strcmp(identity, stored) != 0)
            result =
                err_set(copy->err, "%s: the identity of its CPU does not fit the CPU's columns",
                        copy->from->path);
    }
    sqlite3_reset(row);
    return result;
}

// Finds the CPU among those there, or adds it.
static int copy_cpu(struct store_copy *copy, int64_t cpu_id, int64_t *new_id)
{
    static const char find[] = "SELECT cpu_id FROM cpu WHERE identity = ?1";
    char identity[65];
    if (copy_check_identity(copy, cpu_id, identity) != 0)
        return -1;
    int found = store_get_int(copy->to, copy->err, new_id, find, "s", identity);
    if (found == 0 && copy_rows(copy, &copy->tables[TABLE_CPU], cpu_id, 0) == 0)
        found = store_get_int(copy->to, copy->err, new_id, find, "s", identity);
    return found > 0 ? 0 : -1;
}

static int copy_run(struct store_copy *copy, int64_t run_id, int64_t *new_id)
{
    int64_t cpu_id = 0;
    int got = store_get_int(copy->from, copy->err, &cpu_id,
                            "SELECT cpu_id FROM run WHERE run_id = ?1", "i", run_id);
    if (got == 0)
        return err_set(copy->err, "%s: has no run %lld", copy->from->path, (long long)run_id);
    if (got < 0 || copy_cpu(copy, cpu_id, &cpu_id) != 0 ||
        copy_rows(copy, &copy->tables[TABLE_RUN], run_id, cpu_id) != 0)
        return -1;
    return store_get_int(copy->to, copy->err, new_id, "SELECT max(run_id) FROM run", "") > 0 ? 0
                                                                                             : -1;
}

int merge_copy_run(struct store *from, int64_t run_id, enum merge_keep keep, struct store *to,
                   int64_t *new_id, struct err *err)
{
    struct store_copy copy = {.from = from, .to = to, .keep = keep, .err = err};
    bool own;
    if (store_unit_begin(to, &own, err) != 0)
        return -1;
    int result = copy_begin(&copy);
    if (result == 0)
        result = copy_run(&copy, run_id, new_id);
    copy_end(&copy);
    return store_unit_end(to, own, result, err);
}

int merge_hash_run(struct store *store, int64_t run_id, enum merge_keep keep, char hex[65],
                   struct err *err)
{
    SHA256_CTX hash;
    struct store_copy copy = {.from = store, .keep = keep, .err = err, .hash = &hash};
    char identity[65] = "";
    int64_t cpu_id = 0;
    SHA256Init(&hash);
    int result = copy_begin(&copy);
    if (result == 0 &&
        (store_get_int(store, err, &cpu_id, "SELECT cpu_id FROM run WHERE run_id = ?1", "i",
                       run_id) < 0 ||
         copy_check_identity(&copy, cpu_id, identity) != 0))
        result = -1;
    SHA256Update(&hash, (const uint8_t *)identity, strlen(identity));
    if (result == 0)
        result = copy_rows(&copy, &copy.tables[TABLE_RUN], run_id, 0);
    copy_end(&copy);
    SHA256End(&hash, hex);
    return result;
}
