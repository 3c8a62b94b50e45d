// SPDX-License-Identifier: MIT
// Keeps a body from doing harm: faults inside a kernel lead back to core_leave and become an
// outcome; system calls other than the core's own few, recognised by their exact arguments, raise
// SIGSYS. What a body can do by those few is to wait, to end, and to send what is not believed
// (core_seal.c).
#include "core_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
    SIGNAL_STACK_BYTES = 64 * 1024,
    GUARD_CALLS = 5,
    PERMIT_CALLS = 2,
    OPENING_BYTES = 64, // until core_sealed has noted STATE_OPENING, and more
};

#ifdef __x86_64__
enum { GUARD_REG_IP = REG_RIP, FXSAVE_AT = 0 };
#else
enum { GUARD_REG_IP = REG_EIP, FXSAVE_AT = 112 };
#endif
enum { FLAGS_CLEAR = 0x202 }; // no single step, which would lead back to the handler for ever

static CORE_OPEN struct guard_timespec {
    long s, ns;
} pause_time; // layout of SYS_clock_nanosleep in both modes

// Removes PKRU from the state that the handler's return restores, which makes it 0: it may deny all
// memory to the code that continues. The architecture and Linux's asm/sigcontext.h define the
// offsets.
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

// Returns what is in a register and can be no address; 0: nothing. A fault for such an address does
// not say it.
static uint64_t guard_odd_register(const ucontext_t *uc)
{
#ifdef __x86_64__
    enum { UNUSED_BITS = 16 };
    for (int i = REG_R8; i <= REG_RCX; i++) {
        int64_t value = uc->uc_mcontext.gregs[i];
        if ((int64_t)((uint64_t)value << UNUSED_BITS) >> UNUSED_BITS != value)
            return (uint64_t)value;
    }
#endif
    (void)uc;
    return 0;
}

static void guard_handler(int signal_number, siginfo_t *info, void *context)
{
    ucontext_t *uc = context;
    interrupts_on();        // the system leaves them as they were
    if (info->si_code <= 0) // sent by another process: it is no fault of ours
        return;
    uintptr_t at = (uintptr_t)uc->uc_mcontext.gregs[GUARD_REG_IP];
    if (at == (uintptr_t)core_own_probe) {
        uc->uc_mcontext.gregs[GUARD_REG_IP] = (greg_t)(uintptr_t)core_own_lost;
        return;
    }
    uintptr_t opened = (uintptr_t)core_seal_opened;
    bool opening =
        core_state.in_kernel == STATE_OPENING || (at >= opened && at < opened + OPENING_BYTES);
    // The core itself faulted. Where bodies ran before, they damaged what it works with, which is
    // found when the seal is opened; else a new process takes over.
    if (opening || (!core_state.in_kernel && !seal_shut()))
        _exit(112);
    bool unsaid = signal_number == SIGSEGV && info->si_code == SI_KERNEL;
    uintptr_t address = (uintptr_t)info->si_addr;
    guard_last =
        (struct guard_fault){signal_number, info->si_code,
                             unsaid ? guard_odd_register(uc) : (uint64_t)address, address == at};
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
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    action.sa_sigaction = guard_handler;
    sigfillset(&action.sa_mask);
    size_t n = sizeof signals / sizeof signals[0] - (permits & CORE_PERMIT_SIGNAL ? 0 : 1);
    for (size_t i = 0; i < n; i++)
        sigaction(signals[i], &action, NULL);
}

static void guard_limit(int resource, rlim_t value)
{
    struct rlimit limit = {value, value};
    setrlimit((__rlimit_resource_t)resource, &limit);
}

// Lists the calls that the bodies of this program are permitted. Returns their number.
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

void guard_drop_privileges(const struct core_config *config, uint32_t permits,
                           const struct filter_call *more, int nmore)
{
    if (config->interrupts_off)
        ring0_allow_interrupts();
    guard_limit(RLIMIT_CORE, 0);
    guard_limit(RLIMIT_FSIZE, 0);
    guard_limit(RLIMIT_NPROC, 0);
    guard_limit(RLIMIT_NOFILE, 0);
    bool thread = config->mode != CORE_MODE_BENCH;
    int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
    seal_make_constant(thread, true);
    // clang-format off
    struct filter_call calls[GUARD_CALLS + 3 + PERMIT_CALLS + GUARD_MORE_CALLS] = {
        {SYS_write, 2, {CORE_RECORD_FD, (uintptr_t)core_outbox}, 0},
        {SYS_clock_nanosleep, 4, {CLOCK_MONOTONIC, 0, (uintptr_t)&pause_time, 0}, 0},
        {SYS_restart_syscall, 0, {0}, 0},
        {SYS_rt_sigreturn, 0, {0}, 0},
        {SYS_exit_group, 0, {0}, 0},
    };
    // clang-format on
    int ncalls = GUARD_CALLS;
    calls[ncalls++] = (struct filter_call){
        SYS_read,
        3,
        {CORE_CONFIG_FD, (uintptr_t)&core_secret, sizeof core_secret},
        (uintptr_t)core_seal_opened
    };
    ncalls += count_filter_call(&calls[ncalls]);
    ncalls += own_filter_call(&calls[ncalls]);
    ncalls += guard_permit_calls(permits, &calls[ncalls]);
    for (int i = 0; i < nmore; i++)
        calls[ncalls++] = more[i];
    if (error == 0 && (error = filter_install(calls, ncalls)) == 0)
        return;
    seal_make_constant(thread, false); // for libc's sake
    send_fatal("cannot load the system-call filter: %s; the kernel, or the container, must "
               "allow seccomp filters",
               strerror(error));
}

struct guard_fault guard_take_fault(void)
{
    struct guard_fault fault = guard_last;
    guard_last = (struct guard_fault){0};
    return fault;
}

void guard_sleep_ms(uint32_t ms)
{
    send_all();
    pause_time = (struct guard_timespec){(long)(ms / 1000), (long)(ms % 1000) * 1000000};
    core_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&pause_time, 0);
}
