// SPDX-License-Identifier: MIT
// Which CPUs the threads of a bench run on: the first two on one core where cores have two threads,
// the next ones on cores of their own, then the siblings of those; so that three threads show both
// what siblings share and what cores share.
#include "bench_internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether the two are threads of one core, as far as the kernel says.
static bool cpus_are_siblings(int a, int b)
{
    char path[96], list[256] = "";
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", a);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    bool found = false;
    if (fgets(list, sizeof list, file))
        for (char *at = list; *at && !found;) {
            char *end;
            long first = strtol(at, &end, 10), last = first;
            if (end == at)
                break;
            if (*end == '-')
                last = strtol(end + 1, &end, 10);
            found = b >= first && b <= last;
            at = *end == ',' ? end + 1 : end + strlen(end);
        }
    fclose(file);
    return found;
}

static bool cpus_has(const int *cpus, int n, int cpu)
{
    for (int i = 0; i < n; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

// Whether the CPU is a sibling of any that was chosen.
static bool cpus_shares_core(const int *cpus, int n, int cpu)
{
    for (int i = 0; i < n; i++)
        if (cpus_are_siblings(cpus[i], cpu))
            return true;
    return false;
}

// The next CPU: `sharing` says whether it should be a sibling of one that was chosen. From the last
// one downwards, because interrupts prefer the first. -1: there is none.
static int cpus_next(const cpu_set_t *set, const int *cpus, int n, bool sharing)
{
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET((size_t)cpu, set) && !cpus_has(cpus, n, cpu) &&
            cpus_shares_core(cpus, n, cpu) == sharing)
            return cpu;
    return -1;
}

static int cpus_choose(const cpu_set_t *set, int wanted, int first, int *cpus)
{
    int n = 0;
    if (first >= 0)
        cpus[n++] = first;
    while (n < wanted) {
        bool sharing = n == 1;
        int cpu = cpus_next(set, cpus, n, sharing);
        if (cpu < 0)
            cpu = cpus_next(set, cpus, n, !sharing);
        if (cpu < 0)
            break;
        cpus[n++] = cpu;
    }
    return n;
}

int bench_choose_cpus(const struct bench_spec *spec, struct bench_result *result,
                      struct arena *arena, struct err *err)
{
    cpu_set_t set;
    int wanted = spec->threads > 1 ? spec->threads : 1;
    int *cpus = arena_alloc(arena, (size_t)wanted * sizeof *cpus);
    result->cpus = cpus;
    result->nthreads = wanted;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return err_set(err, "cannot read which CPUs may be used");
    if (!spec->cpus) {
        if (spec->cpu >= CPU_SETSIZE || (spec->cpu >= 0 && !CPU_ISSET((size_t)spec->cpu, &set)))
            return err_set(err, "CPU %d is not one that this process may use", spec->cpu);
        int n = cpus_choose(&set, wanted, spec->cpu, cpus);
        if (n < wanted)
            return err_set(err, "%d threads need as many CPUs, but this process may use %d only",
                           wanted, CPU_COUNT(&set));
        result->cpu = cpus[0];
        return 0;
    }
    for (int i = 0; i < wanted; i++) {
        int cpu = spec->cpus[i];
        if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET((size_t)cpu, &set))
            return err_set(err, "CPU %d is not one that this process may use", cpu);
        if (cpus_has(cpus, i, cpu))
            return err_set(err, "CPU %d is named twice: each thread needs one of its own", cpu);
        cpus[i] = cpu;
    }
    result->cpu = cpus[0];
    return 0;
}
