// SPDX-License-Identifier: MIT
// Abilities and limits of this machine, and remedies for its owner. Words only: the facts come from
// cpu_info and cpu_environment, so that tests can ask about any machine.
#include "environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void __attribute__((format(printf, 3, 4)))
put(char *text, size_t bytes, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, bytes, format, ap);
    va_end(ap);
}
#define PUT(array, ...) put(array, sizeof(array), __VA_ARGS__)

static void denied_explain(const struct cpu_environment *env, struct verdict *v)
{
    if (env->paranoid == PARANOID_HIDDEN || env->paranoid <= 2) {
        PUT(v->how,
            "no performance counters: perf_event_open is refused (%s) although "
            "kernel.perf_event_paranoid would allow it",
            strerror(env->perf_errno));
        PUT(v->remedy, "%s",
            "In a container, allow the system call in its seccomp profile, or add the capability "
            "PERFMON; or measure outside of the container.");
        return;
    }
    PUT(v->how,
        "no performance counters: kernel.perf_event_paranoid is %d, which keeps them from "
        "ordinary users",
        env->paranoid);
    PUT(v->remedy, "%s",
        "As root: sysctl -w kernel.perf_event_paranoid=1 (until the next boot), or run with the "
        "capability CAP_PERFMON.");
}

void verdict_explain_counters(const struct cpu_info *cpu, const struct cpu_environment *env,
                              struct verdict *v)
{
    if (env->perf == PERF_DENIED) {
        denied_explain(env, v);
        return;
    }
    if (env->perf == PERF_NO_CALL && !cpu_is_emulated(cpu)) {
        PUT(v->how, "no performance counters: this kernel has no perf_event_open");
        PUT(v->remedy, "Use a kernel with CONFIG_PERF_EVENTS; those of the distributions have it.");
        return;
    }
    if (cpu->hypervisor[0]) {
        PUT(v->how, "no performance counters: the %s (%s) %s",
            cpu_is_emulated(cpu) ? "emulator" : "hypervisor", cpu->hypervisor,
            env->perf == PERF_STILL ? "announces a cycle counter that stands still"
                                    : "does not expose a PMU");
        if (cpu_is_emulated(cpu))
            return;
        PUT(v->remedy, "%s",
            "Measure on bare metal or on an instance type with a virtual PMU; where the hypervisor "
            "is yours, switch it on (QEMU: -cpu host,pmu=on; VMware: vpmc.enable = TRUE; Xen: "
            "vpmu=1).");
        return;
    }
    if (env->perf == PERF_STILL)
        PUT(v->how, "no performance counters: the cycle counter opens but stands still");
    else
        PUT(v->how, "no performance counters: the kernel knows none for this CPU (%s)",
            strerror(env->perf_errno));
    PUT(v->remedy, "%s",
        "Use a kernel that is newer than the CPU, and look into the kernel's log for a PMU that "
        "was "
        "switched off (booting with nolapic, firmware that holds the counters).");
}

static bool counters_work(const struct cpu_environment *env)
{
    return env->perf == PERF_WORKS;
}

static void calibration_judge(const struct cpu_info *cpu, struct verdict *v)
{
    if (cpu->imul64_clk && cpu->tsc_hz) {
        v->answer = VERDICT_YES;
        PUT(v->how,
            "in core cycles, by the TSC; a chain of imul r64,r64 (%d cycles per link on this CPU) "
            "beside each kernel tells how long a core cycle is",
            cpu->imul64_clk);
        if (!cpu->tsc_invariant)
            PUT(v->remedy, "The TSC is not announced as invariant: fix the frequency of the CPU.");
        return;
    }
    if (strcmp(cpu->uarch, "unknown") == 0 &&
        (cpu->ncontradictions > 0 || cpu->decision == CPU_DECIDED_OVERRIDE)) {
        v->answer = VERDICT_YES;
        PUT(v->how, "in core cycles, by the TSC; how many a link of the calibration chain (imul "
                    "r64,r64) takes follows from its ratio to add, as the family is not known");
        PUT(v->remedy, "Say with --uarch NAME which family it is of.");
        return;
    }
    v->answer = VERDICT_NO;
    if (cpu_is_invented(cpu)) {
        PUT(v->how, "there is no cycle counter, and the hypervisor hides which CPU this is: the "
                    "latency of the calibration chain is unknown");
        PUT(v->remedy, "Have the hypervisor show the real CPU (QEMU: -cpu host).");
        return;
    }
    if (strcmp(cpu->uarch, "unknown") == 0) {
        PUT(v->how, "there is no cycle counter, and cpuinfo/cpus.csv does not know this CPU: the "
                    "latency of the calibration chain is unknown");
        PUT(v->remedy, "%s",
            cpu->hypervisor[0] && strcmp(cpu->vendor, "GenuineIntel") == 0
                ? "Add a line for this CPU to cpuinfo/cpus.csv, or get the "
                  "counters to work. If it is a hybrid CPU, let the hypervisor pass CPUID leaf 1AH."
                : "Add a line for this CPU to cpuinfo/cpus.csv, or get the counters to work.");
        return;
    }
    PUT(v->how,
        "there is no cycle counter, and the latency of imul r64,r64 on %s, with which the TSC "
        "would be calibrated, is not known for certain",
        cpu->uarch);
    PUT(v->remedy, "Fill imul64_clk of %s in cpuinfo/cpus.csv, or get the counters to work.",
        cpu->uarch);
}

static void latency_judge(const struct cpu_info *cpu, const struct cpu_environment *env,
                          struct verdict *v)
{
    v->what = "latency, throughput";
    if (cpu_is_emulated(cpu)) {
        v->answer = VERDICT_NO;
        PUT(v->how, "this CPU is emulated (%s): times are those of the emulator", cpu->hypervisor);
        PUT(v->remedy, "Run on the CPU itself, or under a hypervisor that does not emulate (KVM).");
        return;
    }
    if (!counters_work(env)) {
        calibration_judge(cpu, v);
        return;
    }
    v->answer = VERDICT_YES;
    PUT(v->how, "in core cycles, counted through perf_event_open%s",
        env->rdpmc ? " and read with RDPMC" : "");
    if (!env->rdpmc)
        PUT(v->remedy, "%s",
            "Short kernels are timed better where user code may read the counter: as root, "
            "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc.");
}

static void ports_judge(const struct cpu_info *cpu, const struct cpu_environment *env, bool timed,
                        struct verdict *v)
{
    const struct cpu_family *family = cpu_family_find(cpu->uarch);
    v->what = "execution ports";
    if (!timed) {
        v->answer = VERDICT_NO;
        PUT(v->how, "they are inferred from throughput, which cannot be measured");
        return;
    }
    if (counters_work(env) && family && family->ports[0]) {
        v->answer = VERDICT_YES;
        PUT(v->how, "from throughput; latput bench also counts them: %s", family->ports);
        return;
    }
    v->answer = VERDICT_PARTLY;
    PUT(v->how,
        "from throughput: port sets and what each form uses of them; ports that no "
        "instruction tells apart stay nameless%s",
        !counters_work(env) ? ""
        : family            ? " (this CPU has no counters by port)"
                            : " (the counters of this CPU are not in cpuinfo/cpus.csv)");
}

static void events_judge(const struct cpu_info *cpu, const struct cpu_environment *env,
                         struct verdict *v)
{
    v->what = "µops, cache and branch events";
    if (!counters_work(env)) {
        v->answer = VERDICT_NO;
        verdict_explain_counters(cpu, env, v);
        return;
    }
    bool known = strcmp(cpu->uarch, "unknown") != 0;
    v->answer = known ? VERDICT_YES : VERDICT_PARTLY;
    PUT(v->how, "%s",
        known ? "counted; also for whole programs (latput stat)"
              : "architectural events only: it is not known which CPU this is");
    if (env->nmi_watchdog == 1)
        PUT(v->remedy, "%s",
            "The NMI watchdog holds one counter; as root: sysctl -w kernel.nmi_watchdog=0.");
}

static void quiet_judge(const struct cpu_info *cpu, const struct cpu_environment *env,
                        struct verdict *v)
{
    bool sibling = strpbrk(env->siblings, ",-") != NULL;
    v->what = "undisturbed core";
    v->answer = VERDICT_YES;
    PUT(v->how, "no SMT sibling");
    if (cpu->hypervisor[0]) {
        v->answer = VERDICT_PARTLY;
        PUT(v->how, "a virtual machine: other guests may run on the same core, unseen; a canary "
                    "notices them and disturbed samples are measured again");
    } else if (sibling) {
        v->answer = VERDICT_PARTLY;
        PUT(v->how, "CPU %d shares its core with its SMT siblings (CPUs %s)", env->cpu,
            env->siblings);
        PUT(v->remedy, "%s",
            "Keep the siblings idle, or switch SMT off as root: echo off > "
            "/sys/devices/system/cpu/smt/control.");
    }
}

static bool frequency_judge(const struct cpu_environment *env, struct verdict *v)
{
    if (!env->governor[0] || strcmp(env->governor, "performance") == 0)
        return false;
    v->what = "steady frequency";
    v->answer = VERDICT_PARTLY;
    PUT(v->how, "the governor is %s: the frequency follows the load", env->governor);
    PUT(v->remedy, "Measuring copes with it, but is quicker with a fixed frequency; as root: "
                   "cpupower frequency-set -g performance.");
    return true;
}

int verdicts_make(const struct cpu_info *cpu, const struct cpu_environment *env,
                  struct verdict *verdicts)
{
    int n = 0;
    memset(verdicts, 0, VERDICTS_MAX * sizeof verdicts[0]);
    latency_judge(cpu, env, &verdicts[n++]);
    ports_judge(cpu, env, verdicts[0].answer == VERDICT_YES, &verdicts[n++]);
    events_judge(cpu, env, &verdicts[n++]);
    quiet_judge(cpu, env, &verdicts[n++]);
    if (frequency_judge(env, &verdicts[n]))
        n++;
    return n;
}
