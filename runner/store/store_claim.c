// SPDX-License-Identifier: MIT
// Who measures a run. Two processes that go on with one run would both measure the same forms, and
// the later one would find at the end of its first batch that they are there already. So whoever
// measures holds a name in the system's abstract socket names, made of the run's uuid: it goes with
// the process however that ends, and leaves no file behind.
#include "store_internal.h"
#include "store_run.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
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
    // Abstract: the first byte of the path is 0.
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
        return 0; // without sockets nothing can be claimed, and the database refuses what is twice
    if (bind(fd, (const struct sockaddr *)&name, bytes) == 0 || errno != EADDRINUSE) {
        store->claim = (struct store_claim){true, fd};
        return 0;
    }
    close(fd);
    err_set(err,
            "%s: another process is measuring run %lld; wait until it has ended, or begin a run of "
            "its own, without --resume",
            store->path, (long long)run_id);
    return 1;
}
