// SPDX-License-Identifier: MIT
// Starting processes, in the place of runner/util/subproc.c: each is in a job object of its own,
// which ends it with us. A measuring process (../core_process.c) has its program as a handle, its
// configuration as standard input, and its records as standard output.
#include "kit.h"

#include "core/core_abi.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/program.h"
#include "util/subproc_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../host.h"

enum {
    COMMAND_BYTES = 1 << 15, // more the system does not take
    PIPE_BYTES = 1 << 20,
    CORES_MAX = 32,
    LOOK_MS = 2,
};

const char subproc_no_32[] = "rows of 32-bit mode are not for Windows";

// Held from making handles that a child inherits until they are closed here: all children that are
// started meanwhile would inherit them, too.
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static void command_add(struct strbuf *command, const char *argument)
{
    size_t slashes = 0;
    bool plain = *argument && !strpbrk(argument, " \t\"");
    if (command->len)
        strbuf_puts(command, " ");
    strbuf_puts(command, plain ? "" : "\"");
    for (const char *c = argument; *c; c++) {
        // Backslashes in front of a quote are doubled.
        for (size_t i = 0; *c == '"' && i <= slashes; i++)
            strbuf_puts(command, "\\");
        slashes = *c == '\\' ? slashes + 1 : 0;
        strbuf_put(command, c, 1);
    }
    for (size_t i = 0; !plain && i < slashes; i++)
        strbuf_puts(command, "\\");
    strbuf_puts(command, plain ? "" : "\"");
}

// A process with its job.
struct started {
    HANDLE job, process, thread;
};

static void started_close(struct started *started)
{
    const HANDLE handles[] = {started->thread, started->process, started->job};
    for (size_t i = 0; i < ARRAY_LEN(handles); i++)
        if (handles[i])
            CloseHandle(handles[i]);
    *started = (struct started){NULL, NULL, NULL};
}

// Starts the program at `path`, held until it is in its job. Returns false with the system's error.
static bool started_begin(const char *path, char *command, const char *cwd, bool alone,
                          STARTUPINFOA *files, struct started *started)
{
    PROCESS_INFORMATION made;
    files->cb = sizeof *files;
    files->dwFlags = STARTF_USESTDHANDLES;
    *started = (struct started){.job = job_make(alone)};
    if (!started->job ||
        !CreateProcessA(path, command, NULL, NULL, TRUE, CREATE_SUSPENDED | CREATE_NO_WINDOW, NULL,
                        cwd, files, &made) ||
        !job_start(started->job, &made)) {
        DWORD error = GetLastError();
        started_close(started);
        SetLastError(error);
        return false;
    }
    started->process = made.hProcess;
    started->thread = made.hThread;
    return true;
}

static int subproc_unable(const char *name, struct err *err)
{
    DWORD error = GetLastError();
    return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND
               ? err_set(err, "cannot start %s: not found", name)
               : err_set(err, "cannot start %s: error %lu", name, error);
}

// Makes a pipe whose one end a child inherits.
static bool pipe_make(HANDLE *ours, HANDLE *inherited, bool to_us)
{
    SECURITY_ATTRIBUTES both = {sizeof both, NULL, TRUE};
    HANDLE from, to;
    if (!CreatePipe(&from, &to, &both, PIPE_BYTES))
        return false;
    *ours = to_us ? from : to;
    *inherited = to_us ? to : from;
    return SetHandleInformation(*ours, HANDLE_FLAG_INHERIT, 0);
}

static HANDLE file_open_inherited(const char *path)
{
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    return CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, &inherited,
                       OPEN_EXISTING, 0, NULL);
}

static void handle_close(HANDLE handle)
{
    if (handle && handle != INVALID_HANDLE_VALUE)
        CloseHandle(handle);
}

// Takes what a pipe has. Returns false if that was nothing.
static bool pipe_drain(HANDLE pipe, struct strbuf *out, const struct subproc_options *options)
{
    char bytes[16384];
    DWORD there = 0, got = 0;
    if (!PeekNamedPipe(pipe, NULL, 0, NULL, &there, NULL) || there == 0 ||
        !ReadFile(pipe, bytes, sizeof bytes, &got, NULL) || got == 0)
        return false;
    subproc_put(out, bytes, got, options);
    return true;
}

// Collects both outputs until the process ends, the time is over, or subproc_stop() is called.
// Returns true if it ended.
static bool subproc_collect(HANDLE process, const HANDLE pipes[2], struct strbuf outputs[2],
                            const struct subproc_options *options)
{
    int64_t end = clock_now_ms() + options->timeout_ms;
    for (bool ended = false;;) {
        bool any = false;
        for (int i = 0; i < 2; i++)
            any |= pipe_drain(pipes[i], &outputs[i], options);
        if (any)
            continue;
        if (ended)
            return true;
        if (subproc_stopped || (options->timeout_ms > 0 && clock_now_ms() >= end))
            return false;
        ended = WaitForSingleObject(process, LOOK_MS) == WAIT_OBJECT_0;
    }
}

// Starts a tool with pipes for its output.
static bool tool_begin(const char *path, char *command, const struct subproc_options *options,
                       HANDLE pipes[2], struct started *started)
{
    STARTUPINFOA files = {0};
    pthread_mutex_lock(&starting);
    files.hStdInput = file_open_inherited(options->stdin_path ? options->stdin_path : "NUL");
    bool begun = pipe_make(&pipes[0], &files.hStdOutput, true) &&
                 pipe_make(&pipes[1], &files.hStdError, true) &&
                 started_begin(path, command, options->cwd, false, &files, started);
    DWORD error = GetLastError();
    handle_close(files.hStdInput);
    handle_close(files.hStdOutput);
    handle_close(files.hStdError);
    pthread_mutex_unlock(&starting);
    SetLastError(error);
    return begun;
}

// Takes the carriage returns out that programs of Windows write at the ends of lines.
static void text_take_returns(struct strbuf *text)
{
    size_t len = 0;
    for (size_t i = 0; i < text->len; i++)
        if (text->data[i] != '\r')
            text->data[len++] = text->data[i];
    text->len = len;
}

int subproc_run(const char *const argv[], const struct subproc_options *options,
                struct subproc_result *result, struct err *err)
{
    static const struct subproc_options defaults = {0};
    options = options ? options : &defaults;
    *result = (struct subproc_result){0};
    struct strbuf command = {0}, outputs[2] = {{0}, {0}};
    HANDLE pipes[2] = {NULL, NULL};
    struct started started;
    int status = 0;
    for (int i = 0; argv[i]; i++)
        command_add(&command, argv[i]);
    subproc_print(argv);
    char *path = program_find(argv[0]);
    SetLastError(ERROR_FILE_NOT_FOUND);
    if (path && tool_begin(path, command.data, options, pipes, &started)) {
        bool ended = subproc_collect(started.process, pipes, outputs, options);
        DWORD code = 1;
        if (!ended)
            TerminateJobObject(started.job, 1);
        WaitForSingleObject(started.process, INFINITE);
        GetExitCodeProcess(started.process, &code);
        result->exit_status = (int)code;
        result->timed_out = !ended && !subproc_stopped;
        if (!ended && subproc_stopped)
            status = err_set(err, "%s was ended, since a signal stops latput", argv[0]);
        started_close(&started);
    } else {
        status = subproc_unable(argv[0], err);
    }
    handle_close(pipes[0]);
    handle_close(pipes[1]);
    strbuf_free(&command);
    free(path);
    text_take_returns(&outputs[0]);
    text_take_returns(&outputs[1]);
    subproc_take(outputs, result);
    if (status != 0)
        subproc_result_free(result);
    return status;
}

// Measuring processes, by the numbers that the system gives them.
static struct core {
    int pid; // 0: none
    struct started started;
    HANDLE records;
} cores[CORES_MAX];
static pthread_mutex_t cores_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct core core_take(int pid)
{
    struct core found = {0};
    pthread_mutex_lock(&cores_mutex);
    for (int i = 0; i < CORES_MAX && !found.pid; i++)
        if (cores[i].pid == pid) {
            found = cores[i];
            cores[i].pid = 0;
        }
    pthread_mutex_unlock(&cores_mutex);
    return found;
}

static bool core_put(const struct core *core)
{
    bool put = false;
    pthread_mutex_lock(&cores_mutex);
    for (int i = 0; i < CORES_MAX && !put; i++)
        if (cores[i].pid == 0) {
            cores[i] = *core;
            put = true;
        }
    pthread_mutex_unlock(&cores_mutex);
    return put;
}

struct kit_core kit_core_find(int pid)
{
    struct kit_core found = {NULL, NULL, NULL};
    pthread_mutex_lock(&cores_mutex);
    for (int i = 0; i < CORES_MAX && pid; i++)
        if (cores[i].pid == pid)
            found = (struct kit_core){cores[i].started.process, cores[i].started.thread,
                                      cores[i].records};
    pthread_mutex_unlock(&cores_mutex);
    return found;
}

// Starts a core with its program, configuration and records as handles. All of the configuration
// fits into the pipe, so it is there before the process is.
static bool core_begin(const char *const argv[], const struct subproc_inputs *inputs,
                       struct core *core)
{
    STARTUPINFOA files = {0};
    HANDLE config_to = NULL;
    DWORD put = 0;
    char command[2 * MAX_PATH];
    pthread_mutex_lock(&starting);
    HANDLE program = file_open_inherited(argv[1]);
    snprintf(command, sizeof command, "\"%s\" core %llu", argv[0],
             (unsigned long long)(uintptr_t)program);
    bool begun = program != INVALID_HANDLE_VALUE && inputs->config_bytes <= PIPE_BYTES &&
                 pipe_make(&config_to, &files.hStdInput, false) &&
                 pipe_make(&core->records, &files.hStdOutput, true) &&
                 WriteFile(config_to, inputs->config, (DWORD)inputs->config_bytes, &put, NULL) &&
                 put == inputs->config_bytes &&
                 started_begin(argv[0], command, NULL, true, &files, &core->started);
    DWORD error = GetLastError();
    handle_close(program);
    handle_close(config_to);
    handle_close(files.hStdInput);
    handle_close(files.hStdOutput);
    pthread_mutex_unlock(&starting);
    if (!begun)
        handle_close(core->records);
    SetLastError(error);
    return begun;
}

int subproc_start(const char *const argv[], const struct subproc_inputs *inputs,
                  struct subproc_child *child, struct err *err)
{
    struct core core = {0};
    struct core_config config;
    if (inputs->config_bytes >= sizeof config) {
        memcpy(&config, inputs->config, sizeof config);
        machine_leave_cpu((size_t)config.cpu, NULL);
    }
    if (!core_begin(argv, inputs, &core))
        return subproc_unable("the measuring process", err);
    core.pid = (int)GetProcessId(core.started.process);
    *child = (struct subproc_child){.pid = core.pid, .to_fd = -1, .from_fd = core.pid};
    if (core_put(&core))
        return 0;
    TerminateJobObject(core.started.job, 1);
    started_close(&core.started);
    handle_close(core.records);
    return err_set(err, "more than %d measuring processes at once", CORES_MAX);
}

static struct timeval timeval_of(unsigned long long us)
{
    enum { SECOND_US = 1000000 };
    return (struct timeval){.tv_sec = (long)(us / SECOND_US), .tv_usec = (long)(us % SECOND_US)};
}

void subproc_finish(struct subproc_child *child, bool kill_first, struct subproc_end *end)
{
    struct core core = core_take((int)child->pid);
    unsigned long long user, kernel;
    DWORD code = 1;
    *end = (struct subproc_end){0};
    if (kill_first)
        TerminateJobObject(core.started.job, 1);
    WaitForSingleObject(core.started.process, INFINITE);
    GetExitCodeProcess(core.started.process, &code);
    thread_times_us(core.started.thread, &user, &kernel);
    end->exit_status = (int)code;
    end->usage.ru_utime = timeval_of(user);
    end->usage.ru_stime = timeval_of(kernel);
    started_close(&core.started);
    handle_close(core.records);
}
