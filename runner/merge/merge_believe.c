// SPDX-License-Identifier: MIT
// Decides what to believe of a foreign run; see merge_internal.h. Facts must be believed: all of a
// measurement could be invented. Results are derived again, so that they follow from the samples;
// results that cannot be derived again must at least be possible.
#include "merge_internal.h"
#include "rederive/rederive.h"
#include "store/store_run.h"
#include "store/store_validation.h"
#include "util/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// Bounds of the core cycles of one instruction. Latencies may be a little below 0 if more was
// subtracted than they take; nothing that is measured takes seconds.
#define BELIEVE_LEAST_CLK "-1"
#define BELIEVE_MOST_CLK "1e9"

int merge_check_keys(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err, "PRAGMA foreign_key_check", "");
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt), result = 0;
    if (got == SQLITE_ROW)
        result = err_set(err,
                         "%s: a row of its table %s belongs to a row of %s that is not there; the "
                         "file is damaged or was not written by latput",
                         store->path, store_text(stmt, 0), store_text(stmt, 2));
    else if (got != SQLITE_DONE)
        result = store_error(store, err, "check its keys");
    sqlite3_reset(stmt);
    return result;
}

static bool value_is_clean(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);
    if (type == SQLITE_TEXT)
        return text_is_clean(store_text(row, column), (size_t)sqlite3_column_bytes(row, column));
    return type != SQLITE_FLOAT || isfinite(sqlite3_column_double(row, column));
}

static int check_table(struct store *store, const char *table, struct err *err)
{
    sqlite3_stmt *row = NULL;
    char *sql = sqlite3_mprintf("SELECT * FROM main.\"%w\"", table);
    int got = sqlite3_prepare_v2(store->db, sql, -1, &row, NULL), result = 0;
    sqlite3_free(sql);
    while (got == SQLITE_OK && result == 0 && (got = sqlite3_step(row)) == SQLITE_ROW) {
        got = SQLITE_OK;
        for (int c = 0; c < sqlite3_column_count(row) && result == 0; c++)
            if (!value_is_clean(row, c))
                result =
                    err_set(err,
                            "%s: a value of column %s is malformed (control characters, bad UTF-8, "
                            "or not a finite number); the file is damaged or was not written by "
                            "latput",
                            store->path, sqlite3_column_name(row, c));
    }
    if (result == 0 && got != SQLITE_DONE)
        result = store_error(store, err, "read its values");
    sqlite3_finalize(row);
    return result;
}

int merge_check_values(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err, "SELECT name FROM main.sqlite_schema WHERE type = 'table'", "");
    int got = SQLITE_DONE, result = stmt ? 0 : -1;
    while (result == 0 && (got = sqlite3_step(stmt)) == SQLITE_ROW)
        result = check_table(store, store_text(stmt, 0), err);
    if (result == 0)
        return store_rows_end(store, stmt, got, err);
    sqlite3_reset(stmt);
    return -1;
}

// Counts the timings that have accepted repeats, and how many of these have no samples; a kernel
// that has a time but no timing counts as one.
static int believe_count(struct store *store, int64_t run_id, int64_t *timed, int64_t *bare,
                         struct err *err)
{
    int64_t untimed = 0;
    if (store_get_int(store, err, timed,
                      "SELECT count(*) FROM run_form JOIN test USING (run_form_id) "
                      "JOIN kernel USING (test_id) JOIN timing USING (kernel_id) "
                      "WHERE run_id = ?1 AND accepted > 0",
                      "i", run_id) < 0 ||
        store_get_int(store, err, bare,
                      "SELECT count(*) FROM run_form JOIN test USING (run_form_id) "
                      "JOIN kernel USING (test_id) JOIN timing USING (kernel_id) "
                      "WHERE run_id = ?1 AND accepted > 0 AND NOT EXISTS "
                      "(SELECT 1 FROM sample WHERE sample.timing_id = timing.timing_id)",
                      "i", run_id) < 0 ||
        store_get_int(store, err, &untimed,
                      "SELECT count(*) FROM run_form JOIN test USING (run_form_id) "
                      "JOIN kernel USING (test_id) JOIN estimate USING (kernel_id) "
                      "WHERE run_id = ?1 AND estimate.outcome = 'ok' AND NOT EXISTS "
                      "(SELECT 1 FROM timing WHERE timing.kernel_id = kernel.kernel_id)",
                      "i", run_id) < 0)
        return -1;
    *timed += untimed;
    *bare += untimed;
    return 0;
}

static int believe_results(struct store *store, int64_t run_id, const char *label, struct err *err)
{
    int64_t impossible = 0;
    if (store_get_int(store, err, &impossible,
                      "SELECT count(*) FROM run_form JOIN test USING (run_form_id) "
                      "JOIN result USING (test_id) WHERE run_id = ?1 AND result.outcome = 'ok' "
                      "AND NOT coalesce(value_clk BETWEEN " BELIEVE_LEAST_CLK
                      " AND " BELIEVE_MOST_CLK ", 0)",
                      "i", run_id) < 0)
        return -1;
    return impossible == 0 ? 0
                           : err_set(err,
                                     "%s: %" PRId64
                                     " of its results are no times that an instruction can take; "
                                     "the file is damaged or was not written by latput",
                                     label, impossible);
}

// Checks that the result of a piece of code lies between its repetitions.
static int believe_benches(struct store *store, int64_t run_id, const char *label, struct err *err)
{
    int64_t beyond = 0;
    if (store_get_int(
            store, err, &beyond,
            "SELECT count(*) FROM (SELECT bench_thread.instance_clk AS clk, "
            "min(elapsed_clk) / nullif(1.0 * copies * iterations * instances, 0) AS least, "
            "max(elapsed_clk) / nullif(1.0 * copies * iterations * instances, 0) AS most "
            "FROM bench JOIN bench_thread USING (bench_id) LEFT JOIN bench_repetition AS one "
            "ON one.bench_id = bench.bench_id AND one.thread = bench_thread.thread "
            "AND one.accepted WHERE run_id = ?1 AND outcome = 'ok' "
            "AND bench_thread.instance_clk IS NOT NULL GROUP BY bench.bench_id, "
            "bench_thread.thread) "
            "WHERE NOT coalesce(clk BETWEEN least * 0.99 - 0.02 AND most * 1.01 + 0.02, 0)",
            "i", run_id) < 0)
        return -1;
    return beyond == 0
               ? 0
               : err_set(err,
                         "%s: the result of a piece of code does not follow from its repetitions; "
                         "the file is damaged or was not written by latput",
                         label);
}

// Checks the times of random mixes, and how much they are.
static int believe_mixes(struct store *store, int64_t run_id, const char *label, struct err *err)
{
    int64_t impossible = 0, bytes = 0;
    if (store_get_int(store, err, &impossible,
                      "SELECT count(*) FROM validation JOIN validation_mix USING (validation_id) "
                      "WHERE run_id = ?1 AND NOT (measured_clk > 0 "
                      "AND max(measured_clk, predicted_clk) <= " BELIEVE_MOST_CLK ")",
                      "i", run_id) < 0 ||
        store_get_int(store, err, &bytes,
                      "SELECT coalesce(max(bytes), 0) FROM (SELECT sum(length(CAST(mix AS BLOB)) + "
                      "?2) AS bytes FROM validation JOIN validation_mix USING (validation_id) "
                      "WHERE run_id = ?1 GROUP BY validation_id)",
                      "ii", run_id, (int64_t)store_validation_bytes("")) < 0)
        return -1;
    if (impossible > 0)
        return err_set(err,
                       "%s: %" PRId64 " of its random mixes have no times that instructions can "
                       "take; the file is damaged or was not written by latput",
                       label, impossible);
    return bytes <= STORE_VALIDATION_BYTES_MAX
               ? 0
               : err_set(err,
                         "%s: the random mixes of one of its validations are %" PRId64
                         " bytes, and they may be %d; the file was not written by latput",
                         label, bytes, STORE_VALIDATION_BYTES_MAX);
}

static int believe_samples(struct store *store, int64_t run_id, struct progress *progress,
                           struct err *err)
{
    int64_t results, changed;
    char text[160];
    if (rederive_shown(store, run_id, progress, &results, &changed, err) != 0)
        return -1;
    snprintf(text, sizeof text,
             "merged from a pack; its results were made again from its samples, and %" PRId64
             " of %" PRId64 " are not what the pack said",
             changed, results);
    if (changed == 0)
        return 0;
    return store_run_warning(store, run_id, text,
                             "the pack was made by another version of latput, or was changed", err);
}

static int believe_bare(struct store *store, int64_t run_id, struct err *err)
{
    return store_run_warning(store, run_id,
                             "kept without samples: nothing shows that its results were measured",
                             "a pack made by `latput pack --full` has them", err);
}

static int believe_slim(struct store *store, int64_t run_id, struct err *err)
{
    return store_run_warning(store, run_id,
                             "kept without samples, kernels and the timings behind its ports: "
                             "nothing shows that its results were measured",
                             "a pack made by `latput pack --full` has them", err);
}

// Finds out whether the run is kept without kernels, which is no error.
static int believe_is_slim(struct store *store, int64_t run_id, bool *slim, struct err *err)
{
    int64_t found = 0;
    int got = store_get_int(store, err, &found,
                            "SELECT count(*) FROM run WHERE run_id = ?1 AND " STORE_RUN_IS_SLIM,
                            "i", run_id);
    *slim = found > 0;
    return got < 0 ? -1 : 0;
}

int merge_mark_bare(struct store *store, int64_t run_id, struct err *err)
{
    int64_t timed = 0, bare = 0;
    bool slim;
    if (believe_count(store, run_id, &timed, &bare, err) != 0 ||
        believe_is_slim(store, run_id, &slim, err) != 0)
        return -1;
    if (slim)
        return believe_slim(store, run_id, err);
    return timed > 0 && bare == timed ? believe_bare(store, run_id, err) : 0;
}

int merge_believe(struct store *store, int64_t run_id, const char *label, struct progress *progress,
                  struct err *err)
{
    int64_t timed = 0, bare = 0;
    bool slim;
    if (believe_count(store, run_id, &timed, &bare, err) != 0 ||
        believe_is_slim(store, run_id, &slim, err) != 0)
        return -1;
    int result = 0;
    if (slim)
        result = believe_slim(store, run_id, err);
    else if (bare == 0)
        result = believe_samples(store, run_id, progress, err);
    else if (bare == timed)
        result = believe_bare(store, run_id, err);
    else
        result = err_set(err,
                         "%s: %" PRId64 " of its %" PRId64 " timings have no samples; the file is "
                         "damaged or was not written by latput",
                         label, bare, timed);
    if (result == 0)
        result = believe_results(store, run_id, label, err);
    if (result == 0)
        result = believe_benches(store, run_id, label, err);
    return result == 0 ? believe_mixes(store, run_id, label, err) : result;
}
