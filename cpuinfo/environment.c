// SPDX-License-Identifier: MIT
// Probing of the machine around the CPU; see environment.h. Everything is tried rather than
// inferred: a counter is opened and must count, an MSR is read.
#include "environment.h"

#include "util/quantile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

enum { CHAIN_LINKS = 16, CHAIN_ROUNDS = 1000, WINDOWS = 101 };

// Reads the first line of a file of the kernel, without line feed. Returns -1 if it cannot be read.
static int line_read(const char *path, char *text, size_t bytes)
{
    text[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f)
        return -1;
    if (bytes > 1 && !fgets(text, (int)bytes, f))
        text[0] = '\0';
    fclose(f);
    text[strcspn(text, "\n")] = '\0';
    return text[0] ? 0 : -1;
}

static int number_read(const char *path, int otherwise)
{
    char text[32], *end;
    if (line_read(path, text, sizeof text) < 0)
        return otherwise;
    long number = strtol(text, &end, 10);
    return end == text ? otherwise : (int)number;
}

// Returns the path of a file that tests may replace.
static const char *machine_path(const char *path, char *full, size_t bytes)
{
    const char *root = getenv("LATPUT_MACHINE");
    snprintf(full, bytes, "%s%s", root ? root : "", path);
    return full;
}

static int machine_number_read(const char *path, int otherwise)
{
    char full[512];
    return number_read(machine_path(path, full, sizeof full), otherwise);
}

static int cpu_line_read(int cpu, const char *name, char *text, size_t bytes)
{
    char path[160];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    return line_read(path, text, bytes);
}

void environment_speed(const cpu_set_t *cpus, int *max_mhz, int *capacity)
{
    *max_mhz = *capacity = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        char path[96];
        if (!CPU_ISSET((size_t)cpu, cpus))
            continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", cpu);
        int mhz = machine_number_read(path, 0) / 1000;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
        int full = machine_number_read(path, 0);
        *max_mhz = mhz > *max_mhz ? mhz : *max_mhz;
        *capacity = full > *capacity ? full : *capacity;
    }
}

static int node_find(int cpu)
{
    char path[64];
    int node = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (sscanf(entry->d_name, "node%d", &node) == 1)
            break;
    if (dir)
        closedir(dir);
    return node;
}

static void topology_probe(struct cpu_environment *env)
{
    line_read("/sys/devices/system/cpu/online", env->online, sizeof env->online);
    line_read("/sys/devices/system/node/online", env->nodes, sizeof env->nodes);
    cpu_line_read(env->cpu, "topology/thread_siblings_list", env->siblings, sizeof env->siblings);
    env->node = node_find(env->cpu);
}

static void frequency_probe(struct cpu_environment *env)
{
    char text[64];
    cpu_line_read(env->cpu, "cpufreq/scaling_governor", env->governor, sizeof env->governor);
    cpu_line_read(env->cpu, "cpufreq/scaling_driver", env->driver, sizeof env->driver);
    if (cpu_line_read(env->cpu, "cpufreq/scaling_max_freq", text, sizeof text) == 0)
        env->max_hz = strtoull(text, NULL, 10) * 1000;
    env->boost = number_read("/sys/devices/system/cpu/cpufreq/boost", -1);
    int no_turbo = number_read("/sys/devices/system/cpu/intel_pstate/no_turbo", -1);
    if (no_turbo >= 0)
        env->boost = !no_turbo;
}

// Ticks of the TSC that a chain of CHAIN_LINKS * CHAIN_ROUNDS dependent instructions takes: of
// imul, or of add.
static uint64_t chain_of_tsc(bool add)
{
    uint64_t value = 3, rounds = CHAIN_ROUNDS, begin, end;
    _mm_lfence();
    begin = __rdtsc();
    _mm_lfence();
    if (add)
        __asm__ volatile("1:\n\t"
                         ".rept %c2\n\t"
                         "add %0, %0\n\t"
                         ".endr\n\t"
                         "dec %1\n\t"
                         "jnz 1b"
                         : "+r"(value), "+r"(rounds)
                         : "i"(CHAIN_LINKS)
                         : "cc");
    else
        __asm__ volatile("1:\n\t"
                         ".rept %c2\n\t"
                         "imul %0, %0\n\t"
                         ".endr\n\t"
                         "dec %1\n\t"
                         "jnz 1b"
                         : "+r"(value), "+r"(rounds)
                         : "i"(CHAIN_LINKS)
                         : "cc");
    _mm_lfence();
    end = __rdtsc();
    return end - begin;
}

static uint64_t chain_tsc(void)
{
    return chain_of_tsc(false);
}

// Estimates the frequency of the core by the median of many short windows, which interrupts do not
// disturb; the first quarter of the time wakes the core up.
static uint64_t core_hz_estimate(const struct cpu_info *cpu)
{
    double ticks[WINDOWS];
    if (!cpu->imul64_clk || !cpu->tsc_hz || cpu_is_emulated(cpu))
        return 0;
    for (int i = -WINDOWS; i < WINDOWS; i++) {
        uint64_t tsc = chain_tsc();
        if (i >= 0)
            ticks[i] = (double)tsc;
    }
    quantile_sort(ticks, WINDOWS);
    double clk = (double)cpu->imul64_clk * CHAIN_LINKS * CHAIN_ROUNDS;
    return (uint64_t)(clk * (double)cpu->tsc_hz / ticks[WINDOWS / 2]);
}

double imul_ratio(const struct cpu_info *cpu)
{
    double ratios[WINDOWS];
    if (cpu_is_emulated(cpu))
        return 0;
    for (int i = -WINDOWS / 4; i < WINDOWS; i++) {
        double ratio = (double)chain_tsc() / (double)chain_of_tsc(true);
        if (i >= 0) // the core is awake
            ratios[i] = ratio;
    }
    quantile_sort(ratios, WINDOWS);
    return ratios[WINDOWS / 2];
}

double chain_ratio(const struct cpu_info *cpu, uint64_t (*count)(void *data), void *data)
{
    double ratios[WINDOWS];
    if (!cpu->imul64_clk || cpu_is_emulated(cpu))
        return 0;
    for (int i = 0; i < WINDOWS; i++) {
        uint64_t first = count(data), begin = count(data);
        chain_tsc();
        // Reading costs cycles, too: those between the first two.
        double clk = (double)(count(data) - begin) - (double)(begin - first);
        ratios[i] = clk / ((double)cpu->imul64_clk * CHAIN_LINKS * CHAIN_ROUNDS);
    }
    quantile_sort(ratios, WINDOWS);
    return ratios[WINDOWS / 2];
}

static uint64_t perf_count(void *data)
{
    uint64_t count = 0;
    return read(*(int *)data, &count, sizeof count) == sizeof count ? count : 0;
}

static bool rdpmc_probe(int fd)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct perf_event_mmap_page *page = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return false;
    bool usable = page->cap_user_rdpmc && page->index > 0;
    munmap(page, bytes);
    return usable;
}

// Returns the code of core cycles. On a hybrid machine its upper half selects the type of core;
// else the big cores are meant.
static uint64_t cycles_config(const struct cpu_info *cpu)
{
    int type =
        machine_number_read(cpu->core_type == 0x20 ? "/sys/bus/event_source/devices/cpu_atom/type"
                                                   : "/sys/bus/event_source/devices/cpu_core/type",
                            -1);
    return PERF_COUNT_HW_CPU_CYCLES | (type > 0 ? (uint64_t)type << 32 : 0);
}

static void perf_probe(const struct cpu_info *cpu, struct cpu_environment *env)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = cycles_config(cpu),
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    uint64_t count = 0;
    env->paranoid = machine_number_read("/proc/sys/kernel/perf_event_paranoid", PARANOID_HIDDEN);
    env->nmi_watchdog = machine_number_read("/proc/sys/kernel/nmi_watchdog", -1);
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        env->perf_errno = errno;
        env->perf = errno == EACCES || errno == EPERM ? PERF_DENIED
                    : errno == ENOSYS                 ? PERF_NO_CALL
                                                      : PERF_ABSENT;
        return;
    }
    chain_tsc();
    bool counted = read(fd, &count, sizeof count) == sizeof count && count > 0;
    env->perf = counted ? PERF_WORKS : PERF_STILL;
    env->rdpmc = counted && rdpmc_probe(fd);
    if (counted)
        env->clk_per_chain_clk = chain_ratio(cpu, perf_count, &fd);
    close(fd);
}

// Probes the MSRs by reading IA32_TIME_STAMP_COUNTER, which every CPU has.
static void msr_probe(struct cpu_environment *env)
{
    char path[64], full[512];
    uint64_t value;
    snprintf(path, sizeof path, "/dev/cpu/%d/msr", env->cpu);
    int fd = open(machine_path(path, full, sizeof full), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        env->msr = errno == ENOENT || errno == ENXIO || errno == ENODEV ? MSR_ABSENT : MSR_DENIED;
        return;
    }
    env->msr = pread(fd, &value, sizeof value, 0x10) == sizeof value ? MSR_WORKS : MSR_DENIED;
    close(fd);
}

void environment_probe(const struct cpu_info *cpu, int number, struct cpu_environment *env)
{
    *env = (struct cpu_environment){.cpu = number, .node = -1, .boost = -1};
    topology_probe(env);
    frequency_probe(env);
    perf_probe(cpu, env);
    msr_probe(env);
    env->core_hz = core_hz_estimate(cpu);
}

bool cpu_is_emulated(const struct cpu_info *cpu)
{
    return strcmp(cpu->hypervisor, "QEMU TCG") == 0;
}

void cpu_counters(const struct cpu_info *cpu, int *general, int *fixed)
{
    const struct cpuid_leaf *leaf = cpu_leaf_find(cpu, 0xa, 0);
    *general = *fixed = 0;
    if (leaf && leaf->eax & 0xff) {
        *general = (int)(leaf->eax >> 8 & 0xff);
        *fixed = (int)(leaf->edx & 0x1f);
        return;
    }
    leaf = cpu_leaf_find(cpu, 0x80000022, 0);
    if (leaf && leaf->eax & 1) {
        *general = (int)(leaf->ebx & 0xf);
        return;
    }
    leaf = cpu_leaf_find(cpu, 0x80000001, 0);
    if (leaf && leaf->ecx >> 23 & 1) // PerfCtrExtCore: six counters in MSRs of their own
        *general = 6;
}
