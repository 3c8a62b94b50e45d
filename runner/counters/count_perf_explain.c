// SPDX-License-Identifier: MIT
// The perf backend's knowledge of obstacles: which PMU to take, and, for each way in which the
// kernel refuses or shares out counters, what it means and what can be done. Reads /proc and /sys
// below the machine's root and changes nothing.
#include "count_perf.h"

#include "cpuinfo/environment.h"
#include "util/cpulist.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PERF_TYPE_OF_CPU = 4, // PERF_TYPE_RAW, which every kernel gives the PMU "cpu"
    CORE_TYPE_BIG = 0x40, // CPUID 1AH EAX[31:24]
    CORE_TYPE_SMALL = 0x20
};

#define PMU_DIRECTORY "/sys/bus/event_source/devices/"

static int line_read(const struct count_machine *machine, const char *path, char *text, size_t size)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", machine->root, path);
    FILE *f = fopen(full, "re");
    if (!f)
        return -1;
    bool got = fgets(text, (int)size, f) != NULL;
    fclose(f);
    if (!got)
        return -1;
    text[strcspn(text, "\n")] = '\0';
    return 0;
}

int perf_number_read(const struct count_machine *machine, const char *path, int otherwise)
{
    char text[32], *end;
    if (line_read(machine, path, text, sizeof text) != 0)
        return otherwise;
    long number = strtol(text, &end, 10);
    return end == text ? otherwise : (int)number;
}

static int pmu_type_read(const struct count_machine *machine, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, PMU_DIRECTORY "%s/type", name);
    return perf_number_read(machine, path, -1);
}

static bool list_has(const char *list, int number)
{
    cpu_set_t set;
    return cpulist_parse_set(list, &set) == 0 && number >= 0 && number < CPU_SETSIZE &&
           CPU_ISSET((size_t)number, &set);
}

static void pmu_cpus_read(const struct count_machine *machine, const char *name, char *cpus,
                          size_t size)
{
    char path[128];
    snprintf(path, sizeof path, PMU_DIRECTORY "%s/cpus", name);
    cpus[0] = '\0';
    line_read(machine, path, cpus, size);
}

// Chooses the PMU of a small core: some machines have two kinds, of which the second has a PMU of
// its own.
static int pmu_small_choose(const struct count_machine *machine, int small, const char **name)
{
    char cpus[128];
    int low = pmu_type_read(machine, "cpu_lowpower");
    pmu_cpus_read(machine, "cpu_lowpower", cpus, sizeof cpus);
    bool here = low >= 0 && list_has(cpus, sched_getcpu());
    *name = here ? "cpu_lowpower" : "cpu_atom";
    return here ? low : small;
}

enum count_obstacle perf_pmu_choose(const struct count_machine *machine, struct perf_pmu *pmu,
                                    struct err *err)
{
    int big = pmu_type_read(machine, "cpu_core"), small = pmu_type_read(machine, "cpu_atom");
    *pmu = (struct perf_pmu){.name = "cpu", .type = PERF_TYPE_OF_CPU};
    if (big < 0 && small < 0) {
        int type = pmu_type_read(machine, "cpu");
        pmu->present = type >= 0;
        if (type >= 0)
            pmu->type = (uint32_t)type;
        return COUNT_FINE;
    }
    const char *name = "cpu_core";
    int type = machine->cpu->core_type == CORE_TYPE_BIG ? big : -1;
    if (machine->cpu->core_type == CORE_TYPE_SMALL)
        type = pmu_small_choose(machine, small, &name);
    if (type < 0) {
        err_set(err, "this machine has cores of several types (cpu_core, cpu_atom), and it is not "
                     "visible which type this CPU is (CPUID leaf 1AH): their events differ. Let "
                     "the hypervisor pass leaf 1AH, or measure without a hypervisor");
        return COUNT_HYBRID;
    }
    *pmu = (struct perf_pmu){.name = name, .type = (uint32_t)type, .present = true, .hybrid = true};
    pmu_cpus_read(machine, name, pmu->cpus, sizeof pmu->cpus);
    return COUNT_FINE;
}

enum count_obstacle perf_pmu_covers(const struct perf_pmu *pmu, const struct count_target *target,
                                    struct err *err)
{
    cpu_set_t set;
    if (!pmu->hybrid || !pmu->cpus[0])
        return COUNT_FINE;
    CPU_ZERO(&set);
    if (target->what == COUNT_CPU)
        CPU_SET((size_t)target->cpu, &set);
    else if (sched_getaffinity(target->what == COUNT_PROCESS ? target->pid : 0, sizeof set, &set))
        return COUNT_FINE;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set) && !list_has(pmu->cpus, cpu)) {
            err_set(err,
                    "the events are those of %s (CPUs %s), and the code may run on CPU %d, which "
                    "is of another type and would not be counted. Keep it on one type: taskset "
                    "-c %s latput ...",
                    pmu->name, pmu->cpus, cpu, pmu->cpus);
            return COUNT_HYBRID;
        }
    return COUNT_FINE;
}

// Sets the message to the words of `latput cpu`.
static void verdict_say(const struct count_machine *machine, enum perf_state state, int error,
                        struct err *err)
{
    struct cpu_environment env = {.perf = state, .perf_errno = error};
    struct verdict verdict = {0};
    env.paranoid =
        perf_number_read(machine, "/proc/sys/kernel/perf_event_paranoid", PARANOID_HIDDEN);
    verdict_explain_counters(machine->cpu, &env, &verdict);
    err_set(err, "%s. %s", verdict.how, verdict.remedy);
    size_t len = err ? strlen(err->text) : 0;
    while (len > 0 && (err->text[len - 1] == ' ' || err->text[len - 1] == '.'))
        err->text[--len] = '\0';
}

static enum count_obstacle forbidden_explain(const struct count_machine *machine,
                                             const struct count_target *target,
                                             const struct count_event *event, int error,
                                             struct err *err)
{
    int paranoid =
        perf_number_read(machine, "/proc/sys/kernel/perf_event_paranoid", PARANOID_HIDDEN);
    if (paranoid == PARANOID_HIDDEN || paranoid > 2)
        verdict_say(machine, PERF_DENIED, error, err);
    else if (target->what == COUNT_CPU && paranoid > 0)
        err_set(err,
                "counting all that runs on a CPU is refused: kernel.perf_event_paranoid is %d. As "
                "root: sysctl -w kernel.perf_event_paranoid=0, or run with CAP_PERFMON",
                paranoid);
    else if (event->rings & COUNT_KERNEL && paranoid > 1)
        err_set(err,
                "counting '%s' in the kernel is refused: kernel.perf_event_paranoid is %d. %s "
                "sysctl -w kernel.perf_event_paranoid=1",
                event->name, paranoid,
                event->kind == COUNT_SOFTWARE ? "As root:"
                                              : "Count user mode only (--user), or as root:");
    else
        verdict_say(machine, PERF_DENIED, error, err);
    return COUNT_FORBIDDEN;
}

static enum count_obstacle too_many_explain(const struct count_machine *machine, int nevents,
                                            const char *what, struct err *err)
{
    if (perf_number_read(machine, "/proc/sys/kernel/nmi_watchdog", 0) == 1) {
        err_set(err,
                "%s, and the NMI watchdog holds one of the counters. As root: sysctl -w "
                "kernel.nmi_watchdog=0; or count fewer than %d events at a time",
                what, nevents);
        return COUNT_WATCHDOG;
    }
    err_set(err,
            "%s. Count fewer than %d events at a time; where SMT is on, switching it off in the "
            "firmware gives some CPUs more counters",
            what, nevents);
    return COUNT_TOO_MANY;
}

// Explains that the kernel does not know the event, or has no counters at all.
static enum count_obstacle unknown_explain(const struct count_machine *machine,
                                           const struct count_event *event, int error,
                                           struct err *err)
{
    struct perf_pmu pmu;
    if (event->kind != COUNT_SOFTWARE) {
        enum count_obstacle obstacle = perf_pmu_choose(machine, &pmu, err);
        if (obstacle)
            return obstacle;
        if (!pmu.present) {
            verdict_say(machine, PERF_ABSENT, error, err);
            return COUNT_NO_PMU;
        }
    }
    err_set(err,
            "'%s' cannot be counted: the kernel refuses it (%s). Check its code against latput "
            "counters; a hypervisor may hide single events",
            event->name, strerror(error));
    return COUNT_NO_EVENT;
}

enum count_obstacle perf_open_explain(const struct count_machine *machine,
                                      const struct count_target *target,
                                      const struct count_event *events, int index, int error,
                                      struct err *err)
{
    char what[COUNTER_LABEL_BYTES + 64];
    switch (error) {
    case ENOSYS:
        verdict_say(machine, PERF_NO_CALL, error, err);
        return COUNT_NO_CALL;
    case EACCES:
    case EPERM:
        return forbidden_explain(machine, target, &events[index], error, err);
    case ENOENT:
    case EOPNOTSUPP:
        return unknown_explain(machine, &events[index], error, err);
    case EINVAL:
    case ENOSPC:
        if (index == 0)
            return unknown_explain(machine, &events[index], error, err);
        // Alone it would have passed: the kernel checks that a whole group fits.
        snprintf(what, sizeof what, "'%s' finds no counter beside the %d events before it",
                 events[index].name, index);
        return too_many_explain(machine, index + 1, what, err);
    case ESRCH:
    case ENODEV:
        err_set(err, "'%s' cannot be counted: the process has ended or the CPU is offline (%s)",
                events[index].name, strerror(error));
        return COUNT_GONE;
    case EMFILE:
    case ENFILE:
        err_set(err, "'%s' cannot be counted: %s. Raise the limit (ulimit -n)", events[index].name,
                strerror(error));
        return COUNT_FAILED;
    default:
        err_set(err, "'%s' cannot be counted: %s", events[index].name, strerror(error));
        return COUNT_FAILED;
    }
}

enum count_obstacle perf_times_explain(const struct count_machine *machine, int nevents,
                                       uint64_t enabled_ns, uint64_t running_ns, struct err *err)
{
    if (enabled_ns == 0) {
        err_set(err, "the events were never switched on: the program did not begin");
        return COUNT_FAILED;
    }
    if (running_ns == 0)
        return too_many_explain(machine, nevents, "the events never got onto their counters", err);
    err_set(err,
            "the counters were shared out: the events were counted for %.1f %% of the time only, "
            "and scaling is refused. Something else counts on this machine (perf, a profiler, "
            "another guest's tools): stop it, or count fewer events at a time",
            100.0 * (double)running_ns / (double)enabled_ns);
    return COUNT_MULTIPLEXED;
}

void perf_rdpmc_explain(const struct count_machine *machine, const struct count_event *event,
                        struct err *err)
{
    struct perf_pmu pmu;
    char path[128];
    perf_pmu_choose(machine, &pmu, NULL);
    snprintf(path, sizeof path, PMU_DIRECTORY "%s/rdpmc", pmu.name);
    int allowed = perf_number_read(machine, path, -1);
    if (allowed == 0)
        err_set(err,
                "'%s' cannot be read with RDPMC: %s is 0, which keeps the instruction from user "
                "code. As root: echo 1 > %s",
                event->name, path, path);
    else
        err_set(err,
                "'%s' cannot be read with RDPMC: perf's page denies it (cap_user_rdpmc), as "
                "under a hypervisor that does not pass the instruction, or where the kernel has "
                "the counters otherwise",
                event->name);
}

enum count_obstacle perf_empty_explain(const struct count_machine *machine,
                                       const struct perf_pmu *pmu, int error, struct err *err)
{
    const char *hypervisor = machine->cpu->hypervisor;
    int general, fixed;
    cpu_counters(machine->cpu, &general, &fixed);
    err_set(err,
            "no performance counters: the kernel has a PMU (%s) but cannot count cycles with it "
            "(%s); CPUID announces %d general and %d fixed counters. %s%s%s",
            pmu->name, strerror(error), general, fixed,
            *hypervisor ? "It is that of the hypervisor ("
                        : "The firmware may have switched them "
                          "off, or the kernel may be older than "
                          "the CPU",
            hypervisor,
            *hypervisor ? "): measure on bare metal or on an instance type with a full virtual PMU"
                        : "");
    return COUNT_NO_PMU;
}

enum count_obstacle perf_still_explain(const struct count_machine *machine, struct err *err)
{
    verdict_say(machine, PERF_STILL, 0, err);
    return COUNT_STILL;
}
