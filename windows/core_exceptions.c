// SPDX-License-Identifier: MIT
// Faults of bodies, as core_guard.c has them on Linux: a vectored handler, which the system calls
// before it looks at the stack, leads an exception inside a kernel to core_leave. Bodies are
// trusted beyond that (README.md): no filter of system calls, no seal.
#include "core/core_internal.h"
#include "core_windows.h"

#include <signal.h>
#include <unistd.h>

#include <cpuid.h>
#include <windows.h>

enum {
    FLAGS_CLEAR = 0x202, // no single step, which would lead back to the handler for ever
    CPUID_7_ECX_OSPKE = 1 << 4,
};

// Exceptions that instructions raise, and the signals that they are on Linux.
static const struct exception {
    DWORD code;
    int signal, si_code;
} exceptions[] = {
    {EXCEPTION_ILLEGAL_INSTRUCTION,       SIGILL,  1          },
    {EXCEPTION_PRIV_INSTRUCTION,          SIGSEGV, SI_KERNEL  },
    {EXCEPTION_ACCESS_VIOLATION,          SIGSEGV, SEGV_MAPERR},
    {EXCEPTION_STACK_OVERFLOW,            SIGSEGV, SEGV_MAPERR},
    {EXCEPTION_GUARD_PAGE,                SIGSEGV, SEGV_MAPERR},
    {EXCEPTION_IN_PAGE_ERROR,             SIGBUS,  2          },
    {EXCEPTION_DATATYPE_MISALIGNMENT,     SIGBUS,  1          },
    {EXCEPTION_INT_DIVIDE_BY_ZERO,        SIGFPE,  1          },
    {EXCEPTION_INT_OVERFLOW,              SIGFPE,  2          },
    {EXCEPTION_ARRAY_BOUNDS_EXCEEDED,     SIGSEGV, SI_KERNEL  },
    {EXCEPTION_FLT_DENORMAL_OPERAND,      SIGFPE,  3          },
    {EXCEPTION_FLT_DIVIDE_BY_ZERO,        SIGFPE,  3          },
    {EXCEPTION_FLT_INEXACT_RESULT,        SIGFPE,  3          },
    {EXCEPTION_FLT_INVALID_OPERATION,     SIGFPE,  3          },
    {EXCEPTION_FLT_OVERFLOW,              SIGFPE,  3          },
    {EXCEPTION_FLT_STACK_CHECK,           SIGFPE,  3          },
    {EXCEPTION_FLT_UNDERFLOW,             SIGFPE,  3          },
    {(DWORD)STATUS_FLOAT_MULTIPLE_FAULTS, SIGFPE,  3          },
    {(DWORD)STATUS_FLOAT_MULTIPLE_TRAPS,  SIGFPE,  3          },
    {EXCEPTION_BREAKPOINT,                SIGTRAP, 1          },
    {EXCEPTION_SINGLE_STEP,               SIGTRAP, 1          },
};

static const struct exception *exception_find(DWORD code)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
        if (exceptions[i].code == code)
            return &exceptions[i];
    return NULL;
}

// Returns what is in a register and can be no address; 0: nothing. A fault for such an address does
// not say it.
static uint64_t exception_odd_register(const CONTEXT *context)
{
    enum { UNUSED_BITS = 16 };
    for (const DWORD64 *at = &context->Rax; at <= &context->R15; at++)
        if ((uint64_t)((int64_t)(*at << UNUSED_BITS) >> UNUSED_BITS) != *at)
            return *at;
    return 0;
}

// Says what a fault is in Linux's terms. #GP, as of a misaligned or impossible address, comes as a
// violation at the highest address.
static struct guard_fault exception_fault(const struct exception *exception,
                                          const EXCEPTION_RECORD *record, const CONTEXT *context)
{
    struct guard_fault fault = {exception->signal, exception->si_code, context->Rip, false};
    if (record->ExceptionCode == EXCEPTION_ACCESS_VIOLATION && record->NumberParameters >= 2) {
        fault.address = record->ExceptionInformation[1];
        fault.fetch = fault.address == context->Rip;
        fault.code = fault.address == UINT64_MAX ? SI_KERNEL : fault.code;
    }
    if (fault.code == SI_KERNEL)
        fault.address = exception_odd_register(context);
    return fault;
}

static LONG CALLBACK exception_handle(EXCEPTION_POINTERS *what)
{
    CONTEXT *context = what->ContextRecord;
    const struct exception *exception = exception_find(what->ExceptionRecord->ExceptionCode);
    uintptr_t at = (uintptr_t)context->Rip;
    if (!exception)
        return EXCEPTION_CONTINUE_SEARCH;
    if (at >= (uintptr_t)bases_probe && at < (uintptr_t)bases_lost) {
        context->Rip = (uintptr_t)bases_lost;
        return EXCEPTION_CONTINUE_EXECUTION;
    }
    if (core_state.in_kernel != STATE_KERNEL) // a new process takes over
        _exit(112);
    guard_last = exception_fault(exception, what->ExceptionRecord, context);
    context->EFlags = FLAGS_CLEAR;
    context->Rip = (uintptr_t)core_leave;
    return EXCEPTION_CONTINUE_EXECUTION;
}

void guard_setup(uint32_t permits)
{
    if (permits)
        send_fatal("bodies that call the system are not for Windows");
    if (!AddVectoredExceptionHandler(1, exception_handle))
        send_fatal("cannot handle exceptions: error %lu", GetLastError());
}

struct guard_fault guard_take_fault(void)
{
    struct guard_fault fault = guard_last;
    guard_last = (struct guard_fault){0};
    return fault;
}

// Remembers the state of core_own.c. Called before guard_setup(), so the handler comes twice.
void own_remember(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    void *handler = AddVectoredExceptionHandler(1, exception_handle);
    __asm__ volatile("mov %%fs, %0" : "=r"(core_own.fs));
    __asm__ volatile("mov %%gs, %0" : "=r"(core_own.gs));
    __asm__ volatile("mov %%ds, %0" : "=r"(core_own.ds));
    __asm__ volatile("mov %%es, %0" : "=r"(core_own.es));
    if (bases_read(&core_own.fs_base, &core_own.gs_base))
        core_features |= FEATURE_FSGSBASE;
    RemoveVectoredExceptionHandler(handler);
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (c & CPUID_7_ECX_OSPKE) {
        core_features |= FEATURE_PKEYS;
        __asm__ volatile("rdpkru" : "=a"(core_own.pkru), "=d"(d) : "c"(0));
    }
}

void own_restore(void)
{
}
