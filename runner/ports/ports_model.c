// SPDX-License-Identifier: MIT
// The bottleneck model: µops choose among their ports as well as they can, so a mix takes as long
// as its worst subset of ports. By Hall's theorem only unions of the sets in use can be that
// subset.
#include "ports_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIONS_MAX = 1024, TURNS_MAX = 64 };
// Of the time that dispatch takes for them, in which others are delivered where microcode has had
// the front end to itself: they wait in a queue until dispatch has done what was before them. Eight
// a cycle where six are dispatched; the middle of 406 forms that stall on Golden Cove is 0.775.
static const double DELIVERY_SHARE = 0.75;
// What begins a group of dispatch cuts the one before short, by half of what a group may lose on
// average; of that at least so much shows.
static const double GROUP_CUT = 0.5;
static const double GROUP_TOLERANCE = 0.05; // of a group, by which slots are measured wrong,
static const double REST_TOLERANCE = 0.075; // and where that decides whether a group is left empty
static const double SLOT_MOST = 1.1;        // times what the width says, or fillers were disturbed
static const double UNSTABLE_SHARE = 0.2;   // more than that, and than a few,
static const double UNSTABLE_FEW = 20;      // is a disturbed machine, not bad luck
static const double ENOUGH = 1.01;          // of what ports allow: other orders gain nothing

bool port_unit_is_path(const struct port_unit *unit)
{
    return strncmp(unit->name, PORT_PATH, strlen(PORT_PATH)) == 0;
}

bool port_unit_is_microcode(const struct port_unit *unit)
{
    return strcmp(unit->name, PORT_MICROCODE) == 0;
}

const char *port_holds_name(enum port_holds holds)
{
    static const char *const names[] = {"always", "narrow", "wide", "wide forms"};
    return names[holds];
}

const char *port_writes_name(enum port_writes writes)
{
    static const char *const names[PORT_WRITES_COUNT] = {"flags", "general-purpose", "vectors",
                                                         "masks", "memory",          "others"};
    return names[writes];
}

bool port_class_is_wide(const struct port_class *class)
{
    return class->holds == PORT_WIDE || class->holds == PORT_WIDE_FORMS;
}

// µops of a mix by port set.
struct demand {
    uint32_t sets[PORT_MIX_PARTS_MAX * PORT_USES_MAX];
    double uops[PORT_MIX_PARTS_MAX * PORT_USES_MAX];
    double bound[PORT_MIX_PARTS_MAX * PORT_USES_MAX]; // of each how early, summed
    int n;
};

static void demand_add(struct demand *demand, uint32_t set, double uops, double binding)
{
    int i = 0;
    while (i < demand->n && demand->sets[i] != set)
        i++;
    if (i == demand->n) {
        if (i == PORT_MIX_PARTS_MAX * PORT_USES_MAX)
            return;
        demand->sets[demand->n] = set;
        demand->bound[demand->n] = 0;
        demand->uops[demand->n++] = 0;
    }
    demand->uops[i] += uops;
    demand->bound[i] += uops * binding;
}

// All unions of the sets within `ports`; more than UNIONS_MAX of them are cut off, which no real
// CPU comes near.
static int demand_unions(const struct demand *demand, uint32_t ports, uint32_t unions[UNIONS_MAX])
{
    int n = 0;
    for (int i = 0; i < demand->n; i++) {
        int before = n;
        for (int j = -1; j < before && n < UNIONS_MAX && demand->sets[i] & ports; j++) {
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

// With the best choice of ports; *worst: the set that takes so long.
static double demand_best_clk(const struct demand *demand, uint32_t ports, uint32_t *worst)
{
    uint32_t unions[UNIONS_MAX];
    int n = demand_unions(demand, ports, unions);
    double most = 0;
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

// If each µop went to any port of its set alike, whatever waits there.
static double demand_even_clk(const struct demand *demand, uint32_t ports)
{
    double load[PORTS_MAX] = {0}, most = 0;
    for (int i = 0; i < demand->n; i++)
        for (int port = 0; port < PORTS_MAX; port++)
            if (demand->sets[i] & ports & UINT32_C(1) << port)
                load[port] += demand->uops[i] / port_set_size(demand->sets[i]);
    for (int port = 0; port < PORTS_MAX; port++)
        most = fmax(most, load[port]);
    return most;
}

// All ports that hang together with those of a set in the demand.
static uint32_t demand_component(const struct demand *demand, uint32_t ports)
{
    uint32_t before;
    do {
        before = ports;
        for (int i = 0; i < demand->n; i++)
            if (demand->sets[i] & ports)
                ports |= demand->sets[i];
    } while (ports != before);
    return ports;
}

// How early µops are bound to some of these ports, on average.
static double demand_binding(const struct demand *demand, uint32_t ports)
{
    double uops = 0, bound = 0;
    for (int i = 0; i < demand->n; i++) {
        uops += demand->sets[i] & ports ? demand->uops[i] : 0;
        bound += demand->sets[i] & ports ? demand->bound[i] : 0;
    }
    return uops > 0 ? bound / uops : 0;
}

// Between both, each for the ports that hang together.
static double demand_clk(const struct demand *demand)
{
    uint32_t done = 0;
    double most = 0;
    for (int i = 0; i < demand->n; i++) {
        if (demand->sets[i] & done)
            continue;
        uint32_t ports = demand_component(demand, demand->sets[i]);
        uint32_t worst = 0;
        double clk = demand_best_clk(demand, ports, &worst);
        double binding = demand_binding(demand, ports);
        if (binding > 0)
            clk += binding * (demand_even_clk(demand, ports) - clk);
        most = fmax(most, clk);
        done |= ports;
    }
    return most;
}

// What instances keep the units busy for. Without a unit: what no port explains.
static void limits_units(const struct port_usage *const *usages, const int *counts, int n,
                         struct port_limits *limits)
{
    double *busy = limits->unit_clk;
    bool whole[PORT_UNITS_MAX + 1] = {false};
    for (int i = 0; i < n; i++)
        if (usages[i]->unit >= 0 && counts[i])
            whole[usages[i]->unit] |= usages[i]->whole;
    for (int i = 0; i < n; i++) {
        const struct port_usage *usage = usages[i];
        if (usage->unit >= 0)
            busy[usage->unit] += counts[i] * (whole[usage->unit] && !usage->whole
                                                  ? fmax(usage->busy_clk, usage->beside_clk)
                                                  : usage->busy_clk);
        else
            limits->unknown_clk = fmax(limits->unknown_clk, usage->busy_clk * counts[i]);
        for (int s = 0; s < usage->nshares; s++)
            busy[usage->shares[s].unit] += usage->shares[s].clk * counts[i];
    }
}

void port_usage_fuse_moves(struct port_usage *usage)
{
    if (usage->slots_moved > 0)
        usage->slots = usage->slots_mixed = usage->slots_moved;
}

double port_usage_slots(const struct port_usage *usage)
{
    double least = isnan(usage->slots) ? usage->uops : usage->slots;
    // What is left of a group that an instance does not fit into is less than it takes itself. What
    // is lost beyond that, but for microcode, fillers have done and others do not.
    if (least <= PORT_GROUP_SLOTS && usage->slots_mixed > least + fmax(1, least))
        return least;
    // In the best of a few orders an instance loses about half of what it may lose.
    return (least + fmax(least, usage->slots_mixed)) / 2;
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

// Whether it begins a group of dispatch: in no order it takes about half a group more than among
// others that fill whole groups.
static bool usage_begins_group(const struct port_model *model, const struct port_usage *usage)
{
    return !(usage->stall_clk > 0) && usage->slots > PORT_GROUP_SLOTS &&
           usage->slots_mixed - usage->slots > GROUP_CUT * (model->width - 1) / 2;
}

// The part whose turn it is where instances take turns as evenly as they can.
static int turn_next(const int *counts, const int *done, int n, double share)
{
    int next = 0;
    double most = -INFINITY;
    for (int i = 0; i < n; i++) {
        double behind = counts[i] * share - done[i];
        if (done[i] < counts[i] && behind > most) {
            most = behind;
            next = i;
        }
    }
    return next;
}

// Slots, and those that are lost at the ends of groups, where instances take turns: whole groups of
// what begins one, and its other slots with those that follow.
static double front_turns(const struct port_model *model, const struct port_usage *const *usages,
                          const int *counts, int n)
{
    enum { ROUNDS = 4 }; // the first one begins a group
    int done[TURNS_MAX];
    double width = model->width, slots = 0, first = 0;
    int total = 0;
    for (int i = 0; i < n; i++)
        total += counts[i];
    for (int round = 0; round < ROUNDS; round++) {
        memset(done, 0, (size_t)n * sizeof *done);
        for (int step = 1; step <= total; step++) {
            int i = turn_next(counts, done, n, (double)step / total);
            done[i]++;
            if (!usage_begins_group(model, usages[i])) {
                slots += port_usage_slots(usages[i]);
                continue;
            }
            double whole = floor(usages[i]->slots / width + GROUP_TOLERANCE);
            slots = ceil(slots / width - GROUP_TOLERANCE) * width +
                    fmax(usages[i]->slots, whole * width);
        }
        first = round == 0 ? slots : first;
    }
    return (slots - first) / (ROUNDS - 1);
}

// What is left of a form's last group where one follows that begins the next.
static double group_rest(const struct port_model *model, const struct port_usage *usage)
{
    double groups = ceil(usage->slots / model->width - REST_TOLERANCE);
    return fmax(0, groups * model->width - usage->slots);
}

// Where some forms begin groups: the best of taking turns and of no order, in which each of them
// cuts off half a group of others, or what is left of the last group of another such form. 0: none
// does.
static double front_groups(const struct port_model *model, const struct port_usage *const *usages,
                           const int *counts, int n)
{
    double slots = 0, others = 0, rest = 0;
    int begin = 0;
    for (int i = 0; i < n; i++) {
        bool begins = usage_begins_group(model, usages[i]);
        double mine = begins ? usages[i]->slots : port_usage_slots(usages[i]);
        begin += begins ? counts[i] : 0;
        slots += mine * counts[i];
        others += begins ? 0 : mine * counts[i];
        rest += begins ? group_rest(model, usages[i]) * counts[i] : 0;
    }
    if (begin == 0)
        return 0;
    double runs = begin * others / (begin + others); // of others between them
    double any = slots + runs * (model->width - 1) / 2 + rest * begin / (begin + others);
    return n > TURNS_MAX ? any : fmin(any, front_turns(model, usages, counts, n));
}

// With as many slots a cycle as the width says.
static double front_ideal_clk(const struct port_model *model,
                              const struct port_usage *const *usages, const int *counts, int n)
{
    double others = 0, own = 0, stall_clk = 0;
    int stalling = 0, all = 0;
    for (int i = 0; i < n && model->width > 0; i++) {
        all += counts[i];
        if (usages[i]->stall_clk > 0) {
            own += usages[i]->slots * counts[i]; // what it makes others lose is said apart
            stall_clk += usages[i]->stall_clk * counts[i];
            stalling += counts[i];
        } else {
            others += port_usage_slots(usages[i]) * counts[i];
        }
    }
    double dispatch_clk = all ? (own + others) / model->width : 0;
    if (stalling == 0) {
        double slots = all ? front_groups(model, usages, counts, n) : 0;
        return slots > 0 ? slots / model->width : dispatch_clk;
    }
    double runs = stalling * (1 - (double)stalling / all); // of others between them
    return fmax(dispatch_clk, own / model->width + stall_clk + ports_delivery_clk(model, others) +
                                  runs * ports_delivery_loss(model));
}

double port_front_clk(const struct port_model *model, const struct port_usage *const *usages,
                      const int *counts, int n)
{
    double pace = model->slot_clk * model->width;
    return front_ideal_clk(model, usages, counts, n) * (pace > 1 && pace < SLOT_MOST ? pace : 1);
}

double port_usage_side_slots(const struct port_usage *usage)
{
    return isnan(usage->side_slots) ? 0 : usage->side_slots;
}

double port_side_clk(const struct port_model *model, const struct port_usage *const *usages,
                     const int *counts, int n)
{
    const struct port_side *side = &model->side;
    double slots = 0, pace = side->clk * side->width;
    for (int i = 0; i < n && side->width > 0; i++)
        slots += port_usage_side_slots(usages[i]) * counts[i];
    return slots > 0 ? slots / side->width * (pace > 1 && pace < SLOT_MOST ? pace : 1) : 0;
}

int port_uses_beside(const struct port_usage *usage, bool wide, const struct port_use **uses)
{
    bool other = wide && usage->nwide > 0;
    *uses = other ? usage->wide_uses : usage->uses;
    return other ? usage->nwide : usage->nuses;
}

// With a model: as early as it says; without one any choice of ports is possible. Returns whether a
// form among them brings the structure of wide vectors about.
static bool demand_fill(struct demand *demand, const struct port_model *model,
                        const struct port_usage *const *usages, const int *counts, int n)
{
    bool wide = false;
    for (int i = 0; i < n; i++)
        wide |= usages[i]->wide && counts[i] > 0;
    for (int i = 0; i < n; i++) {
        const struct port_use *uses;
        int nuses = port_uses_beside(usages[i], wide, &uses);
        for (int u = 0; u < nuses; u++)
            demand_add(demand, uses[u].set, (double)uses[u].uops * counts[i],
                       model ? model->binding + model->binding_more[usages[i]->writes] : 0);
    }
    return wide;
}

void port_limits(const struct port_model *model, const struct port_usage *const *usages,
                 const int *counts, int n, struct port_limits *limits)
{
    struct demand demand = {.n = 0};
    *limits = (struct port_limits){.wide = demand_fill(&demand, model, usages, counts, n)};
    limits->front_clk = port_front_clk(model, usages, counts, n);
    limits->side_clk = port_side_clk(model, usages, counts, n);
    limits->ports_clk = demand_clk(&demand);
    limits->worst_clk = demand_best_clk(&demand, UINT32_MAX, &limits->worst);
    limits_units(usages, counts, n, limits);
}

// The longest that is waited for units, and for what nothing explains.
static double units_clk(const struct port_model *model, const struct port_usage *const *usages,
                        const int *counts, int n)
{
    struct port_limits units = {.worst = 0};
    limits_units(usages, counts, n, &units);
    double most = 0;
    for (int u = 0; u < model->nunits; u++)
        most = fmax(most, units.unit_clk[u]);
    return fmax(most, units.unknown_clk);
}

double ports_beside_clk(double norm, double ports_clk, double front_clk, double side_clk)
{
    double most = fmax(fmax(front_clk, side_clk), ports_clk);
    if (!(norm > 0) || !(most > 0))
        return most;
    return most * pow(pow(ports_clk / most, norm) + pow(front_clk / most, norm) +
                          pow(side_clk / most, norm),
                      1 / norm);
}

static double predict(const struct port_model *model, const struct port_usage *const *usages,
                      const int *counts, int n, bool bound)
{
    struct demand demand = {.n = 0};
    demand_fill(&demand, bound ? model : NULL, usages, counts, n);
    return fmax(units_clk(model, usages, counts, n),
                ports_beside_clk(bound ? model->norm : 0, demand_clk(&demand),
                                 port_front_clk(model, usages, counts, n),
                                 port_side_clk(model, usages, counts, n)));
}

static const struct port_use *uses_narrowest(const struct port_use *uses, int n)
{
    const struct port_use *narrowest = &uses[0];
    for (int u = 1; u < n; u++)
        if (port_set_size(uses[u].set) < port_set_size(narrowest->set))
            narrowest = &uses[u];
    return narrowest;
}

// What forms wait for that no port and no unit explains keeps the narrowest of their sets busy,
// also for others that need it.
static double held_clk(const struct port_usage *const *usages, const int *counts, int n)
{
    struct demand demand = {.n = 0};
    uint32_t held[PORT_MIX_PARTS_MAX];
    double most = 0, more[PORT_MIX_PARTS_MAX];
    bool wide = demand_fill(&demand, NULL, usages, counts, n);
    int nheld = 0;
    for (int i = 0; i < n && nheld < PORT_MIX_PARTS_MAX; i++) {
        const struct port_use *uses;
        int at = 0, nuses = port_uses_beside(usages[i], wide, &uses);
        if (usages[i]->unit >= 0 || !(usages[i]->busy_clk > 0) || nuses == 0)
            continue;
        const struct port_use *use = uses_narrowest(uses, nuses);
        while (at < nheld && held[at] != use->set)
            at++;
        if (at == nheld) {
            held[at] = use->set;
            more[nheld++] = 0;
        }
        more[at] += counts[i] * fmax(0, usages[i]->busy_clk * port_set_size(use->set) - use->uops);
    }
    for (int at = 0; at < nheld; at++) {
        for (int i = 0; i < demand.n; i++)
            if ((demand.sets[i] & ~held[at]) == 0)
                more[at] += demand.uops[i];
        most = fmax(most, more[at] / port_set_size(held[at]));
    }
    return most;
}

// µops of so many instances on the ports, by what they write. wide: as in port_limits.
static void component_add(struct port_bound_component *component, const struct port_usage *usage,
                          int count, bool wide, uint32_t ports)
{
    const struct port_use *uses;
    int nuses = port_uses_beside(usage, wide, &uses);
    for (int u = 0; u < nuses; u++)
        if (uses[u].set & ports)
            component->uops[usage->writes] += (double)uses[u].uops * count;
}

void port_bound_mix(const struct port_model *model, const struct port_usage *const *usages,
                    const int *counts, int n, bool held, struct port_bound_mix *mix)
{
    struct demand demand = {.n = 0};
    uint32_t done = 0;
    bool wide = demand_fill(&demand, NULL, usages, counts, n);
    mix->front_clk = port_front_clk(model, usages, counts, n);
    mix->side_clk = port_side_clk(model, usages, counts, n);
    mix->other_clk = units_clk(model, usages, counts, n);
    if (held)
        mix->other_clk = fmax(mix->other_clk, held_clk(usages, counts, n));
    mix->ncomponents = 0;
    for (int i = 0; i < demand.n && mix->ncomponents < PORT_COMPONENTS_MAX; i++) {
        if (demand.sets[i] & done)
            continue;
        uint32_t worst = 0, ports = demand_component(&demand, demand.sets[i]);
        struct port_bound_component *component = &mix->components[mix->ncomponents++];
        *component =
            (struct port_bound_component){.best_clk = demand_best_clk(&demand, ports, &worst),
                                          .even_clk = demand_even_clk(&demand, ports)};
        for (int k = 0; k < n; k++)
            component_add(component, usages[k], counts[k], wide, ports);
        done |= ports;
    }
}

double port_bound(const struct port_model *model, const struct port_usage *const *usages,
                  const int *counts, int n)
{
    return predict(model, usages, counts, n, false);
}

double port_predict(const struct port_model *model, const struct port_usage *const *usages,
                    const int *counts, int n)
{
    return fmax(predict(model, usages, counts, n, true), held_clk(usages, counts, n));
}

void port_label(const struct port_model *model, int port, char label[PORT_LABEL_MAX])
{
    if (model->port_names[port][0])
        snprintf(label, PORT_LABEL_MAX, "%s", model->port_names[port]);
    else
        snprintf(label, PORT_LABEL_MAX, "u%d", port % PORTS_MAX);
}

bool port_before(const struct port_model *model, int a, int b)
{
    const char *name_a = model->port_names[a], *name_b = model->port_names[b];
    return *name_a && (!*name_b || strverscmp(name_a, name_b) < 0);
}

int port_set_ports(const struct port_model *model, uint32_t set, int ports[PORTS_MAX])
{
    int n = 0;
    for (int port = 0; port < PORTS_MAX; port++) {
        if (!(set & UINT32_C(1) << port))
            continue;
        int at = n++;
        for (; at > 0 && port_before(model, port, ports[at - 1]); at--)
            ports[at] = ports[at - 1];
        ports[at] = port;
    }
    return n;
}

// As vendors write sets: the letters that all names begin with, then the one digit of each. false:
// the names are not of this kind, or the text would be the name of a port.
static bool ports_contract(const struct port_model *model, const int *ports, int n, char text[64])
{
    size_t letters = strcspn(model->port_names[ports[0]], "0123456789");
    size_t len = letters;
    memcpy(text, model->port_names[ports[0]], letters);
    for (int i = 0; i < n; i++) {
        const char *name = model->port_names[ports[i]];
        if (strncmp(name, text, letters) != 0 || !isdigit((unsigned char)name[letters]) ||
            name[letters + 1] || len == 63)
            return false;
        text[len++] = name[letters];
    }
    text[len] = 0;
    for (int port = 0; port < PORTS_MAX; port++)
        if (strcmp(model->port_names[port], text) == 0)
            return false;
    return true;
}

void port_set_joined(const struct port_model *model, uint32_t set, struct strbuf *out)
{
    char text[64];
    int ports[PORTS_MAX], n = port_set_ports(model, set, ports);
    if (n > 1 && ports_contract(model, ports, n, text)) {
        strbuf_puts(out, text);
        return;
    }
    for (int i = 0; i < n; i++) {
        char label[PORT_LABEL_MAX];
        port_label(model, ports[i], label);
        strbuf_printf(out, "%s%s", i ? "/" : "", label);
    }
}

void port_set_text(const struct port_model *model, uint32_t set, struct strbuf *out)
{
    for (int i = 0; i < model->nclasses; i++)
        if (model->classes[i].set == set && !port_class_is_wide(&model->classes[i])) {
            strbuf_puts(out, model->classes[i].name);
            return;
        }
    for (int i = 0; i < model->nhidden; i++)
        if (model->hidden[i].set == set) {
            strbuf_puts(out, model->hidden[i].name);
            return;
        }
    port_set_joined(model, set, out);
}

void port_usage_text(const struct port_model *model, const struct port_usage *usage,
                     struct strbuf *out)
{
    for (int i = 0; i < usage->nuses; i++) {
        strbuf_printf(out, "%s%d*", i ? "+" : "", usage->uses[i].uops);
        port_set_text(model, usage->uses[i].set, out);
    }
}

// Once more for what was unstable: what else the core did in that moment should cost no form.
static int ports_time_again(const struct port_oracle *oracle, const struct port_mix *mixes, int n,
                            struct port_timing *timings, struct err *err)
{
    int unstable = 0, status = 0;
    for (int i = 0; i < n; i++)
        unstable += timings[i].outcome == OUTCOME_UNSTABLE;
    if (unstable == 0 || unstable > fmax(UNSTABLE_FEW, n * UNSTABLE_SHARE))
        return 0;
    struct port_mix *again = xcalloc((size_t)unstable, sizeof *again);
    struct port_timing *second = xcalloc((size_t)unstable, sizeof *second);
    int k = 0;
    for (int i = 0; i < n; i++)
        if (timings[i].outcome == OUTCOME_UNSTABLE)
            again[k++] = mixes[i];
    status = oracle->measure(oracle->context, again, unstable, second, err);
    k = 0;
    for (int i = 0; i < n && status == 0; i++)
        if (timings[i].outcome == OUTCOME_UNSTABLE)
            timings[i] = second[k++];
    free(again);
    free(second);
    return status;
}

int ports_time(const struct port_oracle *oracle, const char *what, const struct port_mix *mixes,
               int n, struct port_timing *timings, struct err *err)
{
    if (n == 0)
        return 0;
    if (oracle->step)
        oracle->step(oracle->context, what, n);
    if (oracle->measure(oracle->context, mixes, n, timings, err) != 0)
        return -1;
    return ports_time_again(oracle, mixes, n, timings, err);
}

void ports_put_controls(int filler, int count, struct port_mix mixes[PORT_CONTROLS])
{
    for (int i = 0; i < PORT_CONTROLS; i++)
        mixes[i] = (struct port_mix){{{filler, count}}, 1, 1u << MIX_INTERLEAVED};
}

double ports_controls_clk(const struct port_timing timings[PORT_CONTROLS])
{
    double least = NAN;
    for (int i = 0; i < PORT_CONTROLS; i++)
        if (timings[i].outcome == OUTCOME_OK)
            least = fmin(least, timings[i].clk);
    return least;
}

int ports_time_enough(const struct port_oracle *oracle, const struct port_series *series,
                      struct port_timing *timings, struct err *err)
{
    const struct port_mix *mixes = series->mixes;
    int n = series->n;
    struct port_mix *some = xcalloc((size_t)n + 1, sizeof *some);
    struct port_timing *others = xcalloc((size_t)n + 1, sizeof *others);
    int *which = xcalloc((size_t)n + 1, sizeof *which), nothers = 0;
    for (int i = 0; i < n; i++) {
        unsigned orders = mixes[i].orders & MIX_ORDERS_ALL;
        some[i] = mixes[i];
        some[i].orders ^= orders & (orders - 1); // the first
    }
    int status = ports_time(oracle, series->what, some, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        unsigned first = some[i].orders & MIX_ORDERS_ALL;
        bool enough =
            timings[i].outcome == OUTCOME_OK && timings[i].clk <= ENOUGH * series->enough_clk[i];
        if (enough || first == (mixes[i].orders & MIX_ORDERS_ALL))
            continue;
        which[nothers] = i;
        some[nothers] = mixes[i];
        some[nothers++].orders ^= first;
    }
    if (status == 0)
        status = ports_time(oracle, series->what, some, nothers, others, err);
    for (int k = 0; k < nothers && status == 0; k++) {
        struct port_timing *timing = &timings[which[k]];
        if (others[k].outcome == OUTCOME_OK &&
            (timing->outcome != OUTCOME_OK || others[k].clk < timing->clk))
            *timing = others[k];
    }
    free(some);
    free(others);
    free(which);
    return status;
}

void ports_tell(const struct port_evidence *evidence, const char *blocker,
                const struct port_mix *mix, const struct port_timing *timing)
{
    if (evidence)
        evidence->tell(evidence->context, mix->parts[0].form, blocker,
                       mix->nparts > 1 ? mix->parts[1].count : 0, mix->parts[0].count, timing);
}

uint32_t ports_component(const struct port_model *model, uint32_t set)
{
    uint32_t before;
    do {
        before = set;
        for (int i = 0; i < model->nclasses; i++)
            if (model->classes[i].set & set)
                set |= model->classes[i].set;
    } while (set != before);
    return set;
}

// Names of sets that only wide forms bring say so: they may be other sets of the same ports.
static void class_mark_wide(struct port_class *class)
{
    size_t len = strlen(class->name);
    if (port_class_is_wide(class))
        snprintf(class->name + len, sizeof class->name - len, ".%d", PORT_WIDE_BITS);
}

void ports_name_class(struct port_class *class, const char *name)
{
    snprintf(class->name, sizeof class->name, "%s", name);
    class_mark_wide(class);
}

void ports_name(struct port_model *model)
{
    uint32_t components[PORT_CLASSES_MAX];
    int ncomponents = 0;
    for (int i = model->nclasses - 1; i >= 0; i--) { // largest sets first
        struct port_class *class = &model->classes[i];
        uint32_t component = ports_component(model, class->set);
        int c = 0, twins = 0;
        while (c < ncomponents && components[c] != component)
            c++;
        if (c == ncomponents)
            components[ncomponents++] = component;
        for (int j = model->nclasses - 1; j > i; j--)
            twins += port_set_size(model->classes[j].set) == port_set_size(class->set) &&
                     port_class_is_wide(&model->classes[j]) == port_class_is_wide(class) &&
                     (model->classes[j].set & component);
        char letter = (char)('A' + c % 26);
        snprintf(class->name, sizeof class->name, "%c%d", letter, port_set_size(class->set));
        if (twins)
            snprintf(class->name, sizeof class->name, "%c%d%c", letter, port_set_size(class->set),
                     'a' + twins % 26);
        class_mark_wide(class);
    }
}

bool port_forms_mix(const struct port_form *a, const struct port_form *b)
{
    return !a->upper || !b->upper || a->upper == b->upper;
}

struct port_mix ports_pair(int a, double a_clk, int b, double b_clk, double clk)
{
    return (struct port_mix){
        {{a, (int)ceil(clk / a_clk)}, {b, (int)ceil(clk / b_clk)}},
        2,
        1u << MIX_INTERLEAVED | 1u << MIX_SHUFFLED | PORT_MIX_INDEPENDENT
    };
}

// The usages of a mix with the moves between its instances.
struct moved_mix {
    struct port_usage moved[PORT_MIX_PARTS_MAX];
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
};

static void mix_move(const struct port_form *forms, const struct port_usage *usages,
                     const struct port_mix *mix, struct moved_mix *to)
{
    for (int i = 0; i < mix->nparts; i++) {
        const struct port_form *form = &forms[mix->parts[i].form];
        int moves = form->moves - form->resets; // the usage has these
        to->moved[i] = usages[i];
        to->moved[i].writes = form->writes;
        to->moved[i].slots += moves;
        to->moved[i].slots_mixed = fmax(usages[i].slots_mixed + moves, to->moved[i].slots);
        port_usage_fuse_moves(&to->moved[i]);
        to->usages[i] = &to->moved[i];
        to->counts[i] = mix->parts[i].count;
    }
}

double ports_mix_clk(const struct port_model *model, const struct port_form *forms,
                     const struct port_usage *usages, const struct port_mix *mix)
{
    struct moved_mix moved;
    mix_move(forms, usages, mix, &moved);
    return predict(model, moved.usages, moved.counts, mix->nparts, true);
}

void ports_mix_bound(const struct port_model *model, const struct port_form *forms,
                     const struct port_usage *usages, const struct port_mix *mix,
                     struct port_bound_mix *bound)
{
    struct moved_mix moved;
    mix_move(forms, usages, mix, &moved);
    port_bound_mix(model, moved.usages, moved.counts, mix->nparts, false, bound);
}

double ports_pair_clk(const struct port_model *model, const struct port_form *forms,
                      const struct port_usage *a, const struct port_usage *b,
                      const struct port_mix *pair)
{
    const struct port_usage usages[] = {*a, *b};
    return ports_mix_clk(model, forms, usages, pair);
}
