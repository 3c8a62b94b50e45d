// SPDX-License-Identifier: MIT
// Keeps a body from doing harm: faults inside a kernel lead back to core_leave and become an
// outcome; system calls other than the core's own few, recognised by their exact arguments, raise
// SIGSYS; and the core's data and stack are compared with a copy after each kernel, so that a stray
// write is noticed before its damage reaches a result.
#include "core_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern char __data_start[], _end[]; // of the static program's writable image

enum {
    SIGNAL_STACK_BYTES = 64 * 1024,
    STACK_COPY_BYTES = 64 * 1024, // the core's frames are shallow
    GUARD_HOLES = 4,
};

#ifdef __x86_64__
enum { GUARD_REG_IP = REG_RIP };
#else
enum { GUARD_REG_IP = REG_EIP };
#endif
enum { FLAGS_CLEAR = 0x202 }; // no single step, which would lead back to the handler for ever

static struct guard_fault guard_last; // rewritten by the handler; not compared
static struct core_record guard_record;
static struct guard_timespec {
    long s, ns;
} guard_pause; // as SYS_clock_nanosleep wants it in both modes

// The guarded ranges and their copies. The copy lies at an address that no body can guess.
static struct guard_range {
    const char *from;
    size_t bytes;
} guard_ranges[GUARD_HOLES + 2];
static int guard_nranges;
static char *guard_copy;
static size_t guard_copy_bytes;

static void guard_handler(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    if (info->si_code <= 0) // sent by another process: it is no fault of ours
        return;
    if (!core_state.in_kernel)
        _exit(
            112); // the core itself faulted: its state cannot be trusted, a new process takes over
    guard_last =
        (struct guard_fault){signal_number, info->si_code, (uint64_t)(uintptr_t)info->si_addr};
    void (*leave)(void) = core_features & FEATURE_PKEYS ? core_leave_denied : core_leave;
    uc->uc_mcontext.gregs[REG_EFL] = FLAGS_CLEAR;
    uc->uc_mcontext.gregs[GUARD_REG_IP] = (greg_t)(uintptr_t)leave;
}

static void guard_map_copy(void)
{
    guard_copy_bytes = (size_t)(_end - __data_start) + STACK_COPY_BYTES;
    guard_copy =
        mmap(NULL, guard_copy_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (guard_copy == MAP_FAILED)
        guard_fatal("cannot map %zu bytes", guard_copy_bytes);
}

void guard_setup(void)
{
    static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGSYS};
    stack_t stack = {.ss_size = SIGNAL_STACK_BYTES};
    stack.ss_sp =
        mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0)
        guard_fatal("cannot set up the signal stack: %s", strerror(errno));
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = guard_handler;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    guard_map_copy();
}

static void guard_limit(int resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

void guard_drop_privileges(void)
{
    guard_limit(RLIMIT_CORE, 0);
    guard_limit(RLIMIT_FSIZE, 0);
    guard_limit(RLIMIT_NPROC, 0);
    guard_limit(RLIMIT_NOFILE, 0);
    struct filter_call calls[] = {
        {SYS_write,           3, {CORE_RECORD_FD, (uintptr_t)&guard_record, sizeof guard_record}},
        {SYS_clock_nanosleep, 4, {CLOCK_MONOTONIC, 0, (uintptr_t)&guard_pause, 0}               },
        {SYS_restart_syscall, 0, {0}                                                            },
        {SYS_rt_sigreturn,    0, {0}                                                            },
        {SYS_exit_group,      0, {0}                                                            },
        {0,                   0, {0}                                                            },
        {0,                   0, {0}                                                            },
    };
    int ncalls = sizeof calls / sizeof calls[0] - 2;
    ncalls += count_filter_call(&calls[ncalls]);
    ncalls += own_filter_call(&calls[ncalls]);
    if (filter_install(calls, ncalls) != 0)
        guard_fatal("cannot load the system-call filter: %s", strerror(errno));
}

static void guard_add_range(const char *from, const char *to)
{
    if (from < to)
        guard_ranges[guard_nranges++] = (struct guard_range){from, (size_t)(to - from)};
}

// Data of the object that a snippet in C brings along: its own to write. The linker makes the
// symbols where there are such sections.
extern char __start_latput_user[] __attribute__((weak)), __stop_latput_user[] __attribute__((weak));
extern char __start_latput_user_bss[] __attribute__((weak)),
    __stop_latput_user_bss[] __attribute__((weak));

// What kernels and the handler may write, in the order of addresses.
static int guard_find_holes(struct guard_range holes[GUARD_HOLES])
{
    const struct guard_range all[GUARD_HOLES] = {
        {(const char *)&core_state, sizeof core_state                                         },
        {(const char *)&guard_last, sizeof guard_last                                         },
        {__start_latput_user,       (size_t)(__stop_latput_user - __start_latput_user)        },
        {__start_latput_user_bss,   (size_t)(__stop_latput_user_bss - __start_latput_user_bss)},
    };
    int n = 0;
    for (int i = 0; i < GUARD_HOLES; i++) {
        if (!all[i].from)
            continue;
        int at = n++;
        for (; at > 0 && holes[at - 1].from > all[i].from; at--)
            holes[at] = holes[at - 1];
        holes[at] = all[i];
    }
    return n;
}

static void guard_find_ranges(const char *stack_from)
{
    struct guard_range holes[GUARD_HOLES];
    int nholes = guard_find_holes(holes);
    const char *from = __data_start;
    for (int i = 0; i < nholes; i++) {
        guard_add_range(from, holes[i].from < _end ? holes[i].from : _end);
        const char *to = holes[i].from + holes[i].bytes;
        from = to > from ? to : from;
    }
    guard_add_range(from, _end);
    extern char **environ;
    guard_add_range(stack_from, (const char *)environ);
    size_t bytes = 0;
    for (int i = 0; i < guard_nranges; i++)
        bytes += guard_ranges[i].bytes;
    if (bytes > guard_copy_bytes)
        guard_fatal("too much data of the core to guard: %zu bytes", bytes);
}

void guard_protect(const void *stack_from)
{
    if (!guard_nranges)
        guard_find_ranges(stack_from);
    char *to = guard_copy;
    for (int i = 0; i < guard_nranges; i++) {
        memcpy(to, guard_ranges[i].from, guard_ranges[i].bytes);
        to += guard_ranges[i].bytes;
    }
}

bool guard_intact(void)
{
    const char *copy = guard_copy;
    for (int i = 0; i < guard_nranges; i++) {
        if (memcmp(copy, guard_ranges[i].from, guard_ranges[i].bytes) != 0)
            return false;
        copy += guard_ranges[i].bytes;
    }
    return true;
}

struct guard_fault guard_take_fault(void)
{
    struct guard_fault fault = guard_last;
    guard_last = (struct guard_fault){0};
    return fault;
}

void guard_send(const struct core_record *record)
{
    guard_record = *record;
    if (write(CORE_RECORD_FD, &guard_record, sizeof guard_record) != (ssize_t)sizeof guard_record)
        _exit(113); // the runner is gone
}

void guard_fatal(const char *format, ...)
{
    struct core_record record = {.type = CORE_REC_FATAL};
    va_list ap;
    va_start(ap, format);
    vsnprintf(record.text, sizeof record.text, format, ap);
    va_end(ap);
    guard_send(&record);
    _exit(111);
}

void guard_sleep_ms(uint32_t ms)
{
    guard_pause = (struct guard_timespec){(long)(ms / 1000), (long)(ms % 1000) * 1000000};
    // Not by libc's function, which in 32-bit mode passes a copy on, at an address of its own.
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &guard_pause, NULL);
}
