// SPDX-License-Identifier: MIT
// Identity and features of the CPU: CPUID leaves, the tables features.csv and cpus.csv, and what
// the operating system adds. A CPU that the tables do not know gets the uarch "unknown"; nothing is
// guessed from neighbouring model numbers.
#pragma once

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_FEATURES_MAX = 512, CPU_CACHES_MAX = 8, CPUID_LEAVES_MAX = 512 };
enum { CPU_CORE_ATOM = 0x20, CPU_CORE_CORE = 0x40 }; // types of core of CPUID 1AH
enum { CPU_CORE_AMD = 0x10 };                        // and those of AMD begin with it
enum { CPU_PORT_GROUPS_MAX = 12 };                   // groups of ports with a counter

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

// Witnesses that a CPU is not of the family that its signature claims.
enum cpu_witness {
    CPU_WITNESS_FEATURES,
    CPU_WITNESS_CACHES,
    CPU_WITNESS_MEASURED,
    CPU_WITNESS_PROPERTIES
};
struct cpu_contradiction {
    enum cpu_witness witness;
    char text[240]; // claimed and seen values; a phrase without a full stop
};
enum { CPU_CONTRADICTIONS_MAX = 8 };

// A property of the pipeline (lists/properties/), measured for certain: a value of its conclusion,
// with the interval.
enum { CPU_OBSERVED_NAME = 40, CPU_OBSERVED_MAX = 32 };
struct cpu_observed {
    char property[CPU_OBSERVED_NAME], variant[CPU_OBSERVED_NAME], label[CPU_OBSERVED_NAME];
    double value, low, high;
};
// Verdict of an observation on a core: more than the core has is impossible; less may be what a
// neighbour has left.
enum cpu_says { CPU_SAYS_NOTHING, CPU_SAYS_AGREES, CPU_SAYS_MORE };
struct cpu_sight {
    struct cpu_observed seen;
    double claimed_least, believed_least;
    double claimed_size, believed_size;       // most that the cores have; 0: not known
    const char *claimed_note, *believed_note; // what these sizes mean; "": nothing to say
    enum cpu_says claimed, believed;
};

// By what `uarch` was decided.
enum cpu_decision {
    CPU_DECIDED_CLAIM,    // the signature is believed
    CPU_DECIDED_INFERRED, // the signature is refuted; `uarch` fits the evidence and ends in `?`
    CPU_DECIDED_OVERRIDE, // by cpu_override()
    CPU_DECIDED_UNKNOWN,  // no line for the signature, or it is refuted and no single family fits
};

// Brands of a machine of files ($LATPUT_MACHINE) begin with it: results are not those of a CPU.
#define CPU_SIMULATED "simulated: "

struct cpu_info {
    char vendor[16];             // "GenuineIntel"
    char brand[64];              // "" if the CPU has none; see CPU_SIMULATED
    uint32_t signature;          // CPUID 1 EAX
    int family, model, stepping; // display family and model
    int core_type;               // CPUID 1AH EAX[31:24]; where AMD has several types of core,
                                 // CPU_CORE_AMD + CPUID 80000026H EBX[31:28]; 0 if none
    uint32_t native_model;       // CPUID 1AH EAX[23:0], or 80000026H EBX[27:24]
    char claim[32];              // claim of the signature: key of cpus.csv or "unknown"
    char uarch[32];              // believed family: key, "zen5?" if inferred, or "unknown"
    char uarch_name[96];         // "Zen 5"; "Zen 5, inferred"
    int issue_width;             // µops per cycle, of the believed family; 0 if unknown
    int imul64_clk;              // latency of imul r64,r64 there; 0 if unknown
    int measured_width;          // as cpu_judge() got it; 0: not measured
    double measured_imul;        // the same, of imul_per_add
    enum cpu_decision decision;  // reason for `uarch`
    struct cpu_contradiction contradictions[CPU_CONTRADICTIONS_MAX]; // to the claim
    int ncontradictions;
    struct cpu_sight sights[CPU_OBSERVED_MAX]; // the properties that cpu_judge() was told
    int nsights;
    char reason[400];    // reason for this family or none, if the claim is refuted; else ""
    uint32_t microcode;  // 0 if unknown
    char hypervisor[64]; // "" if none is visible
    uint64_t tsc_hz;     // 0 if unknown
    bool tsc_invariant;
    struct cpu_cache caches[CPU_CACHES_MAX];
    int ncaches;
    bool features[CPU_FEATURES_MAX]; // by index into the feature table
    struct cpuid_leaf leaves[CPUID_LEAVES_MAX];
    int nleaves;
    bool live; // identified on this machine, not loaded from a dump
};

// Returns true if a hypervisor made up the CPU ("QEMU Virtual CPU"). Its signature means nothing,
// even if a real CPU has it, and its uarch is "unknown".
bool cpu_is_invented(const struct cpu_info *cpu);
// Returns true if the caches are known, and none is an L3: of low-power cores often nothing else
// tells the type.
bool cpu_lacks_l3(const struct cpu_info *cpu);
// Returns true if CPUID says that the machine has cores of several types.
bool cpu_is_hybrid(const struct cpu_info *cpu);

// Measurements of a CPU; 0: not measured. The caller must be sure of them: a figure that a busy
// sibling or an interrupt may have spoilt does not belong here.
struct cpu_measured {
    int issue_width;     // single-µop instructions that the core dispatches in a cycle, at least
    double imul_per_add; // ratio of the latencies of imul r64,r64 and add
    const struct cpu_observed *observed; // at most CPU_OBSERVED_MAX, each once
    int nobserved;
};

// Tests the claim of the signature against CPUID's features and caches and what was measured (may
// be NULL), and fills claim, uarch, uarch_name, issue_width, imul64_clk, decision, contradictions,
// sights and reason. Rules: README.md, "A claim is tested". A pure function of the leaves, the
// tables, *measured and cpu_override(); cpu_identify() and cpu_load() call it with NULL. Call it
// again, with all that is known by then, whenever more was measured: what an earlier call decided
// plays no part.
void cpu_judge(struct cpu_info *cpu, const struct cpu_measured *measured);
// Returns true if the measured width is less than the believed family dispatches. It is no
// contradiction, since something may have kept the core busy.
bool cpu_seen_narrow(const struct cpu_info *cpu);
// Returns the issue widths in cpus.csv of the families that all evidence but a measured width
// allows (measured->issue_width is ignored; measured may be NULL): bit n is set if n µops per cycle
// is one of them. 0: no line fits. A core that measures less than the least of them is disturbed (a
// busy sibling halves it), or the table does not have it.
uint64_t cpu_widths_allowed(const struct cpu_info *cpu, const struct cpu_measured *measured);

// Makes all CPUs that are identified, loaded or judged from now on this uarch: a name of a family
// of cpus.csv or "unknown"; NULL ends it. Returns 0, or -1 with a message. Not while other threads
// judge.
int cpu_override(const char *uarch, struct err *err);
// Returns "claim", "inferred", "override" or "unknown"; "features", "caches", "measured" or
// "properties".
const char *cpu_decision_name(enum cpu_decision decision);
const char *cpu_witness_name(enum cpu_witness witness);
const char *cpu_says_name(enum cpu_says says); // "nothing", "agrees", "more"
// Returns true if core_sizes.csv has a line for a value of a property: others are no witnesses.
bool cpu_observes(const char *property, const char *variant, const char *label);
// Finds in core_sizes.csv what a uarch has of what is seen: from *least to *most. Returns false if
// nothing is there.
bool cpu_core_size(const char *uarch, const struct cpu_observed *seen, double *least, double *most);
// Writes the contradictions and the reason in one paragraph, "" if the claim is believed without
// any. Cut at size - 1 bytes. Returns `text`.
const char *cpu_evidence_text(const struct cpu_info *cpu, char *text, size_t size);
// A machine's label, for which its owner chose the name: lower-case letters, digits, - and _. Views
// of the database show it after the uarch, "zen5@desk".
enum { CPU_LABEL_MAX = 20 };

// Returns the key of a uarch without the mark of an inferred one and a label: "zen5?@desk" is
// "zen5". At most size - 1 bytes. Returns `key`.
const char *cpu_uarch_key(const char *uarch, char *key, size_t size);
// Returns true if the keys of two uarchs are the same.
bool cpu_same_family(const char *uarch, const char *other);

// Identifies this machine, on logical CPU `number`, on the last one that the calling thread may use
// (CPU_LAST), or where it runs (CPU_HERE); it goes there and comes back, unless there is one type
// of core. Of a machine of files (path_machine()), by its `cpuid`. Returns -1 if the tables cannot
// be read, or the dump has no such CPU.
enum { CPU_LAST = -1, CPU_HERE = -2 };
int cpu_identify(int number, struct cpu_info *cpu, struct err *err);
// Loads the first CPU of a dump (text format: cpuinfo/README.md), or saves a dump of one. save: "-"
// is standard output.
int cpu_load(const char *path, struct cpu_info *cpu, struct err *err);
int cpu_save(const struct cpu_info *cpu, const char *path, struct err *err);

// Reads and validates features.csv and cpus.csv once; later calls repeat the first answer. The
// other functions call it themselves, but where they cannot report, a broken table has no features
// and no CPUs: a command that depends on them calls this first.
int cpuinfo_load(struct err *err);
// Loads like cpuinfo_load() for `latput check`; neither table may be empty.
int cpuinfo_check(struct err *err);

// Returns the leaf, or NULL if the CPU does not have it.
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
// Returns the first line of this uarch, with or without the mark of an inferred one, or NULL
// ("unknown" has no line).
const struct cpu_family *cpu_family_find(const char *uarch);

// Returns the i-th uarch of cpus.csv, each of them once; NULL: there are no more.
const char *cpu_family_name(int i);
// The columns of other_names.csv: names of a family in other programs, and those that people use.
enum cpu_namer { CPU_NAME_LLVM = 1, CPU_NAME_UOPS_INFO, CPU_NAME_OSACA, CPU_NAME_PEOPLE };
// Returns that name of the family, with or without the mark of an inferred one; "" for none.
const char *cpu_other_name(const char *uarch, enum cpu_namer whose);
// Returns LLVM's name of the family, or of the first one with the same core (column core of
// cpus.csv) that has one, whose scheduling model is that of this one, too; "" for none.
const char *cpu_llvm_name(const char *uarch);
// Returns true if this is a name of the uarch: the uarch itself, its core's name, or one of
// other_names.csv. Letter case, blanks, hyphens and underscores do not matter: "Golden Cove".
bool cpu_is_called(const char *uarch, const char *said);
// Returns the uarch of cpus.csv, or "unknown", that is called so. NULL with a message if none is,
// or several are.
const char *cpu_uarch_called(const char *said, struct err *err);

// Returns the number of a feature name ("AVX512VL"), or -1 if features.csv does not have it.
int feature_find(const char *name);
const char *feature_name(int index); // NULL beyond the last
// Returns the heading to show it under: "sse", "avx512", ...
const char *feature_group(int index);
// Returns the encoding of the instructions it brings: "legacy", "vex", "evex", "xop".
const char *feature_encoding(int index);
// Returns the feature that its EVEX forms of 128 and 256 bits need besides ("AVX512VL"); NULL if
// none.
const char *feature_narrow(int index);
// Checks an isa expression "A+B"; sets *unknown (a pointer into the expression) and *unknown_len to
// the first unknown name. Returns 0 or -1.
int isa_check(const char *isa, const char **unknown, size_t *unknown_len);
// Returns true if CPUID (and the OS, for register state) announces every feature of the expression.
bool cpu_has_isa(const struct cpu_info *cpu, const char *isa);
// Returns true if CPUID announces the feature, whether or not the system has enabled its registers.
bool cpu_announces(const struct cpu_info *cpu, int index);
// Returns true if the system has not enabled register state without which the CPU refuses all
// instructions of the expression (VEX, EVEX and XOP encodings, REX2), whatever CPUID announces.
// Writes the reason, cut at size - 1 bytes. False if XCR0 is not known.
enum { CPU_REASON_BYTES = 160 };
bool cpu_lacks_state(const struct cpu_info *cpu, const char *isa, char *reason, size_t size);
