// SPDX-License-Identifier: MIT
// Corunners: code that runs on other CPUs while a kernel is timed. They show the cost of
// neighbours, the time of a line from core to core, and a core's share of common resources. They
// start before each timing and stop after it, so that calibration and canaries find them idle. This
// file is the side of the measuring process; core_corunner_serve.c is the other one.
#include "core_internal.h"

#include <emmintrin.h>
#include <sys/mman.h>

enum {
    SETTLE_NS = 3000, // from what says that it goes round until it does
    WARM_BITS = 256,  // wider bodies take longer to be at full speed
    SETTLE_WIDE = 10, // times as long, then
};

static struct corunners *corunners; // NULL: there is none
static double ticks_per_ns;

struct corunners *corunner_map(const struct core_config *config)
{
    void *start = (void *)(uintptr_t)core_corunner_start;
    ticks_per_ns = config->tsc_hz / 1e9;
    corunners = mmap(start, CORE_PAGE, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return corunners == start ? corunners : NULL;
}

static uint64_t corunner_now(void)
{
    return __builtin_ia32_rdtsc();
}

void corunner_begin(const struct core_kernel *kernel)
{
    if (!corunners || !kernel->corunner_bytes)
        return;
    corunners->kernel = kernel->id;
    corunners->from = kernel->corunner_from;
    corunners->to = kernel->corunner_to;
    corunners->fault = (struct guard_fault){0};
    __atomic_store_n(&corunners->going, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&corunners->turn, 1, __ATOMIC_ACQ_REL);
    // One that does not come is noticed by the runner, which hears nothing any more.
    while (__atomic_load_n(&corunners->running, __ATOMIC_ACQUIRE) !=
           kernel->corunner_to - kernel->corunner_from)
        _mm_pause();
    double settle_ns = kernel->vec_bits > WARM_BITS ? SETTLE_NS * SETTLE_WIDE : SETTLE_NS;
    uint64_t settled = corunner_now() + (uint64_t)(settle_ns * ticks_per_ns);
    while (corunner_now() < settled)
        _mm_pause();
}

void corunner_end(const struct core_kernel *kernel)
{
    if (!corunners || !kernel->corunner_bytes)
        return;
    __atomic_store_n(&corunners->going, 0, __ATOMIC_RELEASE);
    while (__atomic_load_n(&corunners->running, __ATOMIC_ACQUIRE))
        _mm_pause();
    if (corunners->fault.signal && !guard_last.signal)
        guard_last = corunners->fault;
}
