// SPDX-License-Identifier: MIT
// The system's own account of a process, which replaces software events that perf refuses. It
// begins with the fork; the part before exec is subtracted.
#pragma once

#include "counters/count.h"

#include <sys/resource.h>

struct stat_usage {
    double cpu_ns, minor_faults, major_faults, switches;
};

// Returns the usage of a process that is held before exec. Parts that are not visible (no /proc)
// count as 0.
struct stat_usage stat_usage_before(pid_t pid);
// Returns the usage of a process that has ended, since `before`.
struct stat_usage stat_usage_since(const struct rusage *end, const struct stat_usage *before);

// Sets the value of a software event. Returns false if the account does not have it.
bool stat_usage_value(const struct stat_usage *usage, const struct count_event *event,
                      double *value);
