// SPDX-License-Identifier: MIT
// latput-windows: has latput measure on a machine with Windows. It reaches latput-windows.exe by a
// command, makes a machine of files ($LATPUT_MACHINE; runner/README.md) of what that says, and runs
// latput. As `core` of that machine the same program stands for the measuring process (far_core.c);
// what it sends goes on to Windows, and what comes back to it. One core measures at a time.
#include "far.h"

#include "core/core_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GREETING_MS = 60000, LOOK_MS = 50, REFUSED = 3 };

// The connection between both, and what it serves.
struct far {
    int from, to;  // the channel to Windows; -1: it is lost
    pid_t command; // that leads there; 0: none
    char directory[64];
    int listening;
    int core;            // connection to the core that measures; -1: none
    bool measuring;      // Windows has not said yet that the core ended
    char lost[FAR_TEXT]; // why nothing can be measured any more; "": it can
    // The last program that was sent, which a core that is begun again does not need anew.
    void *program;
    size_t program_bytes;
};

static volatile sig_atomic_t latput_pid;

static void signal_pass_on(int number)
{
    if (latput_pid > 0)
        kill((pid_t)latput_pid, number);
}

static int far_complain(const char *what, const char *why)
{
    fprintf(stderr, "latput-windows: %s%s%s\n", what, *why ? ": " : "", why);
    return REFUSED;
}

// Starts a command with the channel as its standard files. It is not ended by the terminal, which
// interrupts latput.
static int far_reach(struct far *far, char **command)
{
    int to[2], from[2];
    if (strcmp(command[0], "-") == 0) {
        far->from = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
        far->to = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
        dup2(STDERR_FILENO, STDOUT_FILENO);
        return far->from < 0 || far->to < 0 ? -1 : 0;
    }
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0)
        return -1;
    far->command = fork();
    if (far->command == 0) {
        signal(SIGPIPE, SIG_DFL);
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        execvp(command[0], command);
        far_complain(command[0], strerror(errno));
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    far->to = to[1];
    far->from = from[0];
    return far->command < 0 ? -1 : 0;
}

static bool far_write_file(const struct far *far, const char *name, const char *text, size_t bytes)
{
    char path[FAR_TEXT];
    snprintf(path, sizeof path, "%s/%s", far->directory, name);
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(text, 1, bytes, file) == bytes;
    return file && fclose(file) == 0 && written;
}

// Makes the machine of files from the text of CHANNEL_MACHINE.
static int far_make_machine(struct far *far, const char *text, size_t bytes)
{
    char path[FAR_TEXT], self[4096];
    const char *end = memchr(text, '\n', bytes);
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!end || length < 0)
        return -1;
    self[length] = '\0';
    snprintf(path, sizeof path, "%s/core", far->directory);
    size_t system = (size_t)(end - text) + 1;
    return far_write_file(far, "system", text, system) &&
                   far_write_file(far, "cpuid", end + 1, bytes - system) && symlink(self, path) == 0
               ? 0
               : -1;
}

static int far_greet(struct far *far)
{
    struct channel_head head;
    struct channel_hello hello;
    void *payload;
    struct pollfd waiting = {far->from, POLLIN, 0};
    if (poll(&waiting, 1, GREETING_MS) <= 0)
        return far_complain("nothing came from Windows for a minute", "");
    if (!far_receive(far->from, &head, &payload))
        return far_complain("no latput-windows.exe answers there", "");
    bool fits = head.type == CHANNEL_HELLO && head.bytes == sizeof hello;
    if (fits)
        memcpy(&hello, payload, sizeof hello);
    free(payload);
    if (!fits || hello.version != CHANNEL_VERSION || hello.abi != CORE_ABI_VERSION)
        return far_complain("latput-windows.exe is of another version",
                            "copy the one of this version (make windows) to the Windows machine");
    if (!far_receive(far->from, &head, &payload))
        return far_complain("the Windows machine does not say what it is", "");
    int status = far_make_machine(far, payload, head.bytes);
    free(payload);
    return status == 0 ? 0 : far_complain(far->directory, strerror(errno));
}

static int far_listen(struct far *far)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    far_socket_name(far->directory, &address);
    far->listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return far->listening >= 0 &&
                   bind(far->listening, (struct sockaddr *)&address, sizeof address) == 0 &&
                   listen(far->listening, 4) == 0
               ? 0
               : far_complain("cannot make a socket", strerror(errno));
}

static pid_t far_start_latput(const struct far *far, char **arguments)
{
    const char *latput = getenv("LATPUT");
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (const int *number = far_ignored; *number; number++)
        signal(*number, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setenv("LATPUT_MACHINE", far->directory, 1);
    static char name[] = "latput";
    arguments[-1] = name; // in the place of the `--`
    execvp(latput && *latput ? latput : "latput", arguments - 1);
    far_complain(latput && *latput ? latput : "latput", strerror(errno));
    _exit(127);
}

static void far_lose(struct far *far, const char *why)
{
    snprintf(far->lost, sizeof far->lost, "%s", why);
    far->measuring = false;
    if (far->core >= 0) {
        far_send(far->core, CHANNEL_FAILED, far->lost, strlen(far->lost));
        close(far->core);
    }
    far->core = -1;
}

// Passes a message from Windows on to the core on Linux, if that still is there.
static void far_take(struct far *far)
{
    struct channel_head head;
    void *payload;
    if (!far_receive(far->from, &head, &payload)) {
        far_lose(far, "the connection to the Windows machine is lost");
        return;
    }
    if (head.type == CHANNEL_FAILED) {
        char why[FAR_TEXT];
        snprintf(why, sizeof why, "on the Windows machine %.*s", (int)head.bytes, (char *)payload);
        far_lose(far, why);
    } else if (far->core >= 0) {
        far_send(far->core, head.type, payload, head.bytes);
    }
    if (head.type == CHANNEL_END) {
        far->measuring = false;
        if (far->core >= 0)
            close(far->core);
        far->core = -1;
    }
    free(payload);
}

// Sends the program of a path, unless it is the last one once more.
static bool far_send_program(struct far *far, const char *path)
{
    size_t bytes;
    void *program = far_read_file(path, &bytes);
    if (!program)
        return false;
    if (far->program && bytes == far->program_bytes && memcmp(program, far->program, bytes) == 0) {
        free(program);
        return true;
    }
    free(far->program);
    far->program = program;
    far->program_bytes = bytes;
    return far_send(far->to, CHANNEL_PROGRAM, program, bytes);
}

// Takes a message from a core on Linux, or its end.
static void far_take_core(struct far *far)
{
    struct channel_head head;
    void *payload;
    bool taken = far_receive(far->core, &head, &payload);
    if (!taken) {
        // The runner has ended it.
        close(far->core);
        far->core = -1;
        if (far->measuring)
            far_send(far->to, CHANNEL_STOP, "", 0);
    } else if (head.type == CHANNEL_PROGRAM) {
        // The runner may have ended meanwhile, and removed it.
        if (!far_send_program(far, payload)) {
            close(far->core);
            far->core = -1;
        }
    } else {
        far->measuring = far_send(far->to, head.type, payload, head.bytes);
    }
    free(payload);
}

static void far_accept(struct far *far)
{
    far->core = accept4(far->listening, NULL, NULL, SOCK_CLOEXEC);
    if (far->core >= 0 && *far->lost)
        far_lose(far, far->lost);
}

// Serves cores until latput ends. Returns the status of its end.
static int far_serve(struct far *far, pid_t latput)
{
    int status;
    while (waitpid(latput, &status, WNOHANG) != latput) {
        struct pollfd waiting[] = {
            {*far->lost ? -1 : far->from,                            POLLIN, 0},
            {far->core,                                              POLLIN, 0},
            {far->core < 0 && !far->measuring ? far->listening : -1, POLLIN, 0},
        };
        if (poll(waiting, 3, LOOK_MS) <= 0)
            continue;
        if (waiting[0].revents)
            far_take(far);
        else if (waiting[1].revents)
            far_take_core(far);
        else if (waiting[2].revents)
            far_accept(far);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void far_clean(const struct far *far)
{
    static const char *const names[] = {"core", "cpuid", "system", FAR_SOCKET};
    char path[FAR_TEXT];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", far->directory, names[i]);
        unlink(path);
    }
    rmdir(far->directory);
}

// Ends the connection. A command that does not notice, as where the network is gone, is ended.
static void far_part(struct far *far)
{
    enum { PARTING_MS = 5000 };
    close(far->to);
    close(far->from);
    for (int ms = 0; far->command > 0; ms += LOOK_MS) {
        if (waitpid(far->command, NULL, WNOHANG) != 0)
            break;
        if (ms == PARTING_MS)
            kill(far->command, SIGTERM);
        poll(NULL, 0, LOOK_MS);
    }
}

static int far_run(struct far *far, char **command, char **arguments)
{
    int status =
        far_reach(far, command) == 0 ? far_greet(far) : far_complain(command[0], strerror(errno));
    if (status == 0)
        status = far_listen(far);
    if (status == 0) {
        pid_t latput = far_start_latput(far, arguments);
        latput_pid = latput;
        status = latput > 0 ? far_serve(far, latput)
                            : far_complain("cannot start latput", strerror(errno));
        latput_pid = 0;
    }
    far_part(far);
    return status;
}

int main(int argc, char **argv)
{
    struct far far = {.core = -1, .listening = -1};
    const char *base = strrchr(argv[0], '/'), *temporary = getenv("TMPDIR");
    int split = 1;
    if (base && strcmp(base, "/core") == 0 && argc == 2)
        return far_core(argv[0], argv[1]);
    while (split < argc && strcmp(argv[split], "--") != 0)
        split++;
    if (split == 1 || split >= argc - 1)
        return far_complain("usage: latput-windows COMMAND... -- ARGUMENTS... (windows/README.md)",
                            "COMMAND leads to latput-windows.exe, `-`: standard input and output "
                            "do; ARGUMENTS are latput's");
    argv[split] = NULL;
    for (const int *number = far_ignored; *number; number++)
        signal(*number, SIG_IGN);
    signal(SIGTERM, signal_pass_on);
    snprintf(far.directory, sizeof far.directory, "%s/latput-windows-XXXXXX",
             temporary && *temporary && strlen(temporary) < FAR_TMPDIR_MAX ? temporary : "/tmp");
    if (!mkdtemp(far.directory))
        return far_complain(far.directory, strerror(errno));
    int status = far_run(&far, argv + 1, argv + split + 1);
    far_clean(&far);
    free(far.program);
    return status;
}
