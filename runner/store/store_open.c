// SPDX-License-Identifier: MIT
// Opens a database in a mode that its file allows, and makes it if it does not exist; see store.h.
#include "store_internal.h"

#include "util/mem.h"
#include "util/paths.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Opens a file that nobody changes: without locks, so that it works on read-only media.
static int store_connect_immutable(const char *path, struct store **out, struct err *err)
{
    char *resolved = realpath(path, NULL);
    if (!resolved)
        return err_set(err, "%s: %s", path, strerror(errno));
    struct strbuf uri = {0};
    strbuf_puts(&uri, "file:");
    for (const char *at = resolved; *at; at++)
        if (strchr("%?#", *at))
            strbuf_printf(&uri, "%%%02X", (unsigned)*at);
        else
            strbuf_put(&uri, at, 1);
    strbuf_puts(&uri, "?immutable=1");
    int result = store_connect(strbuf_text(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out, err);
    if (result == 0) {
        (*out)->uri = (*out)->path;
        (*out)->path = xstrdup(path);
    }
    strbuf_free(&uri);
    free(resolved);
    return result;
}

static bool store_probe(struct store *store)
{
    return sqlite3_exec(store->db, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) ==
           SQLITE_OK;
}

// True if the file beside it that readers share cannot be made, as on a full disk.
static bool store_lacks_space(struct store *store)
{
    int code = sqlite3_extended_errcode(store->db);
    return code == SQLITE_FULL || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_SHMOPEN ||
           code == SQLITE_IOERR_SHMMAP || code == SQLITE_IOERR_WRITE;
}

static int store_open_read(const char *path, struct store **out, struct err *err)
{
    struct store *store;
    // A process that may write removes the log's files on leaving; another would leave them in
    // place.
    bool tidy = access(path, W_OK) == 0;
    if (store_connect(path, tidy ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, &store, err) != 0)
        return -1;
    if (!store_probe(store)) {
        int code = sqlite3_errcode(store->db) & 0xff;
        if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY && !store_lacks_space(store)) {
            store_error(store, err, "read");
            int result = store->foreign ? STORE_FOREIGN : -1;
            store_close(store);
            return result;
        }
        store_close(store);
        char *wal = xasprintf("%s-wal", path);
        struct stat st;
        bool pending = stat(wal, &st) == 0 && st.st_size > 0;
        free(wal);
        if (pending)
            return err_set(err,
                           "%s: its last changes are still in %s-wal, and nothing can be written "
                           "beside them; free space, or copy both files to a directory that you "
                           "can write to",
                           path, path);
        if (store_connect_immutable(path, &store, err) != 0)
            return -1;
    }
    *out = store;
    return 0;
}

// Returns 1 if the file is to be made, 0 if it exists.
static int store_check_file(const char *path, enum store_mode mode, struct err *err)
{
    struct stat st;
    if (!*path)
        return err_set(err, "the name of the database is empty; check --db");
    if (strcmp(path, ":memory:") == 0) { // SQLite's name for a database without a file
        err_set(err, "%s: a database in memory would end with this program; name a file with --db",
                path);
        return STORE_FOREIGN;
    }
    if (stat(path, &st) != 0) {
        if (errno == ENOENT && mode == STORE_WRITE)
            return 1;
        if (errno == ENOENT)
            return err_set(err,
                           "%s: there is no such database; `latput run` makes it, or name another "
                           "one with --db",
                           path);
        return err_set(err, "%s: %s", path, strerror(errno));
    }
    if (S_ISREG(st.st_mode))
        return 0;
    err_set(err, "%s: is no regular file; check --db", path);
    return STORE_FOREIGN;
}

static int store_open_file(const char *path, enum store_mode mode, struct store **out,
                           struct err *err)
{
    int missing = store_check_file(path, mode, err);
    if (missing < 0)
        return missing;
    struct store *store = NULL;
    int result = mode == STORE_READ
                     ? store_open_read(path, &store, err)
                     : store_connect(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &store, err);
    if (result != 0 || !store)
        return result;
    store->mode = mode;
    store->patient = mode == STORE_WRITE;
    store->made = missing;
    if (mode == STORE_READ)
        store_limit_steps(store);
    if (mode == STORE_WRITE && sqlite3_db_readonly(store->db, "main") == 1) {
        store->mode = STORE_READ; // nothing to fold in when closing
        store_close(store);
        return err_set(err,
                       "%s: the file is read-only; change its permissions, or write to another one "
                       "with --db",
                       path);
    }
    if (store_schema_prepare(store, err) != 0) {
        result = store->foreign ? STORE_FOREIGN : -1;
        store_close(store);
        return result;
    }
    store_temporary_end(store); // the views that were just made are temporary
    *out = store;
    return 0;
}

int store_open(const char *path, enum store_mode mode, struct store **out, struct err *err)
{
    *out = NULL;
    if (mode == STORE_UPDATE && store_check_file(path, STORE_READ, err) != 0)
        return store_check_file(path, STORE_READ, err);
    if (mode == STORE_UPDATE)
        mode = STORE_WRITE;
    if (mode == STORE_WRITE) // a file size limit must become an error with a message
        signal(SIGXFSZ, SIG_IGN);
    return store_open_file(path, mode, out, err);
}

const char *store_path(const struct store *store)
{
    return store->path;
}

const char *store_own_path(void)
{
    if (!path_is_installed() && access(path_data("db"), W_OK) == 0)
        return path_data("db/latput.db");
    static char *path; // kept as long as the program runs
    const char *base = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (!path)
        path = base && *base == '/'
                   ? xasprintf("%s/latput/latput.db", base)
                   : xasprintf("%s/.local/share/latput/latput.db", home ? home : "");
    return path;
}

const char *store_default_path(void)
{
    const char *own = getenv("LATPUT_DB"), *path = own && *own ? own : store_own_path();
    if (path == own)
        return own;
    char *dir = xstrdup(path);
    struct err err; // opening the file reports errors
    for (char *at = dir + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            scratch_keep_directory(dir, &err);
            *at = '/';
        }
    free(dir);
    return path;
}
