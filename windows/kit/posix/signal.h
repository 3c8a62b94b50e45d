// SPDX-License-Identifier: MIT
// See ../../README.md: what the runner takes from Linux's header of this name. The numbers are
// those of Linux, which records of the core have. Of all signals there are SIGINT (Ctrl-C), SIGTERM
// (Ctrl-Break) and SIGHUP (the console is closed).
#pragma once
#include_next <signal.h>

#include <pthread_signal.h>
#include <sys/types.h>

enum {
    SIGHUP = 1,
    SIGQUIT = 3,
    SIGTRAP = 5,
    SIGBUS = 7,
    SIGKILL = 9,
    SIGUSR1 = 10,
    SIGUSR2 = 12,
    SIGPIPE = 13,
    SIGALRM = 14,
    SIGCONT = 18,
    SIGTSTP = 20,
    SIGXCPU = 24,
    SIGXFSZ = 25,
    SIGSYS = 31,
};
enum { SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK };
enum { SA_RESTART = 1, SA_RESETHAND = 2 };
enum { SI_KERNEL = 0x80, SEGV_MAPERR = 1, SEGV_ACCERR = 2 };

typedef _sigset_t sigset_t;
struct sigaction {
    void (*sa_handler)(int number);
    int sa_flags;
};
int sigaction(int number, const struct sigaction *wanted, struct sigaction *before);
int sigfillset(sigset_t *set);
int kill(int pid, int number); // fails

// Threads hold back no signals.
#undef pthread_sigmask
static inline int pthread_sigmask(int how, const sigset_t *wanted, sigset_t *before)
{
    (void)how, (void)wanted, (void)before;
    return 0;
}
