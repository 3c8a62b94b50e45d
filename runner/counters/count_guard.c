// SPDX-License-Identifier: MIT
// The guardian; see count_guard.h. It is outside of our process group and has all signals blocked.
#include "count_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void guard_wait(void (*restore)(const void *context), const void *context, int fd)
{
    char byte;
    ssize_t got;
    setsid(); // signals of the terminal to its process group are not for us
    do
        got = read(fd, &byte, 1);
    while (got < 0 && errno == EINTR);
    if (got == 0)
        restore(context);
    _exit(0);
}

int count_guard_begin(void (*restore)(const void *context), const void *context,
                      struct count_guard *guard, struct err *err)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    // The guardian begins, and stays, with all signals blocked.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    guard->pid = fork();
    if (guard->pid != 0)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (guard->pid < 0) {
        close(fds[0]);
        close(fds[1]);
        guard->pid = 0;
        return err_set(err, "cannot start the process that restores the counters: %s",
                       strerror(errno));
    }
    if (guard->pid == 0) {
        close(fds[1]);
        guard_wait(restore, context, fds[0]);
    }
    close(fds[0]);
    guard->fd = fds[1];
    return 0;
}

void count_guard_end(struct count_guard *guard)
{
    if (guard->pid <= 0)
        return;
    if (write(guard->fd, "", 1) != 1)
        kill(guard->pid, SIGKILL);
    close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    guard->pid = 0;
}
