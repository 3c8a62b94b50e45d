// SPDX-License-Identifier: MIT
// The simulated CPU's timing, noise and counters; see port_sim.h.
#include "port_sim.h"

#include "../runner/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEMANDS_MAX = 64, FLOW_PARTS = 120 };

static double sim_uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) * 0x1p-53;
}

// µops by port set.
struct demands {
    uint32_t sets[DEMANDS_MAX];
    double uops[DEMANDS_MAX];
    int n;
};

static void demands_add(struct demands *demands, uint32_t set, double uops)
{
    for (int i = 0; i < demands->n; i++)
        if (demands->sets[i] == set) {
            demands->uops[i] += uops;
            return;
        }
    demands->sets[demands->n] = set;
    demands->uops[demands->n++] = uops;
}

static void demands_make(struct demands *demands, const struct sim_form *const *forms,
                         const int *counts, int n)
{
    *demands = (struct demands){.n = 0};
    for (int i = 0; i < n; i++)
        for (int u = 0; u < forms[i]->nuses; u++)
            demands_add(demands, forms[i]->uses[u].set, forms[i]->uses[u].uops * counts[i]);
}

// The worst of all subsets of the ports that are in demand.
static double demands_clk(const struct demands *demands)
{
    uint32_t ports = 0;
    for (int i = 0; i < demands->n; i++)
        ports |= demands->sets[i];
    double worst = 0;
    for (uint32_t subset = ports; subset; subset = (subset - 1) & ports) {
        double uops = 0;
        for (int i = 0; i < demands->n; i++)
            if (!(demands->sets[i] & ~subset))
                uops += demands->uops[i];
        worst = fmax(worst, uops / __builtin_popcount(subset));
    }
    return worst;
}

double sim_clk(const struct sim_cpu *cpu, const struct sim_form *const *forms, const int *counts,
               int n)
{
    struct demands demands;
    demands_make(&demands, forms, counts, n);
    double slots = 0, busy[PORT_UNITS_MAX] = {0};
    bool whole[PORT_UNITS_MAX] = {false};
    for (int i = 0; i < n; i++)
        if (forms[i]->whole && counts[i])
            whole[forms[i]->unit] = true;
    for (int i = 0; i < n; i++) {
        const struct sim_form *form = forms[i];
        slots += form->slots * counts[i];
        if (form->unit < 0)
            continue;
        int parts = whole[form->unit] && !form->whole ? cpu->units[form->unit].parts : 1;
        busy[form->unit] += form->busy_clk * counts[i] * parts;
    }
    double clk = fmax(demands_clk(&demands), slots / cpu->width);
    for (int u = 0; u < cpu->nunits; u++)
        clk = fmax(clk, busy[u]);
    return clk;
}

// One arrangement of the mix: most are within a tenth of a per cent, some a few times as far off,
// and, where there is an order at all, one in thirty is in one that the scheduler does badly.
static double noise_factor(uint64_t *state, bool ordered)
{
    double normal = sqrt(-2 * log(sim_uniform(state) + 1e-300)) *
                    cos(2 * 3.14159265358979 * sim_uniform(state));
    double factor = 1 + normal * (random_below(state, 10) ? 0.00065 : 0.002);
    if (ordered && random_below(state, 30) == 0)
        factor *= 1.03 + 0.27 * sim_uniform(state);
    return factor;
}

// The least over the arrangements, as the measurement takes it. NaN: unstable.
static double noise_clk(const struct sim *sim, const struct port_mix *mix, double clk)
{
    uint64_t state = sim->seed + (uint64_t)sim->series * 0x5851f42d4c957f2d;
    for (int i = 0; i < mix->nparts; i++) {
        state += (uint64_t)mix->parts[i].form * 1009 + (uint64_t)mix->parts[i].count;
        random_bits(&state);
        state = random_bits(&state);
    }
    double least = (double)NAN;
    if (random_below(&state, 500) == 0)
        return least;
    for (unsigned orders = mix->orders & MIX_ORDERS_ALL; orders; orders &= orders - 1)
        least = fmin(least, clk * noise_factor(&state, mix->nparts > 1));
    return least;
}

// The µops' way to the ports that is possible in clk cycles, found by augmenting paths.
struct flow {
    const struct demands *demands;
    double clk;
    double uops[DEMANDS_MAX][PORTS_MAX];
    double load[PORTS_MAX];
    uint32_t seen;
};

// The port of the set with the least to do that was not tried yet; -1: none is left.
static int flow_port(const struct flow *flow, uint32_t set)
{
    int best = -1;
    for (int port = 0; port < PORTS_MAX; port++)
        if (set & ~flow->seen & 1u << port && (best < 0 || flow->load[port] < flow->load[best]))
            best = port;
    return best;
}

// Sends up to `uops` of demand d to a port with room; moves others away where there is none.
static double flow_send(struct flow *flow, int d, double uops)
{
    int port;
    while ((port = flow_port(flow, flow->demands->sets[d])) >= 0) {
        flow->seen |= 1u << port;
        double room = flow->clk - flow->load[port];
        for (int other = 0; other < flow->demands->n && room < 1e-9; other++) {
            double there = flow->uops[other][port];
            if (other == d || there < 1e-9)
                continue;
            double moved = flow_send(flow, other, fmin(there, uops));
            flow->uops[other][port] -= moved;
            flow->load[port] -= moved;
            room = flow->clk - flow->load[port];
        }
        if (room < 1e-9)
            continue;
        double sent = fmin(room, uops);
        flow->uops[d][port] += sent;
        flow->load[port] += sent;
        return sent;
    }
    return 0;
}

static void sim_count(const struct sim *sim, const struct sim_form *const *forms, const int *counts,
                      int n, struct port_timing *timing)
{
    struct demands demands;
    demands_make(&demands, forms, counts, n);
    struct flow flow = {.demands = &demands, .clk = sim_clk(sim->cpu, forms, counts, n)};
    for (int d = 0; d < demands.n; d++)
        for (double left = demands.uops[d]; left > 1e-6;) {
            flow.seen = 0;
            double sent = flow_send(&flow, d, fmin(left, demands.uops[d] / FLOW_PARTS));
            if (sent <= 0)
                break;
            left -= sent;
        }
    timing->counted = true;
    timing->slots = 0;
    for (int i = 0; i < n; i++)
        timing->slots += forms[i]->slots * counts[i];
    for (int g = 0; g < sim->cpu->ngroups; g++) {
        timing->uops[g] = 0;
        for (int port = 0; port < PORTS_MAX; port++)
            if (sim->cpu->groups[g].set & 1u << port)
                timing->uops[g] += flow.load[port];
    }
}

// Of the ports that hang together with those of demand d: how long a mix takes whose µops go to the
// best ports (binding 0), or to all alike (1), or in between.
static double sim_binding_clk(const struct demands *demands, int d, double binding)
{
    struct demands together = {.n = 0};
    uint32_t ports = demands->sets[d], before;
    double even = 0;
    do {
        before = ports;
        for (int i = 0; i < demands->n; i++)
            if (demands->sets[i] & ports)
                ports |= demands->sets[i];
    } while (ports != before);
    for (int port = 0; port < PORTS_MAX; port++) {
        double load = 0;
        for (int i = 0; i < demands->n; i++)
            if (demands->sets[i] & ports & 1u << port)
                load += demands->uops[i] / port_set_size(demands->sets[i]);
        even = fmax(even, load);
    }
    for (int i = 0; i < demands->n; i++)
        if (demands->sets[i] & ports) {
            together.sets[together.n] = demands->sets[i];
            together.uops[together.n++] = demands->uops[i];
        }
    return binding * even + (1 - binding) * demands_clk(&together);
}

static struct port_timing sim_time(struct sim *sim, const struct port_mix *mix)
{
    const struct sim_form *forms[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++) {
        forms[i] = &sim->cpu->forms[mix->parts[i].form];
        counts[i] = mix->parts[i].count;
    }
    struct port_timing timing = {.outcome = OUTCOME_OK};
    timing.clk = sim_clk(sim->cpu, forms, counts, mix->nparts);
    struct demands demands;
    demands_make(&demands, forms, counts, mix->nparts);
    for (int d = 0; d < demands.n && sim->binding > 0; d++)
        timing.clk = fmax(timing.clk, sim_binding_clk(&demands, d, sim->binding));
    if (sim->noise)
        timing.clk = noise_clk(sim, mix, timing.clk);
    if (sim->all_unstable || isnan(timing.clk))
        return (struct port_timing){.outcome = OUTCOME_UNSTABLE, .clk = NAN, .spread_clk = NAN};
    if (sim->counts)
        sim_count(sim, forms, counts, mix->nparts, &timing);
    sim->kernels += __builtin_popcount(mix->orders & MIX_ORDERS_ALL);
    return timing;
}

static int sim_measure(void *context, const struct port_mix *mixes, int n,
                       struct port_timing *timings, struct err *err)
{
    struct sim *sim = context;
    sim->series++;
    for (int i = 0; i < n; i++) {
        if (sim->mixes_left && --sim->mixes_left == 0)
            return err_set(err, "the simulated CPU has gone");
        timings[i] = sim_time(sim, &mixes[i]);
        sim->mixes++;
    }
    return 0;
}

struct port_oracle sim_oracle(struct sim *sim)
{
    struct port_oracle oracle = {.measure = sim_measure, .context = sim};
    for (int g = 0; g < sim->cpu->ngroups && sim->counts; g++)
        oracle.groups[oracle.ngroups++] = sim->cpu->groups[g].name;
    return oracle;
}

void sim_forms(const struct sim_cpu *cpu, struct port_form *forms)
{
    for (int i = 0; i < cpu->nforms; i++) {
        const struct sim_form *form = &cpu->forms[i];
        const int one = 1;
        forms[i] = (struct port_form){.name = form->name,
                                      .blocker_cost = form->cost,
                                      .filler_only = form->filler_only,
                                      .rthroughput_clk = sim_clk(cpu, &form, &one, 1)};
    }
}

struct port_usage sim_usage(const struct sim_form *form)
{
    struct port_usage usage = {.detail = "",
                               .nuses = form->nuses,
                               .slots = form->slots,
                               .unit = form->unit,
                               .whole = form->whole,
                               .busy_clk = form->busy_clk};
    for (int u = 0; u < form->nuses; u++) {
        usage.uses[u] = form->uses[u];
        usage.uops += form->uses[u].uops;
    }
    return usage;
}

static bool sim_is_blocker(const struct sim_form *form)
{
    return form->cost >= 0 && form->nuses == 1 && form->uses[0].uops == 1 && form->slots == 1;
}

void sim_model(const struct sim_cpu *cpu, struct port_model *model)
{
    *model = (struct port_model){.width = cpu->width, .filler = -1};
    uint32_t ports = 0;
    for (int size = 1; size < cpu->width; size++)
        for (int f = 0; f < cpu->nforms; f++) {
            const struct sim_form *form = &cpu->forms[f];
            int c = 0;
            if (!sim_is_blocker(form) || port_set_size(form->uses[0].set) != size)
                continue;
            while (c < model->nclasses && model->classes[c].set != form->uses[0].set)
                c++;
            struct port_class *class = &model->classes[c];
            if (c == model->nclasses) {
                *class = (struct port_class){
                    .set = form->uses[0].set, .blocker = f, .blocker_clk = 1.0 / size};
                model->nclasses++;
                snprintf(class->name, sizeof class->name, "class%d", c);
            }
            class->members++;
            ports |= class->set;
        }
    model->nports = port_set_size(ports);
    for (int f = 0; f < cpu->nforms; f++)
        model->wide += sim_is_blocker(&cpu->forms[f]) &&
                       port_set_size(cpu->forms[f].uses[0].set) >= cpu->width;
    for (int f = 0; f < cpu->nforms && model->filler < 0; f++)
        if (cpu->forms[f].cost >= 0 && cpu->forms[f].nuses == 0 && cpu->forms[f].slots == 1)
            model->filler = f;
}
