// SPDX-License-Identifier: MIT
// Starting processes; see subproc.h. A child gets a process group of its own, so that a timeout
// ends all that it started, and the default signal mask.
#include "subproc_internal.h"

#include "clock.h"
#include "confine.h"
#include "mem.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_CONFIG_FD = 3, CHILD_RECORD_FD = 4, CHILD_SHARED_FD = 5, CHILD_FDS };

const char subproc_no_32[] = "this kernel runs no 32-bit programs";

// Work of the child between fork and exec; only async-signal-safe calls.
struct subproc_setup {
    const char *path;   // path of the program
    int fds[CHILD_FDS]; // number i becomes fd i; -1: unchanged; -2: /dev/null
    const char *cwd;
    const char *stdin_path;
    char *const *environment; // NULL: inherited
    int confine_fd;           // rules of confine.h; 0: none
    int report_fd;            // receives the errno of a failed exec
    bool placed;              // struct subproc_inputs
};

// Opens /dev/null or, in a root without devices, an empty file in memory.
static int subproc_open_null(int flags)
{
    int fd = open("/dev/null", flags);
    return fd >= 0 ? fd : memfd_create("null", 0);
}

static _Noreturn void subproc_child_main(const char *const argv[],
                                         const struct subproc_setup *setup)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // children do not outlive latput
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    int in = setup->stdin_path ? open(setup->stdin_path, O_RDONLY) : subproc_open_null(O_RDONLY);
    if (in > 0)
        dup2(in, 0);
    if (setup->placed)
        personality(ADDR_NO_RANDOMIZE);
    // Move the descriptors out of the way of their targets first.
    int high[CHILD_FDS];
    for (int i = 0; i < CHILD_FDS; i++)
        high[i] = setup->fds[i] >= 0 ? fcntl(setup->fds[i], F_DUPFD_CLOEXEC, 20) : setup->fds[i];
    for (int i = 1; i < CHILD_FDS; i++) {
        if (high[i] == -2)
            high[i] = subproc_open_null(O_WRONLY);
        if (high[i] >= 0)
            dup2(high[i], i);
    }
    int error = 0;
    if (in < 0 || (setup->cwd && chdir(setup->cwd) != 0) ||
        (setup->confine_fd && confine_enter(setup->confine_fd) != 0))
        error = errno;
    else
        execve(setup->path, (char *const *)argv, setup->environment ? setup->environment : environ);
    if (!error)
        error = errno;
    if (write(setup->report_fd, &error, sizeof error) < 0)
        _exit(126);
    _exit(127);
}

// Reports what the system refuses. Too few open files are told in two ways: posix_spawn() and
// poll() call a descriptor above the limit invalid.
static int subproc_unable(const char *name, int error, struct err *err)
{
    return err_set(err, "cannot start %s: %s%s", name, strerror(error),
                   error == EMFILE || error == EINVAL
                       ? "; the limit of open files is too low: raise it (ulimit -n 256)"
                       : "");
}

// Reports why a program was not started. A 32-bit program named by a path is one that latput has
// just built: its name, which lasts for a moment only, is left out.
static int subproc_refused(const char *name, const char *path, int error, struct err *err)
{
    if (error == ENOENT)
        return err_set(err,
                       "cannot start %s: not found; is its package installed? "
                       "(./install-deps.sh installs what latput needs)",
                       name);
    if (error == EACCES && strchr(name, '/'))
        return err_set(
            err,
            "cannot start %s: %s; if latput has just made it: check the umask (022), and "
            "that programs in TMPDIR may be run (no noexec)",
            name, strerror(error));
    if (error != ENOEXEC || !program_is_32(path))
        return subproc_unable(name, error, err);
    err_set(err, "%s", subproc_no_32);
    return strchr(name, '/') ? -1 : err_prefix(err, "cannot start %s: ", name);
}

// Starts the child, which has our memory until the exec: to copy even its page tables takes longer
// than all the rest where samples fill hundreds of megabytes. The child keeps to its own stack.
static pid_t subproc_child(const char *const argv[], const struct subproc_setup *setup)
{
    pid_t pid = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (pid == 0)
        subproc_child_main(argv, setup); // NOLINT(clang-analyzer-unix.Vfork)
    return pid;
}

// Forks and waits for the exec. Returns the pid, or -1 and the errno that stopped it in *error.
static pid_t subproc_exec(const char *const argv[], struct subproc_setup *setup, int *error)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        *error = errno;
        return -1;
    }
    int wanted = fcntl(report[1], F_DUPFD_CLOEXEC, 40);
    setup->report_fd = wanted >= 0 ? wanted : report[1];
    pid_t pid = subproc_child(argv, setup);
    *error = errno;
    close(report[1]);
    if (wanted >= 0)
        close(wanted);
    ssize_t got = 0;
    if (pid > 0)
        do
            got = read(report[0], error, sizeof *error);
        while (got < 0 && errno == EINTR);
    close(report[0]);
    if (got != (ssize_t)sizeof *error)
        return pid;
    waitpid(pid, NULL, 0);
    return -1;
}

// Starts argv; returns its pid, or -1 with a message (a failed exec included).
static pid_t subproc_fork(const char *const argv[], struct subproc_setup *setup, struct err *err)
{
    subproc_print(argv);
    int error = ENOENT;
    char *path = program_find(argv[0]);
    setup->path = path;
    pid_t pid = path ? subproc_exec(argv, setup, &error) : -1;
    if (pid < 0)
        subproc_refused(argv[0], path, error, err);
    setup->path = NULL;
    free(path);
    return pid;
}

static bool subproc_drain(int fd, struct strbuf *out, const struct subproc_options *options)
{
    char bytes[16384];
    ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    if (got == 0)
        return false;
    subproc_put(out, bytes, (size_t)got, options);
    return true;
}

// Collects both outputs until they are closed, the time is over or subproc_stop() is called.
// Returns true if both were closed.
static bool subproc_collect(int fds[2], struct strbuf outputs[2],
                            const struct subproc_options *options)
{
    enum { SLICE_MS = 100 }; // delay until subproc_stop() is noticed: another thread had the signal
    int64_t end = clock_now_ms() + options->timeout_ms;
    bool open_[2] = {true, true};
    while (open_[0] || open_[1]) {
        int64_t left = options->timeout_ms > 0 ? end - clock_now_ms() : SLICE_MS;
        if (left <= 0 || subproc_stopped)
            return false;
        struct pollfd polls[2] = {
            {open_[0] ? fds[0] : -1, POLLIN, 0},
            {open_[1] ? fds[1] : -1, POLLIN, 0}
        };
        if (poll(polls, 2, left < SLICE_MS ? (int)left : SLICE_MS) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (polls[i].revents)
                open_[i] = subproc_drain(fds[i], &outputs[i], options);
    }
    return true;
}

static void subproc_wait(pid_t pid, struct subproc_end *end)
{
    int status = 0;
    *end = (struct subproc_end){0};
    while (wait4(pid, &status, 0, &end->usage) < 0 && errno == EINTR)
        ;
    end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

// Environment of tools: paths to them and their libraries, and a place for their files. NASMENV
// would change the machine code, a locale the messages that are parsed here.
struct tool_environment {
    char *items[5];
};

static void tool_environment_make(struct tool_environment *environment)
{
    static const char *const kept[] = {"PATH", "TMPDIR", "LD_LIBRARY_PATH"};
    size_t n = 0;
    environment->items[n++] = xstrdup("LC_ALL=C");
    for (size_t i = 0; i < ARRAY_LEN(kept); i++)
        if (getenv(kept[i]))
            environment->items[n++] = xasprintf("%s=%s", kept[i], getenv(kept[i]));
    environment->items[n] = NULL;
}

static void tool_environment_free(struct tool_environment *environment)
{
    for (size_t i = 0; environment->items[i]; i++)
        free(environment->items[i]);
}

// Calls subproc_fork() with the environment and confinement of a tool, as the options say.
static pid_t subproc_fork_tool(const char *const argv[], const struct subproc_options *options,
                               struct subproc_setup setup, struct err *err)
{
    struct tool_environment environment;
    tool_environment_make(&environment);
    if (options->tool)
        setup.environment = environment.items;
    if (options->readable) {
        int fd = confine_open(options->readable, options->cwd);
        setup.confine_fd = fd > 0 ? fd : 0;
    }
    pid_t pid = subproc_fork(argv, &setup, err);
    if (setup.confine_fd)
        close(setup.confine_fd);
    tool_environment_free(&environment);
    return pid;
}

int subproc_run(const char *const argv[], const struct subproc_options *options,
                struct subproc_result *result, struct err *err)
{
    static const struct subproc_options defaults = {0};
    if (!options)
        options = &defaults;
    *result = (struct subproc_result){0};
    int out[2], errors[2];
    if (pipe2(out, O_CLOEXEC) != 0)
        return subproc_unable(argv[0], errno, err);
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return subproc_unable(argv[0], errno, err);
    }
    struct subproc_setup setup = {
        .fds = {-1, out[1], errors[1], -1, -1, -1},
        .cwd = options->cwd,
        .stdin_path = options->stdin_path,
    };
    pid_t pid = subproc_fork_tool(argv, options, setup, err);
    close(out[1]);
    close(errors[1]);
    struct strbuf outputs[2] = {{0}, {0}};
    bool ended = true;
    if (pid > 0) {
        int fds[2] = {out[0], errors[0]};
        ended = subproc_collect(fds, outputs, options);
        result->timed_out = !ended && !subproc_stopped;
        if (!ended)
            kill(-pid, SIGKILL);
        struct subproc_end end;
        subproc_wait(pid, &end);
        result->exit_status = end.exit_status;
        result->signal = end.signal;
    }
    close(out[0]);
    close(errors[0]);
    subproc_take(outputs, result);
    if (pid > 0 && !ended && !result->timed_out)
        pid = err_set(err, "%s was ended, since a signal stops latput", argv[0]);
    else if (ended && result->signal == SIGKILL)
        pid =
            err_set(err, "%s was ended by SIGKILL (another program, or a lack of memory)", argv[0]);
    if (pid < 0)
        subproc_result_free(result);
    return pid < 0 ? -1 : 0;
}

// Sends the configuration. A child that has ended causes no signal.
static void subproc_feed(int fd, const void *config, size_t bytes)
{
    const char *at = config;
    while (bytes > 0) {
        ssize_t put = send(fd, at, bytes, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        at += put;
        bytes -= (size_t)put;
    }
}

int subproc_start(const char *const argv[], const struct subproc_inputs *inputs,
                  struct subproc_child *child, struct err *err)
{
    int to[2], from[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
        return subproc_unable(argv[0], errno, err);
    if (pipe2(from, O_CLOEXEC) != 0) {
        close(to[0]);
        close(to[1]);
        return subproc_unable(argv[0], errno, err);
    }
    fcntl(from[1], F_SETPIPE_SZ, 1 << 20); // large, so that the measuring child never waits for the
                                           // reader
    struct subproc_setup setup = {0};
    setup.fds[0] = -1;
    setup.fds[1] = setup.fds[2] = inputs->quiet ? -2 : -1;
    setup.fds[CHILD_CONFIG_FD] = to[0];
    setup.fds[CHILD_RECORD_FD] = from[1];
    setup.placed = inputs->placed;
    setup.fds[CHILD_SHARED_FD] = inputs->shares ? inputs->shared_fd : -1;
    child->pid = subproc_fork(argv, &setup, err);
    child->to_fd = to[1];
    child->from_fd = from[0];
    close(to[0]);
    close(from[1]);
    if (child->pid < 0) {
        close(to[1]);
        close(from[0]);
        return -1;
    }
    subproc_feed(to[1], inputs->config, inputs->config_bytes); // a child that has ended is noticed
                                                               // later
    fcntl(to[1], F_SETFL, O_NONBLOCK);
    fcntl(from[0], F_SETFL, O_NONBLOCK);
    return 0;
}

const char *subproc_state(pid_t pid, char text[SUBPROC_STATE_MAX])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    size_t got = fread(text, 1, SUBPROC_STATE_MAX - 1, file);
    fclose(file);
    text[got] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

void subproc_finish(struct subproc_child *child, bool kill_first, struct subproc_end *end)
{
    if (kill_first)
        kill(-child->pid, SIGKILL);
    subproc_wait(child->pid, end);
    kill(-child->pid, SIGKILL); // kills what it may have left in its group
    close(child->to_fd);
    close(child->from_fd);
}

static const int forwarded_signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP, SIGALRM,
                                        SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
static volatile sig_atomic_t forward_pid; // pid of the running program; 0: none
static volatile sig_atomic_t interrupted_by;

static void forward_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    // A positive code is the kernel's: the terminal has sent the signal to the whole process group.
    if (forward_pid > 0 && info->si_code <= 0)
        kill(forward_pid, number);
    if (number == SIGTSTP)
        raise(SIGSTOP); // stops latput until SIGCONT
    else if (number != SIGUSR1 && number != SIGUSR2 && number != SIGCONT)
        interrupted_by = number;
    errno = saved;
}

void subproc_forward(void)
{
    struct sigaction action = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    interrupted_by = 0;
    for (size_t i = 0; i < ARRAY_LEN(forwarded_signals); i++) {
        struct sigaction old;
        sigaction(forwarded_signals[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(forwarded_signals[i], &action, NULL);
    }
}

int subproc_interrupted(void)
{
    return interrupted_by;
}

// Arguments of the exec of a held program; allocated before the fork.
struct held {
    const char *path;
    const char *const *argv;
    const char **script; // the same for sh
};

// Executes the program. A script without an interpreter line is run by sh, as shells, `env`, `time`
// and `perf stat` do; no other file is.
static int held_exec(const struct held *held)
{
    execve(held->path, (char *const *)held->argv, environ);
    int error = errno;
    if (error == ENOEXEC && !program_is_elf(held->path))
        execve(held->script[0], (char *const *)held->script, environ);
    return error;
}

static _Noreturn void held_main(const struct held *held, int fd, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (size_t i = 0; i < ARRAY_LEN(forwarded_signals); i++) {
        struct sigaction old;
        sigaction(forwarded_signals[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            signal(forwarded_signals[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    char go;
    ssize_t got;
    send(fd, "r", 1, MSG_NOSIGNAL);
    do
        got = read(fd, &go, 1);
    while (got < 0 && errno == EINTR);
    if (got == 1) {
        int error = held_exec(held);
        send(fd, &error, sizeof error, MSG_NOSIGNAL);
    }
    _exit(127);
}

static int held_start(const struct held *held, struct subproc_program *program, struct err *err)
{
    int fds[2];
    sigset_t all, mask;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return subproc_unable(held->argv[0], errno, err);
    // Block signals, so that none meets the child with the handler of latput.
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask);
    pid_t pid = fork();
    if (pid == 0)
        held_main(held, fds[1], &mask);
    int error = errno;
    forward_pid = pid > 0 ? pid : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return err_set(err, "cannot start %s: %s", held->argv[0], strerror(error));
    }
    char ready;
    while (read(fds[0], &ready, 1) < 0 && errno == EINTR)
        ;
    *program = (struct subproc_program){.pid = pid, .hold_fd = fds[0]};
    return 0;
}

int subproc_hold(const char *const argv[], struct subproc_program *program, struct err *err)
{
    int n = 0;
    while (argv[n])
        n++;
    subproc_print(argv);
    char *path = program_find(argv[0]);
    const char **script = xcalloc((size_t)n + 2, sizeof *script);
    script[0] = "/bin/sh";
    script[1] = path;
    for (int i = 1; i < n; i++)
        script[i + 1] = argv[i];
    const struct held held = {path ? path : "", argv, script};
    int status = held_start(&held, program, err);
    free(script);
    free(path);
    return status;
}

int subproc_release(struct subproc_program *program)
{
    int error = 0;
    ssize_t got;
    send(program->hold_fd, "g", 1, MSG_NOSIGNAL);
    do
        got = read(program->hold_fd, &error, sizeof error); // ends when exec closes its side
    while (got < 0 && errno == EINTR);
    close(program->hold_fd);
    program->hold_fd = -1;
    return got == (ssize_t)sizeof error ? error : 0;
}

void subproc_await(struct subproc_program *program, struct subproc_end *end)
{
    siginfo_t info;
    if (program->hold_fd >= 0)
        close(program->hold_fd);
    program->hold_fd = -1;
    // The pid stays taken until wait4, so that no signal reaches another process.
    while (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    forward_pid = 0;
    subproc_wait(program->pid, end);
}

void subproc_abandon(struct subproc_program *program)
{
    struct subproc_end end;
    kill(program->pid, SIGKILL);
    subproc_await(program, &end);
}
