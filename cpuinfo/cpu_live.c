// SPDX-License-Identifier: MIT
// This machine: all leaves of CPUID with their subleaves, XCR0, the microcode revision, and the
// TSC's frequency, which is compared with the kernel's clock if nothing reports it.
#include "cpu_decode.h"
#include "cpu_kinds.h"
#include "util/affinity.h"
#include "util/mem.h"
#include "util/paths.h"

#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

enum { SUBLEAVES_MAX = 64 };

// Ways to find the number of subleaves of a leaf.
enum subleaf_rule {
    SUB_EAX_COUNT,  // EAX of subleaf 0 is the last subleaf
    SUB_EAX_TYPE,   // until EAX[4:0] is 0
    SUB_ECX_TYPE,   // until ECX[15:8] is 0
    SUB_STATE_BITS, // 0, 1, and one for each bit of XCR0 and IA32_XSS
    SUB_FIXED,      // a constant number, none of them if subleaf 0 is empty
};

static const struct {
    uint32_t leaf;
    enum subleaf_rule rule;
    uint32_t count; // for SUB_FIXED
} subleaf_rules[] = {
    {0x4,        SUB_EAX_TYPE,   0},
    {0x7,        SUB_EAX_COUNT,  0},
    {0xb,        SUB_ECX_TYPE,   0},
    {0xd,        SUB_STATE_BITS, 0},
    {0xf,        SUB_FIXED,      2},
    {0x10,       SUB_FIXED,      6},
    {0x12,       SUB_FIXED,      4},
    {0x14,       SUB_EAX_COUNT,  0},
    {0x17,       SUB_EAX_COUNT,  0},
    {0x18,       SUB_EAX_COUNT,  0},
    {0x1d,       SUB_EAX_COUNT,  0},
    {0x1e,       SUB_FIXED,      2},
    {0x1f,       SUB_ECX_TYPE,   0},
    {0x20,       SUB_EAX_COUNT,  0},
    {0x23,       SUB_FIXED,      6},
    {0x24,       SUB_EAX_COUNT,  0},
    {0x8000001d, SUB_EAX_TYPE,   0},
    {0x80000020, SUB_FIXED,      4},
    {0x80000026, SUB_ECX_TYPE,   0},
};

static struct cpuid_leaf leaf_read(uint32_t number, uint32_t subleaf)
{
    struct cpuid_leaf leaf = {.leaf = number, .subleaf = subleaf};
    __cpuid_count(number, subleaf, leaf.eax, leaf.ebx, leaf.ecx, leaf.edx);
    return leaf;
}

static uint64_t state_bits(void)
{
    struct cpuid_leaf user = leaf_read(0xd, 0), system = leaf_read(0xd, 1);
    return ((uint64_t)(user.edx | system.edx) << 32) | user.eax | system.ecx;
}

static void leaf_capture(struct cpu_info *cpu, uint32_t number)
{
    enum subleaf_rule rule = SUB_FIXED;
    uint32_t count = 1;
    for (size_t i = 0; i < ARRAY_LEN(subleaf_rules); i++)
        if (subleaf_rules[i].leaf == number) {
            rule = subleaf_rules[i].rule;
            count = subleaf_rules[i].count;
        }
    if (rule == SUB_EAX_COUNT)
        count = leaf_read(number, 0).eax + 1;
    else if (rule != SUB_FIXED)
        count = SUBLEAVES_MAX;
    if (count == 0 || count > SUBLEAVES_MAX)
        count = SUBLEAVES_MAX;
    uint64_t states = rule == SUB_STATE_BITS ? state_bits() : 0;
    for (uint32_t sub = 0; sub < count; sub++) {
        if (rule == SUB_STATE_BITS && sub > 1 && !(states >> sub & 1))
            continue;
        struct cpuid_leaf leaf = leaf_read(number, sub);
        cpu_leaf_add(cpu, &leaf);
        bool empty = sub == 0 && !(leaf.eax | leaf.ebx | leaf.ecx | leaf.edx);
        if ((rule == SUB_FIXED && empty) || (rule == SUB_EAX_TYPE && !(leaf.eax & 31)) ||
            (rule == SUB_ECX_TYPE && !(leaf.ecx >> 8 & 0xff)))
            break;
    }
}

// Captures a range of leaves whose first one has the number of the last. Beyond the last, Intel
// CPUs answer with the data of some other leaf; so a last one outside of the range means that the
// range does not exist.
static void range_capture(struct cpu_info *cpu, uint32_t first)
{
    uint32_t last = leaf_read(first, 0).eax;
    if (last < first || last > first + 0xff)
        return;
    for (uint32_t number = first; number <= last; number++)
        if (number != 3) // the serial number
            leaf_capture(cpu, number);
}

__attribute__((target("xsave"))) static uint64_t xcr0_read(void)
{
    return (uint64_t)_xgetbv(0);
}

static void pseudo_add(struct cpu_info *cpu, uint32_t leaf, uint64_t value)
{
    struct cpuid_leaf pseudo = {
        .leaf = leaf, .eax = (uint32_t)value, .edx = (uint32_t)(value >> 32)};
    cpu_leaf_add(cpu, &pseudo);
}

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
    range_capture(cpu, 0);
    const struct cpuid_leaf *features = cpu_leaf_find(cpu, 1, 0);
    uint32_t ecx = features ? features->ecx : 0;
    if (ecx >> 31)
        for (uint32_t base = 0x40000000; base <= 0x40000300; base += 0x100)
            range_capture(cpu, base);
    range_capture(cpu, 0x80000000);
    range_capture(cpu, 0xc0000000);
    if (ecx >> 27 & 1)
        pseudo_add(cpu, CPUID_PSEUDO_XCR0, xcr0_read());
    uint32_t microcode = microcode_read();
    if (microcode)
        pseudo_add(cpu, CPUID_PSEUDO_MICROCODE, microcode);
}

// Results of a machine of files must never pass for those of a CPU.
static void brand_mark(struct cpu_info *cpu)
{
    char brand[sizeof cpu->brand];
    if (!path_machine_is_set())
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
        pseudo_add(cpu, CPUID_PSEUDO_TSC_HZ, cpu->tsc_hz);
    }
    return 0;
}
