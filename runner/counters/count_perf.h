// SPDX-License-Identifier: MIT
// Declarations that the two files of the perf backend share: the PMU of sysfs that counts a CPU's
// events, and the meaning of the kernel's refusals.
#pragma once

#include "count.h"

// The PMU of the kernel that counts core events: "cpu", or one of a hybrid machine's.
struct perf_pmu {
    const char *name;
    uint32_t type;  // for perf_event_attr
    bool present;   // sysfs has it
    bool hybrid;    // there are others for other cores
    char cpus[128]; // CPUs of a hybrid PMU, as the kernel writes lists; ""
};
// Chooses by the core type of machine->cpu; COUNT_HYBRID where that is not known.
enum count_obstacle perf_pmu_choose(const struct count_machine *machine, struct perf_pmu *pmu,
                                    struct err *err);
// COUNT_HYBRID if the target may run on CPUs that the PMU does not count.
enum count_obstacle perf_pmu_covers(const struct perf_pmu *pmu, const struct count_target *target,
                                    struct err *err);

// Returns the number in a file of the machine ("/proc/sys/kernel/perf_event_paranoid"), or
// `otherwise`.
int perf_number_read(const struct count_machine *machine, const char *path, int otherwise);

// Explains why opening event `index` of a group was refused with errno `error`.
enum count_obstacle perf_open_explain(const struct count_machine *machine,
                                      const struct count_target *target,
                                      const struct count_event *events, int index, int error,
                                      struct err *err);
// Explains why a group was on its counters for running_ns of enabled_ns only.
enum count_obstacle perf_times_explain(const struct count_machine *machine, int nevents,
                                       uint64_t enabled_ns, uint64_t running_ns, struct err *err);
// Explains that the kernel keeps RDPMC from user code.
void perf_rdpmc_explain(const struct count_machine *machine, const struct count_event *event,
                        struct err *err);
// There is a PMU, but not even cycles can be counted with it: errno `error`.
enum count_obstacle perf_empty_explain(const struct count_machine *machine,
                                       const struct perf_pmu *pmu, int error, struct err *err);
// A cycle counter opened but stood still.
enum count_obstacle perf_still_explain(const struct count_machine *machine, struct err *err);
