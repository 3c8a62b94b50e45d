// SPDX-License-Identifier: MIT
// Environment of a CPU that decides how it can be measured: performance counters and who may use
// them, frequency policy, SMT siblings. Probing changes nothing on the machine.
#pragma once

#include "cpuinfo.h"

#include <sched.h>

enum perf_state {
    PERF_WORKS,   // a cycle counter was opened and it counted
    PERF_STILL,   // it was opened but stood at 0
    PERF_DENIED,  // EACCES or EPERM
    PERF_ABSENT,  // the kernel knows no counters here
    PERF_NO_CALL, // the kernel has no perf_event_open
};

enum msr_state {
    MSR_WORKS,
    MSR_DENIED, // the file is there; opening or reading it is not permitted
    MSR_ABSENT, // no such file: the msr module is not loaded
};

struct cpu_environment {
    int cpu;           // the logical CPU examined
    char online[128];  // lists as the kernel writes them ("0-3"); "" if not visible
    char siblings[64]; // the CPU's SMT siblings including itself
    char nodes[64];    // NUMA nodes
    int node;          // NUMA node of the CPU; -1: not visible
    char governor[32]; // "" if not visible
    char driver[32];   // driver of frequency scaling; ""
    int boost;         // 1 on, 0 off, -1 not visible
    uint64_t max_hz;   // the limit of the policy; 0 if not visible
    uint64_t core_hz;  // estimated now; 0 if the latency of the chain is not known
    enum perf_state perf;
    int perf_errno;           // errno of the failed open
    int paranoid;             // kernel.perf_event_paranoid; PARANOID_HIDDEN if not visible
    bool rdpmc;               // user code may read the perf counter with RDPMC
    double clk_per_chain_clk; // chain_ratio() of the perf counter; 0 without one
    enum msr_state msr;
    int nmi_watchdog; // 1: it holds a counter; 0; -1 not visible
};
enum { PARANOID_HIDDEN = -100 };

// Probes for logical CPU `number`, to which the caller is pinned. Takes about 20 ms. Files of the
// counters (perf's, /dev/cpu) are those below $LATPUT_MACHINE, if that is set.
void environment_probe(const struct cpu_info *cpu, int number, struct cpu_environment *env);

// Sets the greatest frequency that the system says of these CPUs, and their greatest capacity,
// which is 1024 for the fastest of the machine; 0: not visible.
void environment_speed(const cpu_set_t *cpus, int *max_mhz, int *capacity);

// Returns the core cycles that a counter counts per cycle of the calibration chain, by the latency
// in cpus.csv: near 1, or one of the two is wrong. `count` reads the running counter. Median of
// many windows; 0: the latency is not known.
double chain_ratio(const struct cpu_info *cpu, uint64_t (*count)(void *data), void *data);

// Returns the latency of imul r64,r64 divided by the latency of add r64,r64, measured on the CPU
// that the caller is pinned to; takes about 3 ms. A busy sibling or another frequency change both
// alike. 0: the CPU is emulated.
double imul_ratio(const struct cpu_info *cpu);

// Sets the numbers of general and fixed counters that CPUID announces (leaf 0AH, 0x80000022,
// 0x80000001); 0, 0: none.
void cpu_counters(const struct cpu_info *cpu, int *general, int *fixed);

// Returns true if software imitates the instructions: timings then mean nothing for the CPU.
bool cpu_is_emulated(const struct cpu_info *cpu);

// A verdict on one thing that can or cannot be measured here, in words.
enum { VERDICTS_MAX = 8 };
struct verdict {
    const char *what;
    enum { VERDICT_YES, VERDICT_PARTLY, VERDICT_NO } answer;
    char how[320];    // by what means, or why not; a phrase without a full stop
    char remedy[400]; // sentences; "" where there is nothing to do
};

// Explains in v->how and v->remedy why there are no hardware counters, for an env whose perf is not
// PERF_WORKS. Of env it reads perf, perf_errno and paranoid only. Pure.
void verdict_explain_counters(const struct cpu_info *cpu, const struct cpu_environment *env,
                              struct verdict *v);

// Fills the verdicts from CPU and environment. Returns how many of the VERDICTS_MAX there are.
// Pure.
int verdicts_make(const struct cpu_info *cpu, const struct cpu_environment *env,
                  struct verdict *verdicts);
