// SPDX-License-Identifier: MIT
// The system by the names of Linux; see ../README.md.
#include "kit.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <errno.h>
#include <io.h>
#include <stdarg.h>
#include <stdbool.h>

#include <windows.h>

#include <bcrypt.h>

int setenv(const char *name, const char *value, int replace)
{
    return !replace && getenv(name) ? 0 : _putenv_s(name, value);
}

int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    (void)flags;
    return BCryptGenRandom(NULL, to, (ULONG)bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0
               ? (ssize_t)bytes
               : -1;
}

int uname(struct utsname *system)
{
    *system = (struct utsname){.sysname = "Windows", .machine = "x86_64"};
    return 0;
}

unsigned long long getauxval(unsigned long type)
{
    return type == AT_EXECFN ? (unsigned long long)(uintptr_t)kit_program() : 0;
}

unsigned geteuid(void)
{
    return 0;
}

int getpgrp(void)
{
    return 1;
}

int tcgetpgrp(int fd)
{
    return _isatty(fd) ? 1 : -1;
}

int sched_getaffinity(int thread, size_t bytes, cpu_set_t *set)
{
    (void)thread, (void)bytes;
    static DWORD_PTR at_first; // later the program stays off the measuring CPU
    DWORD_PTR all;
    CPU_ZERO(set);
    if (GetActiveProcessorGroupCount() == 1) {
        if (!at_first)
            GetProcessAffinityMask(GetCurrentProcess(), &at_first, &all);
        set->words[0] = at_first;
    }
    for (size_t cpu = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
         cpu-- > 0 && GetActiveProcessorGroupCount() > 1;)
        CPU_SET(cpu, set);
    return 0;
}

int sched_setaffinity(int thread, size_t bytes, const cpu_set_t *set)
{
    (void)thread, (void)bytes, (void)set;
    return 0;
}

int sched_getcpu(void)
{
    return (int)GetCurrentProcessorNumber();
}

int ioctl(int fd, unsigned long request, ...)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    va_list ap;
    va_start(ap, request);
    struct winsize *size = request == TIOCGWINSZ ? va_arg(ap, struct winsize *) : NULL;
    va_end(ap);
    errno = ENOTTY;
    if (!size || !GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(fd), &info))
        return -1;
    size->ws_col = (unsigned short)(info.srWindow.Right - info.srWindow.Left + 1);
    size->ws_row = (unsigned short)(info.srWindow.Bottom - info.srWindow.Top + 1);
    return 0;
}

// The signals that the console stands for, and who takes them.
static struct {
    int number;
    void (*volatile handler)(int number);
    int flags;
} taken[] = {
    {SIGINT,  SIG_DFL, 0},
    {SIGTERM, SIG_DFL, 0},
    {SIGHUP,  SIG_DFL, 0}
};

static BOOL WINAPI console_says(DWORD event)
{
    enum { CLOSING_MS = 4000 }; // the system ends the process soon after
    int at = event == CTRL_C_EVENT ? 0 : event == CTRL_BREAK_EVENT ? 1 : 2;
    void (*handler)(int number) = taken[at].handler;
    if (handler == SIG_IGN)
        return TRUE;
    if (handler == SIG_DFL) {
        kit_end();
        return FALSE;
    }
    if (taken[at].flags & SA_RESETHAND)
        taken[at].handler = SIG_DFL;
    handler(taken[at].number);
    if (at == 2)
        Sleep(CLOSING_MS);
    return TRUE;
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *before)
{
    static bool watched;
    if (before)
        *before = (struct sigaction){.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (taken[i].number != number)
            continue;
        if (before)
            before->sa_handler = taken[i].handler;
        if (wanted) {
            taken[i].flags = wanted->sa_flags;
            taken[i].handler = wanted->sa_handler;
        }
    }
    if (!watched)
        watched = SetConsoleCtrlHandler(console_says, TRUE);
    return 0;
}

int sigfillset(sigset_t *set)
{
    *set = 0;
    return 0;
}
