// SPDX-License-Identifier: MIT
// The starter's main; see kit.h. Its copy without an archive starts what lies beside it under its
// own name, by the loader beside it: so latput finds NASM in PATH.
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_ENVIRONMENT = 3, STATUS_HELD = 75 };

void kit_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fputs("latput: the kit cannot start: ", stderr);
    vfprintf(stderr, format, ap); // NOLINT(clang-analyzer-valist.Uninitialized)
    fputc('\n', stderr);
    va_end(ap);
    exit(STATUS_ENVIRONMENT);
}

// Executes DIRECTORY/PROGRAM by the loader and the libraries of the directory alone.
static _Noreturn void kit_exec(const char *directory, const char *program, char **argv)
{
    int n = 0;
    while (argv[n])
        n++;
    char loader[8192], path[8192];
    const char **args = calloc((size_t)n + 6, sizeof *args);
    if (!args)
        kit_fail("there is no memory");
    snprintf(loader, sizeof loader, "%s/ld.so", directory);
    snprintf(path, sizeof path, "%s/%s.elf", directory, program);
    const char *const head[] = {loader, "--inhibit-cache", "--library-path", directory, path};
    memcpy(args, head, sizeof head);
    for (int i = 1; i < n; i++)
        args[sizeof head / sizeof *head + (size_t)i - 1] = argv[i];
    execv(loader, (char **)args);
    kit_fail("%s: %s", loader, strerror(errno));
}

// Holds a file locked while the command runs, in a session of its own that outlives a connection:
// what fleets need flock(1), setsid(1) and nohup(1) for where these are. Status 75 if somebody
// else holds it; without a command that is all it tells.
static _Noreturn void kit_once(char **argv)
{
    if (!argv[0])
        kit_fail("--once wants a file to lock");
    int fd = open(argv[0], O_RDWR | O_CREAT, 0600); // the command and what it starts hold it, too
    if (fd < 0)
        kit_fail("%s: %s", argv[0], strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0)
        exit(STATUS_HELD);
    if (!argv[1])
        exit(0);
    setsid(); // a leader of processes stays where it is
    signal(SIGHUP, SIG_IGN);
    execvp(argv[1], argv + 1);
    kit_fail("%s: %s", argv[1], strerror(errno));
}

// Refuses a kernel on which the C library of the kit does not work.
static void kit_check_kernel(void)
{
    struct utsname name;
    char *end;
    if (uname(&name) != 0)
        return;
    long major = strtol(name.release, &end, 10),
         minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (end != name.release && (major < 3 || (major == 3 && minor < 2)))
        kit_fail("this kernel is %s, and 3.2 is the oldest that it works on", name.release);
}

// The part of a tool: NASM, as latput starts it.
static _Noreturn void kit_be_tool(char *path, char **argv)
{
    char *slash = strrchr(path, '/');
    if (!slash)
        kit_fail("its archive is missing: the file was cut short; copy it again");
    *slash = '\0';
    char program[4200];
    snprintf(program, sizeof program, "%s/%s.elf", path, slash + 1);
    if (access(program, F_OK) != 0)
        kit_fail("its archive is missing: the file was cut short; copy it again");
    kit_exec(path, slash + 1, argv);
}

static const int forwarded[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
static volatile sig_atomic_t child_pid, stopped_by;

// Passes on what was sent to this process alone. The terminal sends to all of its group.
static void kit_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno;
    if (child_pid > 0 && info->si_code <= 0)
        kill(child_pid, number);
    else if (child_pid == 0)
        stopped_by = number;
    errno = saved;
}

static void kit_watch(void)
{
    struct sigaction action = {.sa_sigaction = kit_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        struct sigaction old;
        sigaction(forwarded[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            sigaction(forwarded[i], &action, NULL);
    }
}

static void kit_raise(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

// Unpacks into the first place that takes it.
static void kit_begin(const struct kit_file *file, struct kit_place *place)
{
    while (kit_place_next(file, place)) {
        int error = kit_unpack(file, place->fd);
        if (error == 0)
            error = kit_write(place->fd, "bin/nasm", 0700, file->bytes, file->program);
        if (error == 0)
            return;
        kit_place_remove(place);
        if (error == EBADMSG)
            kit_fail("the file is damaged; copy it again");
        if (error != ENOSPC && error != EDQUOT)
            kit_fail("%s: cannot write: %s", place->parent, strerror(error));
    }
    kit_fail("there is no place for 20 MB of files that programs may run from; set TMPDIR to one "
             "(%s)",
             kit_place_reasons());
}

static void kit_set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        kit_fail("there is no memory");
}

// Sets what latput goes by: programs and data of the kit, results in this directory.
static void kit_set_environment(const struct kit_place *place)
{
    char here[4096], text[16384];
    const char *path = getenv("PATH");
    static const char *const removed[] = {"LATPUT_ROOT", "LD_LIBRARY_PATH", "LD_PRELOAD",
                                          "LD_AUDIT"};
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        unsetenv(removed[i]);
    snprintf(text, sizeof text, "%s/bin:%s", place->directory,
             path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
    kit_set("PATH", text);
    kit_set("TMPDIR", place->parent);
    if (!getenv("LATPUT_DB") && getcwd(here, sizeof here)) {
        snprintf(text, sizeof text, "%s/latput.db", here);
        kit_set("LATPUT_DB", text);
    }
}

static _Noreturn void kit_child(const struct kit_place *place, pid_t parent, const sigset_t *mask,
                                char **argv)
{
    char directory[4300];
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent && getppid() != 0)
        _exit(STATUS_ENVIRONMENT);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        struct sigaction old;
        sigaction(forwarded[i], NULL, &old);
        if (old.sa_handler != SIG_IGN)
            signal(forwarded[i], SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, mask, NULL); // only now: latput has no handlers of this program
    kit_set_environment(place);
    snprintf(directory, sizeof directory, "%s/bin", place->directory);
    kit_exec(directory, "latput", argv);
}

// Runs latput to its end. Returns its status as wait() has it.
static int kit_run(const struct kit_place *place, char **argv)
{
    sigset_t all, before;
    int status = 0;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t parent = getpid(), pid = stopped_by ? -1 : fork();
    if (pid == 0)
        kit_child(place, parent, &before, argv);
    int error = errno;
    child_pid = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0 && !stopped_by) {
        fprintf(stderr, "latput: the kit cannot start: %s\n", strerror(error));
        return STATUS_ENVIRONMENT << 8;
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 ? status : stopped_by;
}

int main(int argc, char **argv)
{
    static struct kit_file file;
    static struct kit_place place;
    if (!kit_file_open(&file))
        kit_be_tool(file.path, argv);
    kit_check_kernel();
    if (argc > 1 && strcmp(argv[1], "--once") == 0)
        kit_once(argv + 2);
    kit_watch();
    kit_begin(&file, &place);
    munmap((void *)(uintptr_t)file.bytes, file.size);
    int status = kit_run(&place, argv);
    kit_place_remove(&place);
    if (WIFSIGNALED(status))
        kit_raise(WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_ENVIRONMENT;
}
