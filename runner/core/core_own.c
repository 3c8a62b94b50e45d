// SPDX-License-Identifier: MIT
// State of a process that user code can change besides registers and memory: segment registers and
// their bases (libc finds its thread by one of them), the rights of protection keys, the tile state
// of AMX. It is remembered before the first body runs; core_leave restores it after each kernel.
#include "core_internal.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPUID_7_ECX_OSPKE = 1 << 4, CPUID_7_EDX_AMX_TILE = 1 << 24 };

static void own_remember_selectors(void)
{
    __asm__ volatile("mov %%fs, %0" : "=r"(core_own.fs));
    __asm__ volatile("mov %%gs, %0" : "=r"(core_own.gs));
    __asm__ volatile("mov %%ds, %0" : "=r"(core_own.ds));
    __asm__ volatile("mov %%es, %0" : "=r"(core_own.es));
}

// Requests the tile state, which Linux hands out on request only. If it refuses, tile instructions
// fault, which is their result.
static void own_ask_for_tiles(bool there)
{
#ifdef __x86_64__
    enum { REQUEST_XCOMP_PERM = 0x1023, XFEATURE_TILE_DATA = 18 }; // asm/prctl.h of Linux 5.16
    bool granted = syscall(SYS_arch_prctl, REQUEST_XCOMP_PERM, XFEATURE_TILE_DATA) == 0;
    core_features |= there && granted ? FEATURE_TILES : 0;
#else
    (void)there; // no tile instruction exists in this mode
#endif
}

static void own_remember_bases(void)
{
#ifdef __x86_64__
    enum { HWCAP2_FSGSBASE_BIT = 2 }; // asm/hwcap2.h of Linux 5.9
    syscall(SYS_arch_prctl, ARCH_GET_FS, &core_own.fs_base);
    syscall(SYS_arch_prctl, ARCH_GET_GS, &core_own.gs_base);
    core_features |= getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT ? FEATURE_FSGSBASE : 0;
#endif
}

// Gives the rseq area back. The system writes there, and continues elsewhere by what user code
// wrote there; the core wants neither. libc decided its length.
static void own_leave_rseq(void)
{
#ifdef SYS_rseq
    extern const ptrdiff_t __rseq_offset __attribute__((weak));
    enum { UNREGISTER = 1, LENGTH_STEP = 32, LENGTH_MOST = 512, SIGNATURE = 0x53053053 };
    const char *thread;
#ifdef __x86_64__
    __asm__("mov %%fs:0, %0" : "=r"(thread));
#else
    __asm__("mov %%gs:0, %0" : "=r"(thread));
#endif
    for (long n = LENGTH_STEP; &__rseq_offset && n <= LENGTH_MOST; n += LENGTH_STEP)
        if (core_call(SYS_rseq, (long)(thread + __rseq_offset), n, UNREGISTER, SIGNATURE) == 0)
            break;
#endif
}

void own_remember(void)
{
    own_leave_rseq();
    unsigned a = 0, b = 0, c = 0, d = 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    own_remember_selectors();
    own_remember_bases();
    own_ask_for_tiles(d & CPUID_7_EDX_AMX_TILE);
    if (c & CPUID_7_ECX_OSPKE) {
        core_features |= FEATURE_PKEYS;
        __asm__ volatile("rdpkru" : "=a"(core_own.pkru), "=d"(d) : "c"(0));
    }
}

// Returns true if only the system can restore the base of fs: a body can clear it by loading the
// register, even if the CPU has no instructions for bases. The base of gs is 0 before and after.
static bool own_needs_system_call(void)
{
#ifdef __x86_64__
    return !(core_features & FEATURE_FSGSBASE);
#else
    return false;
#endif
}

bool own_filter_call(struct filter_call *call)
{
#ifdef __x86_64__
    *call = (struct filter_call){
        SYS_arch_prctl, 2, {ARCH_SET_FS, core_own.fs_base},
          0
    };
#endif
    (void)call;
    return own_needs_system_call();
}

void own_restore(void)
{
#ifdef __x86_64__
    if (own_needs_system_call()) // not by libc's function, which may look for its thread
        core_call(SYS_arch_prctl, ARCH_SET_FS, (long)core_own.fs_base, 0, 0);
#endif
}
