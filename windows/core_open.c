// SPDX-License-Identifier: MIT
// Stands for the parts of the core that Windows does not have: the walls around bodies, which are
// trusted (README.md), counters, corunners, and ring 0. Who asks for one of the last three is told.
#include "core/core_internal.h"

#include <string.h>

static CORE_KEPT bool inside;

// Linked in the place of the core's functions of these names (-Wl,--wrap). Those in
// core_enter.asm follow Linux's convention for calls.
__attribute__((sysv_abi)) void __real_core_enter(const struct core_setup *setup);
void __wrap_core_enter(const struct core_setup *setup);
void __wrap_core_enter(const struct core_setup *setup)
{
    __real_core_enter(setup);
}

void __wrap_core_sealed(void (*work)(void));
void __wrap_core_sealed(void (*work)(void))
{
    inside = true;
    work();
    inside = false;
}

bool seal_shut(void)
{
    return inside;
}

void seal_take(struct core_secret *first)
{
    core_secret = *first; // the one that all records are signed with
    memset(first, 0, sizeof *first);
}

void seal_watch(bool on)
{
    (void)on;
}

uint64_t seal_tag(const void *from, size_t bytes, uint64_t number)
{
    (void)from, (void)bytes;
    return number;
}

void guard_protect(const void *stack_from)
{
    (void)stack_from;
}

bool guard_intact(void)
{
    return true;
}

void guard_drop_privileges(const struct core_config *config, uint32_t permits,
                           const struct filter_call *calls, int ncalls)
{
    (void)config, (void)permits, (void)calls, (void)ncalls;
}

static void refuse_counters(uint32_t n)
{
    if (n)
        send_fatal("no counters on Windows: the time stamp alone is read there");
}

void count_open(const struct core_counter *counters, uint32_t n)
{
    (void)counters;
    refuse_counters(n);
}

void count_read(uint64_t values[CORE_COUNTERS_MAX])
{
    memset(values, 0, CORE_COUNTERS_MAX * sizeof *values);
}

void rdpmc_open(const struct core_counter *counters, uint32_t n)
{
    (void)counters;
    refuse_counters(n);
}

void rdpmc_begin(void)
{
}

bool rdpmc_take(uint32_t counts[CORE_TIMED_MAX])
{
    memset(counts, 0, CORE_TIMED_MAX * sizeof *counts);
    return true;
}

int corunner_split(const struct core_config *config, const int32_t *cpus)
{
    (void)cpus;
    if (config->ncorunners)
        send_fatal("no corunners on Windows: a core there measures alone");
    return -1;
}

void corunner_prepare(struct kernel_run *run)
{
    (void)run;
}

_Noreturn void corunner_serve(struct kernel_run *runs, uint32_t n)
{
    (void)runs, (void)n;
    send_fatal("no corunners on Windows: a core there measures alone");
}

struct code ring0_find(const struct core_kernel *kernel)
{
    (void)kernel;
    send_fatal("no ring 0 on Windows: the kernel module is one of Linux");
}

int ring0_filter_call(struct filter_call *call)
{
    (void)call;
    return 0;
}

uint32_t ring0_time(const struct core_kernel *kernel, const uint8_t *name, uint32_t iterations)
{
    (void)name, (void)iterations;
    ring0_find(kernel);
    return UINT32_MAX;
}

bool ring0_takes_too_long(void)
{
    return false;
}

enum outcome ring0_outcome(const struct core_kernel *kernel, const struct guard_fault *fault,
                           char text[CORE_TEXT_MAX])
{
    (void)fault, (void)text;
    ring0_find(kernel);
    return OUTCOME_UNSUPPORTED;
}
