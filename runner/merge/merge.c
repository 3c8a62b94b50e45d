// SPDX-License-Identifier: MIT
// Copies a run into a database file of its own, and runs out of a foreign one; see merge.h. An
// untrusted file is opened with SQLite's defensive settings, must have our tables, indexes and
// triggers and no view of another name, and must be sound; then only its tables are read.
#include "merge_internal.h"

#include "cpuinfo/cpuinfo.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Largest value accepted, far above any real one: a crafted one must not cause gigabytes to be
// allocated.
enum { MERGE_VALUE_BYTES_MAX = 4 << 20 };

int merge_extract_runs(struct store *store, const struct merge_extract *extract, const char *path,
                       struct err *err)
{
    // Our own tables hold what was checked when it was stored; an unfinished file is thrown away.
    // The log stays: without it a file has a number that grows with each transaction, and the same
    // runs are not the same bytes.
    static const char trusting[] = "PRAGMA synchronous = OFF; PRAGMA cache_size = -65536";
    struct store *fresh;
    struct stat about;
    int64_t last = 0;
    if (lstat(path, &about) == 0 && about.st_size > 0)
        return err_set(err, "%s: is there already", path);
    if (store_open(path, STORE_WRITE, &fresh, err) != 0)
        return -1;
    sqlite3_exec(fresh->db, trusting, NULL, NULL, NULL);
    int result = merge_copy_runs(store, extract, fresh, &last, err);
    for (int i = 0; i < extract->nruns && result == 0 && extract->keep < MERGE_KEEP_SAMPLES; i++)
        result = merge_mark_bare(fresh, last + 1 + i, err);
    if (result == 0)
        result = store_summary_forget(fresh, err);
    if (result == 0)
        result = store_script(fresh, err, "VACUUM; PRAGMA journal_mode = DELETE",
                              "pack it densely into one file");
    store_close(fresh);
    return result;
}

static int merge_check_sound(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err, "PRAGMA quick_check(1)", "");
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    const char *text = got == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    int result = 0;
    if (got != SQLITE_ROW)
        result = store_error(store, err, "check it");
    else if (!text || strcmp(text, "ok") != 0)
        result = err_set(err, "%s: the database in it is damaged: %s", store->path,
                         text ? text : "unknown");
    sqlite3_reset(stmt);
    return result;
}

static int merge_check_views(struct store *store, struct err *err)
{
    if (store_schema_temporary_views(store, err) != 0)
        return -1;
    int64_t foreign = 0;
    if (store_get_int(store, err, &foreign,
                      "SELECT count(*) FROM main.sqlite_schema WHERE type = 'view' AND name NOT IN "
                      "(SELECT name FROM temp.sqlite_schema WHERE type = 'view')",
                      "") < 0)
        return -1;
    return foreign == 0
               ? 0
               : err_set(err, "%s: has views that are not latput's; it is refused", store->path);
}

int merge_check_content(struct store *store, struct err *err)
{
    sqlite3_limit(store->db, SQLITE_LIMIT_LENGTH, MERGE_VALUE_BYTES_MAX);
    return merge_check_sound(store, err) == 0 && merge_check_keys(store, err) == 0
               ? merge_check_values(store, err)
               : -1;
}

static int merge_check(struct store *store, int64_t *version, struct err *err)
{
    bool fresh;
    sqlite3_limit(store->db, SQLITE_LIMIT_ATTACHED, 0);
    if (store_schema_identify(store, &fresh, version, err) != 0)
        return -1;
    if (fresh)
        return err_set(err, "%s: the database in it is empty", store->path);
    // The schema comes first: the check of the content evaluates its constraints.
    if (store_schema_compare(store, *version, err) != 0 || merge_check_views(store, err) != 0 ||
        store_script(store, err, "PRAGMA query_only = ON", "read it") != 0)
        return -1;
    return merge_check_content(store, err);
}

// The connection is not read-only: SQLite would not check the constraints of such a file.
static int merge_connect(const char *path, const char *label, struct store **out, struct err *err)
{
    if (store_connect(path, SQLITE_OPEN_READWRITE, out, err) != 0)
        return err_prefix(err, "%s: ", label);
    store_limit_steps(*out);
    free((*out)->path);
    (*out)->path = xstrdup(label);
    return 0;
}

// Brings the schema up to date. The file need not survive a failure.
static int merge_raise(struct store *store, int64_t version, struct err *err)
{
    if (store_script(store, err, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN",
                     "begin to write") != 0 ||
        store_schema_raise(store, version, err) != 0)
        return -1;
    return store_script(store, err, "COMMIT", "bring its schema up to date");
}

int merge_open(const char *path, const char *label, struct store **out, struct err *err)
{
    struct store *store;
    int64_t version = 0;
    if (merge_connect(path, label, &store, err) != 0)
        return -1;
    int result = merge_check(store, &version, err);
    if (result == 0 && version < STORE_SCHEMA_VERSION) {
        store_close(store);
        if (merge_connect(path, label, &store, err) != 0)
            return -1;
        result = merge_raise(store, version, err);
    }
    if (result == 0)
        *out = store;
    else
        store_close(store);
    return result;
}

int merge_copy_checked(struct store *from, int64_t source, struct store *store,
                       struct progress *progress, int64_t *run_id, struct err *err)
{
    const struct merge_extract what = {&source, 1, MERGE_KEEP_SAMPLES};
    int64_t last;
    char identity[65];
    if (merge_check_identity(from, source, identity, err) != 0 ||
        merge_copy_runs(from, &what, store, &last, err) != 0)
        return -1;
    *run_id = last + 1;
    if (store_begin(store, err) != 0 ||
        store_execute(store, err, "INSERT INTO merged_run (run_id) VALUES (?1)", "i", *run_id) !=
            0 ||
        merge_believe(store, *run_id, from->path, progress, err) != 0)
        return -1;
    return store_commit(store, err);
}

static int merge_has_samples(struct store *store, int64_t run_id, bool *has, struct err *err)
{
    int64_t found = 0;
    int got = store_get_int(
        store, err, &found,
        "SELECT EXISTS (SELECT 1 FROM run_form JOIN test USING (run_form_id) "
        "JOIN kernel USING (test_id) JOIN timing USING (kernel_id) JOIN sample USING (timing_id) "
        "WHERE run_id = ?1) OR EXISTS (SELECT 1 FROM property JOIN property_variant "
        "USING (property_id) JOIN sweep_point USING (variant_id) JOIN sweep_timing "
        "USING (point_id) JOIN sweep_sample USING (timing_id) WHERE run_id = ?1)",
        "i", run_id);
    *has = found > 0;
    return got < 0 ? -1 : 0;
}

// Checks that runs of the same name are the same, so that a merged run cannot keep others of its
// name out. If one of the two has no samples, results are compared.
static int merge_same(struct store *from, int64_t source, struct store *store, int64_t run_id,
                      const char *where, struct err *err)
{
    bool theirs, ours;
    if (merge_has_samples(from, source, &theirs, err) != 0 ||
        merge_has_samples(store, run_id, &ours, err) != 0)
        return -1;
    enum merge_keep keep = theirs && ours ? MERGE_KEEP_SAMPLES : MERGE_KEEP_RESULTS;
    char there[65], here[65];
    if (merge_hash_run(from, source, keep, there, err) != 0 ||
        merge_hash_run(store, run_id, keep, here, err) != 0)
        return -1;
    return strcmp(there, here) == 0
               ? 0
               : err_set(err,
                         "%s: a run in it is there already as run %lld%s, with other content: one "
                         "of the two was changed, or its results were derived again by another "
                         "version; merge the pack into a database of its own with --db to compare "
                         "them",
                         from->path, (long long)run_id, where);
}

struct merge {
    struct store *store, *staged; // staged: runs to add; NULL: none so far
    char *scratch, *path;         // scratch directory and file of `staged`
    struct progress *progress;    // NULL: none is shown
};

// Makes `staged` unless it exists. It need not survive a crash.
static int merge_stage(struct merge *merge, struct err *err)
{
    if (merge->staged)
        return 0;
    return store_open(merge->path, STORE_WRITE, &merge->staged, err) != 0
               ? -1
               : store_script(merge->staged, err, "PRAGMA synchronous = OFF", "write");
}

// Finds the run with this name. Returns 1, 0 or -1.
static int merge_find(struct store *store, const char *uuid, int64_t *run_id, struct err *err)
{
    return !store ? 0
                  : store_get_int(store, err, run_id, "SELECT run_id FROM run WHERE uuid = ?1", "s",
                                  uuid);
}

// Merges a run. Until the end, an added run has the negative of its id in `staged`.
static int merge_run(struct store *from, int64_t source, struct merge *merge,
                     struct store_merged *merged, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(from, err, "SELECT uuid FROM run WHERE run_id = ?1", "i", source);
    if (!stmt || sqlite3_step(stmt) != SQLITE_ROW)
        return store_error(from, err, "read its run");
    const char *uuid = store_text(stmt, 0);
    int64_t run_id = 0, staged_id = 0;
    int known = merge_find(merge->store, uuid, &run_id, err);
    int twice = known == 0 ? merge_find(merge->staged, uuid, &staged_id, err) : 0;
    sqlite3_reset(stmt);
    int status = known < 0 || twice < 0 ? -1 : 0;
    if (known > 0)
        status = merge_same(from, source, merge->store, run_id, "", err);
    else if (twice > 0)
        status = merge_same(from, source, merge->staged, staged_id, " of these packs", err);
    else if (status == 0)
        status = merge_stage(merge, err) == 0 ? merge_copy_checked(from, source, merge->staged,
                                                                   merge->progress, &staged_id, err)
                                              : -1;
    merged->runs[merged->nruns].run_id = known > 0 ? run_id : -staged_id;
    merged->runs[merged->nruns++].added = known == 0 && twice == 0;
    return status;
}

// Lists the ids of the runs in a file, in order. Returns 0, or -1 if it may not be merged.
static int merge_list_runs(struct store *from, int64_t *sources, int *nsources, struct err *err)
{
    int64_t runs = 0, open = 0;
    if (store_get_int(from, err, &runs, "SELECT count(*) FROM run", "") < 0 ||
        store_get_int(from, err, &open, "SELECT count(*) FROM run WHERE finished_utc IS NULL", "") <
            0)
        return -1;
    if (runs < 1 || runs > MERGE_RUNS_MAX)
        return err_set(err, "%s: holds %lld runs, a pack has 1 to %d", from->path, (long long)runs,
                       MERGE_RUNS_MAX);
    if (open > 0)
        return err_set(err, "%s: a run in it was not finished", from->path);
    sqlite3_stmt *stmt = store_bind(from, err, "SELECT run_id FROM run ORDER BY run_id", "");
    int got = SQLITE_DONE;
    if (!stmt)
        return -1;
    for (*nsources = 0; *nsources < runs && (got = sqlite3_step(stmt)) == SQLITE_ROW;)
        sources[(*nsources)++] = sqlite3_column_int64(stmt, 0);
    if (got == SQLITE_ROW)
        got = SQLITE_DONE; // all have been read
    return store_rows_end(from, stmt, got, err);
}

// Checks that each date is a valid one and not in the future, since dates decide which run is the
// newest. Clocks of sound machines may differ by a day.
static int merge_check_dates(struct store *from, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(from, err,
                   "SELECT name, utc, real FROM (SELECT name, utc, "
                   "strftime('%Y-%m-%dT%H:%M:%SZ', utc, '+0 days') IS utc AS real, "
                   "julianday(utc) > julianday('now', '+1 day') AS future FROM "
                   "(SELECT 'started_utc' AS name, started_utc AS utc FROM run "
                   "UNION ALL SELECT 'finished_utc', finished_utc FROM run "
                   "UNION ALL SELECT 'recorded_utc', recorded_utc FROM validation)) "
                   "WHERE NOT real OR future LIMIT 1",
                   "");
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    const char *name = got == SQLITE_ROW ? store_text(stmt, 0) : "";
    const char *utc = got == SQLITE_ROW ? store_text(stmt, 1) : "";
    int result = 0;
    if (got == SQLITE_ROW && sqlite3_column_int(stmt, 2))
        result = err_set(err,
                         "%s: its %s, %s, lies in the future; if it does not, set the clock of "
                         "this machine right",
                         from->path, name, utc);
    else if (got == SQLITE_ROW)
        result = err_set(err,
                         "%s: its %s, '%s', is no date like 2026-01-31T12:34:56Z; the file is "
                         "damaged or was not written by latput",
                         from->path, name, utc);
    else if (got != SQLITE_DONE)
        result = store_error(from, err, "read its dates");
    sqlite3_reset(stmt);
    return result;
}

// A database of measurements takes no run on a machine of files; the database of such a machine
// does.
static int merge_check_measured(struct store *from, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(from, err,
                                    "SELECT brand FROM run JOIN cpu USING (cpu_id) WHERE "
                                    "backend = 'text' OR brand GLOB '" CPU_SIMULATED "*' LIMIT 1",
                                    "");
    if (!stmt)
        return -1;
    int got = path_machine_is_set() ? SQLITE_DONE : sqlite3_step(stmt), result = 0;
    if (got == SQLITE_ROW)
        result = err_set(err,
                         "%s: a run in it is not of a machine, but of files in its place "
                         "(LATPUT_MACHINE), '%s'; to merge it nevertheless, into a database of its "
                         "own, set LATPUT_MACHINE for the merge, too",
                         from->path, store_text(stmt, 0));
    else if (got != SQLITE_DONE)
        result = store_error(from, err, "read its CPUs");
    sqlite3_reset(stmt);
    return result;
}

int merge_check_runs(struct store *from, int64_t sources[MERGE_RUNS_MAX], int *nsources,
                     struct err *err)
{
    return merge_list_runs(from, sources, nsources, err) != 0 ||
                   merge_check_dates(from, err) != 0 || merge_check_measured(from, err) != 0 ||
                   merge_check_properties(from, err) != 0 ||
                   merge_check_work(from, MERGE_WORK_SECONDS_MAX, err) != 0
               ? -1
               : 0;
}

static int merge_all_runs(struct store *from, struct merge *merge, struct store_merged *merged,
                          struct err *err)
{
    int64_t sources[MERGE_RUNS_MAX];
    int nsources = 0, status = merge_check_runs(from, sources, &nsources, err);
    for (int i = 0; i < nsources && status == 0; i++)
        status = merge_run(from, sources[i], merge, merged, err);
    return status;
}

struct merge *merge_begin(struct store *store, struct progress *progress, struct err *err)
{
    char *scratch = scratch_begin(err);
    if (!scratch)
        return NULL;
    struct merge *merge = xcalloc(1, sizeof *merge);
    *merge = (struct merge){store, NULL, scratch, xasprintf("%s/merge.db", scratch), progress};
    return merge;
}

int merge_file(struct merge *merge, const char *path, const char *label,
               struct store_merged *merged, struct err *err)
{
    struct store *from = NULL;
    merged->nruns = 0;
    if (merge_open(path, label, &from, err) != 0 || !from)
        return -1;
    int result = merge_all_runs(from, merge, merged, err);
    store_close(from);
    return result;
}

// Sets the ids of the file's runs in the database. Returns how many of them are new.
static int merge_name_runs(struct store_merged *merged, int64_t last_run_id)
{
    int added = 0;
    for (int i = 0; i < merged->nruns; i++) {
        if (merged->runs[i].run_id < 0)
            merged->runs[i].run_id = last_run_id - merged->runs[i].run_id;
        added += merged->runs[i].added;
    }
    return added;
}

// Adds what was staged to the database, in one transaction.
static int merge_append(struct merge *merge, int64_t *last_run_id, struct err *err)
{
    int64_t nruns = 0;
    if (store_summary_renew(merge->staged, err) != 0 ||
        store_get_int(merge->staged, err, &nruns, "SELECT max(run_id) FROM run", "") < 0)
        return -1;
    int64_t *run_ids = xcalloc((size_t)nruns, sizeof *run_ids);
    for (int i = 0; i < nruns; i++)
        run_ids[i] = i + 1;
    const struct merge_extract what = {run_ids, (int)nruns, MERGE_KEEP_ALL};
    int result = merge_copy_runs(merge->staged, &what, merge->store, last_run_id, err);
    free(run_ids);
    return result;
}

int merge_end(struct merge *merge, int status, struct store_merged *merged, int n, struct err *err)
{
    int64_t last_run_id = 0;
    int added = 0;
    bool any = merge->staged != NULL;
    if (status == 0 && any)
        status = merge_append(merge, &last_run_id, err);
    merge->store->unable |= any && merge->staged->unable;
    store_close(merge->staged);
    for (int i = 0; i < n && status == 0; i++)
        added += merge_name_runs(&merged[i], last_run_id);
    scratch_end(merge->scratch, false);
    free(merge->path);
    free(merge);
    return status == 0 ? added : -1;
}
