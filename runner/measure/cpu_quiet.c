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

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A repeat of a kernel, with its canaries and calibrations, is as long as some looks.
enum { CPUS_MAX = 8, ROUNDS = 3, VISIT_MS = 8, REPEAT_LOOKS = 6 };

// A ratio within this share of the least is undisturbed; so many of the ratios seen must be the
// least one, so that a disturbed chain does not count.
static const double TOLERANCE = 0.02, LEAST_SHARE = 0.01;
// CPUs that differ by less, in parts of all looks, are about as good.
static const double ABOUT = 0.1;

// Returns the least value that enough of one CPU's ratios share; 0: there is none.
static double quiet_least(const struct quiet_seen *seen)
{
    int needed = (int)(LEAST_SHARE * seen->n) + 2;
    double *sorted = xcalloc(QUIET_LOOKS_MAX, sizeof *sorted), least = 0;
    memcpy(sorted, seen->ratios, (size_t)seen->n * sizeof *sorted);
    quantile_sort(sorted, seen->n);
    for (int i = 0; i + needed <= seen->n && least == 0; i++)
        if (sorted[i + needed - 1] <= sorted[i] * (1 + TOLERANCE))
            least = sorted[i];
    free(sorted);
    return least;
}

// Returns the share of looks that end at least `wanted` undisturbed ones in a row, as part of all
// the time that they took and waited for.
static double quiet_share(const struct quiet_seen *seen, double least, int wanted)
{
    int quiet = 0, in_row = 0;
    for (int i = 0; i < seen->n; i++) {
        in_row = seen->ratios[i] <= least * (1 + TOLERANCE) ? in_row + 1 : 0;
        quiet += in_row >= wanted;
    }
    double had = subproc_ran_share(&(struct subproc_ran){0}, &seen->ran);
    return seen->n ? had * quiet / seen->n : 0;
}

int cpu_quiet_best(const struct quiet_seen *seen, int nseen, double *least, double *share)
{
    double most = 0;
    int best = -1;
    for (int i = 0; i < nseen; i++) {
        double own = quiet_least(&seen[i]);
        if (own > 0 && (*least == 0 || own < *least))
            *least = own;
    }
    for (int i = 0; i < nseen; i++)
        most = fmax(most, quiet_share(&seen[i], *least, 1));
    for (int i = 0; i < nseen; i++)
        if (quiet_share(&seen[i], *least, 1) >= most - ABOUT)
            best = i;
    *share = best >= 0 ? quiet_share(&seen[best], *least, REPEAT_LOOKS) : 0;
    return best >= 0 ? seen[best].cpu : -1;
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
    const struct subproc_ran before = subproc_ran(0);
    while (visit.moved && seen->n < QUIET_LOOKS_MAX && clock_now_ms() < end) {
        double begin = quiet_ticks();
        quiet_one_chain();
        double between = quiet_ticks();
        quiet_six_chains();
        seen->ratios[seen->n++] = (quiet_ticks() - between) / (between - begin);
    }
    const struct subproc_ran after = subproc_ran(0);
    seen->ran.ran_ns += after.ran_ns - before.ran_ns;
    seen->ran.waited_ns += after.waited_ns - before.waited_ns;
    affinity_return(&visit);
}

// Lists up to CPUS_MAX CPUs with the type of core of CPU `like`, or of the last one, and the last
// of them. Returns their number.
static int quiet_candidates(const cpu_set_t *allowed, int like, int cpus[CPUS_MAX])
{
    struct cpu_places *places = xcalloc(1, sizeof *places);
    cpu_places_read("", allowed, places);
    int of_type = 0, n = 0;
    int type = like >= 0       ? cpu_place_type("", like)
               : places->n > 0 ? places->usable[places->n - 1].type
                               : -1;
    for (int i = 0; i < places->n; i++)
        if (places->usable[i].type == type)
            places->usable[of_type++] = places->usable[i];
    int wanted = of_type < CPUS_MAX ? of_type : CPUS_MAX;
    for (int i = 1; i <= wanted; i++)
        cpus[n++] = places->usable[i * of_type / wanted - 1].cpu;
    free(places);
    return n;
}

int cpu_quiet_choose(const cpu_set_t *allowed, int like, double *least, double *share)
{
    int cpus[CPUS_MAX], n = quiet_candidates(allowed, like, cpus);
    struct quiet_seen *seen = xcalloc((size_t)n + 1, sizeof *seen);
    for (int i = 0; i < n; i++)
        seen[i].cpu = cpus[i];
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < n; i++)
            quiet_look(&seen[i]);
    int best = cpu_quiet_best(seen, n, least, share);
    free(seen);
    return best;
}
