// SPDX-License-Identifier: MIT
// Plausibility of the counted ports of a bench: compares the mean of its undisturbed repetitions,
// per instance, with what ports can do (plausible.h).
#include "bench.h"

#include "cpuinfo/cpuinfo.h"
#include "derive/plausible.h"

#include <math.h>
#include <string.h>

// Returns the mean over the repetitions in which the event was counted; NaN: there are none.
static double event_mean(const struct bench_result *result, int event)
{
    double instances = (double)result->copies * result->iterations * result->instances, sum = 0;
    int n = 0;
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        if (!row->accepted || row->cold || row->thread || isnan(row->values[event]))
            continue;
        sum += row->values[event];
        n++;
    }
    return n ? sum / n / instances : (double)NAN;
}

// Returns true if the events include every port of the family that has a counter.
static bool ports_whole(const struct bench_result *result)
{
    const struct cpu_family *family = cpu_family_find(result->uarch);
    const char *at = family ? family->ports : "";
    if (!*at)
        return false;
    while (*at) {
        size_t len = strcspn(at, " ");
        bool counted = false;
        for (int i = 0; i < result->nevents && !counted; i++)
            counted = strlen(result->metrics[i].name) == len &&
                      strncmp(result->metrics[i].name, at, len) == 0;
        if (!counted)
            return false;
        at += len;
        at += strspn(at, " ");
    }
    return true;
}

const char *bench_doubt_ports(const struct bench_result *result, char *text, size_t size)
{
    struct counted_port ports[BENCH_EVENTS_MAX];
    int nports = 0;
    for (int i = 0; i < result->nevents; i++)
        if (plausible_port_width(result->metrics[i].name))
            ports[nports++] = (struct counted_port){result->metrics[i].name, event_mean(result, i)};
    return plausible_ports_check(ports, nports, result->summary.median_clk, ports_whole(result),
                                 text, size);
}
