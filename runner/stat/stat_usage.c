// SPDX-License-Identifier: MIT
#include "stat_usage.h"

#include "util/subproc.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <time.h>

// Faults are the 10th and 12th field of all, of which the state is the 3rd.
static void faults_read(pid_t pid, struct stat_usage *usage)
{
    char text[SUBPROC_STATE_MAX];
    const char *rest = subproc_state(pid, text);
    unsigned long minor, major;
    if (rest && sscanf(rest, "%*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major) == 2) {
        usage->minor_faults = (double)minor;
        usage->major_faults = (double)major;
    }
}

static void switches_read(pid_t pid, struct stat_usage *usage)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        unsigned long n;
        if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1 ||
            sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
            usage->switches += (double)n;
    }
    if (f)
        fclose(f);
}

struct stat_usage stat_usage_before(pid_t pid)
{
    struct stat_usage usage = {0};
    struct timespec cpu;
    clockid_t clock;
    faults_read(pid, &usage);
    switches_read(pid, &usage);
    if (clock_getcpuclockid(pid, &clock) == 0 && clock_gettime(clock, &cpu) == 0)
        usage.cpu_ns = 1e9 * (double)cpu.tv_sec + (double)cpu.tv_nsec;
    return usage;
}

static double above(double a, double b)
{
    return a > b ? a - b : 0;
}

struct stat_usage stat_usage_since(const struct rusage *end, const struct stat_usage *before)
{
    double cpu_ns = 1e9 * (double)(end->ru_utime.tv_sec + end->ru_stime.tv_sec) +
                    1e3 * (double)(end->ru_utime.tv_usec + end->ru_stime.tv_usec);
    return (struct stat_usage){
        .cpu_ns = above(cpu_ns, before->cpu_ns),
        .minor_faults = above((double)end->ru_minflt, before->minor_faults),
        .major_faults = above((double)end->ru_majflt, before->major_faults),
        .switches = above((double)(end->ru_nvcsw + end->ru_nivcsw), before->switches),
    };
}

bool stat_usage_value(const struct stat_usage *usage, const struct count_event *event,
                      double *value)
{
    if (event->kind != COUNT_SOFTWARE)
        return false;
    switch (event->software) {
    case PERF_COUNT_SW_TASK_CLOCK:
        *value = usage->cpu_ns;
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS:
        *value = usage->minor_faults + usage->major_faults;
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS_MIN:
        *value = usage->minor_faults;
        return true;
    case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
        *value = usage->major_faults;
        return true;
    case PERF_COUNT_SW_CONTEXT_SWITCHES:
        *value = usage->switches;
        return true;
    default:
        return false;
    }
}
