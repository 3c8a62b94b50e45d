// SPDX-License-Identifier: MIT
// Interrupts off while something is timed, where the kernel module allows this process to turn them
// off (ring0_allow_interrupts). They go on again in core_leave, by its flags: after each timing,
// and after each fault. The core waits, writes records and reads secrets with interrupts on.
#include "core_internal.h"

bool core_turns_off;

void interrupts_off(void)
{
    if (core_turns_off)
        __asm__ volatile("cli" ::: "memory", "cc");
}

void interrupts_on(void)
{
    if (core_turns_off)
        __asm__ volatile("sti" ::: "memory", "cc");
}

bool interrupts_may_be_off(const struct core_kernel *kernel, double expected_ms)
{
    static const double MOST_MS = 10;
    return !(kernel->flags & CORE_RING0) && expected_ms <= MOST_MS;
}
