// SPDX-License-Identifier: MIT
// The connection to the database: transactions, statements, and error messages; store_open.c opens
// one safely; see store.h. Files have a write-ahead log: a process that is killed loses at most its
// open transaction, and readers keep no writer waiting. The last process to close folds the log
// into the file, which can then be copied. The log needs memory shared by all processes, which
// network file systems do not have, so files there have a rollback journal instead.
#include "store_internal.h"

#include "list/form_shown.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/scratch.h"
#include "util/strbuf.h"
#include "util/text.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    STORE_POLL_MS = 20,
    STORE_TELL_MS = 3000,         // time after which waiting for a writer is announced
    STORE_WRITER_WAIT_MS = 5000,  // limit of a reader's wait for a writer, which may write for
                                  // hours
    STORE_READER_WAIT_MS = 60000, // limit of a writer's wait for readers, where the journal lets
                                  // them block it
};

// Called while another process holds a lock. A writer waits for another writer without limit, since
// its measurements would be lost otherwise. With the lock it waits for readers only, and not for
// one that never ends.
static int store_wait(void *context, int times)
{
    struct store *store = context;
    bool writing = sqlite3_txn_state(store->db, "main") == SQLITE_TXN_WRITE;
    if ((writing || !store->patient) &&
        times >= (writing ? STORE_READER_WAIT_MS : STORE_WRITER_WAIT_MS) / STORE_POLL_MS)
        return 0;
    if (!writing && store->patient && times == STORE_TELL_MS / STORE_POLL_MS)
        fprintf(stderr, "latput: %s: another process is writing to this database; waiting for it\n",
                store->path);
    usleep(STORE_POLL_MS * 1000);
    return 1;
}

// Returns why the file could not be opened: SQLite tries again read-only, and then reports that.
static int store_open_errno(const struct store *store)
{
    if (store->mode == STORE_WRITE && access(store->path, F_OK) != 0 && errno == ENOENT) {
        const char *slash = strrchr(store->path, '/');
        char *directory =
            slash ? xasprintf("%.*s", (int)(slash - store->path + 1), store->path) : NULL;
        int refused = access(directory ? directory : ".", W_OK | X_OK) != 0 ? errno : 0;
        free(directory);
        if (refused)
            return refused;
    }
    return sqlite3_system_errno(store->db);
}

int store_error(struct store *store, struct err *err, const char *doing)
{
    switch (sqlite3_errcode(store->db) & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (sqlite3_txn_state(store->db, "main") == SQLITE_TXN_WRITE)
            return err_set(err,
                           "%s: cannot %s: another process has been reading this database for more "
                           "than a minute; end it, or use another database with --db",
                           store->path, doing);
        return err_set(err,
                       "%s: cannot %s: another process is writing to this database; wait until it "
                       "has finished, or use another one with --db",
                       store->path, doing);
    case SQLITE_INTERRUPT:
        store->foreign = true;
        return err_set(err,
                       "%s: cannot %s: it takes more steps than a database of this size needs; it "
                       "is damaged, or its content was made to take long",
                       store->path, doing);
    case SQLITE_FULL:
        store->unable = true;
        return err_set(err,
                       "%s: cannot %s: the disk is full; free space and give the same command "
                       "again, a run with --resume; what was stored before is kept",
                       store->path, doing);
    case SQLITE_CORRUPT:
        return err_set(err,
                       "%s: cannot %s: the database is damaged (%s); take a copy of it from a "
                       "backup, or save what can be read with: sqlite3 FILE .recover",
                       store->path, doing, sqlite3_errmsg(store->db));
    case SQLITE_NOTADB:
        store->foreign = true;
        return err_set(err, "%s: is not a latput database (nor any SQLite file); check --db",
                       store->path);
    case SQLITE_READONLY:
        return err_set(err,
                       "%s: cannot %s: the file or its directory is read-only; change its "
                       "permissions, or write to another one with --db",
                       store->path, doing);
    case SQLITE_CANTOPEN:
        return err_set(err, "%s: cannot be opened: %s; %s", store->path,
                       strerror(store_open_errno(store)),
                       access(store->path, F_OK) == 0
                           ? "check its permissions, and those of its directory"
                           : "check that its directory exists and that you may write there");
    case SQLITE_IOERR:
        store->unable = true;
        // A file size limit or quota has this error, too; SQLite keeps no errno of it.
        return err_set(err,
                       "%s: cannot %s: %s; check the free space on its disk, quota and file size "
                       "limit (ulimit -f), then the disk itself; what was stored before is kept",
                       store->path, doing, sqlite3_errmsg(store->db));
    default:
        return err_set(err, "%s: cannot %s: %s", store->path, doing, sqlite3_errmsg(store->db));
    }
}

int store_script(struct store *store, struct err *err, const char *sql, const char *doing)
{
    if (sqlite3_exec(store->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return store_error(store, err, doing);
    return 0;
}

void store_temporary_begin(struct store *store)
{
    sqlite3_exec(store->db, "PRAGMA query_only = OFF", NULL, NULL, NULL);
}

void store_temporary_end(struct store *store)
{
    if (store->mode == STORE_READ)
        sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
}

sqlite3_stmt *store_prepared(struct store *store, const void *key)
{
    for (int i = 0; i < store->nstatements; i++)
        if (store->statements[i].key == key) {
            sqlite3_reset(store->statements[i].stmt);
            return store->statements[i].stmt;
        }
    return NULL;
}

sqlite3_stmt *store_prepare_as(struct store *store, struct err *err, const void *key,
                               const char *sql)
{
    assert(store->nstatements < STORE_STATEMENTS_MAX);
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) !=
        SQLITE_OK) {
        store_error(store, err, "read or write");
        return NULL;
    }
    store->statements[store->nstatements++] = (struct store_statement){key, stmt};
    return stmt;
}

// Returns the statement of a literal, prepared once and reset; NULL after an error.
static sqlite3_stmt *store_prepare(struct store *store, struct err *err, const char *sql)
{
    sqlite3_stmt *stmt = store_prepared(store, sql);
    return stmt ? stmt : store_prepare_as(store, err, sql, sql);
}

static int store_bind_one(sqlite3_stmt *stmt, int at, char type, va_list *ap)
{
    const char *text;
    double number;
    switch (type) {
    case 'i':
        return sqlite3_bind_int64(stmt, at, va_arg(*ap, int64_t));
    case 'd':
        number = va_arg(*ap, double);
        return number == number ? sqlite3_bind_double(stmt, at, number)
                                : sqlite3_bind_null(stmt, at);
    default:
        assert(type == 's' || type == 't');
        text = va_arg(*ap, const char *);
        return sqlite3_bind_text(stmt, at, text || type == 't' ? text : "", -1, SQLITE_STATIC);
    }
}

static sqlite3_stmt *store_vbind(struct store *store, struct err *err, const char *sql,
                                 const char *types, va_list *ap)
{
    sqlite3_stmt *stmt = store_prepare(store, err, sql);
    if (!stmt)
        return NULL;
    assert((int)strlen(types) == sqlite3_bind_parameter_count(stmt));
    for (int i = 0; types[i]; i++)
        if (store_bind_one(stmt, i + 1, types[i], ap) != SQLITE_OK) {
            store_error(store, err, "bind a value");
            return NULL;
        }
    return stmt;
}

sqlite3_stmt *store_bind(struct store *store, struct err *err, const char *sql, const char *types,
                         ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *stmt = store_vbind(store, err, sql, types, &ap);
    va_end(ap);
    return stmt;
}

int store_execute(struct store *store, struct err *err, const char *sql, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *stmt = store_vbind(store, err, sql, types, &ap);
    va_end(ap);
    if (!stmt)
        return -1;
    int got;
    do
        got = sqlite3_step(stmt);
    while (got == SQLITE_ROW);
    int result = got == SQLITE_DONE ? 0 : store_error(store, err, "write");
    sqlite3_reset(stmt);
    return result;
}

int store_get_int(struct store *store, struct err *err, int64_t *value, const char *sql,
                  const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    sqlite3_stmt *stmt = store_vbind(store, err, sql, types, &ap);
    va_end(ap);
    if (!stmt)
        return -1;
    int got = sqlite3_step(stmt);
    int result = got == SQLITE_ROW ? 1 : 0;
    if (got == SQLITE_ROW)
        *value = sqlite3_column_int64(stmt, 0);
    else if (got != SQLITE_DONE)
        result = store_error(store, err, "read");
    sqlite3_reset(stmt);
    return result;
}

const char *store_text(sqlite3_stmt *stmt, int column)
{
    const char *text = (const char *)sqlite3_column_text(stmt, column);
    return text ? text : "";
}

const char *store_column_text(sqlite3_stmt *stmt, int column, struct arena *arena)
{
    const char *text = store_text(stmt, column);
    struct strbuf shown = {0};
    if (text_is_plain(text))
        return arena_strdup(arena, text);
    text_put_escaped(&shown, text);
    text = arena_strdup(arena, strbuf_text(&shown));
    strbuf_free(&shown);
    return text;
}

int store_rows_end(struct store *store, sqlite3_stmt *stmt, int got, struct err *err)
{
    int result = got == SQLITE_DONE ? 0 : store_error(store, err, "read");
    sqlite3_reset(stmt);
    return result;
}

double store_finite(double value)
{
    return isfinite(value) ? value : (double)NAN;
}

int store_begin(struct store *store, struct err *err)
{
    return store_script(store, err, "BEGIN IMMEDIATE", "begin to write");
}

int store_commit(struct store *store, struct err *err)
{
    int result = store_script(store, err, "COMMIT", "write");
    return result == 0 ? store_check_place(store, err) : result;
}

// Returns true if the open file has lost its name: it was deleted, moved or replaced.
static bool store_has_moved(struct store *store)
{
    int moved = 0;
    return sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
           moved;
}

// Copies the file, once, to a new, unique name: without its own name it lives only until it is
// closed. Returns NULL if the copy could not be made.
static const char *store_save(struct store *store)
{
    if (store->saved)
        return store->saved;
    const char *copy = scratch_file_begin(store->path);
    char *saved = xasprintf("%s.saved-%s", store->path, scratch_file_own(copy));
    char *sql = sqlite3_mprintf("VACUUM INTO %Q", copy);
    bool kept = sql && sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
    if (scratch_file_end(copy, kept ? saved : NULL) == 0 && kept)
        store->saved = saved;
    else
        free(saved);
    sqlite3_free(sql);
    return store->saved;
}

int store_check_place(struct store *store, struct err *err)
{
    if (!store_has_moved(store))
        return 0;
    const char *saved = store_save(store);
    return err_set(
        err, "%s: was deleted, moved or replaced while this program was writing to it; %s%s%s",
        store->path,
        saved ? "its content and what was added is kept in " : "what was added is lost",
        saved ? saved : "",
        saved ? "; use it with --db, or pack its runs and merge them (latput pack, merge)" : "");
}

void store_rollback(struct store *store)
{
    // A full disk has already rolled back by itself.
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_unit_begin(struct store *store, bool *own, struct err *err)
{
    *own = sqlite3_get_autocommit(store->db);
    if (*own)
        return store_begin(store, err);
    return store_script(store, err, "SAVEPOINT unit", "begin to write");
}

int store_unit_end(struct store *store, bool own, int result, struct err *err)
{
    if (own) {
        if (result == 0)
            result = store_commit(store, err);
        if (result != 0)
            store_rollback(store);
        return result;
    }
    if (sqlite3_get_autocommit(store->db))
        return -1; // rolled back by SQLite as a whole
    if (result == 0)
        return store_script(store, err, "RELEASE unit", "write");
    sqlite3_exec(store->db, "ROLLBACK TO unit; RELEASE unit", NULL, NULL, NULL);
    return result;
}

// The SQL function shown_plain(form): a form's name for people, without commas.
static void store_shown_plain(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct strbuf text = {0};
    const char *form = (const char *)sqlite3_value_text(values[0]);
    (void)n;
    sqlite3_result_text(context, form ? form_shown_plain(form, &text) : "", -1, SQLITE_TRANSIENT);
    strbuf_free(&text);
}

static int store_by_number(void *context, int a_len, const void *a, int b_len, const void *b)
{
    (void)context;
    return text_compare(a, (size_t)a_len, b, (size_t)b_len);
}

int store_connect(const char *path, int flags, struct store **out, struct err *err)
{
    struct store *store = xcalloc(1, sizeof *store);
    store->mode = flags & SQLITE_OPEN_READWRITE ? STORE_WRITE : STORE_READ;
    store->path = xstrdup(path);
    store->place = flags & SQLITE_OPEN_CREATE ? store_place_hold(path) : -1;
    // Other files may be attached by such a name, so all connections take them.
    bool plain = !(flags & SQLITE_OPEN_URI) && strncmp(path, "file:", 5) == 0;
    char *name = xasprintf("%s%s", plain ? "./" : "", path);
    int got =
        sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    free(name);
    if (got != SQLITE_OK) {
        if (store->db)
            store_error(store, err, "open it");
        else
            err_set(err, "%s: cannot be opened: out of memory", path);
        store_close(store);
        return -1;
    }
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_handler(store->db, store_wait, store);
    // The file may be foreign: its schema must not cause anything but reading.
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_exec(store->db,
                 "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; "
                 "PRAGMA foreign_keys = ON",
                 NULL, NULL, NULL);
    sqlite3_create_function(store->db, "shown_plain", 1,
                            SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                            store_shown_plain, NULL, NULL);
    sqlite3_create_collation(store->db, STORE_BY_NUMBER, SQLITE_UTF8, NULL, store_by_number);
    *out = store;
    return 0;
}

enum { STORE_STEPS = 1000000 }; // of SQLite's machine: some hundredths of a second
// The commands that ask most (pack, site) take 10 steps per byte of a database.
enum { STORE_STEPS_LEAST = 300, STORE_STEPS_PER_BYTE = 100 };

static int store_step(void *context)
{
    struct store *store = context;
    return store->steps-- <= 0;
}

void store_limit_steps(struct store *store)
{
    struct stat about = {0};
    stat(store->path, &about);
    store->steps = STORE_STEPS_LEAST + about.st_size * STORE_STEPS_PER_BYTE / STORE_STEPS;
    sqlite3_progress_handler(store->db, STORE_STEPS, store_step, store);
}

static void store_finalize(struct store *store)
{
    for (int i = 0; i < store->nstatements; i++)
        sqlite3_finalize(store->statements[i].stmt);
    store->nstatements = 0;
}

static bool store_journal_is(struct store *store, const char *pragma, const char *mode)
{
    sqlite3_stmt *stmt = NULL;
    bool is = sqlite3_prepare_v2(store->db, pragma, -1, &stmt, NULL) == SQLITE_OK &&
              sqlite3_step(stmt) == SQLITE_ROW && strcmp(store_text(stmt, 0), mode) == 0;
    sqlite3_finalize(stmt);
    return is;
}

void store_use_log(struct store *store)
{
    // Either change can fail while others read. The old journal is as safe, only slower.
    bool remote = store_is_remote(store->path), patient = store->patient;
    store->patient = false;
    store->log = store_journal_is(
        store, remote ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL", "wal");
    store->patient = patient;
    sqlite3_exec(store->db, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
}

bool store_is_unable(const struct store *store)
{
    return store->unable;
}

void store_set_unable(struct store *store)
{
    store->unable = true;
}

void store_close_unused(struct store *store)
{
    int64_t runs = 0;
    struct err err;
    store_finalize(store);
    store_rollback(store);
    bool unused = store->made && store_place_alone(store->place) && !store_has_moved(store) &&
                  store_get_int(store, &err, &runs, "SELECT count(*) FROM run", "") > 0 &&
                  runs == 0;
    char *path = xstrdup(store->path);
    int place = store->place;
    store->place = -1;
    store_close(store); // removes the log's files
    if (unused) {
        static const char *const files[] = {"", "-wal", "-shm"}; // a full disk keeps the log in
                                                                 // place
        for (size_t i = 0; i < ARRAY_LEN(files); i++) {
            char *file = xasprintf("%s%s", path, files[i]);
            unlink(file);
            free(file);
        }
    }
    if (place >= 0)
        close(place);
    free(path);
}

void store_run_unclaim(struct store *store)
{
    if (store->claim.held)
        close(store->claim.fd);
    store->claim.held = false;
}

// Folds the log into the file, as far as other readers allow. The last process to close does the
// rest.
static void store_fold_log(struct store *store)
{
    int frames = 0, folded = 0;
    sqlite3_busy_timeout(store->db, 0);
    sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, &frames, &folded);
    if (folded < frames)
        fprintf(stderr,
                "latput: %s: another process reads it, so the last changes are in %s-wal; copy or "
                "move both\n",
                store->path, store->path);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    store_run_unclaim(store);
    store_finalize(store);
    if (store->db && store->mode == STORE_WRITE && sqlite3_get_autocommit(store->db))
        store_fold_log(store);
    sqlite3_close(store->db);
    if (store->place >= 0)
        close(store->place);
    free(store->saved);
    free(store->uri);
    free(store->path);
    free(store);
}
