// SPDX-License-Identifier: MIT
// The SQLite extension: SELECT * FROM latput_bench('imul rax, rax', 'latency') measures a snippet
// as `latput bench` does and returns one row a repetition. A table-valued function, that is, an
// eponymous virtual table whose hidden columns are its parameters. docs/LIBRARY.md describes it.
#include "latput_sqlite.h"

#include "bench/bench.h"
#include "core/outcome.h"
#include "util/strbuf.h"

#include <math.h>
#include <pthread.h>
#include <sqlite3ext.h>
#include <string.h>
SQLITE_EXTENSION_INIT1

enum column {
    COL_REPETITION,
    COL_PASS,
    COL_COLD,
    COL_ACCEPTED,
    COL_TRIED,
    COL_TSC,
    COL_CORE_CLK,
    COL_CORE_CLK_PER_INSTR,
    COL_COUNTS,
    COL_SUMMARY_CLK,
    COL_MEDIAN_CLK,
    COL_SPREAD_CLK,
    COL_OUTCOME,
    COL_DETAIL,
    COL_UARCH,
    // Hidden: the parameters, in the order of the call.
    COL_CODE,
    COL_MODE,
    COL_INIT,
    COL_UNROLL,
    COL_LOOP,
    COL_REPEAT,
    COL_BITS,
    COL_INSTANCES,
    COL_EVENTS,
    COL_ALL_COLD,
    COL_CPU,
    COL_GIVE_UP_MS,
    COL_COUNT
};
enum { PARAMETERS = COL_COUNT - COL_CODE };

static const char bench_schema[] =
    "CREATE TABLE latput_bench(repetition INTEGER, pass INTEGER, cold INTEGER, accepted INTEGER, "
    "tried INTEGER, tsc REAL, core_clk REAL, instance_clk REAL, counts TEXT, "
    "summary_clk REAL, median_clk REAL, spread_clk REAL, outcome TEXT, detail TEXT, uarch TEXT, "
    "code TEXT HIDDEN, mode TEXT HIDDEN, init TEXT HIDDEN, unroll INTEGER HIDDEN, "
    "loop INTEGER HIDDEN, repeat INTEGER HIDDEN, bits INTEGER HIDDEN, instances INTEGER HIDDEN, "
    "events TEXT HIDDEN, all_cold INTEGER HIDDEN, cpu INTEGER HIDDEN, give_up_ms INTEGER HIDDEN)";

struct bench_cursor {
    sqlite3_vtab_cursor base;
    sqlite3_value *parameters[PARAMETERS]; // NULL: not given
    struct arena arena;
    struct bench_result result;
    int row, nrows; // at least one row, also where nothing was measured
};

// The measuring code is for one thread at a time; connections of other threads wait.
static pthread_mutex_t bench_lock = PTHREAD_MUTEX_INITIALIZER;

static int bench_connect(sqlite3 *db, void *data, int argc, const char *const *argv,
                         sqlite3_vtab **vtab, char **message)
{
    (void)data, (void)argc, (void)argv, (void)message;
    int status = sqlite3_declare_vtab(db, bench_schema);
    if (status != SQLITE_OK)
        return status;
    // Only statements that the user gives may measure: no view or trigger of a database at hand.
    sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    *vtab = sqlite3_malloc(sizeof **vtab);
    if (!*vtab)
        return SQLITE_NOMEM;
    memset(*vtab, 0, sizeof **vtab);
    return SQLITE_OK;
}

static int bench_disconnect(sqlite3_vtab *vtab)
{
    sqlite3_free(vtab);
    return SQLITE_OK;
}

// idxNum has a bit for each parameter that is given; they arrive in the order of the columns.
static int bench_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    int at[PARAMETERS], arguments = 0;
    (void)vtab;
    memset(at, -1, sizeof at);
    for (int i = 0; i < info->nConstraint; i++) {
        int parameter = info->aConstraint[i].iColumn - COL_CODE;
        int op = info->aConstraint[i].op;
        if (parameter < 0 || (op != SQLITE_INDEX_CONSTRAINT_EQ && op != SQLITE_INDEX_CONSTRAINT_IS))
            continue;
        if (!info->aConstraint[i].usable)
            return SQLITE_CONSTRAINT; // its value must be known before
        at[parameter] = i;
    }
    for (int i = 0; i < PARAMETERS; i++) {
        if (at[i] < 0)
            continue;
        info->aConstraintUsage[at[i]].argvIndex = ++arguments;
        info->aConstraintUsage[at[i]].omit = 1;
        info->idxNum |= 1 << i;
    }
    info->estimatedCost = 1e9; // better once than once per row of another table
    info->estimatedRows = 20;
    return SQLITE_OK;
}

static int bench_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    struct bench_cursor *own = sqlite3_malloc(sizeof *own);
    (void)vtab;
    if (!own)
        return SQLITE_NOMEM;
    memset(own, 0, sizeof *own);
    *cursor = &own->base;
    return SQLITE_OK;
}

static void bench_forget(struct bench_cursor *cursor)
{
    for (int i = 0; i < PARAMETERS; i++) {
        sqlite3_value_free(cursor->parameters[i]);
        cursor->parameters[i] = NULL;
    }
    arena_free(&cursor->arena);
    cursor->row = cursor->nrows = 0;
}

static int bench_close(sqlite3_vtab_cursor *cursor)
{
    struct bench_cursor *own = (struct bench_cursor *)cursor;
    bench_forget(own);
    sqlite3_free(own);
    return SQLITE_OK;
}

// Returns true if the parameter is given and not NULL, which stands for the default.
static bool parameter_given(const struct bench_cursor *cursor, enum column column)
{
    sqlite3_value *value = cursor->parameters[column - COL_CODE];
    return value && sqlite3_value_type(value) != SQLITE_NULL;
}

static const char *parameter_text(const struct bench_cursor *cursor, enum column column)
{
    return parameter_given(cursor, column)
               ? (const char *)sqlite3_value_text(cursor->parameters[column - COL_CODE])
               : NULL;
}

// Text ends for us where it has a NUL, and what comes after it would not be measured.
static int parameters_check(const struct bench_cursor *cursor, struct err *err)
{
    static const enum column texts[] = {COL_CODE, COL_INIT, COL_MODE, COL_EVENTS};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = parameter_text(cursor, texts[i]);
        int bytes = text ? sqlite3_value_bytes(cursor->parameters[texts[i] - COL_CODE]) : 0;
        if (text && strlen(text) != (size_t)bytes)
            return err_set(err, "a text has a NUL, char(0), in it: take it out");
    }
    return 0;
}

static int parameter_number(const struct bench_cursor *cursor, enum column column, int otherwise)
{
    if (!parameter_given(cursor, column))
        return otherwise;
    sqlite3_int64 value = sqlite3_value_int64(cursor->parameters[column - COL_CODE]);
    return value < -1 || value > BENCH_LOOP_MAX ? -2 : (int)value; // -2: no parameter allows it
}

static int bench_fill_spec(const struct bench_cursor *cursor, struct bench_spec *spec,
                           struct err *err)
{
    *spec = bench_defaults();
    if (parameters_check(cursor, err) != 0)
        return -1;
    spec->body = parameter_text(cursor, COL_CODE);
    spec->init = parameter_text(cursor, COL_INIT);
    spec->unroll = parameter_number(cursor, COL_UNROLL, 0);
    spec->loop = parameter_number(cursor, COL_LOOP, 0);
    spec->repeat = parameter_number(cursor, COL_REPEAT, 0);
    spec->bits = parameter_number(cursor, COL_BITS, 0);
    spec->instances = parameter_number(cursor, COL_INSTANCES, 0);
    spec->events = parameter_text(cursor, COL_EVENTS);
    spec->cold = parameter_number(cursor, COL_ALL_COLD, 0) > 0;
    spec->cpu = parameter_number(cursor, COL_CPU, -1);
    spec->give_up_ms = parameter_number(cursor, COL_GIVE_UP_MS, 0);
    const char *mode = parameter_text(cursor, COL_MODE);
    if (mode && bench_mode_parse(mode, &spec->mode) != 0)
        return err_set(err, "there is no mode '%s': 'latency' (the code as it is) or 'throughput'",
                       mode);
    if (!spec->body)
        return err_set(err, "which code? e.g. SELECT * FROM latput_bench('imul rax, rax')");
    if (spec->cpu < -1 || spec->give_up_ms < 0)
        return err_set(err, "cpu and give_up_ms cannot be negative");
    if (code_check("code", spec->body, err) != 0 ||
        (spec->init && code_check("init", spec->init, err) != 0))
        return -1;
    return 0;
}

static int bench_run(struct bench_cursor *cursor, struct err *err)
{
    struct bench_spec spec;
    if (bench_fill_spec(cursor, &spec, err) != 0)
        return -1;
    pthread_mutex_lock(&bench_lock);
    int status = bench_measure(&spec, &cursor->result, &cursor->arena, err);
    pthread_mutex_unlock(&bench_lock);
    return status;
}

static int bench_filter(sqlite3_vtab_cursor *base, int given, const char *text, int argc,
                        sqlite3_value **argv)
{
    struct bench_cursor *cursor = (struct bench_cursor *)base;
    struct err err = {0};
    (void)text;
    bench_forget(cursor);
    for (int i = 0, argument = 0; i < PARAMETERS && argument < argc; i++)
        if (given >> i & 1)
            cursor->parameters[i] = sqlite3_value_dup(argv[argument++]);
    if (bench_run(cursor, &err) != 0) {
        sqlite3_free(base->pVtab->zErrMsg);
        base->pVtab->zErrMsg = sqlite3_mprintf("latput_bench: %s", err.text);
        return SQLITE_ERROR;
    }
    cursor->nrows = cursor->result.nrows ? cursor->result.nrows : 1;
    return SQLITE_OK;
}

static int bench_next(sqlite3_vtab_cursor *cursor)
{
    ((struct bench_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static int bench_eof(sqlite3_vtab_cursor *cursor)
{
    const struct bench_cursor *own = (const struct bench_cursor *)cursor;
    return own->row >= own->nrows;
}

static int bench_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *rowid)
{
    *rowid = ((struct bench_cursor *)cursor)->row;
    return SQLITE_OK;
}

// Puts the counts, {"instructions":6144,...}; NULL without events.
static void bench_put_counts(sqlite3_context *context, const struct bench_result *result,
                             const struct bench_row *row)
{
    if (result->nevents == 0)
        return;
    struct strbuf json = {0};
    for (int i = 0; i < result->nevents; i++) {
        strbuf_puts(&json, i ? ",\"" : "{\"");
        for (const char *at = result->metrics[i].name; *at; at++)
            strbuf_printf(&json, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
        if (isnan(row->values[i]))
            strbuf_puts(&json, "\":null");
        else
            strbuf_printf(&json, "\":%.15g", row->values[i]);
    }
    strbuf_puts(&json, "}");
    sqlite3_result_text(context, json.data, -1, SQLITE_TRANSIENT);
    strbuf_free(&json);
}

static void bench_put_row(sqlite3_context *context, const struct bench_result *result,
                          const struct bench_row *row, int column)
{
    switch (column) {
    case COL_REPETITION:
        sqlite3_result_int(context, row->repetition);
        break;
    case COL_PASS:
        sqlite3_result_int(context, row->pass);
        break;
    case COL_COLD:
        sqlite3_result_int(context, row->cold);
        break;
    case COL_ACCEPTED:
        sqlite3_result_int(context, row->accepted);
        break;
    case COL_TRIED:
        sqlite3_result_int(context, row->tried);
        break;
    case COL_TSC:
        sqlite3_result_double(context, row->tsc);
        break;
    case COL_CORE_CLK:
        sqlite3_result_double(context, row->clk);
        break;
    case COL_CORE_CLK_PER_INSTR:
        sqlite3_result_double(context, row->per_clk);
        break;
    default:
        bench_put_counts(context, result, row);
    }
}

static void bench_put_result(sqlite3_context *context, const struct bench_result *result,
                             int column)
{
    switch (column) { // a NaN becomes NULL
    case COL_SUMMARY_CLK:
        sqlite3_result_double(context, result->summary.clk);
        break;
    case COL_MEDIAN_CLK:
        sqlite3_result_double(context, result->summary.median_clk);
        break;
    case COL_SPREAD_CLK:
        sqlite3_result_double(context, result->summary.spread_clk);
        break;
    case COL_OUTCOME:
        sqlite3_result_text(context, outcome_name(result->outcome), -1, SQLITE_STATIC);
        break;
    case COL_DETAIL:
        if (result->detail && *result->detail)
            sqlite3_result_text(context, result->detail, -1, SQLITE_TRANSIENT);
        break;
    default:
        sqlite3_result_text(context, result->uarch, -1, SQLITE_TRANSIENT);
    }
}

static int bench_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const struct bench_cursor *cursor = (const struct bench_cursor *)base;
    const struct bench_result *result = &cursor->result;
    if (column >= COL_CODE) {
        sqlite3_value *value = cursor->parameters[column - COL_CODE];
        if (value)
            sqlite3_result_value(context, value);
    } else if (column >= COL_SUMMARY_CLK) {
        bench_put_result(context, result, column);
    } else if (result->nrows) {
        bench_put_row(context, result, &result->rows[cursor->row], column);
    }
    return SQLITE_OK;
}

static sqlite3_module bench_module = {
    .iVersion = 0,
    .xCreate = NULL, // no CREATE VIRTUAL TABLE: it exists by itself
    .xConnect = bench_connect,
    .xBestIndex = bench_best_index,
    .xDisconnect = bench_disconnect,
    .xOpen = bench_open,
    .xClose = bench_close,
    .xFilter = bench_filter,
    .xNext = bench_next,
    .xEof = bench_eof,
    .xColumn = bench_column,
    .xRowid = bench_rowid,
};

// The name follows from the file's, latput_sqlite.so.
__attribute__((visibility("default"))) int
sqlite3_latputsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

int sqlite3_latputsqlite_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    SQLITE_EXTENSION_INIT2(api);
    (void)message;
    return sqlite3_create_module(db, "latput_bench", &bench_module, NULL);
}
