// SPDX-License-Identifier: MIT
// The counter table for a CPU as CPUID describes it: how many counters there are here, and what an
// unknown CPU announces by itself. See counters.h.
#include "counters.h"
#include "environment.h"

#include <string.h>

// Intel's architectural events and their bits in CPUID 0AH EBX, which mean "not here".
static const struct {
    uint32_t event, umask;
    int bit;
} arch_events[] = {
    {0x3c, 0x00, 0},
    {0xc0, 0x00, 1},
    {0x3c, 0x01, 2},
    {0x2e, 0x4f, 3},
    {0x2e, 0x41, 4},
    {0xc4, 0x00, 5},
    {0xc5, 0x00, 6},
};

// Returns true if leaf 0AH announces the event.
static bool arch_announced(const struct cpuid_leaf *leaf, int fixed, struct counter_event *event)
{
    if (event->fixed_index >= fixed)
        event->fixed_index = -1;
    if (event->kind == COUNTER_FIXED)
        return event->fixed_index >= 0;
    for (size_t i = 0; i < ARRAY_LEN(arch_events); i++)
        if (arch_events[i].event == event->event && arch_events[i].umask == event->umask)
            return arch_events[i].bit < (int)(leaf->eax >> 24) &&
                   !(leaf->ebx >> arch_events[i].bit & 1);
    return false;
}

// Returns the scheme of a CPU without leaf 0AH, so that raw codes can be counted there, too.
static enum counter_scheme unknown_scheme(const struct cpu_info *cpu)
{
    const struct cpuid_leaf *v2 = cpu_leaf_find(cpu, 0x80000022, 0);
    const struct cpuid_leaf *extended = cpu_leaf_find(cpu, 0x80000001, 0);
    if (v2 && v2->eax & 1)
        return SCHEME_AMD_V2;
    return extended && extended->ecx >> 23 & 1 ? SCHEME_AMD15H : SCHEME_ARCH;
}

static void unknown_keep(const struct cpu_info *cpu, struct counter_table *table)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0x0a, 0);
    int general, fixed, kept = 0;
    cpu_counters(cpu, &general, &fixed);
    if (!leaf || (leaf->eax & 0xff) == 0) {
        table->scheme = unknown_scheme(cpu);
        table->nevents = 0;
    }
    for (int i = 0; i < table->nevents; i++)
        if (arch_announced(leaf, fixed, &table->events[i]))
            table->events[kept++] = table->events[i];
    table->nevents = kept;
    table->general_counters = general;
    table->fixed_counters = fixed;
}

int counters_load_cpu(const struct cpu_info *cpu, struct counter_table *table, struct err *err)
{
    int general, fixed;
    if (counters_load(cpu->uarch, table, err) < 0)
        return -1;
    cpu_counters(cpu, &general, &fixed);
    if (strcmp(cpu->uarch, "unknown") == 0) {
        unknown_keep(cpu, table);
    } else if (general + fixed > 0) {
        table->general_counters = general;
        table->fixed_counters = fixed;
    }
    return 0;
}

bool counter_fits(const struct counter_table *table, const struct counter_event *event)
{
    if (event->kind == COUNTER_MSR || table->general_counters + table->fixed_counters == 0)
        return true;
    bool general = table->general_counters > 0 &&
                   event->counters & (uint32_t)((2ull << (table->general_counters - 1)) - 1);
    return general || (event->fixed_index >= 0 && table->fixed_counters > 0);
}
