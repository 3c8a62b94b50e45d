// SPDX-License-Identifier: MIT
// The msr backend: a group is a plan on a device, with a guardian process that restores the
// registers if we come to an end before close does. Counts are refused if something else has
// programmed the counters meanwhile, or if one has run over.
#include "count_msr.h"

#include "count_guard.h"
#include "util/affinity.h"
#include "util/mem.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CHAIN_ROUNDS = 100000, TSC_ONE = 1 << 16 }; // the latter as CORE_COUNTER_TSC has it

struct msr_group {
    struct msr_device device;
    struct msr_plan plan;
    struct msr_steps restore;
    struct count_guard guard;
    uint64_t begin[COUNT_EVENTS_MAX]; // of registers that count by themselves
    bool running;
};

static void group_restore(const void *group)
{
    const struct msr_group *own = group;
    for (int i = 0; i < own->restore.n; i++)
        msr_device_step(&own->device, &own->restore.steps[i], NULL);
}

static enum count_obstacle target_cpu(const struct count_target *target, int *cpu, struct err *err)
{
    cpu_set_t set;
    *cpu = target->cpu;
    if (target->what == COUNT_CPU)
        return COUNT_FINE;
    if (target->what == COUNT_PROCESS) {
        err_set(err, "registers count what a CPU does, not what a program does: the kernel alone "
                     "can follow a program. Use --backend perf");
        return COUNT_NO_EVENT;
    }
    if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 1) {
        err_set(err, "registers count what one CPU does, and this may run on several. Pin it: "
                     "taskset -c N");
        return COUNT_FAILED;
    }
    for (*cpu = 0; !CPU_ISSET((size_t)*cpu, &set);)
        ++*cpu;
    return COUNT_FINE;
}

static void msr_close(struct count_group *group)
{
    if (!group)
        return;
    struct msr_group *own = group->state;
    group_restore(own);
    count_guard_end(&own->guard);
    msr_device_close(&own->device);
    free(own);
    free(group);
}

static enum count_obstacle group_prepare(struct count_group *group, struct err *err)
{
    struct msr_group *own = group->state;
    enum count_obstacle obstacle = msr_device_plan(&own->device, group->events, group->nevents,
                                                   &own->plan, &own->restore, err);
    if (!obstacle && count_guard_begin(group_restore, own, &own->guard, err) != 0)
        obstacle = COUNT_FAILED;
    if (obstacle) {
        own->restore.n = 0; // nothing was changed that close could put right
        return obstacle;
    }
    obstacle = msr_device_steps(&own->device, &own->plan.prepare, err);
    return obstacle ? obstacle : msr_device_verify(&own->device, &own->plan.prepare, false, err);
}

static enum count_obstacle msr_open(const struct count_machine *machine,
                                    const struct count_target *target,
                                    const struct count_event *events, int nevents,
                                    struct count_group **group_out, struct err *err)
{
    struct msr_device device;
    int cpu;
    *group_out = NULL;
    enum count_obstacle obstacle = target_cpu(target, &cpu, err);
    if (!obstacle)
        obstacle = msr_device_open(machine, cpu, &device, err);
    if (obstacle)
        return obstacle;
    struct msr_group *own = xcalloc(1, sizeof *own);
    struct count_group *group = count_group_new(&count_msr, machine, target, events, nevents, own);
    own->device = device;
    obstacle = group_prepare(group, err);
    if (obstacle)
        msr_close(group);
    else
        *group_out = group;
    return obstacle;
}

static enum count_obstacle msr_start(struct count_group *group, struct err *err)
{
    struct msr_group *own = group->state;
    enum count_obstacle obstacle = COUNT_FINE;
    for (int i = 0; i < own->plan.nevents && !obstacle; i++)
        if (!own->plan.slots[i].counters)
            obstacle = msr_slot_read(&own->device, &own->plan.slots[i], &own->begin[i], err);
    own->running = true;
    return obstacle ? obstacle : msr_device_steps(&own->device, &own->plan.start, err);
}

static enum count_obstacle msr_stop(struct count_group *group, struct err *err)
{
    struct msr_group *own = group->state;
    enum count_obstacle obstacle = msr_device_verify(&own->device, &own->plan.hold, true, err);
    own->running = false;
    return obstacle ? obstacle : msr_device_steps(&own->device, &own->plan.stop, err);
}

static enum count_obstacle overflow_check(const struct msr_group *own, struct err *err)
{
    uint64_t status = 0;
    if (!own->plan.overflow_msr)
        return COUNT_FINE;
    enum count_obstacle obstacle =
        msr_device_read(&own->device, own->plan.overflow_msr, &status, err);
    if (!obstacle && status & own->plan.overflow_bits) {
        err_set(err, "a counter has run over (MSR 0x%x is 0x%llx). Count for a shorter time",
                own->plan.overflow_msr, (unsigned long long)status);
        return COUNT_FAILED;
    }
    return obstacle;
}

static enum count_obstacle msr_read(struct count_group *group, uint64_t *values, struct err *err)
{
    struct msr_group *own = group->state;
    enum count_obstacle obstacle = COUNT_FINE;
    for (int i = 0; i < own->plan.nevents && !obstacle; i++) {
        obstacle = msr_slot_read(&own->device, &own->plan.slots[i], &values[i], err);
        values[i] -= own->begin[i];
    }
    if (!obstacle)
        obstacle = msr_device_verify(
            &own->device, own->running ? &own->plan.hold : &own->plan.prepare, true, err);
    return obstacle ? obstacle : overflow_check(own, err);
}

// Executes a chain for a cycle counter to count.
static void chain_run(void)
{
    uint64_t value = 3;
    for (int i = 0; i < CHAIN_ROUNDS; i++)
        __asm__ volatile("imul %0, %0" : "+r"(value) : : "cc");
}

static enum count_obstacle clock_count(const struct count_machine *machine,
                                       const struct count_event *clock, int cpu, struct err *err)
{
    const struct count_target target = {.what = COUNT_CPU, .cpu = cpu};
    struct count_group *group;
    uint64_t count = 0;
    enum count_obstacle obstacle = msr_open(machine, &target, clock, 1, &group, err);
    if (obstacle)
        return obstacle;
    obstacle = msr_start(group, err);
    chain_run();
    if (!obstacle)
        obstacle = msr_stop(group, err);
    if (!obstacle)
        obstacle = msr_read(group, &count, err);
    if (!obstacle && count == 0) {
        err_set(err,
                "the cycle counter of CPU %d can be programmed but stands still%s%s. Measure "
                "on bare metal, or switch the virtual PMU on",
                cpu, machine->cpu->hypervisor[0] ? " under the hypervisor " : "",
                machine->cpu->hypervisor);
        obstacle = COUNT_STILL;
    }
    msr_close(group);
    return obstacle;
}

static enum count_obstacle msr_probe(const struct count_machine *machine, struct err *err)
{
    struct counter_table table;
    int cpu = sched_getcpu();
    if (counters_load_cpu(machine->cpu, &table, err) != 0)
        return COUNT_FAILED;
    const struct counter_event *event = counter_find(&table, "core_clk");
    enum count_obstacle obstacle = COUNT_NO_EVENT;
    if (event && cpu >= 0) {
        const struct count_event clock = count_event_make(event, COUNT_USER);
        const struct affinity_visit visit = affinity_visit(&cpu, 1);
        obstacle = clock_count(machine, &clock, cpu, err);
        affinity_return(&visit);
    } else {
        err_set(err,
                "the table of %s has no core_clk: it is not known how its counters are "
                "programmed",
                table.uarch);
    }
    counters_free(&table);
    return obstacle;
}

enum count_obstacle count_msr_counter(const struct count_group *group, int index,
                                      struct core_counter *counter, struct err *err)
{
    const struct msr_group *own = group->state;
    const struct msr_slot *slot = &own->plan.slots[index];
    if (slot->rdpmc == MSR_NO_RDPMC || slot->high_msr) {
        err_set(err,
                "'%s' is not in a counter that RDPMC reads whole, so that no kernel can read it; "
                "latput stat --backend msr counts it",
                group->events[index].name);
        return COUNT_NO_EVENT;
    }
    *counter = (struct core_counter){
        .source = CORE_COUNTER_RDPMC, .rdpmc = slot->rdpmc, .bits = (uint16_t)slot->bits};
    if (*group->machine->root) {
        counter->source = CORE_COUNTER_TSC;
        counter->config = (uint64_t)(index + 1) * TSC_ONE;
    }
    return COUNT_FINE;
}

const struct count_backend count_msr = {
    .name = "msr",
    .whole_cpu = true,
    .probe = msr_probe,
    .open = msr_open,
    .start = msr_start,
    .stop = msr_stop,
    .read = msr_read,
    .close = msr_close,
};
