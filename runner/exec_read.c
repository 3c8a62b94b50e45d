// SPDX-License-Identifier: MIT
// Reading the records of core processes; see exec_internal.h. The watchdog is here and not in the
// core: a body that never returns cannot be trusted to keep a timer.
#include "exec_internal.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

static const int SLICE_MS = 100; // how soon exec_stop is noticed
// Before the first record no body has run: a core that is slow to begin builds its kernels on a
// machine that is busy.
static const int START_PATIENCE = 10;

static volatile sig_atomic_t exec_stopped;

void exec_stop(void)
{
    exec_stopped = 1;
}

// Takes what is there to read; at most one record is completed.
static void exec_stream_read(struct exec_stream *stream)
{
    ssize_t got = read(stream->fd, (char *)&stream->record + stream->have,
                       sizeof stream->record - stream->have);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        stream->fd = -1;
        return;
    }
    stream->have += (size_t)got;
    if (stream->have == sizeof stream->record) {
        stream->take(stream->context, &stream->record);
        stream->have = 0;
    }
}

enum exec_end exec_read(struct exec_stream *streams, int n, int timeout_ms)
{
    struct pollfd waiting[EXEC_THREADS_MAX];
    assert(n <= EXEC_THREADS_MAX);
    int patience_ms = timeout_ms * START_PATIENCE;
    for (int silent_ms = 0; silent_ms < patience_ms;) {
        if (exec_stopped)
            return EXEC_STOPPED;
        bool open = false;
        for (int i = 0; i < n; i++) {
            waiting[i] = (struct pollfd){streams[i].fd, POLLIN, 0};
            open |= streams[i].fd >= 0;
        }
        if (!open)
            return EXEC_CLOSED;
        int ready = poll(waiting, (nfds_t)n, SLICE_MS);
        silent_ms = ready == 0 ? silent_ms + SLICE_MS : ready > 0 ? 0 : silent_ms;
        for (int i = 0; i < n && ready > 0; i++)
            if (waiting[i].revents)
                exec_stream_read(&streams[i]);
        if (ready > 0)
            patience_ms = timeout_ms;
    }
    return EXEC_SILENT;
}
