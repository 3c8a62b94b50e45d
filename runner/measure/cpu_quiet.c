// SPDX-License-Identifier: MIT
// Looks which CPU is disturbed least; see cpu_quiet.h. Who disturbs a CPU is another guest of the
// host, or another program, on the other thread of its core or in its place; that lasts from
// milliseconds to hours. So each is looked at several times, in turns.
#include "cpu_quiet.h"

#include "cpu_places.h"
#include "util/affinity.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/quantile.h"

#include <stdint.h>
#include <stdlib.h>

enum { CPUS_MAX = 8, ROUNDS = 3, VISIT_MS = 8 };

// A ratio within this share of the least is undisturbed; so many of those that were seen must
// share the least, so that one of a disturbed chain does not count.
static const double TOLERANCE = 0.02, LEAST_SHARE = 0.01;
// CPUs that differ by less, in parts of all looks, are about as good.
static const double ABOUT = 0.1;

// Returns the least value that enough of one CPU's ratios share; 0: there is none.
static double quiet_least(const struct quiet_seen *seen)
{
    int needed = (int)(LEAST_SHARE * seen->n) + 2;
    for (int i = 0; i + needed <= seen->n; i++)
        if (seen->ratios[i + needed - 1] <= seen->ratios[i] * (1 + TOLERANCE))
            return seen->ratios[i];
    return 0;
}

static double quiet_share(const struct quiet_seen *seen, double least)
{
    int quiet = 0;
    for (int i = 0; i < seen->n; i++)
        quiet += seen->ratios[i] <= least * (1 + TOLERANCE);
    return seen->n ? (double)quiet / seen->n : 0;
}

int cpu_quiet_best(struct quiet_seen *seen, int nseen)
{
    double least = 0, best_share = 0;
    for (int i = 0; i < nseen; i++) {
        quantile_sort(seen[i].ratios, seen[i].n);
        double own = quiet_least(&seen[i]);
        if (own > 0 && (least == 0 || own < least))
            least = own;
    }
    for (int i = 0; i < nseen; i++) {
        double share = quiet_share(&seen[i], least);
        best_share = share > best_share ? share : best_share;
    }
    int best = -1;
    for (int i = 0; i < nseen; i++)
        if (quiet_share(&seen[i], least) >= best_share - ABOUT)
            best = seen[i].cpu;
    return best;
}

// A chain of additions, and six side by side, which want the whole core; some microseconds each.
// (Registers: some cores add an immediate without a unit.)
#define ADD(to) "add %%rdx, %%" to "\n"
#define CHAINS(adds) "mov $200, %%ecx\n 1: .rept 16\n" adds ".endr\n dec %%ecx\n jnz 1b\n"

static void quiet_one_chain(void)
{
    __asm__ volatile(CHAINS(ADD("rax")) : : : "rax", "rcx", "cc");
}

static void quiet_six_chains(void)
{
    __asm__ volatile(CHAINS(ADD("rax") ADD("rsi") ADD("rdi") ADD("r8") ADD("r9") ADD("r10"))
                     :
                     :
                     : "rax", "rcx", "rsi", "rdi", "r8", "r9", "r10", "cc");
}

static double quiet_ticks(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n rdtsc\n lfence" : "=a"(low), "=d"(high) : : "memory");
    return (double)((uint64_t)high << 32 | low);
}

static void quiet_look(struct quiet_seen *seen)
{
    struct affinity_visit visit = affinity_visit(&seen->cpu, 1);
    int64_t end = clock_now_ms() + VISIT_MS;
    while (visit.moved && seen->n < QUIET_LOOKS_MAX && clock_now_ms() < end) {
        double begin = quiet_ticks();
        quiet_one_chain();
        double between = quiet_ticks();
        quiet_six_chains();
        seen->ratios[seen->n++] = (quiet_ticks() - between) / (between - begin);
    }
    affinity_return(&visit);
}

// Lists up to CPUS_MAX CPUs with the last one's type of core, with the last one. Returns their
// number.
static int quiet_candidates(const cpu_set_t *allowed, int cpus[CPUS_MAX])
{
    struct cpu_places *places = xcalloc(1, sizeof *places);
    cpu_places_read("", allowed, places);
    int of_type = 0, n = 0;
    for (int i = 0; i < places->n; i++)
        if (places->usable[i].type == places->usable[places->n - 1].type)
            places->usable[of_type++] = places->usable[i];
    int wanted = of_type < CPUS_MAX ? of_type : CPUS_MAX;
    for (int i = 1; i <= wanted; i++)
        cpus[n++] = places->usable[i * of_type / wanted - 1].cpu;
    free(places);
    return n;
}

int cpu_quiet_choose(const cpu_set_t *allowed)
{
    int cpus[CPUS_MAX], n = quiet_candidates(allowed, cpus);
    if (n < 2)
        return n ? cpus[0] : -1;
    struct quiet_seen *seen = xcalloc((size_t)n, sizeof *seen);
    for (int i = 0; i < n; i++)
        seen[i].cpu = cpus[i];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n; i++)
            quiet_look(&seen[i]);
    int best = cpu_quiet_best(seen, n);
    free(seen);
    return best;
}
