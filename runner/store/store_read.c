// SPDX-License-Identifier: MIT
// Reads the public views for queries and reports; see store_read.h. The SQL is put together from
// the few literals below, values are always bound.
#include "store_internal.h"

#include "list/form_glob.h"
#include "list/form_shown.h"
#include "store_cpu.h"
#include "store_read.h"
#include "store_run.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/strbuf.h"
#include "util/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct store_rows {
    struct store *store;
    enum store_view view;
    sqlite3_stmt *stmt;
    struct arena shown; // texts of the current row with escaped characters
    int found[64];      // columns that were looked for, by the addresses of their names
};

// Each list once, as the newest run has it.
#define LIST_NEWEST                                                                                \
    "(SELECT run_id, list, title, forms, max(started_utc) FROM list_table JOIN run USING "         \
    "(run_id) "                                                                                    \
    "GROUP BY list)"
// The best rows of all forms of a list that any run on the CPU of run ?1 measured.
#define LIST_FORMS                                                                                 \
    "SELECT form_id, max(run_form.position) AS place FROM run_form JOIN list USING (list_id) "     \
    "JOIN run_key USING (run_id) WHERE list.name = ?4 AND "                                        \
    "uarch_key = (SELECT uarch_key FROM run_key WHERE run_id = ?1) GROUP BY form_id"
// The same from the tables of store_listed_begin().
#define LIST_BEST "(SELECT listed.*, place FROM temp.listed JOIN (" LIST_FORMS ") USING (form_id))"
#define LIST_FALSE                                                                                 \
    "(SELECT listed_false.*, place FROM temp.listed_false JOIN " LIST_BEST                         \
    " AS best USING (form, enc, bits))"
#define LIST_FAILURES                                                                              \
    "(SELECT listed_failure.*, place FROM temp.listed_failure JOIN " LIST_BEST                     \
    " AS best USING (form, enc, bits) WHERE listed_failure.run_id = "                              \
    "iif(test = 'ports', best.ports_run_id, best.run_id))"

// Subject of a filter: forms, pieces of code, or the run alone; WHOLE: the run alone, and all
// columns are read; SOURCE: the source filters by itself.
enum view_filter { FILTER_FORMS, FILTER_BENCH, FILTER_RUN, FILTER_WHOLE, FILTER_SOURCE };

struct view_source {
    const char *best, *run; // table without and with a run
    const char *best_order, *run_order;
    enum view_filter filter;
};

// Forms by name; numbers in their options have their order: 16 bytes come before 1024.
#define FORM_ORDER "mnemonic, operands, form COLLATE " STORE_BY_NUMBER ", enc, bits"

// The order is total, so that files made from the same content have the same bytes.
// clang-format off
static const struct view_source view_sources[] = {
    [STORE_VIEW_INSTRUCTION] = {"instruction_table", "run_instruction_table",
                                FORM_ORDER ", uarch, run_id",
                                "list, position, form, enc, bits", FILTER_FORMS},
    [STORE_VIEW_LATENCY] = {"latency_table", "run_latency_table",
                            FORM_ORDER ", uarch, run_id, test_position",
                            "list, position, form, enc, bits, test_position", FILTER_FORMS},
    [STORE_VIEW_PORT] = {"port_table", "run_port_table",
                         FORM_ORDER ", uarch, run_id",
                         "list, position, form, enc, bits", FILTER_FORMS},
    [STORE_VIEW_FALSE] = {"false_dependency_table", "run_false_table",
                          FORM_ORDER ", uarch, run_id, test_position",
                          "list, position, form, enc, bits, test_position", FILTER_FORMS},
    [STORE_VIEW_DOUBT] = {"doubt_table", "doubt_table",
                          "run_id, list, position, form, enc, bits, test_position, other_way",
                          "list, position, form, enc, bits, test_position, other_way",
                          FILTER_FORMS},
    [STORE_VIEW_EVIDENCE] = {"port_evidence", "run_port_evidence",
                             FORM_ORDER ", uarch, run_id, trial_position",
                             "list, position, form, enc, bits, trial_position", FILTER_FORMS},
    [STORE_VIEW_KERNEL] =
        {"kernel_table", "run_kernel_table",
         FORM_ORDER ", uarch, run_id, test_position, kernel_position",
         "list, position, form, enc, bits, test_position, kernel_position", FILTER_FORMS},
    [STORE_VIEW_PROPERTY] = {"property_table", "run_property_table",
                             "run_id, grp, property, variant, sentence, conclusion, value",
                             "position, conclusion_position, value_position", FILTER_WHOLE},
    [STORE_VIEW_PROPERTY_POINT] = {"property_point", "property_point",
                                   "run_id, property, variant, by_x, x, y",
                                   "property, variant, by_x, x, y", FILTER_WHOLE},
    [STORE_VIEW_FAILURE] =
        {"failure_table", "failure_table",
         "run_id, list, position, form, enc, bits, test_position IS NULL, test_position",
         "list, position, form, enc, bits, test_position IS NULL, test_position", FILTER_FORMS},
    [STORE_VIEW_RUN] = {"run_table", "run_table", "started_utc DESC, run_id DESC", "run_id",
                        FILTER_WHOLE},
    [STORE_VIEW_BENCH] = {"bench_table", "bench_table", "run_id, position, thread",
                          "position, thread", FILTER_BENCH},
    [STORE_VIEW_REPETITION] = {"bench_repetition_table",
                               "bench_repetition_table", "run_id, position, seq", "position, seq",
                               FILTER_BENCH},
    [STORE_VIEW_LIST] = {LIST_NEWEST, "list_table", "list",
                         "list", FILTER_RUN},
    [STORE_VIEW_WARNING] = {"run_warning", "run_warning", "run_id, text", "text",
                            FILTER_RUN},
    [STORE_VIEW_LIST_BEST] = {NULL, LIST_BEST, NULL, "place, form, enc, bits",
                              FILTER_SOURCE},
    [STORE_VIEW_LIST_FALSE] = {NULL, LIST_FALSE, NULL,
                               "place, form, enc, bits, test_position", FILTER_SOURCE},
    [STORE_VIEW_LIST_FAILURE] = {NULL, LIST_FAILURES, NULL,
                                 "place, form, enc, bits, test_position IS NULL, test_position",
                                 FILTER_SOURCE},
};
// clang-format on

// Writes a condition with each of `n` parameters, numbered from `first`.
static void put_one_of(struct strbuf *sql, const char *format, int first, int n)
{
    for (int i = 0; i < n; i++) {
        strbuf_puts(sql, i ? " OR " : " AND (");
        for (const char *at = format; *at; at++)
            if (*at == '#')
                strbuf_printf(sql, "?%d", first + i);
            else
                strbuf_put(sql, at, 1);
    }
    strbuf_puts(sql, n ? ")" : "");
}

// Condition on a form: a glob matches.
#define FORM_GLOBS                                                                                 \
    "lower(mnemonic) GLOB # OR lower(mnemonic || ' ' || operands) GLOB # OR lower(form) GLOB # "   \
    "OR lower(shown_plain(form)) GLOB # "                                                          \
    "OR iif(form GLOB '{*', substr(form, 1, instr(form, ' ')), '{' || enc || '} ') || "            \
    "rtrim(lower(mnemonic || ' ' || operands)) GLOB #"

enum { GLOBS_FIRST = 20000 }; // number of their first parameter, after those of an expression

static void store_select(enum store_view view, struct strbuf *sql)
{
    strbuf_puts(sql, "SELECT ");
    if (view_sources[view].filter == FILTER_WHOLE)
        strbuf_puts(sql, "*");
    else
        columns_select(view, sql);
}

// Returns the join of a table of others to the source of a view.
static const char *store_beside_sql(const struct store *store, enum store_view view)
{
    return store->beside && view == STORE_VIEW_INSTRUCTION
               ? " LEFT JOIN temp.beside USING (uarch, form, enc, bits)"
               : "";
}

static void store_rows_sql(const struct store *store, enum store_view view,
                           const struct store_filter *filter, int nglobs, struct strbuf *sql)
{
    const struct view_source *source = &view_sources[view];
    store_select(view, sql);
    strbuf_printf(sql, " FROM %s%s WHERE %s", filter->run_id ? source->run : source->best,
                  store_beside_sql(store, view),
                  source->filter == FILTER_SOURCE ? "?4 <> ''" : "(?1 = 0 OR run_id = ?1)");
    if (source->filter == FILTER_BENCH)
        put_one_of(sql, "lower(label) GLOB # OR lower(snippet) GLOB #", GLOBS_FIRST, nglobs);
    if (source->filter == FILTER_FORMS) {
        put_one_of(sql, FORM_GLOBS, GLOBS_FIRST, nglobs);
        strbuf_puts(sql, " AND (?4 IS NULL OR list = ?4)");
    }
    if (source->filter == FILTER_FORMS || source->filter == FILTER_BENCH)
        strbuf_puts(sql, " AND (?3 IS NULL OR instr(',' || ?3 || ',', ',' || uarch || ','))");
    if (filter->where)
        strbuf_printf(sql, " AND %s", strbuf_text(&filter->where->sql));
    strbuf_printf(sql, " ORDER BY %s%s%s", filter->sort ? filter->sort : "",
                  filter->sort ? ", " : "",
                  filter->run_id ? source->run_order : source->best_order);
    if (filter->limit)
        strbuf_puts(sql, " LIMIT ?5");
}

int store_listed_begin(struct store *store, int64_t run_id, struct err *err)
{
    store_temporary_begin(store);
    int result = store_script(store, err,
                              "DROP TABLE IF EXISTS temp.listed; "
                              "DROP TABLE IF EXISTS temp.listed_false; "
                              "DROP TABLE IF EXISTS temp.listed_failure",
                              "forget its tables of lists");
    if (result == 0)
        result = store_execute(store, err,
                               "CREATE TEMP TABLE listed AS SELECT * FROM best_instruction "
                               "WHERE uarch_key = (SELECT uarch_key FROM run_key WHERE run_id = ?)",
                               "i", run_id);
    // The + prevents a plan that looks for the best rows first, which takes seconds, if none are
    // needed.
    if (result == 0)
        result = store_execute(
            store, err,
            "CREATE TEMP TABLE listed_false AS SELECT * FROM run_false_table "
            "WHERE latency_clk > 0 AND +test_id IN (SELECT test_id FROM best_run_form AS best "
            "JOIN run_form_test AS its "
            "ON its.run_form_id = coalesce(best.latency_row, best.run_form_id) "
            "WHERE uarch_key = (SELECT uarch_key FROM run_key WHERE run_id = ?))",
            "i", run_id);
    if (result == 0)
        result = store_script(
            store, err,
            "CREATE INDEX temp.listed_form ON listed (form_id); "
            "CREATE TEMP TABLE listed_failure AS SELECT * FROM failure_table WHERE run_id IN "
            "(SELECT run_id FROM listed UNION SELECT ports_run_id FROM listed); "
            "CREATE INDEX temp.listed_failure_form ON listed_failure (form, enc, bits)",
            "collect what its lists say");
    store_temporary_end(store);
    return result;
}

// Collects the forms for which a condition with parameters from GLOBS_FIRST on is true. Temporary
// tables hide the file's from the views, which are temporary, too.
static int store_narrow_where(struct store *store, const char *condition, char *const *values,
                              int n, struct err *err)
{
    static const char doing[] = "collect what it says of a few forms";
    struct strbuf sql = {0};
    sqlite3_stmt *stmt = NULL;
    assert(store->mode == STORE_READ);
    store_temporary_begin(store);
    int result = store_script(
        store, err, "DROP TABLE IF EXISTS temp.form; DROP TABLE IF EXISTS temp.run_form", doing);
    strbuf_printf(&sql, "CREATE TEMP TABLE form AS SELECT * FROM main.form WHERE 1 %s", condition);
    bool made = result == 0 &&
                sqlite3_prepare_v2(store->db, strbuf_text(&sql), -1, &stmt, NULL) == SQLITE_OK;
    for (int i = 0; made && i < n; i++)
        sqlite3_bind_text(stmt, GLOBS_FIRST + i, values[i], -1, SQLITE_TRANSIENT);
    made = made && sqlite3_step(stmt) == SQLITE_DONE;
    sqlite3_finalize(stmt);
    if (result == 0 && !made)
        result = store_error(store, err, doing);
    if (result == 0)
        result = store_script(store, err,
                              "CREATE UNIQUE INDEX temp.form_key ON form (form_id); "
                              "CREATE TEMP TABLE run_form AS SELECT run_form.* FROM temp.form "
                              "JOIN main.run_form AS run_form USING (form_id); "
                              "CREATE UNIQUE INDEX temp.run_form_key ON run_form (run_form_id); "
                              "CREATE INDEX temp.run_form_form ON run_form (form_id)",
                              doing);
    store_temporary_end(store);
    strbuf_free(&sql);
    return result;
}

// Restricts reading to forms that have one of the texts in a column.
static int store_narrow_among(struct store *store, const char *column, const char *const *texts,
                              int n, struct err *err)
{
    struct strbuf names = {0}, condition = {0};
    struct json json = {.out = &names};
    json_open(&json, '[');
    for (int i = 0; i < n; i++)
        json_text(&json, texts[i]);
    json_close(&json, ']');
    strbuf_printf(&condition, "AND %s IN (SELECT value FROM json_each(?%d))", column, GLOBS_FIRST);
    char *const values[] = {(char *)strbuf_text(&names)};
    int result = store_narrow_where(store, strbuf_text(&condition), values, 1, err);
    strbuf_free(&names);
    strbuf_free(&condition);
    return result;
}

int store_narrow(struct store *store, const char *const *mnemonics, int n, struct err *err)
{
    return store_narrow_among(store, "mnemonic", mnemonics, n, err);
}

int store_narrow_forms(struct store *store, const char *const *forms, int n, struct err *err)
{
    return store_narrow_among(store, "form", forms, n, err);
}

bool store_view_has_forms(enum store_view view)
{
    return view_sources[view].filter == FILTER_FORMS;
}

int store_narrow_globs(struct store *store, enum store_view view, const struct store_filter *filter,
                       struct err *err)
{
    if (view_sources[view].filter != FILTER_FORMS || filter->nglobs == 0)
        return 0;
    struct strbuf condition = {0};
    struct form_globs globs = form_globs_make(filter->globs, filter->nglobs, true);
    put_one_of(&condition, FORM_GLOBS, GLOBS_FIRST, globs.n);
    int result = store_narrow_where(store, strbuf_text(&condition), globs.texts, globs.n, err);
    form_globs_free(&globs);
    strbuf_free(&condition);
    return result;
}

// The views of a database that is read are temporary, so this one is in the place of theirs.
int store_keep_best(struct store *store, struct err *err)
{
    assert(store->mode == STORE_READ);
    store_temporary_begin(store);
    int result = store_script(
        store, err,
        "CREATE TEMP TABLE IF NOT EXISTS best_of_machine AS SELECT * FROM best_run_form; "
        "CREATE INDEX IF NOT EXISTS temp.best_of_form ON best_of_machine (form_id); "
        "DROP VIEW temp.best_run_form; "
        "CREATE TEMP VIEW best_run_form AS SELECT * FROM best_of_machine",
        "keep its best rows");
    store_temporary_end(store);
    return result;
}

sqlite3_stmt *store_view_columns(struct store *store, enum store_view view, struct err *err)
{
    struct strbuf sql = {0};
    sqlite3_stmt *stmt = NULL;
    store_select(view, &sql);
    strbuf_printf(&sql, " FROM %s%s LIMIT 0", view_sources[view].run,
                  store_beside_sql(store, view));
    if (sqlite3_prepare_v2(store->db, sql.data, -1, &stmt, NULL) != SQLITE_OK)
        store_error(store, err, "read");
    strbuf_free(&sql);
    return stmt;
}

static void store_rows_bind(sqlite3_stmt *stmt, const struct view_source *source,
                            const struct store_filter *filter, const struct form_globs *globs)
{
    // SQLite ignores parameters that the statement does not have.
    sqlite3_bind_int64(stmt, 1, filter->run_id);
    sqlite3_bind_text(stmt, 3, filter->uarch, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(stmt, 5, filter->limit);
    if (source->filter == FILTER_FORMS || source->filter == FILTER_SOURCE)
        sqlite3_bind_text(stmt, 4, filter->list, -1, SQLITE_TRANSIENT);
    for (int i = 0; i < globs->n; i++)
        sqlite3_bind_text(stmt, GLOBS_FIRST + i, globs->texts[i], -1, SQLITE_TRANSIENT);
    for (int i = 0; filter->where && i < filter->where->nvalues; i++) {
        const struct where_value *value = &filter->where->values[i];
        if (value->text)
            sqlite3_bind_text(stmt, WHERE_FIRST + i, value->text, -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_double(stmt, WHERE_FIRST + i, value->number);
    }
}

struct store_rows *store_rows_open(struct store *store, enum store_view view,
                                   const struct store_filter *filter, struct err *err)
{
    static const struct store_filter everything = {0};
    const struct view_source *source = &view_sources[view];
    if (!filter)
        filter = &everything;
    struct strbuf sql = {0};
    struct form_globs globs =
        form_globs_make(filter->globs, filter->nglobs, source->filter == FILTER_FORMS);
    store_rows_sql(store, view, filter, globs.n, &sql);
    struct store_rows *rows = xcalloc(1, sizeof *rows);
    rows->store = store;
    rows->view = view;
    int got = sqlite3_prepare_v2(store->db, sql.data, -1, &rows->stmt, NULL);
    strbuf_free(&sql);
    if (got == SQLITE_OK)
        store_rows_bind(rows->stmt, source, filter, &globs);
    form_globs_free(&globs);
    if (got == SQLITE_OK)
        return rows;
    store_error(store, err, "read");
    store_rows_close(rows);
    return NULL;
}

int store_rows_next(struct store_rows *rows, struct err *err)
{
    int got = sqlite3_step(rows->stmt);
    arena_free(&rows->shown);
    return got == SQLITE_ROW ? 1 : got == SQLITE_DONE ? 0 : store_error(rows->store, err, "read");
}

void store_rows_close(struct store_rows *rows)
{
    if (!rows)
        return;
    sqlite3_finalize(rows->stmt);
    arena_free(&rows->shown);
    free(rows);
}

enum store_view store_rows_view(const struct store_rows *rows)
{
    return rows->view;
}

int store_rows_columns(const struct store_rows *rows)
{
    return sqlite3_column_count(rows->stmt);
}

const char *store_rows_name(const struct store_rows *rows, int column)
{
    return sqlite3_column_name(rows->stmt, column);
}

int store_rows_column(struct store_rows *rows, const char *name)
{
    int n = store_rows_columns(rows);
    int *found = &rows->found[(uintptr_t)name / 2 % ARRAY_LEN(rows->found)];
    if (strcmp(store_rows_name(rows, *found), name) == 0)
        return *found;
    for (*found = 0; *found < n && strcmp(store_rows_name(rows, *found), name) != 0;)
        ++*found;
    assert(*found < n);
    return *found;
}

enum store_type store_rows_type(struct store_rows *rows, int column)
{
    switch (sqlite3_column_type(rows->stmt, column)) {
    case SQLITE_NULL:
        return STORE_NULL;
    case SQLITE_INTEGER:
        return STORE_INTEGER;
    case SQLITE_FLOAT:
        return STORE_REAL;
    default:
        return STORE_TEXT;
    }
}

const char *store_rows_text(struct store_rows *rows, int column)
{
    return text_is_plain(store_text(rows->stmt, column))
               ? store_text(rows->stmt, column)
               : store_column_text(rows->stmt, column, &rows->shown);
}

const char *store_rows_keep(struct store_rows *rows, const char *name, struct arena *arena)
{
    return arena_strdup(arena, store_text_of(rows, name));
}

const char *store_rows_form(struct store_rows *rows, int column)
{
    struct strbuf text = {0};
    const char *form = store_rows_text(rows, column), *shown = form_shown(form, &text);
    if (shown != form)
        shown = arena_strdup(&rows->shown, shown);
    strbuf_free(&text);
    return shown;
}

const char *store_rows_exact(struct store_rows *rows, int column)
{
    return store_text(rows->stmt, column);
}

double store_rows_real(struct store_rows *rows, int column)
{
    if (store_rows_type(rows, column) == STORE_NULL)
        return (double)NAN;
    return sqlite3_column_double(rows->stmt, column);
}

int64_t store_rows_integer(struct store_rows *rows, int column)
{
    return sqlite3_column_int64(rows->stmt, column);
}

struct field_value store_rows_value(struct store_rows *rows, int column)
{
    enum store_type type = store_rows_type(rows, column);
    bool text = type == STORE_TEXT;
    return (struct field_value){
        .type = text                 ? LOOK_TEXT
                : type == STORE_REAL ? LOOK_REAL
                                     : LOOK_INTEGER,
        .none = type == STORE_NULL,
        .integer = store_rows_integer(rows, column),
        .real = text ? (double)NAN : store_rows_real(rows, column),
        .text = text ? store_rows_exact(rows, column) : "",
    };
}

enum store_type store_type_of(struct store_rows *rows, const char *name)
{
    return store_rows_type(rows, store_rows_column(rows, name));
}

const char *store_text_of(struct store_rows *rows, const char *name)
{
    return store_rows_text(rows, store_rows_column(rows, name));
}

const char *store_exact_of(struct store_rows *rows, const char *name)
{
    return store_rows_exact(rows, store_rows_column(rows, name));
}

const char *store_form_of(struct store_rows *rows, const char *name)
{
    return store_rows_form(rows, store_rows_column(rows, name));
}

double store_real_of(struct store_rows *rows, const char *name)
{
    return store_rows_real(rows, store_rows_column(rows, name));
}

int64_t store_integer_of(struct store_rows *rows, const char *name)
{
    return store_rows_integer(rows, store_rows_column(rows, name));
}

#define NEWEST_FIRST                                                                               \
    "ORDER BY EXISTS (SELECT 1 FROM bench WHERE bench.run_id = run.run_id) "                       \
    "OR EXISTS (SELECT 1 FROM property WHERE property.run_id = run.run_id), "                      \
    "NOT " STORE_RUN_IS_OWN ", finished_utc IS NULL, started_utc DESC, run_id DESC LIMIT 1"

int store_run_newest(struct store *store, const char *uarch, int64_t *run_id, struct err *err)
{
    return store_get_int(store, err, run_id,
                         "SELECT run_id FROM run JOIN cpu USING (cpu_id) "
                         "WHERE ?1 IS NULL OR " STORE_UARCH " = ?1 " NEWEST_FIRST,
                         "t", uarch);
}

int store_run_newest_here(struct store *store, const struct cpu_info *cpu, int64_t *run_id,
                          struct err *err)
{
    char *value = NULL;
    int got = store_of_this_cpu(store,
                                "SELECT run_id FROM run JOIN cpu USING (cpu_id) "
                                "WHERE " STORE_THIS_CPU "AND " STORE_RUN_IS_OWN " " NEWEST_FIRST,
                                cpu, &value, err);
    if (value)
        *run_id = strtoll(value, NULL, 10);
    free(value);
    return got;
}

// `ours`: runs on that CPU, with any microcode; for a run measured here, only such runs. Where
// tables have answers of other runs (unfinished, or of another machine of the same uarch), any of
// ours may be the source instead.
static const char table_runs[] =
    "WITH asked AS (SELECT uarch_key, run_key.uarch, vendor, brand, signature FROM run_key "
    "JOIN cpu USING (cpu_id) WHERE run_id = ?1), "
    "ours AS MATERIALIZED (SELECT run.run_id FROM run JOIN cpu USING (cpu_id) "
    "JOIN run_key USING (run_id) WHERE run.finished_utc IS NOT NULL "
    "AND (run_key.uarch_key, cpu.vendor, cpu.brand, cpu.signature) = "
    "(SELECT uarch_key, vendor, brand, signature FROM asked) "
    "AND NOT EXISTS (SELECT 1 FROM bench WHERE bench.run_id = run.run_id) "
    "AND (" STORE_RUN_IS_OWN " OR EXISTS (SELECT 1 FROM merged_run WHERE run_id = ?1))), "
    "best AS MATERIALIZED (SELECT run_id, latency_row, rthroughput_row, port_row "
    "FROM best_run_form "
    "WHERE uarch_key = (SELECT uarch_key FROM asked)), "
    "named AS MATERIALIZED (SELECT run_id FROM best "
    "UNION SELECT run_id FROM run_form WHERE run_form_id IN "
    "(SELECT latency_row FROM best UNION SELECT rthroughput_row FROM best "
    "UNION SELECT port_row FROM best) "
    "UNION SELECT run_id FROM property_table WHERE uarch = (SELECT uarch FROM asked) "
    // A completing run asks some forms only; the others are in other runs.
    "UNION SELECT other.run_id FROM run JOIN run AS other ON run.completes <> '' "
    "AND run.completes IN (other.uuid, other.completes) WHERE run.run_id IN "
    "(SELECT run_id FROM best)) "
    "SELECT run_id FROM run WHERE run_id = ?1 OR (run_id IN ours "
    "AND EXISTS (SELECT 1 FROM ours WHERE run_id = ?1) "
    "AND (run_id IN named OR EXISTS (SELECT 1 FROM named WHERE run_id NOT IN ours))) "
    "ORDER BY started_utc, run_id";

int store_table_runs(struct store *store, int64_t run_id, int64_t **run_ids, int *nruns,
                     struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err, table_runs, "i", run_id);
    int got;
    *run_ids = NULL;
    *nruns = 0;
    if (!stmt)
        return -1;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        *run_ids = xrealloc(*run_ids, ((size_t)*nruns + 1) * sizeof **run_ids);
        (*run_ids)[(*nruns)++] = sqlite3_column_int64(stmt, 0);
    }
    return store_rows_end(store, stmt, got, err);
}

int store_run_is_merged(struct store *store, int64_t run_id, struct err *err)
{
    int64_t found;
    return store_get_int(store, err, &found, "SELECT 1 FROM merged_run WHERE run_id = ?1", "i",
                         run_id);
}

int store_has_run(struct store *store, int64_t run_id, struct err *err)
{
    int64_t found;
    return store_get_int(store, err, &found, "SELECT 1 FROM run WHERE run_id = ?1", "i", run_id);
}

char *store_texts(struct store *store, sqlite3_stmt *stmt, struct err *err)
{
    struct strbuf texts = {0};
    int got;
    if (!stmt)
        return NULL;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *text = store_text(stmt, i);
            strbuf_put(&texts, text, strlen(text) + 1);
        }
    if (got != SQLITE_DONE) {
        store_error(store, err, "read");
        strbuf_free(&texts);
    } else {
        strbuf_put(&texts, "", 1);
    }
    sqlite3_reset(stmt);
    return texts.data;
}

char *store_run_lists(struct store *store, int64_t run_id, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT DISTINCT list.name FROM run_form JOIN list "
                                    "USING (list_id) WHERE run_id = ?1 ORDER BY list.name",
                                    "i", run_id);
    return store_texts(store, stmt, err);
}

char *store_listed(struct store *store, int64_t run_id, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT DISTINCT list.name FROM list JOIN run_form USING (list_id) "
                   "JOIN run_key USING (run_id) WHERE uarch_key = "
                   "(SELECT uarch_key FROM run_key WHERE run_id = ?1) ORDER BY list.name",
                   "i", run_id);
    return store_texts(store, stmt, err);
}

char *store_mnemonics(struct store *store, struct err *err)
{
    return store_texts(
        store, store_bind(store, err, "SELECT DISTINCT mnemonic FROM main.form ORDER BY 1", ""),
        err);
}

char *store_uarchs(struct store *store, const char *asked, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err,
                   "SELECT DISTINCT uarch FROM run_key WHERE (?1 IS NULL OR "
                   "instr(',' || ?1 || ',', ',' || uarch || ',')) AND EXISTS (SELECT 1 FROM "
                   "run_form WHERE run_form.run_id = run_key.run_id) ORDER BY "
                   "instr(',' || ?1 || ',', ',' || uarch || ','), uarch",
                   "t", asked);
    return store_texts(store, stmt, err);
}

char *store_run_list_title(struct store *store, int64_t run_id, const char *list, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT title FROM run_list JOIN list USING (list_id) "
                                    "JOIN run_key USING (run_id) WHERE name = ?2 "
                                    "AND title <> '' AND uarch_key = "
                                    "(SELECT uarch_key FROM run_key WHERE run_id = ?1) "
                                    "ORDER BY run_id = ?1 DESC, started_utc DESC, run_id DESC",
                                    "is", run_id, list);
    if (!stmt)
        return NULL;
    int got = sqlite3_step(stmt);
    char *title = NULL;
    struct strbuf shown = {0};
    text_put_escaped(&shown, got == SQLITE_ROW ? store_text(stmt, 0) : list);
    if (got == SQLITE_ROW || got == SQLITE_DONE)
        title = xstrdup(strbuf_text(&shown));
    else
        store_error(store, err, "read");
    sqlite3_reset(stmt);
    strbuf_free(&shown);
    return title;
}
