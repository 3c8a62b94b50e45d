// SPDX-License-Identifier: MIT
// The rows of the report, and what follows from them.
#include "stat_report_internal.h"

#include "util/mem.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name, *unit, *source;
} time_rows[STAT_TIMES] = {
    [STAT_WALL_NS] = {"wall",    "ns",    "clock" },
    [STAT_USER_NS] = {"user",    "ns",    "rusage"},
    [STAT_SYSTEM_NS] = {"system",  "ns",    "rusage"},
    [STAT_MAX_RSS_BYTES] = {"max_rss", "bytes", "rusage"},
};

static const char *rings_name(enum count_rings rings)
{
    return rings == COUNT_USER ? "user" : rings == COUNT_KERNEL ? "kernel" : "both";
}

bool stat_is_hardware(const struct stat_report *r, int event)
{
    return r->events[event].event.kind == COUNT_HARDWARE;
}

static struct stat_row time_row(const struct stat_report *r, int which)
{
    return (struct stat_row){.name = time_rows[which].name,
                             .unit = time_rows[which].unit,
                             .source = time_rows[which].source,
                             .rings = "",
                             .summary = stat_summarise(&r->result->times[which]),
                             .series = &r->result->times[which]};
}

static struct stat_row event_row(const struct stat_report *r, int event)
{
    const struct count_event *e = &r->events[event].event;
    const struct stat_series *series = &r->result->series[event];
    struct stat_row row = {.name = e->name,
                           .unit = strstr(e->name, "-clock") ? "ns" : "events",
                           .source = series->from_usage           ? "rusage"
                                     : stat_is_hardware(r, event) ? r->options->backend->name
                                                                  : "perf",
                           .rings = rings_name(e->rings),
                           .summary = stat_summarise(series),
                           .series = series};
    if (stat_is_hardware(r, event)) {
        counter_event_text(&e->hardware, row.code, sizeof row.code);
        if (e->hardware.cmask)
            row.unit = e->hardware.edge ? "events" : "clk";
    }
    return row;
}

bool stat_same_refusal(const struct stat_report *r, int a, int b)
{
    const struct stat_series *series = r->result->series;
    return series[a].obstacle && series[b].obstacle && strcmp(series[a].why, series[b].why) == 0;
}

bool stat_is_first_refused(const struct stat_report *r, int event)
{
    bool first = r->result->series[event].obstacle != COUNT_FINE;
    for (int i = 0; i < event && first; i++)
        first = !stat_same_refusal(r, i, event);
    return first;
}

int stat_rows_count(const struct stat_report *r)
{
    return STAT_TIMES + r->result->nevents;
}

struct stat_row stat_row_at(const struct stat_report *r, int i)
{
    return i < STAT_TIMES ? time_row(r, i) : event_row(r, i - STAT_TIMES);
}

double *stat_means_make(const struct stat_report *r)
{
    double *means = xcalloc((size_t)r->result->nevents + 1, sizeof *means);
    for (int i = 0; i < r->result->nevents; i++)
        means[i] = stat_summarise(&r->result->series[i]).mean;
    return means;
}

bool stat_duration_at(const struct stat_report *r, const double *means, int i,
                      struct stat_duration *duration)
{
    int begins = stat_duration_find(r->events, r->result->nevents, i);
    if (begins < 0 || isnan(means[i]) || isnan(means[begins]) || means[begins] <= 0)
        return false;
    *duration = (struct stat_duration){.condition = r->events[i].event.name,
                                       .clk = means[i],
                                       .begins = means[begins],
                                       .mean_clk = means[i] / means[begins]};
    return true;
}

bool stat_histogram_at(const struct stat_report *r, const double *means, int i,
                       struct stat_histogram *histogram)
{
    return r->events[i].base == i &&
           stat_histogram_make(r->events, means, r->result->nevents, i, histogram);
}
