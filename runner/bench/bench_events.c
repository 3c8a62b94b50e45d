// SPDX-License-Identifier: MIT
// Events of a bench: read as the user wrote them, dealt into passes that the counters have room
// for, and tried once here, so that what cannot be counted is refused with its remedy before
// anything is measured. Of perf the core opens them by itself; registers are in bench_msr.c.
#include "bench_internal.h"

#include "util/affinity.h"

#include <linux/perf_event.h>
#include <stdlib.h>

// Returns true if kernels can read all events of a perf group by themselves.
static bool perf_is_timed(struct count_group *group)
{
    for (int i = 0; i < group->nevents; i++)
        if (!count_perf_page(group, i, NULL))
            return false;
    return group->nevents <= CORE_TIMED_MAX;
}

// Opens the events of a pass with perf, and closes them again.
static enum count_obstacle perf_try(struct bench *bench, int pass, struct err *err)
{
    const struct count_target self = {.what = COUNT_SELF};
    struct count_pass chosen;
    struct count_group *group;
    const struct count_dealt dealt = {bench->events, bench->result->nevents, bench->counter_pass};
    enum count_obstacle obstacle = count_pass_choose(&dealt, pass, CORE_COUNTERS_MAX, &chosen, err);
    if (!obstacle)
        obstacle =
            count_perf.open(&bench->machine, &self, chosen.events, chosen.nevents, &group, err);
    if (obstacle)
        return obstacle;
    bench->passes[pass].timed = perf_is_timed(group);
    count_perf.close(group);
    return COUNT_FINE;
}

// Programs the registers for a pass, and restores them.
static enum count_obstacle msr_try(struct bench *bench, int pass, struct err *err)
{
    struct core_counter counters[BENCH_EVENTS_MAX];
    struct err ignored;
    bench->passes[pass].timed = true;
    enum count_obstacle obstacle = bench_msr_begin(bench, pass, counters, err);
    bench_msr_end(bench, &ignored);
    return obstacle;
}

static enum count_obstacle pass_try(void *user, int pass, struct err *err)
{
    struct bench *bench = user;
    return bench->passes[pass].backend == &count_msr ? msr_try(bench, pass, err)
                                                     : perf_try(bench, pass, err);
}

// Deals events into passes that the backend accepts. Events for another backend (software events)
// come last, in a pass of perf.
static enum count_obstacle events_deal(struct bench *bench, const struct count_backend *backend,
                                       struct err *err)
{
    struct count_deal deal = {.events = bench->events,
                              .nevents = bench->result->nevents,
                              .pass = bench->counter_pass,
                              .attempt = pass_try,
                              .user = bench};
    bool apart = false;
    for (int i = 0; i < deal.nevents; i++) {
        bool own = backend == &count_perf || bench->events[i].kind == COUNT_HARDWARE;
        deal.pass[i] = own ? COUNT_UNDEALT : COUNT_APART;
        bench->passes[i].backend = backend;
        apart |= !own;
    }
    enum count_obstacle obstacle = count_deal(&deal, count_capacity_of(bench->session.cpu), err);
    bench->counter_passes = deal.npasses;
    if (obstacle || !apart)
        return obstacle;
    for (int i = 0; i < deal.nevents; i++)
        if (deal.pass[i] == COUNT_APART)
            deal.pass[i] = deal.npasses;
    bench->passes[bench->counter_passes++].backend = &count_perf;
    return perf_try(bench, deal.npasses, err);
}

// Deals events on the measuring CPUs, since events of a hybrid CPU belong to a type of core.
static enum count_obstacle events_deal_there(struct bench *bench,
                                             const struct count_backend *backend, struct err *err)
{
    const struct bench_result *result = bench->result;
    const struct affinity_visit visit = affinity_visit(result->cpus, result->nthreads);
    enum count_obstacle obstacle = events_deal(bench, backend, err);
    affinity_return(&visit);
    return obstacle;
}

// Prepares hardware events for the registers, software events for the kernel.
static enum count_obstacle msr_prepare(struct bench *bench, bool probe, struct err *err)
{
    if (count_rdpmc_allow(&bench->machine, &bench->rdpmc, err) != COUNT_FINE) {
        err_prefix(err, "the backend msr cannot be used: RDPMC would fault: ");
        return COUNT_FORBIDDEN;
    }
    enum count_obstacle obstacle = probe ? count_msr.probe(&bench->machine, err) : COUNT_FINE;
    if (!obstacle)
        obstacle = events_deal_there(bench, &count_msr, err);
    if (obstacle)
        err_prefix(err, "the backend msr cannot be used: ");
    return obstacle;
}

static enum count_obstacle events_prepare(struct bench *bench, bool hardware, struct err *err)
{
    enum count_choice choice = bench->spec->backend;
    struct err perf = {0}, msr = {0};
    // Files that stand for devices do not count.
    bool probe = !*bench->machine.root;
    if (choice == COUNT_CHOICE_MSR && hardware)
        return msr_prepare(bench, probe, err);
    enum count_obstacle obstacle = events_deal_there(bench, &count_perf, &perf);
    if (obstacle && hardware && choice == COUNT_CHOICE_AUTO &&
        count_msr.probe(&bench->machine, &msr) == COUNT_FINE)
        return msr_prepare(bench, probe, err);
    if (obstacle)
        err_set(err, "%s", perf.text);
    return obstacle;
}

static int events_describe(struct bench *bench, const char *table_version, struct err *err)
{
    struct bench_result *result = bench->result;
    for (int i = 0; i < result->nevents; i++) {
        struct perf_event_attr attr;
        const struct count_event *event = &bench->events[i];
        const struct count_backend *backend = bench->passes[bench->counter_pass[i]].backend;
        char code[128] = "software";
        if (backend == &count_perf) {
            if (count_perf_attr(&bench->machine, event, &attr, err))
                return -1;
            bench->counters[i] =
                (struct core_counter){.config = attr.config,
                                      .config1 = attr.config1,
                                      .type = attr.type,
                                      .exclude_user = (uint16_t)attr.exclude_user,
                                      .exclude_kernel = (uint16_t)attr.exclude_kernel};
        }
        if (event->kind == COUNT_HARDWARE)
            counter_event_text(&event->hardware, code, sizeof code);
        result->metrics[i] =
            (struct bench_metric){"event", arena_strdup(bench->arena, event->name),
                                  arena_strdup(bench->arena, code), backend->name, table_version};
    }
    return 0;
}

// Reads what the user wrote; *hardware: whether any event needs a counter.
static int events_read(struct bench *bench, const struct counter_table *table, bool *hardware,
                       struct err *err)
{
    struct count_event *events;
    int n = count_events_parse(table, bench->spec->events, COUNT_USER, &events, err);
    if (n > BENCH_EVENTS_MAX) {
        err_set(err, "%d events; %d are possible", n, BENCH_EVENTS_MAX);
        free(events);
        n = -1;
    }
    if (n < 0)
        return -1;
    bench->result->nevents = n;
    *hardware = false;
    for (int i = 0; i < n; i++) {
        bench->events[i] = events[i];
        *hardware |= events[i].kind == COUNT_HARDWARE;
    }
    free(events);
    return 0;
}

int bench_prepare_events(struct bench *bench, struct err *err)
{
    struct bench_result *result = bench->result;
    struct counter_table table;
    bool hardware;
    bench->counter_passes = 1;
    result->metrics = arena_alloc(bench->arena, (size_t)(BENCH_EVENTS_MAX + bench->spec->ncolumns) *
                                                    sizeof *result->metrics);
    if (!bench->spec->events)
        return 0;
    if (counters_load_cpu(bench->session.cpu, &table, err) != 0)
        return -1;
    bench->machine = count_machine_live(bench->session.cpu);
    int status = events_read(bench, &table, &hardware, err);
    result->refused = status != 0;
    const char *table_version = arena_strdup(bench->arena, table.version);
    counters_free(&table);
    if (status == 0 && events_prepare(bench, hardware, err) != COUNT_FINE)
        status = -1;
    return status == 0 ? events_describe(bench, table_version, err) : -1;
}

// Names in expressions besides the names of events. Events come first: a counted core_clk is
// preferred.
enum column_value {
    VALUE_TSC,
    VALUE_CORE_CLK,
    VALUE_NS,
    VALUE_INSTANCES,
    VALUE_COPIES,
    VALUE_ITERATIONS,
    VALUE_COUNT
};
static const char *const value_names[VALUE_COUNT] = {"tsc",       "core_clk", "ns",
                                                     "instances", "copies",   "iterations"};

int bench_prepare_columns(struct bench *bench, struct err *err)
{
    const struct bench_spec *spec = bench->spec;
    struct bench_result *result = bench->result;
    const char *names[BENCH_EVENTS_MAX + VALUE_COUNT];
    for (int i = 0; i < result->nevents; i++)
        names[i] = result->metrics[i].name;
    for (int i = 0; i < VALUE_COUNT; i++)
        names[result->nevents + i] = value_names[i];
    for (int i = 0; i < spec->ncolumns; i++) {
        struct bench_column *column = &bench->columns[i];
        result->refused = bench_column_parse(spec->columns[i], names, result->nevents + VALUE_COUNT,
                                             bench->arena, column, err) != 0;
        if (result->refused)
            return -1;
        result->metrics[result->nevents + result->ncolumns++] =
            (struct bench_metric){"column", column->name, spec->columns[i], "", ""};
    }
    return 0;
}

void bench_compute_columns(const struct bench *bench, struct bench_row *row)
{
    const struct bench_result *result = bench->result;
    double values[BENCH_EVENTS_MAX + VALUE_COUNT];
    double *own = values + result->nevents;
    for (int i = 0; i < result->nevents; i++)
        values[i] = row->values[i];
    own[VALUE_TSC] = row->tsc;
    own[VALUE_CORE_CLK] = row->clk;
    own[VALUE_NS] = row->tsc / result->tsc_hz * 1e9;
    own[VALUE_INSTANCES] = (double)result->copies * result->iterations * result->instances;
    own[VALUE_COPIES] = result->copies;
    own[VALUE_ITERATIONS] = result->iterations;
    for (int i = 0; i < result->ncolumns; i++)
        row->values[result->nevents + i] = bench_column_value(&bench->columns[i], values);
}
