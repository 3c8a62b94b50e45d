// SPDX-License-Identifier: MIT
// The place of a database and the claim of a run, in the place of runner/store/store_place.c and
// store_claim.c. A claim is a pipe with the run's name, which the system has once.
#include "store/store_internal.h"
#include "store/store_run.h"

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>

#include <windows.h>

bool store_is_remote(const char *path)
{
    char whole[MAX_PATH + 1], root[MAX_PATH + 1];
    return GetFullPathNameA(path, sizeof whole, whole, NULL) &&
           GetVolumePathNameA(whole, root, sizeof root) && GetDriveTypeA(root) == DRIVE_REMOTE;
}

// No mark is made, so files of a database that was begun in vain are not removed.
int store_place_hold(const char *path)
{
    (void)path;
    return -1;
}

bool store_place_alone(int place)
{
    (void)place;
    return false;
}

int store_run_claim(struct store *store, int64_t run_id, struct err *err)
{
    char name[128];
    sqlite3_stmt *stmt =
        store_bind(store, err, "SELECT uuid FROM run WHERE run_id = ?", "i", run_id);
    if (!stmt || sqlite3_step(stmt) != SQLITE_ROW)
        return store_error(store, err, "find the run to be measured");
    snprintf(name, sizeof name, "\\\\.\\pipe\\latput-run-%s", store_text(stmt, 0));
    sqlite3_reset(stmt);
    store_run_unclaim(store);
    HANDLE pipe = CreateNamedPipeA(name, PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE,
                                   PIPE_REJECT_REMOTE_CLIENTS, 1, 0, 0, 0, NULL);
    if (pipe != INVALID_HANDLE_VALUE) {
        store->claim = (struct store_claim){true, _open_osfhandle((intptr_t)pipe, _O_BINARY)};
        return 0;
    }
    if (GetLastError() != ERROR_ACCESS_DENIED && GetLastError() != ERROR_PIPE_BUSY)
        return 0; // without pipes there is no claim; the database still refuses duplicates
    err_set(err,
            "%s: another process is measuring run %lld; wait until it has ended, or begin a new "
            "run, without --resume",
            store->path, (long long)run_id);
    return 1;
}
