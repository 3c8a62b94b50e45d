// SPDX-License-Identifier: MIT
// Counts of the clock's own kernels (core_rdpmc.c): a link of the calibration chain, a loop without
// a body, and an empty timing.
#include "core_internal.h"

enum {
    ROUNDS = 201,
    ROUNDS_LEAST = 21, // under the gate
    COUNT_LOOPS = 512, // rounds of a loop without a body
};

// Takes the counts of the last timing into row `round`. A fault means that RDPMC is not allowed.
static bool time_take(double rows[CORE_TIMED_MAX][ROUNDS], int round)
{
    uint32_t counts[CORE_TIMED_MAX];
    if (guard_take_fault().signal)
        send_fatal("RDPMC faults: the system keeps the counters from user code (CR4.PCE)");
    bool whole = rdpmc_take(counts);
    for (int i = 0; i < CORE_TIMED_MAX; i++)
        rows[i][round] = whole ? counts[i] : 0;
    return whole;
}

// Finds the counts of a further iteration of a kernel, and the counts of an empty timing, by loops
// of `iterations` and of twice as many. Returns false if there were too few rounds that are
// `quiet`.
static bool time_count_slope(const struct core_config *config, const struct code *code,
                             uint32_t iterations, time_quiet *quiet, double slope[CORE_TIMED_MAX],
                             double rest[CORE_TIMED_MAX])
{
    // Not static: all that is has to be compared after each kernel.
    double once[CORE_TIMED_MAX][ROUNDS], twice[CORE_TIMED_MAX][ROUNDS];
    int n = 0;
    for (int tries = 0; tries < 4 * ROUNDS && n < ROUNDS; tries++) {
        if (quiet && !quiet(config))
            continue;
        time_own(code, iterations);
        if (!time_take(once, n))
            continue;
        time_own(code, 2 * iterations);
        n += time_take(twice, n);
    }
    if (quiet && n < ROUNDS_LEAST)
        return false;
    if (!quiet && n < ROUNDS)
        send_fatal("the counters do not run all the time: something else counts as well");
    for (uint32_t i = 0; i < config->ncounters; i++) {
        for (int round = 0; round < n; round++) {
            double more = twice[i][round] - once[i][round];
            once[i][round] -= more; // the rest
            twice[i][round] = more / iterations;
        }
        values_sort(once[i], n);
        values_sort(twice[i], n);
        rest[i] = once[i][n / 2];
        slope[i] = twice[i][n / 2];
    }
    return true;
}

void time_count(const struct core_config *config, uint32_t calib_iterations, time_quiet *quiet,
                struct times *times)
{
    double ignored[CORE_TIMED_MAX];
    if (time_count_slope(config, &time_code.calib, calib_iterations, quiet, times->link_counts,
                         times->overhead_counts))
        for (uint32_t i = 0; i < config->ncounters; i++)
            times->link_counts[i] /= TIME_CALIB_LINKS;
    time_count_slope(config, &time_code.loop, COUNT_LOOPS, quiet, times->loop_counts, ignored);
}
