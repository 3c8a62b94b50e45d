// SPDX-License-Identifier: MIT
// Records to the runner, signed as words of the core's (core_seal.c). Those that something else
// follows soon wait for it, since a system call costs more than a record.
#include "core_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

// Bodies gain nothing by writing here: it has no token then, or is not sent.
CORE_OPEN struct core_record core_outbox[CORE_RECORDS_MAX];
static CORE_KEPT uint32_t waiting; // in it

void send_all(void)
{
    long bytes = (long)(waiting * sizeof *core_outbox);
    if (!waiting)
        return;
    waiting = 0;
    if (core_call(SYS_write, CORE_RECORD_FD, (intptr_t)core_outbox, bytes, 0) != bytes)
        _exit(113); // the runner is gone
    for (size_t i = 0; i < CORE_RECORDS_MAX; i++)
        ((volatile struct core_record *)core_outbox)[i].token = 0;
}

void send_sign(struct core_record *record)
{
    record->number = core_secret.number;
    record->token = core_secret.token;
}

void send_record(const struct core_record *record)
{
    core_outbox[waiting] = *record;
    send_sign(&core_outbox[waiting++]);
    bool more = record->type == CORE_REC_TIMING || record->type == CORE_REC_COUNTS ||
                record->type == CORE_REC_CODE || record->type == CORE_REC_BEGIN;
    if (!more || waiting == CORE_RECORDS_MAX)
        send_all();
}

static void __attribute__((format(printf, 2, 0)))
send_text(enum core_record_type type, const char *format, va_list ap)
{
    struct core_record record = {.type = type};
    vsnprintf(record.text, sizeof record.text, format, ap);
    send_record(&record);
}

void send_fatal(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    send_text(CORE_REC_FATAL, format, ap);
    va_end(ap);
    _exit(111);
}

void send_aside(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    send_text(CORE_REC_ASIDE, format, ap);
    va_end(ap);
    _exit(CORE_EXIT_ASIDE);
}
