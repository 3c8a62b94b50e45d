// SPDX-License-Identifier: MIT
// Keeps a body from doing harm: faults inside a kernel lead back to core_leave and become an
// outcome; system calls other than the core's own few, recognised by their exact arguments, raise
// SIGSYS. What those few read is in the sealed memory (core_seal.c).
#include "core_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    SIGNAL_STACK_BYTES = 64 * 1024,
    RECORD_BYTES = sizeof(struct core_record),
    GUARD_CALLS = 5,
    SEAL_CALLS = 4,
    PERMIT_CALLS = 2,
    OPENING_BYTES = 64, // until core_sealed has noted STATE_OPENING, and more
};

#ifdef __x86_64__
enum { GUARD_REG_IP = REG_RIP, FXSAVE_AT = 0 };
#else
enum { GUARD_REG_IP = REG_EIP, FXSAVE_AT = 112 };
#endif
enum { FLAGS_CLEAR = 0x202 }; // no single step, which would lead back to the handler for ever

static struct core_seal *guard_seal(void)
{
    return (struct core_seal *)(uintptr_t)core_seal_start;
}

// PKRU may deny all memory to what continues after the handler: takes it out of what is restored,
// which makes it 0. Offsets are those of the architecture and of Linux's asm/sigcontext.h.
static void guard_allow_memory(ucontext_t *uc)
{
    enum { MAGIC_AT = 464, MAGIC = 0x46505853, XSTATE_BV_AT = 512, XSTATE_PKRU = 1 << 9 };
    char *saved = (char *)uc->uc_mcontext.fpregs;
    uint32_t magic, components;
    if (!(core_features & FEATURE_PKEYS) || !saved)
        return;
    memcpy(&magic, saved + FXSAVE_AT + MAGIC_AT, sizeof magic);
    if (magic != MAGIC)
        return;
    memcpy(&components, saved + FXSAVE_AT + XSTATE_BV_AT, sizeof components);
    components &= ~(uint32_t)XSTATE_PKRU;
    memcpy(saved + FXSAVE_AT + XSTATE_BV_AT, &components, sizeof components);
}

static void guard_handler(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    if (info->si_code <= 0) // sent by another process: it is no fault of ours
        return;
    uintptr_t at = (uintptr_t)uc->uc_mcontext.gregs[GUARD_REG_IP];
    uintptr_t opened = (uintptr_t)core_seal_opened;
    bool opening =
        core_state.in_kernel == STATE_OPENING || (at >= opened && at < opened + OPENING_BYTES);
    // The core itself faulted. Where bodies ran before, they damaged what it works with, which is
    // put right when the seal is opened; else a new process takes over.
    if (opening || (!core_state.in_kernel && !seal_shut()))
        _exit(112);
    guard_last =
        (struct guard_fault){signal_number, info->si_code, (uint64_t)(uintptr_t)info->si_addr};
    uintptr_t leave = core_state.in_kernel ? (uintptr_t)core_leave : (uintptr_t)core_seal_open;
    uc->uc_mcontext.gregs[REG_EFL] = FLAGS_CLEAR;
    uc->uc_mcontext.gregs[GUARD_REG_IP] = (greg_t)leave;
    guard_allow_memory(uc);
}

void guard_setup(uint32_t permits)
{
    // The last one comes to bodies that send it to themselves; the handler does nothing then.
    static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGSYS, SIGUSR1};
    stack_t stack = {.ss_size = SIGNAL_STACK_BYTES};
    stack.ss_sp =
        mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0)
        send_fatal("cannot set up the signal stack: %s", strerror(errno));
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = guard_handler;
    sigfillset(&action.sa_mask);
    size_t n = sizeof signals / sizeof signals[0] - (permits & CORE_PERMIT_SIGNAL ? 0 : 1);
    for (size_t i = 0; i < n; i++)
        sigaction(signals[i], &action, NULL);
    guard_seal()->signal_stack = (struct seal_stack){stack.ss_sp, 0, SIGNAL_STACK_BYTES};
}

static void guard_limit(int resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

// The system calls that close and open the sealed memory, and put right what a body can change of
// the process by returning from a signal that there was not.
static void guard_seal_calls(struct filter_call calls[SEAL_CALLS])
{
    struct core_seal *seal = guard_seal();
    // clang-format off
    const struct filter_call all[SEAL_CALLS] = {
        {SYS_mprotect,
         3,
         {core_seal_start, core_seal_bytes, PROT_NONE},
         (uintptr_t)core_seal_closed},
        {SYS_mprotect,
         3,
         {core_seal_start, core_seal_bytes, PROT_READ | PROT_WRITE},
         (uintptr_t)core_seal_opened},
        {SYS_rt_sigprocmask,
         4,
         {SIG_SETMASK, (uintptr_t)&seal->signal_mask, 0, SEAL_SIGNALS_BYTES},
         0},
        {SYS_sigaltstack, 2, {(uintptr_t)&seal->signal_stack, 0}, 0},
    };
    // clang-format on
    memcpy(calls, all, sizeof all);
}

// What the bodies of this program may do besides; returns how many calls that are.
static int guard_permit_calls(uint32_t permits, struct filter_call calls[PERMIT_CALLS])
{
    uintptr_t process = (uintptr_t)getpid();
    int n = 0;
    if (permits & CORE_PERMIT_CALL)
        calls[n++] = (struct filter_call){SYS_getppid, 0, {0}, 0};
    if (permits & CORE_PERMIT_SIGNAL)
        calls[n++] = (struct filter_call){
            SYS_tgkill, 3, {process, process, SIGUSR1},
              0
        };
    return n;
}

void guard_drop_privileges(uint32_t permits, const struct filter_call *more, int nmore)
{
    guard_limit(RLIMIT_CORE, 0);
    guard_limit(RLIMIT_FSIZE, 0);
    guard_limit(RLIMIT_NPROC, 0);
    guard_limit(RLIMIT_NOFILE, 0);
    // clang-format off
    struct filter_call calls[GUARD_CALLS + SEAL_CALLS + 2 + PERMIT_CALLS + GUARD_MORE_CALLS] = {
        {SYS_write, 3, {CORE_RECORD_FD, (uintptr_t)&guard_seal()->record, RECORD_BYTES}, 0},
        {SYS_clock_nanosleep, 4, {CLOCK_MONOTONIC, 0, (uintptr_t)&guard_seal()->pause, 0}, 0},
        {SYS_restart_syscall, 0, {0}, 0},
        {SYS_rt_sigreturn, 0, {0}, 0},
        {SYS_exit_group, 0, {0}, 0},
    };
    // clang-format on
    int ncalls = GUARD_CALLS + SEAL_CALLS;
    guard_seal_calls(&calls[GUARD_CALLS]);
    ncalls += count_filter_call(&calls[ncalls]);
    ncalls += own_filter_call(&calls[ncalls]);
    ncalls += guard_permit_calls(permits, &calls[ncalls]);
    for (int i = 0; i < nmore; i++)
        calls[ncalls++] = more[i];
    if (filter_install(calls, ncalls) != 0)
        send_fatal("cannot load the system-call filter: %s; the kernel, or the container, must "
                   "allow seccomp filters",
                   strerror(errno));
}

struct guard_fault guard_take_fault(void)
{
    struct guard_fault fault = guard_last;
    guard_last = (struct guard_fault){0};
    return fault;
}

void guard_sleep_ms(uint32_t ms)
{
    guard_seal()->pause = (struct guard_timespec){(long)(ms / 1000), (long)(ms % 1000) * 1000000};
    core_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&guard_seal()->pause, 0);
}
