// SPDX-License-Identifier: MIT
// Schema of the database: makes a new one from db/schema.sql, brings an older one up to date with
// the numbered files in db/migrations/, and makes the views again when db/views.sql has changed.
#include "store_internal.h"

#include "util/mem.h"
#include "util/paths.h"
#include "util/strbuf.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>

void store_now_utc(char text[32])
{
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void store_sha256(const void *bytes, size_t len, char hex[65])
{
    SHA256Data(bytes, len, hex);
}

// Returns the text of a file below the data root, to be freed; NULL after an error.
static char *store_schema_text(const char *relative, struct err *err)
{
    const char *path = path_data(relative);
    FILE *file = fopen(path, "r");
    if (!file) {
        err_set(err, "%s: %s; is latput installed completely?", path, strerror(errno));
        return NULL;
    }
    struct strbuf text = {0};
    char bytes[16384];
    size_t got;
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        strbuf_put(&text, bytes, got);
    int bad = ferror(file);
    fclose(file);
    if (bad || text.len == 0) {
        strbuf_free(&text);
        err_set(err, "%s: cannot be read", path);
        return NULL;
    }
    return text.data;
}

// Returns the text of migration `number`, found by its four-digit prefix.
static char *store_migration_text(int64_t number, struct err *err)
{
    const char *path = path_data("db/migrations");
    DIR *dir = opendir(path);
    if (!dir) {
        err_set(err, "%s: %s; is latput installed completely?", path, strerror(errno));
        return NULL;
    }
    char prefix[24];
    snprintf(prefix, sizeof prefix, "%04d_", (int)number);
    char *text = NULL;
    bool found = false;
    for (struct dirent *entry; !found && (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || len < 4 ||
            strcmp(entry->d_name + len - 4, ".sql") != 0)
            continue;
        found = true;
        char *relative = xasprintf("db/migrations/%s", entry->d_name);
        text = store_schema_text(relative, err);
        free(relative);
    }
    closedir(dir);
    if (!found)
        err_set(err, "%s: migration %s*.sql is missing", path, prefix);
    return text;
}

static int store_migrate(struct store *store, int64_t from, int64_t to, struct err *err)
{
    for (int64_t number = from + 1; number <= to; number++) {
        char *sql = store_migration_text(number, err);
        int result = sql ? store_script(store, err, sql, "bring its schema up to date") : -1;
        free(sql);
        if (result != 0)
            return -1;
    }
    return 0;
}

int store_schema_identify(struct store *store, bool *fresh, int64_t *version, struct err *err)
{
    int64_t application = 0, objects = 0;
    // A single statement, since another process may be making the tables at this moment.
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT application_id, user_version, "
                                    "(SELECT count(*) FROM sqlite_schema) "
                                    "FROM pragma_application_id, pragma_user_version",
                                    "");
    if (!stmt)
        return -1;
    bool found = sqlite3_step(stmt) == SQLITE_ROW;
    application = sqlite3_column_int64(stmt, 0);
    *version = sqlite3_column_int64(stmt, 1);
    objects = sqlite3_column_int64(stmt, 2);
    if (!found)
        store_error(store, err, "find out what it is");
    sqlite3_reset(stmt);
    if (!found)
        return -1;
    *fresh = application == 0 && *version == 0 && objects == 0;
    if (*fresh)
        return 0;
    store->foreign =
        application != STORE_APPLICATION_ID || *version < 1 || *version > STORE_SCHEMA_VERSION;
    if (application != STORE_APPLICATION_ID || *version < 1)
        return err_set(err, "%s: is a SQLite database, but not one of latput; check --db",
                       store->path);
    if (*version > STORE_SCHEMA_VERSION)
        return err_set(err,
                       "%s: was written by a newer latput (schema %lld, this program knows %d); "
                       "update latput, or use another database with --db",
                       store->path, (long long)*version, (int)STORE_SCHEMA_VERSION);
    return 0;
}

// Checks that nothing stands in the place of a table: a view or a virtual table computes its rows,
// for ever if it likes, and so do generated columns. Tables of others beside ours are left alone.
// `whole`: none of ours is missing.
static int store_schema_check_table(struct store *store, const char *name, bool whole,
                                    struct err *err)
{
    int64_t plain = 0;
    int got = store_get_int(store, err, &plain,
                            "SELECT CASE WHEN type = 'table' AND rootpage > 0 AND "
                            "upper(substr(sql, 1, 13)) = 'CREATE TABLE ' THEN NOT EXISTS "
                            "(SELECT 1 FROM pragma_table_xinfo(?1, 'main') WHERE hidden) END "
                            "FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE",
                            "s", name);
    if (got < 0 || plain || (got == 0 && !whole))
        return got < 0 ? -1 : 0;
    store->foreign = true;
    return err_set(err,
                   "%s: its table %s %s latput: the database is damaged, or was made by another "
                   "program; check --db",
                   store->path, name,
                   got ? "is not that of"
                       : "is missing, without which it is no "
                         "database of");
}

static int store_schema_check(struct store *store, bool whole, struct err *err)
{
    static const char begins[] = "\nCREATE TABLE ";
    char *sql = store_schema_text("db/schema.sql", err), name[64];
    int result = sql ? 0 : -1;
    for (const char *at = sql; result == 0 && (at = strstr(at, begins));) {
        at += sizeof begins - 1;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " (\n"), at);
        result = store_schema_check_table(store, name, whole, err);
    }
    free(sql);
    return result;
}

static int store_views_drop(struct store *store, struct err *err)
{
    struct strbuf sql = {0};
    sqlite3_stmt *stmt =
        store_bind(store, err, "SELECT name FROM sqlite_schema WHERE type = 'view'", "");
    if (!stmt)
        return -1;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        char *quoted = sqlite3_mprintf("DROP VIEW \"%w\";", store_text(stmt, 0));
        strbuf_puts(&sql, quoted ? quoted : "");
        sqlite3_free(quoted);
    }
    sqlite3_reset(stmt);
    int result = store_script(store, err, strbuf_text(&sql), "drop its views");
    strbuf_free(&sql);
    return result;
}

// Views must not use a column that a migration removes.
int store_schema_raise(struct store *store, int64_t version, struct err *err)
{
    return version < STORE_SCHEMA_VERSION && store_views_drop(store, err) != 0
               ? -1
               : store_migrate(store, version, STORE_SCHEMA_VERSION, err);
}

static int store_views_rebuild(struct store *store, const char *sql, const char *hash,
                               struct err *err)
{
    if (store_views_drop(store, err) != 0 || store_script(store, err, sql, "make its views") != 0 ||
        store_summary_renew(store, err) != 0)
        return -1;
    return store_execute(store, err,
                         "INSERT INTO meta (name, value) VALUES ('views_sha256', ?1) "
                         "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                         "s", hash);
}

static int store_views_current(struct store *store, const char *hash, struct err *err)
{
    int64_t same = 0;
    return store_get_int(store, err, &same,
                         "SELECT 1 FROM meta WHERE name = 'views_sha256' AND value = ?1", "s",
                         hash);
}

static int store_schema_create(struct store *store, struct err *err)
{
    char *sql = store_schema_text("db/schema.sql", err);
    int result = sql ? store_script(store, err, sql, "make its tables") : -1;
    free(sql);
    return result;
}

// Brings the schema up to date, inside a transaction that excludes other writers, so the version is
// read again.
static int store_schema_update(struct store *store, const char *views, const char *hash,
                               struct err *err)
{
    bool fresh;
    int64_t version;
    if (store_schema_identify(store, &fresh, &version, err) != 0)
        return -1;
    bool old = !fresh && version < STORE_SCHEMA_VERSION;
    if ((fresh ? store_schema_create(store, err) : store_schema_raise(store, version, err)) != 0)
        return -1;
    int current = old ? 0 : store_views_current(store, hash, err);
    if (current == 0)
        return store_views_rebuild(store, views, hash, err);
    return current < 0 ? -1 : 0;
}

static int store_schema_prepare_write(struct store *store, bool current, struct err *err)
{
    char *views = store_schema_text("db/views.sql", err);
    if (!views)
        return -1;
    char hash[65];
    store_sha256(views, strlen(views), hash);
    int result = 0;
    store_use_log(store);
    if (!current || store_views_current(store, hash, err) != 1) {
        result = store_begin(store, err);
        if (result == 0 &&
            (store_schema_update(store, views, hash, err) != 0 || store_commit(store, err) != 0)) {
            store_rollback(store);
            result = -1;
        }
    }
    free(views);
    return result;
}

int store_schema_temporary_views(struct store *store, struct err *err)
{
    static const char plain[] = "CREATE VIEW ";
    char *views = store_schema_text("db/views.sql", err);
    if (!views)
        return -1;
    struct strbuf sql = {0};
    const char *at = views;
    for (const char *next; (next = strstr(at, plain)); at = next + sizeof plain - 1) {
        strbuf_put(&sql, at, (size_t)(next - at));
        strbuf_puts(&sql, "CREATE TEMP VIEW ");
    }
    strbuf_puts(&sql, at);
    int result = store_script(store, err, strbuf_text(&sql), "make its views");
    strbuf_free(&sql);
    free(views);
    return result;
}

// Views for reading; rows of form_summary count where our own views have made them.
static int store_schema_views_read(struct store *store, struct err *err)
{
    char *views = store_schema_text("db/views.sql", err), hash[65];
    if (!views)
        return -1;
    store_sha256(views, strlen(views), hash);
    free(views);
    int fits = store_views_current(store, hash, err);
    if (fits > 0)
        fits = store_summary_fits(store, err);
    if (fits < 0 || store_schema_temporary_views(store, err) != 0)
        return -1;
    return fits ? 0 : store_summary_collect(store, err);
}

int store_schema_prepare(struct store *store, struct err *err)
{
    bool fresh;
    int64_t version;
    if (store_schema_identify(store, &fresh, &version, err) != 0)
        return -1;
    if (!fresh && store_schema_check(store, version == STORE_SCHEMA_VERSION, err) != 0)
        return -1;
    if (store->mode == STORE_WRITE)
        return store_schema_prepare_write(store, version == STORE_SCHEMA_VERSION, err);
    if (fresh)
        return err_set(err, "%s: is empty; `latput run` fills it", store->path);
    if (version < STORE_SCHEMA_VERSION)
        return err_set(err,
                       "%s: was written by an older latput (schema %lld); bring it up to date "
                       "once with: latput rederive --db %s",
                       store->path, (long long)version, store->path);
    return store_schema_views_read(store, err);
}

// Returns SQL without comments, and with single blanks only where words would run together.
static char *store_sql_normalise(const char *sql)
{
    struct strbuf out = {0};
    bool blank = false;
    char quote = 0;
    strbuf_puts(&out, "");
    for (const char *at = sql; *at; at++) {
        if (!quote && at[0] == '-' && at[1] == '-') {
            while (at[1] && at[1] != '\n')
                at++;
            continue;
        }
        if (!quote && isspace((unsigned char)*at)) {
            blank = true;
            continue;
        }
        bool word = isalnum((unsigned char)*at) || *at == '_';
        bool after_word = out.len > 0 && (isalnum((unsigned char)out.data[out.len - 1]) ||
                                          out.data[out.len - 1] == '_');
        if (blank && word && after_word)
            strbuf_puts(&out, " ");
        blank = false;
        strbuf_put(&out, at, 1);
        if (quote ? *at == quote : strchr("'\"`", *at) != NULL)
            quote = quote ? 0 : *at;
    }
    return out.data;
}

// Returns all tables, indexes and triggers as one text for comparison.
static char *store_schema_dump(struct store *store, struct err *err)
{
    sqlite3_stmt *stmt = store_bind(store, err,
                                    "SELECT type, name, tbl_name, coalesce(sql, '') "
                                    "FROM sqlite_schema WHERE type <> 'view' ORDER BY type, name",
                                    "");
    if (!stmt)
        return NULL;
    struct strbuf dump = {0};
    strbuf_puts(&dump, "");
    int got;
    while ((got = sqlite3_step(stmt)) == SQLITE_ROW) {
        char *sql = store_sql_normalise(store_text(stmt, 3));
        strbuf_printf(&dump, "%s %s %s: %s\n", store_text(stmt, 0), store_text(stmt, 1),
                      store_text(stmt, 2), sql ? sql : "");
        free(sql);
    }
    if (got != SQLITE_DONE) {
        store_error(store, err, "read its schema");
        strbuf_free(&dump);
    }
    sqlite3_reset(stmt);
    return dump.data;
}

// Returns the schema that all migrations up to the version make. The caller frees it; NULL after an
// error.
static char *store_schema_make(int64_t version, struct err *err)
{
    struct store *model = NULL;
    char *dump = NULL;
    if (store_connect(":memory:", SQLITE_OPEN_READWRITE, &model, err) == 0 &&
        store_migrate(model, 0, version, err) == 0)
        dump = store_schema_dump(model, err);
    store_close(model);
    return dump;
}

// Returns the same, made once per version: merging many packs asks for one version each time. NULL
// after an error.
static const char *store_schema_of(int64_t version, struct err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char *dumps[STORE_SCHEMA_VERSION + 1];
    pthread_mutex_lock(&lock);
    if (!dumps[version])
        dumps[version] = store_schema_make(version, err);
    const char *dump = dumps[version];
    pthread_mutex_unlock(&lock);
    return dump;
}

int store_schema_compare(struct store *store, int64_t version, struct err *err)
{
    const char *ours = store_schema_of(version, err);
    char *theirs = ours ? store_schema_dump(store, err) : NULL;
    int result = -1;
    if (ours && theirs && strcmp(ours, theirs) != 0)
        err_set(err,
                "%s: its tables, indexes or triggers are not those of latput's schema %lld: it is "
                "damaged, or was made by another program",
                store->path, (long long)version);
    else if (ours && theirs)
        result = 0;
    free(theirs);
    return result;
}
