// SPDX-License-Identifier: MIT
// The process: its descriptors, its CPU, sleep, and its begin. The configuration comes by standard
// input, records leave by standard output.
#include "core/core_internal.h"
#include "core_windows.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <windows.h>

ssize_t read(int fd, void *to, size_t bytes)
{
    DWORD got;
    if (fd != CORE_CONFIG_FD)
        return -1;
    return ReadFile(GetStdHandle(STD_INPUT_HANDLE), to, (DWORD)bytes, &got, NULL) ? (ssize_t)got
                                                                                  : -1;
}

int close(int fd)
{
    (void)fd;
    return 0;
}

int getpid(void)
{
    return (int)GetCurrentProcessId();
}

// Without what libraries would do at their end: a body may have spoiled it.
_Noreturn void _exit(int status)
{
    TerminateProcess(GetCurrentProcess(), (UINT)status);
    __builtin_trap();
}

long core_call(long number, intptr_t a, intptr_t b, intptr_t c, intptr_t d)
{
    (void)d;
    DWORD put = 0;
    if (number == SYS_write && a == CORE_RECORD_FD &&
        WriteFile(GetStdHandle(STD_OUTPUT_HANDLE), (const void *)b, (DWORD)c, &put, NULL))
        return (long)put;
    return -1;
}

void seal_broken(int status)
{
    _exit(status);
}

// A group of processors has 64 at most. Where all are of one size, as the system makes them, the
// number of a CPU says its group.
int sched_setaffinity(int thread, size_t bytes, const cpu_set_t *set)
{
    (void)thread, (void)bytes;
    size_t cpu = set->cpu;
    errno = EPERM;
    for (WORD group = 0; group < GetActiveProcessorGroupCount(); group++) {
        DWORD there = GetActiveProcessorCount(group);
        const GROUP_AFFINITY wanted = {.Mask = (KAFFINITY)1 << cpu % 64, .Group = group};
        if (cpu < there) {
            // The process may be allowed less, as its parent was.
            SetProcessAffinityMask(GetCurrentProcess(), wanted.Mask);
            return SetThreadGroupAffinity(GetCurrentThread(), &wanted, NULL) ? 0 : -1;
        }
        cpu -= there;
    }
    errno = ENODEV;
    return -1;
}

void guard_sleep_ms(uint32_t ms)
{
    send_all();
    Sleep(ms);
}

// Raises the priority as far as an ordinary user may.
static void process_hurry(void)
{
    SetPriorityClass(GetCurrentProcess(), HIGH_PRIORITY_CLASS);
    SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_HIGHEST);
    timeBeginPeriod(1); // else Sleep(1) takes 16 ms
}

// Linked in the place of main() (-Wl,--wrap).
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    if (argc != 2)
        send_fatal("the core for Windows takes one argument: a program as latput builds it");
    load_program(argv[1]);
    process_hurry();
    return __real_main(argc, argv);
}
