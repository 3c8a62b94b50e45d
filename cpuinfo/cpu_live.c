// SPDX-License-Identifier: MIT
// This machine: what its CPUID says, the microcode revision, and the TSC's frequency, which is
// compared with the kernel's clock if nothing reports it.
#include "cpu_decode.h"
#include "cpu_kinds.h"
#include "util/affinity.h"
#include "util/mem.h"
#include "util/paths.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

// Returns the revision that Linux shows to everybody; reading the MSR needs root.
static uint32_t microcode_read(void)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[256];
    unsigned revision = 0;
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "microcode", 9) == 0 && sscanf(line, "microcode : %x", &revision) == 1)
            break;
    if (f)
        fclose(f);
    return revision;
}

struct instant {
    uint64_t tsc;
    int64_t ns;
};

// Reads TSC and clock at the same time: the tightest of several readings, as any may be
// interrupted.
static struct instant instant_read(void)
{
    struct instant best = {0, 0};
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 20; i++) {
        struct timespec now;
        uint64_t before = __rdtsc();
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        uint64_t after = __rdtsc();
        if (after - before < best_gap) {
            best_gap = after - before;
            best.tsc = before + best_gap / 2;
            best.ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
        }
    }
    return best;
}

// Measures the frequency of the TSC over 50 ms: an error of 50 ns per reading leaves 2 ppm.
static uint64_t tsc_hz_measure(void)
{
    struct instant begin = instant_read(), end;
    do {
        const struct timespec nap = {0, 10000000};
        nanosleep(&nap, NULL);
        end = instant_read();
    } while (end.ns - begin.ns < 50000000);
    double hz = (double)(end.tsc - begin.tsc) * 1e9 / (double)(end.ns - begin.ns);
    return (uint64_t)(hz + 0.5);
}

void cpu_leaves_capture(struct cpu_info *cpu)
{
    uint32_t microcode = microcode_read();
    cpu_leaves_read(cpu);
    if (microcode)
        cpu_pseudo_add(cpu, CPUID_PSEUDO_MICROCODE, microcode);
}

// Results of a machine of files must never pass for those of a CPU, unless a CPU measures there.
static void brand_mark(struct cpu_info *cpu)
{
    char brand[sizeof cpu->brand];
    if (!path_machine_is_set() || path_machine_system())
        return;
    memcpy(brand, cpu->brand, sizeof brand);
    snprintf(cpu->brand, sizeof cpu->brand, CPU_SIMULATED "%.50s",
             path_machine("core") ? "a core made of text" : brand);
}

// Reads the CPU of a machine of files.
static int dump_identify(const char *path, int number, struct cpu_info *cpu, struct err *err)
{
    struct cpu_kinds kinds;
    if (cpu_kinds_load(path, &kinds, err) != 0)
        return -1;
    const struct cpu_kind *kind = kinds.n > 1 ? cpu_kinds_of(&kinds, number) : kinds.kinds;
    if (kind)
        *cpu = kind->cpu;
    cpu_kinds_free(&kinds);
    return kind ? 0 : err_set(err, "%s: has no CPU %d", path, number);
}

// Returns the last CPU that the calling thread may use; -1: that is not known.
static int last_usable(void)
{
    cpu_set_t usable;
    int last = -1;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &usable))
            last = i;
    return last;
}

static int live_identify(int number, struct cpu_info *cpu, struct err *err)
{
    struct affinity_visit visit = {.moved = false};
    cpu_leaves_capture(cpu);
    if (number != CPU_HERE && cpu_is_hybrid(cpu)) {
        number = number == CPU_LAST ? last_usable() : number;
        if (number >= 0)
            visit = affinity_visit(&number, 1);
        memset(cpu, 0, sizeof *cpu);
        cpu_leaves_capture(cpu);
    }
    if (visit.moved)
        affinity_return(&visit);
    return cpu_decode(cpu, err);
}

int cpu_identify(int number, struct cpu_info *cpu, struct err *err)
{
    const char *dump = path_machine("cpuid");
    memset(cpu, 0, sizeof *cpu);
    if ((dump ? dump_identify(dump, number, cpu, err) : live_identify(number, cpu, err)) != 0)
        return -1;
    brand_mark(cpu);
    cpu->live = true;
    const struct cpuid_leaf *clock = cpu_leaf_find(cpu, 0x15, 0);
    const struct cpuid_leaf *hypervisor = cpu_leaf_find(cpu, 0x40000010, 0);
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    // The nominal frequency (leaf 16H) is rounded to 100 MHz on some CPUs: measure instead.
    bool reported = cpu->tsc_hz && ((clock && clock->ecx) || (hypervisor && hypervisor->eax));
    if (!reported && !(dump && cpu->tsc_hz) && features && features->edx >> 4 & 1) {
        cpu->tsc_hz = tsc_hz_measure();
        cpu_pseudo_add(cpu, CPUID_PSEUDO_TSC_HZ, cpu->tsc_hz);
    }
    return 0;
}
