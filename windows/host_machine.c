// SPDX-License-Identifier: MIT
// This machine for latput on Linux: its system, and a CPUID dump of each CPU, as cpuinfo/cpu_dump.c
// reads it.
#include "cpuinfo/cpu_decode.h"
#include "host.h"
#include "util/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

struct text {
    char *at;
    size_t bytes, room;
};

static void __attribute__((format(gnu_printf, 2, 3)))
text_add(struct text *text, const char *format, ...)
{
    char line[512];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    size_t add = n > 0 ? (size_t)n : 0;
    if (text->bytes + add + 1 > text->room) {
        size_t room = 2 * text->room + sizeof line;
        char *grown = realloc(text->at, room);
        if (!grown)
            exit(EXIT_FAILURE);
        text->at = grown;
        text->room = room;
    }
    memcpy(text->at + text->bytes, line, add + 1);
    text->bytes += add;
}

// Functions that headers do not have. GetVersion() says what the program was made for.
static void machine_add_system(struct text *text)
{
    RTL_OSVERSIONINFOW version = {.dwOSVersionInfoSize = sizeof version};
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    LONG(WINAPI * get_version)(RTL_OSVERSIONINFOW *) = NULL;
    const char *(*wine)(void) = NULL;
    FARPROC found = ntdll ? GetProcAddress(ntdll, "RtlGetVersion") : NULL;
    memcpy(&get_version, &found, sizeof found);
    found = ntdll ? GetProcAddress(ntdll, "wine_get_version") : NULL;
    memcpy(&wine, &found, sizeof found);
    if (get_version)
        get_version(&version);
    text_add(text, "Windows %lu.%lu.%lu%s%.20s\n", version.dwMajorVersion, version.dwMinorVersion,
             version.dwBuildNumber, wine ? " as wine has it, " : "", wine ? wine() : "");
}

// Returns the revision of the microcode, as the system shows it to everybody.
static uint32_t machine_microcode(void)
{
    uint32_t revision[2] = {0, 0}; // the upper half has it on Intel, either elsewhere
    DWORD bytes = sizeof revision;
    if (RegGetValueW(HKEY_LOCAL_MACHINE, L"HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
                     L"Update Revision", RRF_RT_REG_BINARY, NULL, revision, &bytes) != 0)
        return 0;
    return revision[1] ? revision[1] : revision[0];
}

// Measures the frequency of the TSC beside the system's clock, whose steps are 100 ns: an error of
// one millionth.
static uint64_t machine_tsc_hz(void)
{
    enum { MS = 200 };
    LARGE_INTEGER hz, begin, end;
    QueryPerformanceFrequency(&hz);
    QueryPerformanceCounter(&begin);
    uint64_t from = __rdtsc();
    Sleep(MS);
    QueryPerformanceCounter(&end);
    uint64_t ticks = __rdtsc() - from;
    return (uint64_t)((double)ticks * (double)hz.QuadPart /
                          (double)(end.QuadPart - begin.QuadPart) +
                      0.5);
}

// A group of processors has 64 at most. The number of a CPU counts through the groups.
bool machine_find_cpu(size_t cpu, GROUP_AFFINITY *where)
{
    for (WORD group = 0; group < GetActiveProcessorGroupCount(); group++) {
        DWORD there = GetActiveProcessorCount(group);
        *where = (GROUP_AFFINITY){.Mask = (KAFFINITY)1 << (cpu & 63), .Group = group};
        if (cpu < there)
            return true;
        cpu -= there;
    }
    return false;
}

// Adds the leaves of these CPUs, of which *cpu is the last one's.
static void machine_add_cpus(struct text *text, size_t first, size_t last,
                             const struct cpu_info *cpu)
{
    text_add(text, "cpus %zu-%zu\n", first, last);
    for (int i = 0; i < cpu->nleaves; i++) {
        const struct cpuid_leaf *leaf = &cpu->leaves[i];
        text_add(text, "%08x %02x %08x %08x %08x %08x\n", leaf->leaf, leaf->subleaf, leaf->eax,
                 leaf->ebx, leaf->ecx, leaf->edx);
    }
    text_add(text, "end %d\n", cpu->nleaves);
}

static bool machine_read_cpu(size_t cpu, uint32_t microcode, uint64_t tsc_hz, struct cpu_info *info)
{
    GROUP_AFFINITY where;
    memset(info, 0, sizeof *info);
    if (!machine_find_cpu(cpu, &where) || !SetThreadGroupAffinity(GetCurrentThread(), &where, NULL))
        return false;
    cpu_leaves_read(info);
    if (microcode)
        cpu_pseudo_add(info, CPUID_PSEUDO_MICROCODE, microcode);
    cpu_pseudo_add(info, CPUID_PSEUDO_TSC_HZ, tsc_hz);
    return true;
}

static bool machine_is_alike(const struct cpu_info *a, const struct cpu_info *b)
{
    return a->nleaves == b->nleaves &&
           memcmp(a->leaves, b->leaves, (size_t)a->nleaves * sizeof a->leaves[0]) == 0;
}

char *machine_describe(size_t *bytes)
{
    static struct cpu_info before, here;
    struct text text = {0};
    GROUP_AFFINITY was;
    const uint32_t microcode = machine_microcode();
    const uint64_t tsc_hz = machine_tsc_hz();
    size_t n = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS), first = 0;
    bool any = false;
    machine_add_system(&text);
    text_add(&text, "latput-cpuid 2\n");
    GetThreadGroupAffinity(GetCurrentThread(), &was);
    for (size_t cpu = 0; cpu < n; cpu++) {
        bool there = machine_read_cpu(cpu, microcode, tsc_hz, &here);
        if (any && (!there || !machine_is_alike(&here, &before))) {
            machine_add_cpus(&text, first, cpu - 1, &before);
            any = false;
        }
        first = any ? first : cpu;
        any = there;
        before = here;
    }
    if (any)
        machine_add_cpus(&text, first, n - 1, &before);
    SetThreadGroupAffinity(GetCurrentThread(), &was, NULL);
    *bytes = text.bytes;
    return text.at;
}

// Returns the CPUs of the core that has this one, as bits of its group.
static KAFFINITY machine_core_of(const GROUP_AFFINITY *cpu)
{
    KAFFINITY core = cpu->Mask;
    DWORD bytes = 0;
    GetLogicalProcessorInformationEx(RelationProcessorCore, NULL, &bytes);
    char *all = malloc(bytes);
    SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX *at = (void *)all;
    bool known = all && GetLogicalProcessorInformationEx(RelationProcessorCore, at, &bytes);
    for (DWORD from = 0; known && from < bytes; from += at->Size) {
        at = (void *)(all + from);
        const GROUP_AFFINITY *of = &at->Processor.GroupMask[0];
        if (of->Group == cpu->Group && of->Mask & cpu->Mask)
            core = of->Mask;
    }
    free(all);
    return core;
}

void machine_leave_cpu(size_t cpu, HANDLE other)
{
    GROUP_AFFINITY where;
    DWORD_PTR mine, all;
    // A process is in one group; one with CPUs of several keeps what the system gave it.
    if (GetActiveProcessorGroupCount() != 1 || !machine_find_cpu(cpu, &where) ||
        !GetProcessAffinityMask(GetCurrentProcess(), &mine, &all))
        return;
    DWORD_PTR left = all & ~machine_core_of(&where);
    left = left ? left : all & ~where.Mask;
    if (left)
        SetProcessAffinityMask(GetCurrentProcess(), left);
    if (left && other)
        SetProcessAffinityMask(other, left);
}
