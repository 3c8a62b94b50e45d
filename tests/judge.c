// SPDX-License-Identifier: MIT
// Judges whether the host is quiet, that is, whether noise can explain the failure of a test that
// measures. Shares no code with the program under test. For a second, on the CPU that would be
// measured on (the last one that this process may use), it times a chain of additions, of which a
// quiet core does one per cycle, and six chains side by side, which fill its units, by the
// time-stamp counter. Their ratio is the same at each frequency of the core. Another process or
// guest on this CPU makes a loop longer; a busy thread of the same core does so to the six chains.
// Prints a line with its finding; exit status 0 quiet, 1 loud, 99 unknown.
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LOOPS_MOST = 400000 };

// Least share of the time that must be undisturbed on a quiet host.
static const double QUIET_SHARE = 0.9;
// Relative excess from which a loop counts as disturbed.
static const double TOLERANCE = 0.02;
// Least additions per cycle of the six chains on a quiet core. Cores of today do three at least,
// and two while another thread takes its half. (A core with two units is always called loud.)
static const double ADDS_LEAST = 2.6;

struct loop {
    double ticks; // of both kinds of chains
    double ratio; // to one chain
};

static double ticks_now(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n rdtsc\n lfence" : "=a"(low), "=d"(high) : : "memory");
    return (double)((uint64_t)high << 32 | low);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// An addition of a register: some cores add an immediate without a unit and in no time.
#define ADD(to) "add %%rdx, %%" to "\n"
#define LOOP(adds) "mov $400, %%ecx\n 1: .rept 16\n" adds ".endr\n dec %%ecx\n jnz 1b\n"

static void add_one_chain(void)
{
    __asm__ volatile(LOOP(ADD("rax")) : : : "rax", "rcx", "cc");
}

static void add_six_chains(void)
{
    __asm__ volatile(LOOP(ADD("rax") ADD("rsi") ADD("rdi") ADD("r8") ADD("r9") ADD("r10"))
                     :
                     :
                     : "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "cc");
}

// Pins this process to the last CPU that it may use. Returns its number, or -1.
static int cpu_choose(void)
{
    cpu_set_t all, last;
    int cpu = -1;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &all))
            cpu = i;
    CPU_ZERO(&last);
    if (cpu >= 0)
        CPU_SET((size_t)cpu, &last);
    return sched_setaffinity(0, sizeof last, &last) == 0 ? cpu : -1;
}

// Each time stamp ends one part and begins the next, so that no time is left out. The shorter of
// the single chains before and after the six is the clock: a disturbed one says nothing.
static int loops_time(struct loop *loops, double end)
{
    int n = 0;
    double before = ticks_now();
    add_one_chain();
    for (double at = ticks_now(), one = at - before; n < LOOPS_MOST && seconds_now() < end; n++) {
        add_six_chains();
        double between = ticks_now();
        add_one_chain();
        double after = ticks_now(), next = after - between;
        loops[n].ticks = after - at;
        loops[n].ratio = loops[n].ticks / (one < next ? one : next);
        at = after;
        one = next;
    }
    return n;
}

static int loops_compare(const void *a, const void *b)
{
    double x = ((const struct loop *)a)->ratio, y = ((const struct loop *)b)->ratio;
    return (x > y) - (x < y);
}

int main(void)
{
    static struct loop loops[LOOPS_MOST];
    int cpu = cpu_choose();
    int n = cpu < 0 ? 0 : loops_time(loops, seconds_now() + 1);
    if (n == 0) {
        printf("no loop could be timed: this process may not choose its CPU\n");
        return 99;
    }
    qsort(loops, (size_t)n, sizeof *loops, loops_compare);
    // The first ratio that many others are near: a ratio to two disturbed single chains is
    // isolated.
    int first = 0;
    while (first + n / 100 < n - 1 &&
           loops[first + n / 100].ratio > loops[first].ratio * (1 + TOLERANCE))
        first++;
    double least = loops[first].ratio, undisturbed = 0, all = 0;
    for (int i = 0; i < n; i++) {
        all += loops[i].ticks;
        if (i >= first && loops[i].ratio <= least * (1 + TOLERANCE))
            undisturbed += loops[i].ticks;
    }
    double share = undisturbed / all, adds = 6 / (least - 1);
    int loud = share < QUIET_SHARE || adds < ADDS_LEAST;
    printf("%s: CPU %d was undisturbed for %.0f %% of a second, and did %.1f additions per cycle\n",
           loud ? "loud" : "quiet", cpu, 100 * share, adds);
    return loud;
}
