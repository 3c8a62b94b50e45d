// SPDX-License-Identifier: MIT
// The clock of liblatput: the steps of the TSC, and core cycles by a chain of dependent IMULs whose
// latency in cycles is a small integer. It is found as the ratio to a chain of ADDs, one cycle each
// on every x86 CPU; ADD with an immediate is not used because some CPUs fold it.
#include "latput_internal.h"

#include "util/affinity.h"

#include <math.h>

enum {
    STEP_READS = 2000,
    CHAIN_LINKS = 64,        // in a loop whose own two instructions run beside them
    CALIBRATION_TURNS = 100, // 6400 links: 5 µs at 3 cycles and 4 GHz
    RATIO_TURNS = 30,        // short, so that some rounds meet no disturbance
    RATIO_ROUNDS = 101,
    RATIO_TRIES = 25, // 10 ms at most: what disturbs most rounds of one seldom lasts so long
};
static const double RATIO_TOLERANCE = 0.04; // ADD chains run up to 2 % slow beside another thread

int latput_pin(int cpu)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || cpu >= CPU_SETSIZE)
        return -1;
    for (int i = 0; cpu < 0 && i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)(CPU_SETSIZE - 1 - i), &allowed))
            cpu = CPU_SETSIZE - 1 - i;
    return affinity_pin(0, cpu) == 0 ? cpu : -1;
}

double latput_tsc_step(void)
{
    static uint64_t step;
    uint64_t last = latput_begin();
    for (int i = 0; i < STEP_READS && step == 0; i++) {
        uint64_t divisor = 0;
        for (int j = 0; j < STEP_READS; j++) {
            uint64_t now = latput_begin(), rest = now - last;
            last = now;
            while (rest) {
                uint64_t next = divisor % rest;
                divisor = rest;
                rest = next;
            }
        }
        step = divisor;
    }
    return (double)step;
}

#define CHAIN(instruction, turns)                                                                  \
    do {                                                                                           \
        unsigned long value = 1;                                                                   \
        int left = (turns);                                                                        \
        __asm__ volatile("1:\n\t.rept 64\n\t" instruction " %0, %0\n\t.endr\n\t"                   \
                         "dec %1\n\tjnz 1b"                                                        \
                         : "+r"(value), "+r"(left)                                                 \
                         :                                                                         \
                         : "cc");                                                                  \
    } while (0)

static uint64_t chain_imul_tsc(int turns)
{
    uint64_t begin = latput_begin();
    CHAIN("imul", turns);
    return latput_end() - begin;
}

static uint64_t chain_add_tsc(int turns)
{
    uint64_t begin = latput_begin();
    CHAIN("add", turns);
    return latput_end() - begin;
}

// Returns the latency of IMUL per ADD, in the median of rounds.
static double calibration_ratio(double overhead_tsc)
{
    double ratios[RATIO_ROUNDS];
    for (int i = 0; i < RATIO_ROUNDS; i++)
        ratios[i] = ((double)chain_imul_tsc(RATIO_TURNS) - overhead_tsc) /
                    ((double)chain_add_tsc(RATIO_TURNS) - overhead_tsc);
    return latput_summarise(ratios, RATIO_ROUNDS, 0).median;
}

int latput_calibration_link_clk(void)
{
    static int link_clk; // 0: not known, or no try met a quiet moment; then the next call may
    if (link_clk)
        return link_clk;
    double overhead_tsc = latput_overhead();
    chain_imul_tsc(CALIBRATION_TURNS);
    for (int i = 0; i < RATIO_TRIES && !link_clk; i++) {
        double ratio = calibration_ratio(overhead_tsc);
        if (fabs(ratio - round(ratio)) <= RATIO_TOLERANCE * round(ratio) && ratio > 1.5)
            link_clk = (int)lround(ratio);
    }
    return link_clk;
}

double calibration_tsc_per_link(double overhead_tsc)
{
    double links = (double)CHAIN_LINKS * CALIBRATION_TURNS;
    return ((double)chain_imul_tsc(CALIBRATION_TURNS) - overhead_tsc) / links;
}

double latput_tsc_per_clk(void)
{
    int link_clk = latput_calibration_link_clk();
    return link_clk ? calibration_tsc_per_link(latput_overhead()) / link_clk : (double)NAN;
}
