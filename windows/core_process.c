// SPDX-License-Identifier: MIT
// The process: its descriptors, its CPU, sleep, and its begin. The configuration comes by standard
// input, records leave by standard output.
#include "core/core_internal.h"
#include "core_windows.h"
#include "host.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
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

int sched_setaffinity(int thread, size_t bytes, const cpu_set_t *set)
{
    (void)thread, (void)bytes;
    GROUP_AFFINITY wanted;
    errno = ENODEV;
    if (!machine_find_cpu(set->cpu, &wanted))
        return -1;
    errno = EPERM;
    // The process may be allowed less, as its parent was.
    SetProcessAffinityMask(GetCurrentProcess(), wanted.Mask);
    return SetThreadGroupAffinity(GetCurrentThread(), &wanted, NULL) ? 0 : -1;
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

// Linked in the place of main() (-Wl,--wrap). As a core, this program is started by itself, with
// the number of a handle to its kernels.
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
int __wrap_main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[1], "core") != 0)
        return host_main(argc - 1, argv + 1);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    load_program((void *)(uintptr_t)strtoull(argv[2], NULL, 10));
    process_hurry();
    return __real_main(argc, argv);
}
