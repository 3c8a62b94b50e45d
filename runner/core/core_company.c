// SPDX-License-Identifier: MIT
// Company: what goes round on other CPUs while a kernel is timed, so that one can see what
// neighbours cost, how long a line takes from core to core, and what is left of what all share.
// It is called before each timing and leaves behind it, so that calibration and canaries find it
// idle. This is the side of the process that measures; the other one is core_company_serve.c.
#include "core_internal.h"

#include <emmintrin.h>
#include <sys/mman.h>

enum {
    SETTLE_NS = 3000, // from what says that it goes round until it does
    WARM_BITS = 256,  // wider bodies take longer to be at full speed
    SETTLE_WIDE = 10, // times as long, then
};

static struct company *company; // NULL: there is none
static double ticks_per_ns;

struct company *company_map(const struct core_config *config)
{
    void *start = (void *)(uintptr_t)core_company_start;
    ticks_per_ns = config->tsc_hz / 1e9;
    company = mmap(start, CORE_PAGE, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return company == start ? company : NULL;
}

static uint64_t company_now(void)
{
    return __builtin_ia32_rdtsc();
}

void company_begin(const struct core_kernel *kernel)
{
    if (!company || !kernel->company_bytes)
        return;
    company->kernel = kernel->id;
    company->from = kernel->company_from;
    company->to = kernel->company_to;
    company->fault = (struct guard_fault){0};
    __atomic_store_n(&company->going, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&company->turn, 1, __ATOMIC_ACQ_REL);
    // One that does not come is noticed by the runner, which hears nothing any more.
    while (__atomic_load_n(&company->running, __ATOMIC_ACQUIRE) !=
           kernel->company_to - kernel->company_from)
        _mm_pause();
    double settle_ns = kernel->vec_bits > WARM_BITS ? SETTLE_NS * SETTLE_WIDE : SETTLE_NS;
    uint64_t settled = company_now() + (uint64_t)(settle_ns * ticks_per_ns);
    while (company_now() < settled)
        _mm_pause();
}

void company_end(const struct core_kernel *kernel)
{
    if (!company || !kernel->company_bytes)
        return;
    __atomic_store_n(&company->going, 0, __ATOMIC_RELEASE);
    while (__atomic_load_n(&company->running, __ATOMIC_ACQUIRE))
        _mm_pause();
    if (company->fault.signal && !guard_last.signal)
        guard_last = company->fault;
}
