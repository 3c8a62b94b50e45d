// SPDX-License-Identifier: MIT
// Runs a program again and again and counts a few events each time, until each of them was counted
// as often as asked; never more events at once than there are counters, so that nothing is shared
// out in time. The program itself notices nothing but that it starts several times.
#pragma once

#include "counters/count_passes.h"
#include "stat_threshold.h"

enum stat_time { STAT_WALL_NS, STAT_USER_NS, STAT_SYSTEM_NS, STAT_MAX_RSS_BYTES, STAT_TIMES };

struct stat_options {
    const char *const *argv; // the program; ends with NULL
    int repeat;              // counted runs for each event, 1 or more
    int warm;                // runs before them that are not counted
    bool hardware_required;  // no run at all where no hardware event can be counted
    // The program is kept on it; -1: any. A backend that counts a whole CPU wants one, and the
    // caller to keep off it
    int cpu;
    const struct count_backend *backend;
    struct count_machine machine;
    struct count_capacity capacity; // counters of a core
    void (*announce)(int runs);     // called before the first run if it takes several passes; NULL
};

// Results of one event.
struct stat_series {
    double *values; // one a counted run
    size_t n, capacity;
    bool from_usage;              // the kernel's account of the process, not a counter
    enum count_obstacle obstacle; // COUNT_FINE: counted, else there are no values
    char *why;                    // message of the obstacle; NULL
};

struct stat_result {            // no runs and no other reason for it: see hardware_required
    struct stat_series *series; // one per event, in their order
    struct stat_series times[STAT_TIMES]; // of all counted runs
    int nevents;
    int counted_runs, warm_runs;
    int lost_runs;         // repeated since their counts were refused (shared counters)
    int exec_errno;        // the program could not be started: why; else 0
    int exit_status;       // of the last run that ended by itself
    int signal;            // signal that ended the last run; 0
    bool hardware_refused; // nothing was run: see hardware_required
    bool statuses_differ;
    int interrupted; // the signal that we got and that ended the measurement; 0
    bool abandoned;  // it came when no program was running
};

// Runs the program. Returns 0, also where it could not be started, was killed or nothing could be
// counted: all that is in the result, which the caller frees with stat_result_free() in any case.
// -1 with a message where no process can be made.
int stat_measure(const struct stat_options *options, const struct stat_event *events, int nevents,
                 struct stat_result *result, struct err *err);
void stat_result_free(struct stat_result *result);

// Summary of the values of several runs.
struct stat_summary {
    size_t n;
    double mean, min, max;
    double spread; // interquartile range
};
struct stat_summary stat_summarise(const struct stat_series *series);
