// SPDX-License-Identifier: MIT
// Which CPU this is and what it has: CPUID leaves, the tables features.csv and cpus.csv, and what
// the operating system adds. A CPU that the tables do not know gets the uarch "unknown"; nothing is
// guessed from neighbouring model numbers.
#ifndef LATPUT_CPUINFO_H
#define LATPUT_CPUINFO_H

#include "../runner/util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_FEATURES_MAX = 512, CPU_CACHES_MAX = 8, CPUID_LEAVES_MAX = 512 };

struct cpuid_leaf {
    uint32_t leaf, subleaf;
    uint32_t eax, ebx, ecx, edx;
};

// Pseudo leaves: what belongs to a dump although CPUID does not say it. 64-bit values are in
// edx:eax. No CPU uses leaves of this range.
static const uint32_t CPUID_PSEUDO_XCR0 = 0xffffff00;      // register state that the OS enabled
static const uint32_t CPUID_PSEUDO_MICROCODE = 0xffffff01; // eax: revision
static const uint32_t CPUID_PSEUDO_TSC_HZ = 0xffffff02;    // measured, where CPUID is silent

struct cpu_cache {
    int level;            // 1..4
    char type;            // 'd' data, 'i' instruction, 'u' unified
    uint64_t bytes;       // 0 if unknown
    int ways, line_bytes; // 0 if unknown; ways -1: fully associative
    int sharing;          // logical processors that share it; 0 if unknown
};

struct cpu_info {
    char vendor[16];             // "GenuineIntel"
    char brand[64];              // "" if the CPU has none
    uint32_t signature;          // CPUID 1 EAX
    int family, model, stepping; // display family and model
    int core_type;               // CPUID 1AH EAX[31:24], 0 if none
    uint32_t native_model;       // CPUID 1AH EAX[23:0]
    char uarch[32];              // key, "unknown" if not in the table
    char uarch_name[96];         // "Zen 5"
    int issue_width;             // µops a cycle from cpus.csv; 0 if unknown
    int imul64_clk;              // latency of imul r64,r64 from cpus.csv; 0 if unknown
    uint32_t microcode;          // 0 if unknown
    char hypervisor[64];         // "" if none is visible
    uint64_t tsc_hz;             // 0 if unknown
    bool tsc_invariant;
    struct cpu_cache caches[CPU_CACHES_MAX];
    int ncaches;
    bool features[CPU_FEATURES_MAX]; // by index into the feature table
    struct cpuid_leaf leaves[CPUID_LEAVES_MAX];
    int nleaves;
    bool live; // identified on this machine, not loaded from a dump
};

// Whether it is a CPU that a hypervisor has made up ("QEMU Virtual CPU"): its signature, if it is
// that of a real CPU, says nothing, and its uarch is "unknown".
bool cpu_is_invented(const struct cpu_info *cpu);

// This machine, on the CPU the caller is pinned to. -1 when the tables cannot be read.
int cpu_identify(struct cpu_info *cpu, struct err *err);
// From a CPUID dump (text format: cpuinfo/README.md), and into one. save: "-" is standard output.
int cpu_load(const char *path, struct cpu_info *cpu, struct err *err);
int cpu_save(const struct cpu_info *cpu, const char *path, struct err *err);

// Reads and validates features.csv and cpus.csv once; later calls repeat the first answer. The
// other functions call it themselves, but where they cannot report, a broken table has no features
// and no CPUs: a command that depends on them calls this first.
int cpuinfo_load(struct err *err);
// For `latput check`: as cpuinfo_load(), and neither table may be empty.
int cpuinfo_check(struct err *err);

// The leaf, or NULL if the CPU does not have it.
const struct cpuid_leaf *cpu_leaf_find(const struct cpu_info *cpu, uint32_t leaf, uint32_t subleaf);

// One line of cpus.csv; the strings live as long as the program.
struct cpu_family {
    const char *vendor, *uarch, *name;
    const char *ports;    // names of the counted ports, separated by blanks; "" if none
    int issue_width;      // 0 if unknown
    int imul64_clk;       // 0 if unknown
    int general_counters; // a core, with SMT on; 0 if unknown
    int fixed_counters;
};
// The first line of this uarch, or NULL ("unknown" has no line).
const struct cpu_family *cpu_family_find(const char *uarch);

// Number of a feature name ("AVX512VL"), or -1 if features.csv does not have it.
int feature_find(const char *name);
const char *feature_name(int index); // NULL beyond the last
// Under which heading to show it: "sse", "avx512", ...
const char *feature_group(int index);
// Encoding of the instructions it brings: "legacy", "vex", "evex", "xop".
const char *feature_encoding(int index);
// Checks an isa expression "A+B"; sets *unknown (a pointer into the expression) and *unknown_len to
// the first unknown name. Returns 0 or -1.
int isa_check(const char *isa, const char **unknown, size_t *unknown_len);
// Whether CPUID (and the OS, for register state) announces every feature of the expression.
bool cpu_has_isa(const struct cpu_info *cpu, const char *isa);

#endif
