// SPDX-License-Identifier: MIT
// Plausibility of a program's counts: ports with more than one µop per cycle, and conditions that
// hold in more cycles than there are. Different runs counted them, so only a clear excess is
// doubted.
#include "derive/plausible.h"
#include "stat_report_internal.h"

#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Excess of a condition's cycles over all cycles that different runs explain.
static const double CYCLES_TOLERANCE = 0.05;

// Returns the mean core cycles in these modes; NaN if they were not counted.
static double clock_mean(const struct stat_report *r, const double *means, enum count_rings rings)
{
    for (int i = 0; i < r->result->nevents; i++) {
        const struct count_event *event = &r->events[i].event;
        if (event->kind == COUNT_HARDWARE && event->rings == rings &&
            strcmp(event->hardware.id, "core_clk") == 0 && event->hardware.cmask == 0)
            return means[i];
    }
    return NAN;
}

static bool ports_doubt(const struct stat_report *r, const double *means, char *text, size_t size)
{
    struct counted_port *ports = xcalloc((size_t)r->result->nevents + 1, sizeof *ports);
    int n = 0;
    for (int i = 0; i < r->result->nevents; i++) {
        const struct count_event *event = &r->events[i].event;
        double clk = clock_mean(r, means, event->rings);
        if (event->kind == COUNT_HARDWARE && event->hardware.cmask == 0 && clk > 0 &&
            !isnan(means[i]) && plausible_port_width(event->name))
            ports[n++] = (struct counted_port){event->name, means[i] / clk};
    }
    bool doubt = n > 0 && plausible_ports_check(ports, n, 1, 0, text, size) != NULL;
    free(ports);
    return doubt;
}

static bool cycles_doubt(const struct stat_report *r, const double *means, char *text, size_t size)
{
    for (int i = 0; i < r->result->nevents; i++) {
        const struct count_event *event = &r->events[i].event;
        if (event->kind != COUNT_HARDWARE || !event->hardware.cmask || event->hardware.any)
            continue;
        double clk = clock_mean(r, means, event->rings);
        if (means[i] > clk * (1 + CYCLES_TOLERANCE)) {
            snprintf(text, size, "'%s' holds in %.0f cycles of %.0f", event->name, means[i], clk);
            return true;
        }
    }
    return false;
}

const char *stat_doubt_find(const struct stat_report *r, const double *means, char *text,
                            size_t size)
{
    return ports_doubt(r, means, text, size) || cycles_doubt(r, means, text, size) ? text : NULL;
}
