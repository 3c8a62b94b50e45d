// SPDX-License-Identifier: MIT
// Claims a run for one measuring process. Two processes that continue the same run would measure
// the same forms, and the later one would find them in the database at the end of its first batch.
// So the measuring process holds an abstract socket name made of the run's uuid: it vanishes with
// the process, and leaves no file in place.
#include "store_internal.h"
#include "store_run.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int claim_name(struct store *store, int64_t run_id, struct sockaddr_un *name,
                      socklen_t *bytes, struct err *err)
{
    sqlite3_stmt *stmt =
        store_bind(store, err, "SELECT uuid FROM run WHERE run_id = ?", "i", run_id);
    if (!stmt || sqlite3_step(stmt) != SQLITE_ROW)
        return store_error(store, err, "find the run to be measured");
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    // The first byte of an abstract name is 0.
    int n = snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "latput-run-%s",
                     store_text(stmt, 0));
    *bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    sqlite3_reset(stmt);
    return 0;
}

int store_run_claim(struct store *store, int64_t run_id, struct err *err)
{
    struct sockaddr_un name;
    socklen_t bytes = 0;
    if (claim_name(store, run_id, &name, &bytes, err) != 0)
        return -1;
    store_run_unclaim(store);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return 0; // without sockets there is no claim; the database still refuses duplicates
    if (bind(fd, (const struct sockaddr *)&name, bytes) == 0 || errno != EADDRINUSE) {
        store->claim = (struct store_claim){true, fd};
        return 0;
    }
    close(fd);
    err_set(err,
            "%s: another process is measuring run %lld; wait until it has ended, or begin a new "
            "run, without --resume",
            store->path, (long long)run_id);
    return 1;
}
