// SPDX-License-Identifier: MIT
// Units that are not pipelined: what forms wait for although their ports are free. Two forms that
// take as long together as one after the other wait for the same unit.
#include "ports_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SLOTS_MAX = 4,   // more is microcode, which waits for many things
    BUSY_MAX = 40,   // cycles
    MEMBERS_MIN = 2, // fewer show nothing about other forms
    MIX_CLK = 60,    // that each of two forms keeps its unit busy in a mix
};
static const double BUSY_MIN_CLK = 2.5; // less may be a chain, or a port that no class shows
static const double EXCESS = 1.3;       // of the throughput over what ports explain
static const double SUM_SHARE = 0.93;   // of both times, which two forms of a unit take together

struct unit_search {
    const struct port_oracle *oracle;
    const struct port_form *forms;
    const int *which;
    struct port_model *model;
    struct port_usage *usages;
    int *waiting; // positions in which, of forms that wait for something unknown
    int nwaiting;
};

static double unit_ports_clk(const struct port_model *model, const struct port_usage *a, int x,
                             const struct port_usage *b, int y)
{
    struct port_usage ports[] = {*a, *b};
    ports[0].busy_clk = ports[1].busy_clk = 0;
    const struct port_usage *usages[] = {&ports[0], &ports[1]};
    const int counts[] = {x, y};
    return port_predict(model, usages, counts, 2);
}

static bool unit_candidate(const struct port_model *model, const struct port_usage *usage,
                           double rthroughput_clk)
{
    return usage->outcome == OUTCOME_OK && usage->busy_clk > 0 && usage->slots <= SLOTS_MAX &&
           rthroughput_clk >= BUSY_MIN_CLK && rthroughput_clk <= BUSY_MAX &&
           rthroughput_clk > EXCESS * unit_ports_clk(model, usage, 1, usage, 0);
}

// The form of fewest slots, of those the fastest: it disturbs least.
static int unit_choose(const struct unit_search *search)
{
    int best = 0;
    for (int i = 1; i < search->nwaiting; i++) {
        const struct port_usage *a = &search->usages[search->waiting[i]];
        const struct port_usage *b = &search->usages[search->waiting[best]];
        if (a->slots < b->slots - 0.5 || (a->slots < b->slots + 0.5 && a->busy_clk < b->busy_clk))
            best = i;
    }
    return search->waiting[best];
}

// Instances that keep the unit busy for about MIX_CLK.
static int unit_count(double busy_clk)
{
    return (int)ceil(MIX_CLK / busy_clk);
}

// Sets the unit of those waiting forms that take as long beside the unit's blocker as one after the
// other, and takes them out of those that wait. `rep`: what the blocker uses. Returns how many, or
// -1.
static int unit_assign(struct unit_search *search, int unit, const struct port_usage *rep,
                       struct err *err)
{
    const struct port_unit *to = &search->model->units[unit];
    int n = search->nwaiting, kept = 0, y = unit_count(to->blocker_clk);
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    for (int i = 0; i < n; i++) {
        int form = search->waiting[i];
        mixes[i] = (struct port_mix){
            {{search->which[form], unit_count(search->usages[form].busy_clk)}, {to->blocker, y}},
            2,
            1u << MIX_INTERLEAVED | PORT_MIX_BREAKING
        };
    }
    int status = ports_time(search->oracle, "units", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        struct port_usage *usage = &search->usages[search->waiting[i]];
        int x = mixes[i].parts[0].count;
        double least = SUM_SHARE * (usage->busy_clk * x + to->blocker_clk * y);
        if (search->which[search->waiting[i]] == to->blocker ||
            (timings[i].outcome == OUTCOME_OK && timings[i].clk > least &&
             least > unit_ports_clk(search->model, usage, x, rep, y)))
            usage->unit = unit;
        else
            search->waiting[kept++] = search->waiting[i];
    }
    search->nwaiting = kept;
    free(mixes);
    free(timings);
    return status == 0 ? n - kept : -1;
}

static void unit_collect(struct unit_search *search, int n)
{
    search->waiting = xcalloc((size_t)n + 1, sizeof *search->waiting);
    for (int i = 0; i < n; i++) {
        double clk = search->forms[search->which[i]].rthroughput_clk;
        if (!unit_candidate(search->model, &search->usages[i], clk))
            continue;
        search->usages[i].busy_clk = clk;
        search->waiting[search->nwaiting++] = i;
    }
}

int port_find_units(const struct port_oracle *oracle, const struct port_form *forms,
                    const int *which, int n, struct port_model *model, struct port_usage *usages,
                    struct err *err)
{
    struct unit_search search = {oracle, forms, which, model, usages, NULL, 0};
    unit_collect(&search, n);
    int status = 0;
    while (search.nwaiting > 0 && model->nunits < PORT_UNITS_MAX && status == 0) {
        int rep = unit_choose(&search);
        struct port_unit *unit = &model->units[model->nunits];
        *unit = (struct port_unit){.blocker = which[rep], .blocker_clk = usages[rep].busy_clk};
        snprintf(unit->name, sizeof unit->name, "U%d", model->nunits + 1);
        int members = unit_assign(&search, model->nunits, &usages[rep], err);
        if (members < 0)
            status = -1;
        else if (members >= MEMBERS_MIN)
            model->nunits++;
        else
            usages[rep].unit = -1; // waits for something of its own
    }
    free(search.waiting);
    return status;
}

int port_assign_units(const struct port_oracle *oracle, const struct port_form *forms,
                      const int *which, int n, const struct port_model *model,
                      struct port_usage *usages, struct err *err)
{
    struct port_model copy = *model;
    struct unit_search search = {oracle, forms, which, &copy, usages, NULL, 0};
    unit_collect(&search, n);
    int status = 0;
    const struct port_usage rep = {.slots = 1, .unit = -1}; // a unit's blocker takes few slots
    for (int unit = 0; unit < model->nunits && search.nwaiting > 0 && status >= 0; unit++)
        status = unit_assign(&search, unit, &rep, err);
    free(search.waiting);
    return status < 0 ? -1 : 0;
}
