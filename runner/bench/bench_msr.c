// SPDX-License-Identifier: MIT
// Counters of a bench in the registers of the CPUs (backend msr). They are programmed before the
// processes of a pass begin, on each of their CPUs; kernels read them by RDPMC.
#include "bench_internal.h"

#include "counters/count_msr.h"

static enum count_obstacle msr_fill(const struct bench *bench, int thread, int nevents,
                                    struct core_counter *counters, struct err *err)
{
    const struct count_group *group = bench->groups[thread];
    for (int i = 0; i < nevents; i++) {
        struct core_counter counter;
        enum count_obstacle obstacle = count_msr_counter(group, i, &counter, err);
        if (obstacle)
            return obstacle;
        if (thread > 0 && counters[i].rdpmc != counter.rdpmc) {
            err_set(err,
                    "on CPU %d other counters are in use than on CPU %d, so that '%s' would not "
                    "be in the same one. Stop what uses them (perf, the NMI watchdog), or choose "
                    "CPUs with --cpus",
                    bench->result->cpus[thread], bench->result->cpus[0], group->events[i].name);
            return COUNT_TOO_MANY;
        }
        counters[i] = counter;
    }
    return COUNT_FINE;
}

enum count_obstacle bench_msr_begin(struct bench *bench, int pass, struct core_counter *counters,
                                    struct err *err)
{
    struct count_pass chosen;
    const struct count_dealt dealt = {bench->events, bench->result->nevents, bench->counter_pass};
    enum count_obstacle obstacle = count_pass_choose(&dealt, pass, CORE_TIMED_MAX, &chosen, err);
    for (int t = 0; t < bench->result->nthreads && !obstacle; t++) {
        const struct count_target target = {.what = COUNT_CPU, .cpu = bench->result->cpus[t]};
        obstacle = count_msr.open(&bench->machine, &target, chosen.events, chosen.nevents,
                                  &bench->groups[t], err);
        if (!obstacle)
            obstacle = count_msr.start(bench->groups[t], err);
        if (!obstacle)
            obstacle = msr_fill(bench, t, chosen.nevents, counters, err);
    }
    return obstacle;
}

enum count_obstacle bench_msr_end(struct bench *bench, struct err *err)
{
    enum count_obstacle obstacle = COUNT_FINE;
    for (int t = 0; t < bench->result->nthreads; t++) {
        if (bench->groups[t] && !obstacle)
            obstacle = count_msr.stop(bench->groups[t], err);
        count_msr.close(bench->groups[t]);
        bench->groups[t] = NULL;
    }
    return obstacle;
}
