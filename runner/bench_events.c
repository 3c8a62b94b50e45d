// SPDX-License-Identifier: MIT
// Events of a bench: read as the user wrote them, dealt into passes that the counters have room
// for, and tried once here, so that what cannot be counted is refused with its remedy before
// anything is measured. The core then opens them by itself (core_count.c).
#include "bench_internal.h"

#include "count_passes.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

struct preparation {
    struct bench *bench;
    struct count_machine machine;
    struct count_event *events;
    int n;
};

// Opens the events of a pass and closes them again.
static enum count_obstacle events_try(const struct preparation *p, int pass, struct err *err)
{
    struct count_event together[COUNT_EVENTS_MAX];
    int n = 0;
    for (int i = 0; i < p->n; i++)
        if (p->bench->counter_pass[i] == pass)
            together[n++] = p->events[i];
    if (n > CORE_COUNTERS_MAX) {
        err_set(err, "%d events at the same time; %d are possible", n, CORE_COUNTERS_MAX);
        return COUNT_FAILED;
    }
    const struct count_target self = {.what = COUNT_SELF};
    struct count_group *group;
    enum count_obstacle obstacle = count_perf.open(&p->machine, &self, together, n, &group, err);
    if (!obstacle)
        count_perf.close(group);
    return obstacle;
}

// Finds passes that the kernel accepts.
static int events_deal(const struct preparation *p, struct err *err)
{
    struct bench *bench = p->bench;
    struct count_capacity capacity = count_capacity_of(bench->session.cpu);
    for (;;) {
        enum count_obstacle obstacle = COUNT_FINE;
        bench->counter_passes = count_passes_plan(p->events, p->n, capacity, bench->counter_pass);
        for (int pass = 0; pass < bench->counter_passes && !obstacle; pass++)
            obstacle = events_try(p, pass, err);
        if (!obstacle)
            return 0;
        bool fewer = obstacle == COUNT_MULTIPLEXED || obstacle == COUNT_TOO_MANY ||
                     obstacle == COUNT_WATCHDOG;
        if (!fewer || !count_capacity_reduce(&capacity))
            return -1;
    }
}

// On the measuring CPU, because events of a hybrid CPU belong to a type of core.
static int events_deal_there(const struct preparation *p, struct err *err)
{
    cpu_set_t before, there;
    CPU_ZERO(&there);
    for (int t = 0; t < p->bench->result->nthreads; t++)
        CPU_SET((size_t)p->bench->result->cpus[t], &there);
    bool moved = sched_getaffinity(0, sizeof before, &before) == 0 &&
                 sched_setaffinity(0, sizeof there, &there) == 0;
    int status = events_deal(p, err);
    if (moved)
        sched_setaffinity(0, sizeof before, &before);
    return status;
}

static int events_describe(const struct preparation *p, struct err *err)
{
    struct bench *bench = p->bench;
    struct bench_result *result = bench->result;
    result->events = arena_alloc(bench->arena, (size_t)p->n * sizeof *result->events);
    for (int i = 0; i < p->n; i++) {
        struct perf_event_attr attr;
        const struct count_event *event = &p->events[i];
        if (count_perf_attr(&p->machine, event, &attr, err))
            return -1;
        bench->counters[i] = (struct core_counter){.config = attr.config,
                                                   .config1 = attr.config1,
                                                   .type = attr.type,
                                                   .exclude_user = (uint16_t)attr.exclude_user,
                                                   .exclude_kernel = (uint16_t)attr.exclude_kernel};
        char code[128] = "software";
        if (event->kind == COUNT_HARDWARE)
            counter_event_text(&event->hardware, code, sizeof code);
        result->events[i] = (struct bench_event){arena_strdup(bench->arena, event->name),
                                                 arena_strdup(bench->arena, code)};
    }
    result->nevents = p->n;
    return 0;
}

int bench_prepare_events(struct bench *bench, struct err *err)
{
    struct bench_result *result = bench->result;
    struct counter_table table;
    bench->counter_passes = 1;
    result->backend = result->table_version = "";
    if (!bench->spec->events)
        return 0;
    if (counters_load_cpu(bench->session.cpu, &table, err) != 0)
        return -1;
    struct preparation p = {.bench = bench, .machine = count_machine_live(bench->session.cpu)};
    p.n = count_events_parse(&table, bench->spec->events, COUNT_USER, &p.events, err);
    int status = p.n < 0 ? -1 : 0;
    if (p.n > BENCH_EVENTS_MAX)
        status = err_set(err, "%d events; %d are possible", p.n, BENCH_EVENTS_MAX);
    result->refused = status != 0;
    if (status == 0)
        status = events_deal_there(&p, err);
    if (status == 0)
        status = events_describe(&p, err);
    result->backend = count_perf.name;
    result->table_version = arena_strdup(bench->arena, table.version);
    free(p.events);
    counters_free(&table);
    return status;
}

// What expressions can name besides events, which come first: a counted core_clk is preferred.
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
    result->columns = arena_alloc(bench->arena, (size_t)spec->ncolumns * sizeof *result->columns);
    for (int i = 0; i < result->nevents; i++)
        names[i] = result->events[i].name;
    for (int i = 0; i < VALUE_COUNT; i++)
        names[result->nevents + i] = value_names[i];
    for (int i = 0; i < spec->ncolumns; i++) {
        struct bench_column *column = &bench->columns[i];
        result->refused = bench_column_parse(spec->columns[i], names, result->nevents + VALUE_COUNT,
                                             bench->arena, column, err) != 0;
        if (result->refused)
            return -1;
        result->columns[result->ncolumns++] = column->name;
    }
    return 0;
}

void bench_compute_columns(const struct bench *bench, struct bench_row *row)
{
    const struct bench_result *result = bench->result;
    double values[BENCH_EVENTS_MAX + VALUE_COUNT];
    double *own = values + result->nevents;
    for (int i = 0; i < result->nevents; i++)
        values[i] = row->counts[i];
    own[VALUE_TSC] = row->tsc;
    own[VALUE_CORE_CLK] = row->clk;
    own[VALUE_NS] = row->tsc / result->tsc_hz * 1e9;
    own[VALUE_INSTANCES] = (double)result->copies * result->iterations * result->instances;
    own[VALUE_COPIES] = result->copies;
    own[VALUE_ITERATIONS] = result->iterations;
    for (int i = 0; i < result->ncolumns; i++)
        row->columns[i] = bench_column_value(&bench->columns[i], values);
}
