// SPDX-License-Identifier: MIT
// A measuring process: this program once more, with `core` as its argument, in a job object that
// ends it with us and lets it start no other. Its program and its records are handles that it
// inherits. A body that does not return is ended by the time that the process computes.
#include "core/core_abi.h"
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

enum {
    HANG_MS = 2000,      // as exec_defaults(); the CPU time without a word after which a body hangs
    START_PATIENCE = 10, // as EXEC_START_PATIENCE: a core is slow to build its kernels
    LOOK_MS = 5,         // records gather meanwhile, since to be woken disturbs
    PIPE_BYTES = 1 << 20,
    RECORDS_BYTES = 64 << 10,
};

const char *child_take_program(struct host_child *child, const void *bytes, size_t n)
{
    WCHAR directory[MAX_PATH + 1], name[MAX_PATH + 1];
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    DWORD put = 0;
    if (child->program)
        CloseHandle(child->program);
    child->program = NULL;
    if (!GetTempPathW(MAX_PATH, directory) || !GetTempFileNameW(directory, L"lat", 0, name))
        return "there is no directory for temporary files";
    HANDLE file = CreateFileW(name, GENERIC_READ | GENERIC_WRITE, 0, &inherited, CREATE_ALWAYS,
                              FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return "no temporary file can be made";
    child->program = file;
    return WriteFile(file, bytes, (DWORD)n, &put, NULL) && put == n
               ? NULL
               : "the disk for temporary files is full";
}

// Sends what the core has written. Returns false if that was nothing.
static bool child_pass_records(struct host_child *child)
{
    static char records[RECORDS_BYTES]; // there is one core at a time
    DWORD there = 0, got = 0;
    if (!PeekNamedPipe(child->records, NULL, 0, NULL, &there, NULL) || there == 0 ||
        !ReadFile(child->records, records, sizeof records, &got, NULL) || got == 0)
        return false;
    channel_send(child->channel, CHANNEL_RECORDS, records, got);
    return true;
}

// Watches a core until its end: a thread of its own.
static DWORD WINAPI child_watch(void *of)
{
    struct host_child *child = of;
    struct channel_end end = {0, 0};
    ULONGLONG heard_ms = 0, patience_ms = (ULONGLONG)HANG_MS * START_PATIENCE;
    for (bool ended = false; !ended;) {
        ended = WaitForSingleObject(child->process, LOOK_MS) == WAIT_OBJECT_0;
        bool heard = false;
        while (child_pass_records(child))
            heard = true;
        if (heard) {
            heard_ms = thread_computed_ms(child->measuring);
            patience_ms = HANG_MS;
        } else if (!ended && thread_computed_ms(child->measuring) - heard_ms >= patience_ms) {
            end.hung = 1;
            TerminateProcess(child->process, 1);
        }
    }
    DWORD status = 1;
    GetExitCodeProcess(child->process, &status);
    end.status = status;
    channel_send(child->channel, CHANNEL_END, &end, sizeof end);
    return 0;
}

// Ends what is left of the core before.
static void child_clean(struct host_child *child)
{
    if (child->watch) {
        WaitForSingleObject(child->watch, INFINITE);
        CloseHandle(child->watch);
        CloseHandle(child->process);
        CloseHandle(child->measuring);
        CloseHandle(child->records);
    }
    child->watch = child->process = NULL;
}

// Starts the process with these handles as its standard files, held until it is in the job.
static bool child_start(struct host_child *child, HANDLE input, HANDLE output)
{
    WCHAR self[MAX_PATH + 1], command[MAX_PATH + 64];
    STARTUPINFOW startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdInput = input,
                            .hStdOutput = output};
    PROCESS_INFORMATION started;
    DWORD length = GetModuleFileNameW(NULL, self, MAX_PATH);
    if (length == 0 || length >= MAX_PATH)
        return false;
    swprintf(command, sizeof command / sizeof command[0], L"\"%ls\" core %llu", self,
             (unsigned long long)(uintptr_t)child->program);
    if (!CreateProcessW(self, command, NULL, NULL, TRUE, CREATE_SUSPENDED | CREATE_NO_WINDOW, NULL,
                        NULL, &startup, &started) ||
        !job_start(child->job, &started))
        return false;
    child->process = started.hProcess;
    child->measuring = started.hThread;
    return true;
}

const char *child_begin(struct host_child *child, const void *config, size_t bytes)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    HANDLE input, config_to, output;
    DWORD put = 0;
    child_clean(child);
    if (!child->job)
        child->job = job_make(true);
    if (!child->job)
        return "a job object cannot be made";
    if (!child->program)
        return "a core without a program was asked for";
    // All of the configuration fits into the pipe, so it is there before the process is.
    if (!CreatePipe(&input, &config_to, &inherited, (DWORD)bytes + RECORDS_BYTES) ||
        !CreatePipe(&child->records, &output, &inherited, PIPE_BYTES))
        return "a pipe cannot be made";
    SetHandleInformation(config_to, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(child->records, HANDLE_FLAG_INHERIT, 0);
    WriteFile(config_to, config, (DWORD)bytes, &put, NULL);
    bool started = put == bytes && child_start(child, input, output);
    CloseHandle(config_to);
    CloseHandle(input);
    CloseHandle(output);
    if (started)
        child->watch = CreateThread(NULL, 0, child_watch, child, 0, NULL);
    return started && child->watch ? NULL : "a measuring process cannot be started";
}

void child_stop(struct host_child *child)
{
    if (child->process)
        TerminateProcess(child->process, 1);
    child_clean(child);
}
