// SPDX-License-Identifier: MIT
// Reading the records of core processes; see exec_internal.h. The watchdog is here and not in the
// core: a body that never returns cannot be trusted to keep a timer.
#include "exec_internal.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READ_RECORDS = 64 };      // at a time
static const int SLICE_MS = 100; // longest wait before exec_stop is noticed
// Being woken for each record takes time from the measuring process and, where this thread runs on
// the same core, is a disturbance. So records are left to gather in the pipe, which holds
// thousands.
static const int GATHER_NS = 4000000;

// Takes what is there to read, and keeps the beginning of a record that is not all there yet. True
// where there may be more.
static bool exec_stream_read(struct exec_stream *stream)
{
    struct core_record records[READ_RECORDS];
    memcpy(records, &stream->record, stream->have);
    ssize_t got = read(stream->fd, (char *)records + stream->have, sizeof records - stream->have);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        stream->fd = -1;
        return false;
    }
    size_t bytes = stream->have + (size_t)got;
    exec_stream_take(stream, records, bytes);
    return bytes == sizeof records;
}

// Returns the CPU time of the process so far; 0 after its end.
static int exec_computed_ms(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (int)(used.tv_sec * 1000 + used.tv_nsec / 1000000);
}

// Returns true if the process sleeps by a call of its own; the core reports before it does.
static bool exec_sleeps(pid_t pid)
{
    char text[SUBPROC_STATE_MAX];
    const char *state = subproc_state(pid, text);
    return state && *state == 'S';
}

// Returns the time without a record that counts against a body: while it computes or sleeps, and
// not while it is kept from that.
static int exec_silent_ms(const struct exec_stream *streams, int n, const int since_ms[],
                          int slept_ms[])
{
    int longest_ms = 0;
    for (int i = 0; i < n; i++) {
        if (streams[i].fd < 0)
            continue;
        slept_ms[i] += exec_sleeps(streams[i].pid) ? SLICE_MS : 0;
        int ms = exec_computed_ms(streams[i].pid) - since_ms[i] + slept_ms[i];
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    return longest_ms;
}

enum exec_end exec_read(struct exec_stream *streams, int n, int timeout_ms)
{
    struct pollfd waiting[EXEC_THREADS_MAX];
    // CPU time of each process at the last record of any, and its sleep since then.
    int heard_ms[EXEC_THREADS_MAX] = {0}, slept_ms[EXEC_THREADS_MAX] = {0};
    assert(n <= EXEC_THREADS_MAX);
    int patience_ms = timeout_ms * EXEC_START_PATIENCE;
    for (int waited_ms = 0; waited_ms < EXEC_HELD_MS;) {
        if (exec_stopped)
            return EXEC_STOPPED;
        bool open = false;
        for (int i = 0; i < n; i++) {
            if (streams[i].secrets)
                exec_secrets_feed(streams[i].secrets);
            waiting[i] = (struct pollfd){streams[i].fd, POLLIN, 0};
            open |= streams[i].fd >= 0;
        }
        if (!open)
            return EXEC_CLOSED;
        int ready = poll(waiting, (nfds_t)n, SLICE_MS);
        waited_ms = ready == 0 ? waited_ms + SLICE_MS : ready > 0 ? 0 : waited_ms;
        if (ready == 0 && exec_silent_ms(streams, n, heard_ms, slept_ms) >= patience_ms)
            return EXEC_SILENT;
        bool more = false;
        for (int i = 0; i < n && ready > 0; i++) {
            if (waiting[i].revents)
                more |= exec_stream_read(&streams[i]);
            if (streams[i].refused && *streams[i].refused)
                return EXEC_REFUSED;
            heard_ms[i] = exec_computed_ms(streams[i].pid);
            slept_ms[i] = 0;
        }
        if (ready > 0)
            patience_ms = timeout_ms;
        if (ready > 0 && !more)
            nanosleep(&(struct timespec){.tv_nsec = GATHER_NS}, NULL);
    }
    return EXEC_HELD;
}
