// SPDX-License-Identifier: MIT
// latput-windows.exe: serves latput on Linux with measuring processes on this machine. The other
// side is latput-windows (far.c), by standard input and output, or by those of a command, such as
// `ssh host latput-windows - -- run`.
#include "host.h"
#include "core/core_abi.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIPE_BYTES = 1 << 20 };

static void __attribute__((format(gnu_printf, 1, 2))) host_say(const char *format, ...)
{
    char text[512];
    va_list ap;
    DWORD put;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (n > 0)
        WriteFile(GetStdHandle(STD_ERROR_HANDLE), text,
                  (DWORD)n < sizeof text ? (DWORD)n : sizeof text - 1, &put, NULL);
}

static bool handle_read(HANDLE from, void *to, size_t bytes)
{
    DWORD got = 0;
    for (size_t have = 0; have < bytes; have += got)
        if (!ReadFile(from, (char *)to + have, (DWORD)(bytes - have), &got, NULL) || got == 0)
            return false;
    return true;
}

static bool handle_write(HANDLE to, const void *from, size_t bytes)
{
    DWORD put = 0;
    for (size_t have = 0; have < bytes; have += put)
        if (!WriteFile(to, (const char *)from + have, (DWORD)(bytes - have), &put, NULL))
            return false;
    return true;
}

bool channel_receive(struct host_channel *channel, struct channel_head *head, void **payload)
{
    *payload = NULL;
    if (!handle_read(channel->from, head, sizeof *head) || head->magic != CHANNEL_MAGIC ||
        head->bytes > CHANNEL_PROGRAM_MAX)
        return false;
    *payload = malloc(head->bytes + 1);
    return *payload && handle_read(channel->from, *payload, head->bytes);
}

bool channel_send(struct host_channel *channel, enum channel_type type, const void *payload,
                  size_t bytes)
{
    const struct channel_head head = {CHANNEL_MAGIC, type, (uint32_t)bytes};
    EnterCriticalSection(&channel->sending);
    bool sent =
        handle_write(channel->to, &head, sizeof head) && handle_write(channel->to, payload, bytes);
    LeaveCriticalSection(&channel->sending);
    return sent;
}

// Appends an argument as CommandLineToArgvW() takes it apart.
static void command_add(char *command, size_t room, const char *argument)
{
    size_t at = strlen(command), slashes = 0;
    bool plain = *argument && !strpbrk(argument, " \t\"");
    if (at + 2 * strlen(argument) + 4 >= room)
        return;
    if (at)
        command[at++] = ' ';
    if (!plain)
        command[at++] = '"';
    for (const char *c = argument; *c; c++) {
        // Backslashes in front of a quote are doubled.
        for (size_t i = 0; *c == '"' && i <= slashes; i++)
            command[at++] = '\\';
        slashes = *c == '\\' ? slashes + 1 : 0;
        command[at++] = *c;
    }
    for (size_t i = 0; !plain && i < slashes; i++)
        command[at++] = '\\';
    if (!plain)
        command[at++] = '"';
    command[at] = '\0';
}

// Starts the command that leads to the other side. *process is then its own, or NULL if it is one
// of Linux under wine. Returns false if it cannot be started.
static bool channel_start(struct host_channel *channel, int argc, char **argv, HANDLE *process)
{
    static char command[1 << 15];
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    STARTUPINFOA startup = {.cb = sizeof startup,
                            .dwFlags = STARTF_USESTDHANDLES,
                            .hStdError = GetStdHandle(STD_ERROR_HANDLE)};
    PROCESS_INFORMATION started;
    for (int i = 0; i < argc; i++)
        command_add(command, sizeof command, argv[i]);
    if (!CreatePipe(&startup.hStdInput, &channel->to, &inherited, PIPE_BYTES) ||
        !CreatePipe(&channel->from, &startup.hStdOutput, &inherited, PIPE_BYTES))
        return false;
    SetHandleInformation(channel->to, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(channel->from, HANDLE_FLAG_INHERIT, 0);
    bool runs = CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &startup, &started);
    CloseHandle(startup.hStdInput);
    CloseHandle(startup.hStdOutput);
    *process = runs ? started.hProcess : NULL;
    if (*process)
        CloseHandle(started.hThread);
    return runs;
}

static bool host_greet(struct host_channel *channel)
{
    const struct channel_hello hello = {CHANNEL_VERSION, CORE_ABI_VERSION};
    size_t bytes;
    char *machine = machine_describe(&bytes);
    bool sent = channel_send(channel, CHANNEL_HELLO, &hello, sizeof hello) &&
                channel_send(channel, CHANNEL_MACHINE, machine, bytes);
    free(machine);
    return sent;
}

// Does what a message asks for. Returns NULL or what failed.
static const char *host_do(struct host_child *child, const struct channel_head *head,
                           const void *payload, HANDLE command)
{
    struct core_config config;
    switch (head->type) {
    case CHANNEL_PROGRAM:
        return child_take_program(child, payload, head->bytes);
    case CHANNEL_START:
        if (head->bytes < sizeof config)
            return "a configuration is incomplete";
        memcpy(&config, payload, sizeof config);
        machine_leave_cpu((size_t)config.cpu, command);
        return child_begin(child, payload, head->bytes);
    case CHANNEL_STOP:
        child_stop(child);
        return NULL;
    default:
        return "a message of an unknown type came";
    }
}

int host_main(int argc, char **argv)
{
    struct host_channel channel = {
        GetStdHandle(STD_INPUT_HANDLE), GetStdHandle(STD_OUTPUT_HANDLE), {0}};
    struct host_child child = {.channel = &channel};
    struct channel_head head;
    void *payload = NULL;
    HANDLE command = NULL;
    InitializeCriticalSection(&channel.sending);
    SetThreadExecutionState(ES_CONTINUOUS | ES_SYSTEM_REQUIRED); // no sleep meanwhile
    // A core inherits what may be inherited: the channel is none of that.
    SetHandleInformation(channel.from, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(channel.to, HANDLE_FLAG_INHERIT, 0);
    if (argc > 0 && !channel_start(&channel, argc, argv, &command)) {
        host_say("latput-windows: cannot start %s: error %lu\n", argv[0], GetLastError());
        return 3;
    }
    const char *failed = NULL;
    bool open = host_greet(&channel);
    while (open && !failed && channel_receive(&channel, &head, &payload)) {
        failed = host_do(&child, &head, payload, command);
        free(payload);
        payload = NULL;
    }
    free(payload);
    child_stop(&child);
    if (failed)
        channel_send(&channel, CHANNEL_FAILED, failed, strlen(failed));
    DWORD status = failed ? 3 : 0;
    if (argc > 0) {
        CloseHandle(channel.to);
        CloseHandle(channel.from); // else it may wait for us to read
    }
    if (command) {
        WaitForSingleObject(command, INFINITE);
        GetExitCodeProcess(command, &status);
    }
    return (int)status;
}
