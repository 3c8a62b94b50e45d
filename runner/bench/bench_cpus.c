// SPDX-License-Identifier: MIT
// Choosing CPUs for the threads of a bench; see bench_cpus.h. From the last one downwards, because
// interrupts prefer the first. Cycles are calibrated, and events chosen, for one type of core, so
// threads never run on two.
#include "bench_cpus.h"

#include "bench_internal.h"
#include "util/cpulist.h"
#include "util/strbuf.h"

#include <stdio.h>

static const struct cpu_place *cpu_find(const struct cpu_places *cpus, int cpu)
{
    for (int i = 0; i < cpus->n; i++)
        if (cpus->usable[i].cpu == cpu)
            return &cpus->usable[i];
    return NULL;
}

static bool cpus_has(const int *chosen, int n, int cpu)
{
    for (int i = 0; i < n; i++)
        if (chosen[i] == cpu)
            return true;
    return false;
}

// Returns true if the CPU is a sibling of a chosen one.
static bool cpus_shares_core(const struct cpu_places *cpus, const int *chosen, int n,
                             const struct cpu_place *cpu)
{
    for (int i = 0; i < n; i++)
        if (cpu_places_share(cpu_find(cpus, chosen[i]), cpu))
            return true;
    return false;
}

// Returns the number of CPUs of this type that may be used.
static int type_count(const struct cpu_places *cpus, int type)
{
    int n = 0;
    for (int i = 0; i < cpus->n; i++)
        n += cpus->usable[i].type == type;
    return n;
}

static bool cpus_any_share(const struct cpu_places *cpus)
{
    for (int i = 0; i < cpus->n; i++)
        for (int k = 0; k < i; k++)
            if (cpu_places_share(&cpus->usable[i], &cpus->usable[k]))
                return true;
    return false;
}

// Returns the last CPU that has enough others of its type; if there is one, with a sibling.
static const struct cpu_place *cpus_first(const struct cpu_places *cpus, int wanted)
{
    const struct cpu_place *first = NULL;
    for (int i = cpus->n - 1; i >= 0; i--) {
        const struct cpu_place *cpu = &cpus->usable[i];
        if (type_count(cpus, cpu->type) < wanted)
            continue;
        if (wanted == 1)
            return cpu;
        for (int k = 0; k < cpus->n; k++)
            if (k != i && cpu_places_share(cpu, &cpus->usable[k]))
                return cpu;
        first = first ? first : cpu;
    }
    return first;
}

// Returns the next CPU, either a sibling of a chosen one (`sharing`) or on another core; -1: there
// is none.
static int cpus_next(const struct cpu_places *cpus, const int *chosen, int n, bool sharing)
{
    int type = cpu_find(cpus, chosen[0])->type;
    for (int i = cpus->n - 1; i >= 0; i--) {
        const struct cpu_place *cpu = &cpus->usable[i];
        if (cpu->type == type && !cpus_has(chosen, n, cpu->cpu) &&
            cpus_shares_core(cpus, chosen, n, cpu) == sharing)
            return cpu->cpu;
    }
    return -1;
}

// Sets the reason why a named CPU cannot be used. Returns -1.
static int cpus_refuse(const struct cpu_places *cpus, int cpu, struct err *err)
{
    struct strbuf list = {0};
    if (cpu >= CPU_SETSIZE ||
        (CPU_COUNT(&cpus->present) && !CPU_ISSET((size_t)cpu, &cpus->present))) {
        cpulist_write(&cpus->present, &list);
        err_set(err, "there is no CPU %d; there are %s", cpu, strbuf_text(&list));
    } else if (CPU_COUNT(&cpus->online) && !CPU_ISSET((size_t)cpu, &cpus->online)) {
        err_set(err, "CPU %d is offline: echo 1 > /sys/devices/system/cpu/cpu%d/online", cpu, cpu);
    } else {
        cpu_set_t usable;
        CPU_ZERO(&usable);
        for (int i = 0; i < cpus->n; i++)
            CPU_SET((size_t)cpus->usable[i].cpu, &usable);
        cpulist_write(&usable, &list);
        err_set(err,
                "CPU %d is not one that this process may use, which are %s (taskset, a cpuset)",
                cpu, strbuf_text(&list));
    }
    strbuf_free(&list);
    return -1;
}

static int cpus_too_few(const struct cpu_places *cpus, int wanted, struct err *err)
{
    cpu_set_t usable, offline;
    struct strbuf text = {0};
    CPU_ZERO(&usable);
    for (int i = 0; i < cpus->n; i++)
        CPU_SET((size_t)cpus->usable[i].cpu, &usable);
    CPU_XOR(&offline, &cpus->present, &cpus->online);
    strbuf_printf(&text, "%d threads need as many CPUs, but this process may use %d only (", wanted,
                  cpus->n);
    cpulist_write(&usable, &text);
    strbuf_puts(&text, ")");
    if (CPU_COUNT(&cpus->online) > cpus->n) {
        strbuf_puts(&text, "; taskset or a cpuset keeps it from others of ");
        cpulist_write(&cpus->online, &text);
    }
    if (CPU_COUNT(&cpus->present) && CPU_COUNT(&offline)) {
        strbuf_puts(&text, "; offline are ");
        cpulist_write(&offline, &text);
    }
    err_set(err, "%s", strbuf_text(&text));
    strbuf_free(&text);
    return -1;
}

static int cpus_too_few_of_type(const struct cpu_places *cpus, int wanted, struct err *err)
{
    struct strbuf text = {0};
    for (int type = -1; cpu_places_type_name(cpus, type); type++)
        if (type_count(cpus, type))
            strbuf_printf(&text, "%s%d %s", text.len ? ", " : "", type_count(cpus, type),
                          type < 0 ? "of another" : cpu_places_type_name(cpus, type));
    err_set(err,
            "%d threads need as many CPUs with one type of core, since cycles are calibrated and "
            "events counted for one; this process may use %s",
            wanted, strbuf_text(&text));
    strbuf_free(&text);
    return -1;
}

static int cpus_choose_freely(const struct cpu_places *cpus, int first, int wanted, int *chosen,
                              struct err *err)
{
    if (first >= 0 && !cpu_find(cpus, first))
        return cpus_refuse(cpus, first, err);
    if (cpus->n < wanted)
        return cpus_too_few(cpus, wanted, err);
    const struct cpu_place *cpu = first >= 0 ? cpu_find(cpus, first) : cpus_first(cpus, wanted);
    if (!cpu || type_count(cpus, cpu->type) < wanted)
        return cpus_too_few_of_type(cpus, wanted, err);
    chosen[0] = cpu->cpu;
    for (int n = 1; n < wanted; n++) {
        bool sharing = n == 1;
        chosen[n] = cpus_next(cpus, chosen, n, sharing);
        if (chosen[n] < 0)
            chosen[n] = cpus_next(cpus, chosen, n, !sharing);
    }
    return 0;
}

int bench_cpus_choose(const struct cpu_places *cpus, const struct bench_spec *spec, int *chosen,
                      struct err *err)
{
    int wanted = spec->threads > 1 ? spec->threads : 1;
    if (!spec->cpus)
        return cpus_choose_freely(cpus, spec->cpu, wanted, chosen, err);
    for (int i = 0; i < wanted; i++) {
        const struct cpu_place *cpu = cpu_find(cpus, spec->cpus[i]);
        if (!cpu)
            return cpus_refuse(cpus, spec->cpus[i], err);
        if (cpus_has(chosen, i, cpu->cpu))
            return err_set(err, "CPU %d is named twice: each thread needs one of its own",
                           cpu->cpu);
        chosen[i] = cpu->cpu;
        const struct cpu_place *first = cpu_find(cpus, chosen[0]);
        if (cpu->type != first->type)
            return err_set(err,
                           "CPU %d has another type of core (%s) than CPU %d (%s): cycles are "
                           "calibrated and events counted for one type. Measure them one after "
                           "the other",
                           cpu->cpu, cpu_places_type_name(cpus, cpu->type), first->cpu,
                           cpu_places_type_name(cpus, first->type));
    }
    return 0;
}

// Describes the CPUs of the core of chosen[at]. Returns false unless it is the first of several
// there.
static bool describe_core(const struct cpu_places *cpus, const int *chosen, int n, int at,
                          struct strbuf *out)
{
    const struct cpu_place *own = cpu_find(cpus, chosen[at]);
    bool several = false;
    for (int i = 0; i < n; i++) {
        if (i == at || !cpu_places_share(own, cpu_find(cpus, chosen[i])))
            continue;
        if (i < at)
            return false;
        if (!several)
            strbuf_printf(out, "%s%d", out->len ? "; " : "", chosen[at]);
        strbuf_printf(out, "+%d", chosen[i]);
        several = true;
    }
    if (several)
        strbuf_puts(out, " on one core");
    return several;
}

const char *bench_cpus_describe(const struct cpu_places *cpus, const int *chosen, int n,
                                struct arena *arena)
{
    struct strbuf text = {0};
    int alone = 0;
    for (int i = 0; i < n; i++)
        if (cpu_find(cpus, chosen[i])->core < 0)
            return "which of them share a core is not known here";
    for (int i = 0; i < n; i++)
        describe_core(cpus, chosen, n, i, &text);
    const char *before = text.len ? "; " : "";
    for (int i = 0; i < n; i++) {
        bool shares = false;
        for (int k = 0; k < n; k++)
            shares |=
                k != i && cpu_places_share(cpu_find(cpus, chosen[i]), cpu_find(cpus, chosen[k]));
        if (shares)
            continue;
        strbuf_printf(&text, "%s%d", alone++ ? ", " : before, chosen[i]);
    }
    if (alone)
        strbuf_puts(&text, alone > 1 ? " on cores of their own" : " on a core of its own");
    if (alone == n && n > 1 && !cpus_any_share(cpus))
        strbuf_puts(&text, " (no two that may be used share one)");
    const char *described = arena_strdup(arena, strbuf_text(&text));
    strbuf_free(&text);
    return described;
}

int bench_choose_cpus(const struct bench_spec *spec, struct bench_result *result,
                      struct arena *arena, struct err *err)
{
    struct cpu_kinds kinds;
    int wanted = spec->threads > 1 ? spec->threads : 1;
    int *chosen = arena_alloc(arena, (size_t)wanted * sizeof *chosen);
    struct cpu_places *cpus = arena_alloc(arena, sizeof *cpus);
    if (cpu_kinds_find(&kinds, err) != 0)
        return -1;
    cpu_places_read_kinds(count_machine_live(NULL).root, &kinds, cpus);
    int status = bench_cpus_choose(cpus, spec, chosen, err);
    if (status == 0)
        result->placement = wanted > 1 ? bench_cpus_describe(cpus, chosen, wanted, arena) : "";
    cpu_kinds_free(&kinds);
    if (status != 0)
        return -1;
    result->cpus = chosen;
    result->cpu = chosen[0];
    result->nthreads = wanted;
    return 0;
}
