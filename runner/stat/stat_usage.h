// SPDX-License-Identifier: MIT
// The kernel's own account of a process, which stands in for software events that perf refuses. It
// begins with the fork; what happened before exec is taken off.
#ifndef LATPUT_STAT_USAGE_H
#define LATPUT_STAT_USAGE_H

#include "counters/count.h"

#include <sys/resource.h>

struct stat_usage {
    double cpu_ns, minor_faults, major_faults, switches;
};

// Of a process that is held before exec. What is not visible (no /proc) counts as 0.
struct stat_usage stat_usage_before(pid_t pid);
// Of a process that has ended, since `before`.
struct stat_usage stat_usage_since(const struct rusage *end, const struct stat_usage *before);

// The value of a software event; false if the account does not have it.
bool stat_usage_value(const struct stat_usage *usage, const struct count_event *event,
                      double *value);

#endif
