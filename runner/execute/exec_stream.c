// SPDX-License-Identifier: MIT
// Core processes and their records, as far as that is the same on every system; see
// exec_internal.h.
#include "exec_internal.h"

#include "util/paths.h"

#include <stdio.h>
#include <string.h>

volatile sig_atomic_t exec_stopped;

void exec_stop(void)
{
    exec_stopped = 1;
}

bool exec_is_text(void)
{
    return path_machine("core") != NULL;
}

int exec_start(const char *program, const struct subproc_inputs *inputs,
               struct subproc_child *child, struct err *err)
{
    const char *core = path_machine("core");
    const char *const argv[] = {core ? core : program, core ? program : NULL, NULL};
    return subproc_start(argv, inputs, child, err);
}

bool exec_from_outside(enum exec_end how, int signal_number)
{
    static const int own[] = {0, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (own[i] == signal_number && how != EXEC_HELD)
            return false;
    return how == EXEC_CLOSED || how == EXEC_HELD;
}

void exec_outside_text(enum exec_end how, int signal_number, char text[CORE_TEXT_MAX])
{
    if (how == EXEC_HELD)
        snprintf(text, CORE_TEXT_MAX,
                 "something outside kept the measuring process from running for %d s",
                 EXEC_HELD_MS / 1000);
    else
        snprintf(text, CORE_TEXT_MAX, "something outside ended the measuring process by SIG%s%s",
                 sigabbrev_np(signal_number) ? sigabbrev_np(signal_number) : "?",
                 signal_number == SIGKILL ? " (another program, or a lack of memory)" : "");
}

void exec_stream_take(struct exec_stream *stream, const struct core_record records[], size_t bytes)
{
    size_t n = bytes / sizeof *records;
    for (size_t i = 0; i < n && !(stream->refused && *stream->refused); i++)
        stream->take(stream->context, &records[i]);
    stream->have = bytes - n * sizeof *records;
    memcpy(&stream->record, records + n, stream->have);
}
