// SPDX-License-Identifier: MIT
// Reading the records of measuring processes, in the place of runner/execute/exec_read.c.
#include "kit.h"

#include "execute/exec_internal.h"

#include <assert.h>
#include <string.h>

#include "../host.h"

enum {
    READ_RECORDS = 64, // at a time
    LOOK_MS = 5,       // records gather meanwhile, since to be woken disturbs
};

// Takes what is there to read, and keeps the beginning of a record that is not all there yet.
// Returns false if that was nothing.
static bool stream_read(struct exec_stream *stream, const struct kit_core *core)
{
    struct core_record records[READ_RECORDS];
    DWORD there = 0, got = 0;
    memcpy(records, &stream->record, stream->have);
    if (!PeekNamedPipe(core->records, NULL, 0, NULL, &there, NULL) || there == 0 ||
        !ReadFile(core->records, (char *)records + stream->have,
                  (DWORD)(sizeof records - stream->have), &got, NULL) ||
        got == 0)
        return false;
    exec_stream_take(stream, records, stream->have + got);
    return true;
}

// Takes all that a process has written, and notes its end. Returns true if there was something.
static bool stream_take(struct exec_stream *stream, const struct kit_core *core)
{
    bool ended = WaitForSingleObject(core->process, 0) == WAIT_OBJECT_0, any = false;
    while (!(stream->refused && *stream->refused) && stream_read(stream, core))
        any = true;
    if (ended)
        stream->fd = -1;
    return any;
}

enum exec_end exec_read(struct exec_stream *streams, int n, int timeout_ms)
{
    struct kit_core cores[EXEC_THREADS_MAX];
    unsigned long long heard_ms[EXEC_THREADS_MAX] = {0}; // CPU time at the last record of any
    unsigned long long patience_ms = (unsigned long long)timeout_ms * EXEC_START_PATIENCE;
    assert(n <= EXEC_THREADS_MAX);
    for (int i = 0; i < n; i++)
        cores[i] = kit_core_find((int)streams[i].pid);
    for (int waited_ms = 0; waited_ms < EXEC_HELD_MS; waited_ms += LOOK_MS) {
        if (exec_stopped)
            return EXEC_STOPPED;
        bool open = false, any = false, silent = false;
        for (int i = 0; i < n; i++) {
            any |= streams[i].fd >= 0 && stream_take(&streams[i], &cores[i]);
            if (streams[i].refused && *streams[i].refused)
                return EXEC_REFUSED;
            open |= streams[i].fd >= 0;
        }
        if (!open)
            return EXEC_CLOSED;
        for (int i = 0; i < n; i++) {
            unsigned long long now_ms = thread_computed_ms(cores[i].measuring);
            heard_ms[i] = any ? now_ms : heard_ms[i];
            silent |= streams[i].fd >= 0 && now_ms - heard_ms[i] >= patience_ms;
        }
        if (silent)
            return EXEC_SILENT;
        patience_ms = any ? (unsigned long long)timeout_ms : patience_ms;
        waited_ms = any ? 0 : waited_ms;
        Sleep(LOOK_MS);
    }
    return EXEC_HELD;
}
