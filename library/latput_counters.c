// SPDX-License-Identifier: MIT
// Counters for a program that measures itself: events by the tables of latput, counted through the
// backend of perf, and read with RDPMC where the kernel lets user code do so, else by a system
// call.
#include "latput_page.h"

#include "counters/count.h"
#include "util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct latput_counters {
    struct cpu_info cpu;
    struct counter_table table;
    struct count_machine machine;
    struct count_event *events;
    struct count_group *group;
    const struct perf_event_mmap_page *pages[COUNT_EVENTS_MAX]; // NULL: by a system call
    char obstacle[2048];
    bool rdpmc;
};

static void events_map(struct latput_counters *counters)
{
    struct err err = {0};
    counters->rdpmc = true;
    for (int i = 0; i < counters->group->nevents && counters->rdpmc; i++) {
        counters->pages[i] = count_perf_page(counters->group, i, &err);
        counters->rdpmc = counters->pages[i] != NULL;
    }
    if (!counters->rdpmc)
        snprintf(counters->obstacle, sizeof counters->obstacle, "%s", err.text);
}

static int counters_set_up(struct latput_counters *counters, const char *text, struct err *err)
{
    const struct count_target self = {.what = COUNT_SELF};
    if (cpu_identify(CPU_HERE, &counters->cpu, err) != 0)
        return err_prefix(err, "the tables of latput are needed; the environment variable "
                               "LATPUT_ROOT says where they are: ");
    if (counters_load_cpu(&counters->cpu, &counters->table, err) != 0)
        return -1;
    counters->machine = count_machine_live(&counters->cpu);
    int n = count_events_parse(&counters->table, text, COUNT_USER, &counters->events, err);
    if (n == 0)
        return err_set(err, "no event is named");
    if (n > COUNT_EVENTS_MAX)
        return err_set(err, "%d events are too many: at most %d", n, COUNT_EVENTS_MAX);
    if (n < 0 || count_perf.open(&counters->machine, &self, counters->events, n, &counters->group,
                                 err) != COUNT_FINE)
        return -1;
    events_map(counters);
    return 0;
}

static struct latput_counters *counters_open(const char *events, char *error, size_t size)
{
    struct latput_counters *counters = xcalloc(1, sizeof *counters);
    struct err err = {0};
    if (counters_set_up(counters, events, &err) == 0)
        return counters;
    if (error && size > 0)
        snprintf(error, size, "%s", err.text);
    latput_counters_close(counters);
    return NULL;
}

// Tables are read and events looked up by functions that are part of a program as well, where no
// caller could go on without memory.
struct latput_counters *latput_counters_open(const char *events, char *error, size_t size)
{
    jmp_buf place;
    if (setjmp(place) != 0) {
        mem_escape(NULL);
        if (error && size > 0)
            mem_explain(error, size);
        return NULL;
    }
    mem_escape(&place);
    struct latput_counters *counters = counters_open(events, error, size);
    mem_escape(NULL);
    return counters;
}

void latput_counters_close(struct latput_counters *counters)
{
    if (!counters)
        return;
    count_perf.close(counters->group);
    free(counters->events);
    counters_free(&counters->table);
    free(counters);
}

int latput_counters_count(const struct latput_counters *counters)
{
    return counters->group->nevents;
}

const char *latput_counters_name(const struct latput_counters *counters, int i)
{
    return counters->group->events[i].name;
}

const char *latput_counters_method(const struct latput_counters *counters)
{
    return counters->rdpmc ? "rdpmc" : "read";
}

const char *latput_counters_obstacle(const struct latput_counters *counters)
{
    return counters->obstacle;
}

int latput_counters_index(const struct latput_counters *counters, int i)
{
    const volatile struct perf_event_mmap_page *page = counters->pages[i];
    return counters->rdpmc ? (int)page->index - 1 : -1;
}

int latput_counters_start(struct latput_counters *counters)
{
    return count_perf.start(counters->group, NULL) == COUNT_FINE ? 0 : -1;
}

int latput_counters_stop(struct latput_counters *counters)
{
    return count_perf.stop(counters->group, NULL) == COUNT_FINE ? 0 : -1;
}

static uint64_t counter_rdpmc(uint32_t index)
{
    return latput_rdpmc(index);
}

int latput_counters_read(struct latput_counters *counters, uint64_t *values)
{
    int i = 0, n = counters->group->nevents;
    while (counters->rdpmc && i < n &&
           page_read(counters->pages[i], counter_rdpmc, &values[i]) == 0)
        i++;
    // Stopped counters are on no counter; the system call also knows whether they all counted.
    return i == n || count_perf.read(counters->group, values, NULL) == COUNT_FINE ? 0 : -1;
}
