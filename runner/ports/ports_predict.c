// SPDX-License-Identifier: MIT
// Time of a mix of forms. All that mixes wait for are resources, and each instance asks some of
// them for some cycles: of the front end by its slots, of the ports by its µops, of a divider or a
// path by the cycles that it keeps it busy. Demands add up; the mix takes about as long as the
// resource that is asked for most. Ports are the one kind of resource that a µop chooses among: it
// chooses as well as it can, so the ports take as long as their worst subset, and by Hall's theorem
// only unions of the sets in use can be that. A mix that asks several resources for about as long
// takes a little longer than any of them, since what is late in one is missing in the next: the
// p-norm of all.
#include "ports_internal.h"

#include <math.h>
#include <string.h>

enum { UNIONS_MAX = 1024 };
// Order of the norm: two resources of the same time make a mix 4 % longer. On recorded and fresh
// mixes of five cores orders from 12 to 24 do equally well within a point (docs/PORTS.md).
static const double NORM = 16;
// Delivery time of ordinary instructions after a switch from microcode, as a share of their
// dispatch time. The front end delivers faster than dispatch takes, so its queue hides the rest.
// Golden Cove: eight per cycle, six dispatched, 0.775 in the middle of 406 forms that stall.
static const double DELIVERY_SHARE = 0.75;
// Share that is lost, on average, of the largest loss of others between two instances that stall,
// which end within a cycle of delivery. The number of instances with others between them is
// unknown.
static const double DELIVERY_LOST = 0.5;

bool port_unit_is_path(const struct port_unit *unit)
{
    return strncmp(unit->name, PORT_PATH, strlen(PORT_PATH)) == 0;
}

bool port_unit_is_microcode(const struct port_unit *unit)
{
    return strcmp(unit->name, PORT_MICROCODE) == 0;
}

enum { DEMAND_SETS_MAX = PORT_MIX_PARTS_MAX * PORT_USES_MAX };

// Demand of a mix on the ports, by set.
struct demand {
    uint32_t sets[DEMAND_SETS_MAX + 1]; // one more for all that do not fit, which is not counted
    double uops[DEMAND_SETS_MAX + 1];
    int n;
};

// Returns the place of a set, which is added if it is new.
static int demand_at(struct demand *demand, uint32_t set)
{
    int i = 0;
    while (i < demand->n && demand->sets[i] != set)
        i++;
    if (i == demand->n) {
        demand->sets[i] = set;
        demand->uops[i] = 0;
        demand->n += i < DEMAND_SETS_MAX;
    }
    return i;
}

// Fills in all unions of the sets, at most UNIONS_MAX, which no real CPU comes near. Returns how
// many.
static int demand_unions(const struct demand *demand, uint32_t unions[UNIONS_MAX])
{
    int n = 0;
    for (int i = 0; i < demand->n; i++) {
        int before = n;
        for (int j = -1; j < before && n < UNIONS_MAX; j++) {
            uint32_t set = demand->sets[i] | (j >= 0 ? unions[j] : 0);
            int k = 0;
            while (k < n && unions[k] != set)
                k++;
            if (k == n)
                unions[n++] = set;
        }
    }
    return n;
}

// Returns the cycles with the best choice of ports; *worst: the set that takes so long.
static double demand_clk(const struct demand *demand, uint32_t *worst)
{
    uint32_t unions[UNIONS_MAX];
    int n = demand_unions(demand, unions);
    double most = 0;
    *worst = 0;
    for (int u = 0; u < n; u++) {
        double uops = 0;
        for (int i = 0; i < demand->n; i++)
            if ((demand->sets[i] & ~unions[u]) == 0)
                uops += demand->uops[i];
        double clk = uops / port_set_size(unions[u]);
        if (clk > most) {
            most = clk;
            *worst = unions[u];
        }
    }
    return most;
}

bool port_uses_same(const struct port_uses *a, const struct port_uses *b)
{
    bool same = a->n == b->n;
    for (int i = 0; i < a->n && same; i++) {
        same = false;
        for (int k = 0; k < b->n; k++)
            same |= a->use[i].set == b->use[k].set && a->use[i].uops == b->use[k].uops;
    }
    return same;
}

bool port_uses_add(struct port_uses *uses, struct port_use more)
{
    int at = 0;
    while (at < uses->n && uses->use[at].set != more.set)
        at++;
    if (at == PORT_USES_MAX)
        return false;
    if (at == uses->n)
        uses->use[uses->n++] = (struct port_use){.set = more.set};
    uses->use[at].uops += more.uops;
    uses->uops += more.uops;
    return true;
}

const struct port_uses *port_uses_beside(const struct port_usage *usage, bool wide)
{
    return wide && usage->wide_uses.n > 0 ? &usage->wide_uses : &usage->uses;
}

const struct port_demand *port_demand_on(const struct port_demands *demands, int unit)
{
    for (int d = 0; d < demands->n; d++)
        if (demands->of[d].unit == unit)
            return &demands->of[d];
    return NULL;
}

const struct port_demand *port_usage_unit(const struct port_model *model,
                                          const struct port_usage *usage)
{
    const struct port_demand *first = &usage->demands.of[0];
    bool known = usage->demands.n > 0 && first->unit >= 0;
    return known && !port_unit_is_path(&model->units[first->unit]) ? first : NULL;
}

double port_usage_wait_clk(const struct port_usage *usage)
{
    const struct port_demand *wait = port_demand_on(&usage->demands, -1);
    return wait ? wait->clk : 0;
}

static const struct port_use *uses_narrowest(const struct port_uses *uses)
{
    const struct port_use *narrowest = &uses->use[0];
    for (int u = 1; u < uses->n; u++)
        if (port_set_size(uses->use[u].set) < port_set_size(narrowest->set))
            narrowest = &uses->use[u];
    return narrowest;
}

// Adds the µops of `count` instances. With waits, a wait that no unit explains keeps the narrowest
// set of the form busy, also for others that need it.
static void demand_add(struct demand *demand, const struct port_usage *usage, int count, bool wide,
                       bool waits)
{
    const struct port_uses *uses = port_uses_beside(usage, wide);
    for (int u = 0; u < uses->n; u++)
        demand->uops[demand_at(demand, uses->use[u].set)] += (double)uses->use[u].uops * count;
    double wait_clk = waits ? port_usage_wait_clk(usage) : 0;
    if (!(wait_clk > 0) || uses->n == 0)
        return;
    const struct port_use *narrowest = uses_narrowest(uses);
    double more = wait_clk * port_set_size(narrowest->set) - narrowest->uops;
    demand->uops[demand_at(demand, narrowest->set)] += fmax(0, more) * count;
}

// Returns the cycles of a mix on the ports; *worst: the set that takes so long.
static double ports_clk(const struct port_usage *const *usages, const int *counts, int n, bool wide,
                        bool waits, uint32_t *worst)
{
    struct demand demand;
    demand.n = 0;
    for (int i = 0; i < n; i++)
        demand_add(&demand, usages[i], counts[i], wide, waits);
    return demand_clk(&demand, worst);
}

// Adds up the cycles of units, and finds the longest wait that has no unit.
static void limits_units(const struct port_usage *const *usages, const int *counts, int n,
                         struct port_limits *limits)
{
    bool whole[PORT_UNITS_MAX] = {false};
    for (int i = 0; i < n; i++)
        for (int d = 0; d < usages[i]->demands.n && counts[i]; d++)
            if (usages[i]->demands.of[d].whole)
                whole[usages[i]->demands.of[d].unit] = true;
    for (int i = 0; i < n; i++)
        for (int d = 0; d < usages[i]->demands.n; d++) {
            const struct port_demand *demand = &usages[i]->demands.of[d];
            if (demand->unit < 0)
                limits->unknown_clk = fmax(limits->unknown_clk, demand->clk * counts[i]);
            else
                limits->unit_clk[demand->unit] +=
                    counts[i] * (whole[demand->unit] && !demand->whole
                                     ? fmax(demand->clk, demand->beside_clk)
                                     : demand->clk);
        }
}

double port_usage_slots(const struct port_usage *usage)
{
    double slots = isnan(usage->front.slots) ? usage->uses.uops : usage->front.slots;
    return fmax(slots, usage->front.mixed); // of NaN and a number the number
}

double ports_delivery_clk(const struct port_model *model, double slots)
{
    return DELIVERY_SHARE * slots / model->width;
}

double ports_delivery_loss(const struct port_model *model)
{
    double width = model->width / DELIVERY_SHARE;
    return (width - 1) / (2 * width);
}

// Returns the cycles in which the front end delivers an instance: microcode that stalls it has it
// to itself, others are delivered faster than they are dispatched.
static double usage_delivery_clk(const struct port_model *model, const struct port_usage *usage)
{
    if (usage->front.stall_clk > 0)
        return usage->front.slots / model->width + usage->front.stall_clk +
               DELIVERY_LOST * ports_delivery_loss(model);
    return ports_delivery_clk(model, port_usage_slots(usage));
}

static void limits_front(const struct port_model *model, const struct port_usage *const *usages,
                         const int *counts, int n, struct port_limits *limits)
{
    for (int i = 0; i < n && model->width > 0; i++) {
        limits->front_clk += counts[i] * port_usage_slots(usages[i]) / model->width;
        limits->delivery_clk += counts[i] * usage_delivery_clk(model, usages[i]);
    }
}

const char *port_concept_name(enum port_concept concept)
{
    static const char *const names[PORT_CONCEPTS] = {
        [CONCEPT_FRONT] = "front-end",   [CONCEPT_DELIVERY] = "delivery",
        [CONCEPT_PORTS] = "ports",       [CONCEPT_WIDE] = "wide",
        [CONCEPT_DIVIDERS] = "dividers", [CONCEPT_MICROCODE] = "microcode",
        [CONCEPT_PATHS] = "paths",       [CONCEPT_WAITS] = "waits",
        [CONCEPT_NORM] = "norm"};
    return names[concept];
}

static bool model_lacks(const struct port_model *model, enum port_concept concept)
{
    return model->without >> concept & 1;
}

static enum port_concept unit_concept(const struct port_unit *unit)
{
    return port_unit_is_path(unit)        ? CONCEPT_PATHS
           : port_unit_is_microcode(unit) ? CONCEPT_MICROCODE
                                          : CONCEPT_DIVIDERS;
}

static void limits_leave_out(const struct port_model *model, struct port_limits *limits)
{
    double *const clks[PORT_CONCEPTS] = {[CONCEPT_FRONT] = &limits->front_clk,
                                         [CONCEPT_DELIVERY] = &limits->delivery_clk,
                                         [CONCEPT_PORTS] = &limits->ports_clk,
                                         [CONCEPT_WAITS] = &limits->unknown_clk};
    for (int c = 0; c < PORT_CONCEPTS; c++)
        if (clks[c] && model_lacks(model, (enum port_concept)c))
            *clks[c] = 0;
    for (int u = 0; u < model->nunits; u++)
        if (model_lacks(model, unit_concept(&model->units[u])))
            limits->unit_clk[u] = 0;
}

// Fills in each bound by itself.
static void limits_fill(const struct port_model *model, const struct port_usage *const *usages,
                        const int *counts, int n, struct port_limits *limits)
{
    *limits = (struct port_limits){.wide = false};
    for (int i = 0; i < n; i++)
        limits->wide |= usages[i]->wide && counts[i] > 0 && !model_lacks(model, CONCEPT_WIDE);
    limits_front(model, usages, counts, n, limits);
    limits_units(usages, counts, n, limits);
    limits->ports_clk = ports_clk(usages, counts, n, limits->wide, false, &limits->worst);
    if (model->without)
        limits_leave_out(model, limits);
    limits->bound_clk = fmax(fmax(limits->front_clk, limits->delivery_clk), limits->ports_clk);
    for (int u = 0; u < model->nunits; u++)
        limits->bound_clk = fmax(limits->bound_clk, limits->unit_clk[u]);
    limits->bound_clk = fmax(limits->bound_clk, limits->unknown_clk);
}

// Returns the norm of all bounds, with held_clk as the ports' time.
static double limits_norm(const struct port_model *model, const struct port_limits *limits,
                          double held_clk)
{
    double most = fmax(limits->bound_clk, held_clk), sum = 0;
    const double clks[] = {limits->front_clk, limits->delivery_clk, held_clk};
    for (size_t i = 0; i < ARRAY_LEN(clks) && most > 0; i++)
        sum += pow(clks[i] / most, NORM);
    for (int u = 0; u < model->nunits && most > 0; u++)
        sum += pow(limits->unit_clk[u] / most, NORM);
    return model_lacks(model, CONCEPT_NORM) ? most : most * fmax(1, pow(sum, 1 / NORM));
}

void port_limits(const struct port_model *model, const struct port_usage *const *usages,
                 const int *counts, int n, struct port_limits *limits)
{
    uint32_t worst;
    limits_fill(model, usages, counts, n, limits);
    bool waits = !model_lacks(model, CONCEPT_WAITS);
    double held_clk = model_lacks(model, CONCEPT_PORTS)
                          ? 0
                          : ports_clk(usages, counts, n, limits->wide, waits, &worst);
    limits->clk = limits_norm(model, limits, held_clk);
}

double port_bound(const struct port_model *model, const struct port_usage *const *usages,
                  const int *counts, int n)
{
    struct port_limits limits;
    limits_fill(model, usages, counts, n, &limits);
    return limits.bound_clk;
}

double port_predict(const struct port_model *model, const struct port_usage *const *usages,
                    const int *counts, int n)
{
    struct port_limits limits;
    port_limits(model, usages, counts, n, &limits);
    return limits.clk;
}
