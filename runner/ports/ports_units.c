// SPDX-License-Identifier: MIT
// Units that are not pipelined, for which forms wait although their ports are free. Two forms that
// take as long together as one after the other wait for the same unit: a divider, or with many
// slots the sequencer of microcode.
#include "ports_share.h"

#include <math.h>
#include <stdio.h>

enum {
    TRIES = 10, // blockers of many slots: some wait for something else
};
// Throughput of a divider's member, at least. Less may be a chain, or a port that no class shows;
// 2.5 cycles may be timed as a little less.
static const double BUSY_MIN_CLK = 2.4;
static const double UNIT_EXCESS = 1.2; // of the time by ports: what takes longer waits for a unit

// Returns true if the form takes longer than its slots and ports explain.
static bool unit_waits(const struct sharing *sharing, int i)
{
    struct port_usage ports = sharing->usages[i];
    ports.demands.n = 0;
    ports.front.stall_clk = 0; // the sequencer shows by it
    return sharing->clk[i] > UNIT_EXCESS * ports_one_clk(sharing->model, &ports);
}

// Returns true if the form may need a divider. Microcode may divide, too.
static bool unit_candidate(const struct sharing *sharing, int i)
{
    const struct port_usage *usage = &sharing->usages[i];
    double clk = sharing->clk[i];
    bool may = usage->demands.n == 1; // an unknown wait, or
    if (may && usage->demands.of[0].unit >= 0)
        may = port_unit_is_microcode(&sharing->model->units[usage->demands.of[0].unit]);
    return usage->outcome == OUTCOME_OK && may && clk >= BUSY_MIN_CLK && unit_waits(sharing, i);
}

static bool microcode_candidate(const struct sharing *sharing, int i)
{
    const struct port_usage *usage = &sharing->usages[i];
    return usage->outcome == OUTCOME_OK && ports_waits_only(usage) &&
           usage->front.slots > PORT_MICROCODE_SLOTS && sharing->clk[i] >= PORT_MICROCODE_CLK;
}

// Returns true if a candidate takes longer than its slots and ports explain.
static bool microcode_shows(const struct sharing *sharing, int i)
{
    const struct port_usage *usage = &sharing->usages[i];
    return microcode_candidate(sharing, i) && usage->front.slots > PORT_GROUP_SLOTS &&
           unit_waits(sharing, i);
}

// Returns the cost of form i as the unit's blocker; lower is better. Legacy and wide forms cannot
// stand beside each other, and a form whose instances chain may wait for itself.
static int unit_cost(const struct sharing *sharing, int i)
{
    const struct port_form *form = &sharing->question->forms[sharing->question->which[i]];
    int upper = form->upper == UPPER_LEGACY ? 2 : form->upper == UPPER_WIDE ? 1 : 0;
    return 2 * upper + form->chains;
}

// Returns the form of fewest slots, of those the fastest: it disturbs least. -1: all have more than
// `most`.
static int unit_choose(const struct sharing *sharing, double most)
{
    const struct port_usage *usages = sharing->usages;
    int best = -1, cost = 0;
    for (int i = 0; i < sharing->question->n; i++) {
        int mine = unit_cost(sharing, i);
        if (!sharing->may[i] || !(usages[i].front.slots <= most) || !ports_waits_only(&usages[i]))
            continue;
        double fewer = best < 0 ? 1 : round(usages[best].front.slots - usages[i].front.slots);
        bool faster = best >= 0 && sharing->clk[i] < sharing->clk[best];
        if (best < 0 || mine < cost || (mine == cost && (fewer > 0 || (fewer == 0 && faster)))) {
            best = i;
            cost = mine;
        }
    }
    return best;
}

// Returns the form of microcode of the least cost; among these the fastest, since slow ones have
// other waits, too; among equally fast ones one of fewest slots. -1: there is none.
static int microcode_choose(const struct sharing *sharing)
{
    int best = -1;
    for (int i = 0; i < sharing->question->n; i++) {
        if (!sharing->may[i])
            continue;
        int better = best < 0 ? 1 : unit_cost(sharing, best) - unit_cost(sharing, i);
        double faster = best < 0 ? 0 : sharing->clk[best] - sharing->clk[i];
        bool fewer =
            sharing->usages[i].front.slots < sharing->usages[best < 0 ? i : best].front.slots;
        if (better > 0 ||
            (better == 0 && (faster > PORT_NOISE_ALONE || (faster > -PORT_NOISE_ALONE && fewer))))
            best = i;
    }
    return best;
}

// Assigns the unit to each form that it may explain and that takes as long beside its blocker as
// one after the other, or longer: no other unit has to explain it. Returns -1 if the oracle fails.
static int unit_assign(struct sharing *sharing, int unit, struct err *err)
{
    struct port_unit *to = &sharing->model->units[unit];
    bool microcode = port_unit_is_microcode(to);
    if (sharing_ask(sharing, unit, to->blocker, to->blocker_clk, err) != 0)
        return -1;
    for (int k = 0; k < sharing->n; k++) {
        int at = sharing->at[k], form = sharing->question->which[at];
        struct port_usage *usage = &sharing->usages[at];
        double clk = sharing->clk[at], share_clk = sharing_clk(sharing, unit, k);
        if (!(share_clk > (1 - PORT_EXCESS) * clk))
            continue;
        bool first = ports_waits_only(usage);
        ports_demand_drop(&usage->demands, -1);
        struct port_demand *demand = ports_demand_put(&usage->demands, unit);
        demand->clk = clk;
        demand->whole = first && !microcode && lround(share_clk / clk) > 1;
        sharing->may[at] = false;
        if (demand->whole && to->whole_blocker < 0) {
            to->whole_blocker = form;
            to->whole_clk = clk;
        }
    }
    return 0;
}

// Finds beside_clk: the time of a unit for forms that need a part of it, beside one that needs all.
static int unit_beside(struct sharing *sharing, int unit, struct err *err)
{
    const struct port_unit *to = &sharing->model->units[unit];
    if (to->whole_blocker < 0)
        return 0;
    for (int i = 0; i < sharing->question->n; i++) {
        const struct port_demands *demands = &sharing->usages[i].demands;
        sharing->may[i] = demands->n > 0 && demands->of[0].unit == unit && !demands->of[0].whole;
    }
    if (sharing_ask(sharing, unit, to->whole_blocker, to->whole_clk, err) != 0)
        return -1;
    for (int k = 0; k < sharing->n; k++) {
        const struct port_part *parts = sharing->mixes[k].parts;
        double clk = sharing->timings[k].clk - to->whole_clk * parts[1].count;
        int at = sharing->at[k];
        if (sharing->timings[k].outcome == OUTCOME_OK)
            sharing->usages[at].demands.of[0].beside_clk =
                fmax(clk / parts[0].count, sharing->clk[at]);
    }
    return 0;
}

// Returns true if at least two families share the unit. A unit of one family (wrgsbase r32 and r64)
// waits for itself only, or for everything, and predicts nothing about others.
static bool unit_is_shared(const struct sharing *sharing, int unit, int rep)
{
    const struct port_form *forms = sharing->question->forms;
    const int *which = sharing->question->which;
    for (int i = 0; i < sharing->question->n; i++) {
        if (port_demand_on(&sharing->usages[i].demands, unit) && i != rep &&
            (!forms[which[rep]].family || forms[which[i]].family != forms[which[rep]].family))
            return true;
    }
    return false;
}

// Takes the unit from its forms again. All but the blocker go on waiting for another.
static void unit_undo(struct sharing *sharing, int unit, int rep)
{
    for (int i = 0; i < sharing->question->n; i++) {
        struct port_demands *demands = &sharing->usages[i].demands;
        if (!port_demand_on(demands, unit))
            continue;
        ports_demand_drop(demands, unit);
        if (demands->n == 0)
            ports_demand_put(demands, -1)->clk = sharing->clk[i];
        sharing->may[i] = i != rep;
    }
}

// Tries the form at position rep as the blocker of a new unit. Returns -1 if the oracle fails.
static int unit_try(struct sharing *sharing, const char *name, int rep, struct err *err)
{
    struct port_model *model = sharing->model;
    struct port_unit *unit = &model->units[model->nunits];
    *unit = (struct port_unit){.blocker = sharing->question->which[rep],
                               .blocker_clk = sharing->clk[rep],
                               .usage = sharing->usages[rep],
                               .whole_blocker = -1};
    if (name)
        snprintf(unit->name, sizeof unit->name, "%s", name);
    else
        snprintf(unit->name, sizeof unit->name, "U%d", model->nunits + 1);
    int status = unit_assign(sharing, model->nunits, err);
    if (unit_is_shared(sharing, model->nunits, rep))
        model->nunits++;
    else
        unit_undo(sharing, model->nunits, rep);
    return status;
}

// Finds the sequencer of microcode with forms that take longer than their slots; others may need it
// as well.
static int unit_find_microcode(struct sharing *sharing, struct err *err)
{
    int unit = sharing->model->nunits, status = 0, rep;
    sharing_choose(sharing, microcode_shows);
    for (int tries = 0; tries < TRIES && status == 0 && sharing->model->nunits == unit &&
                        (rep = microcode_choose(sharing)) >= 0;
         tries++)
        status = unit_try(sharing, PORT_MICROCODE, rep, err);
    if (status != 0 || sharing->model->nunits == unit)
        return status;
    sharing_choose(sharing, microcode_candidate);
    return unit_assign(sharing, unit, err);
}

// Finds dividers with blockers of at most so many slots.
static int unit_find_dividers(struct sharing *sharing, double slots, int tries, struct err *err)
{
    int status = 0, rep;
    sharing_choose(sharing, unit_candidate);
    for (; tries > 0 && sharing->model->nunits < PORT_UNITS_MAX - 1 && status == 0 &&
           (rep = unit_choose(sharing, slots)) >= 0;
         tries--)
        status = unit_try(sharing, NULL, rep, err);
    return status;
}

int port_find_units(const struct port_question *question, struct port_model *model,
                    struct port_usage *usages, struct err *err)
{
    struct sharing sharing = {
        .question = question, .model = model, .usages = usages, .named = model};
    sharing_begin(&sharing);
    int status = unit_find_dividers(&sharing, PORT_GROUP_SLOTS, question->n, err);
    if (status == 0)
        status = unit_find_microcode(&sharing, err);
    if (status == 0)
        status = unit_find_dividers(&sharing, INFINITY, TRIES, err);
    for (int unit = 0; unit < model->nunits && status == 0; unit++)
        status = unit_beside(&sharing, unit, err);
    sharing_end(&sharing);
    return status;
}

int port_assign_units(const struct port_question *question, const struct port_model *model,
                      struct port_usage *usages, struct err *err)
{
    struct port_model copy = *model;
    struct sharing sharing = {
        .question = question, .model = &copy, .usages = usages, .named = model};
    int status = 0;
    sharing_begin(&sharing);
    for (int unit = 0; unit < model->nunits && status == 0; unit++) {
        if (port_unit_is_path(&model->units[unit]))
            continue;
        sharing_choose(&sharing, port_unit_is_microcode(&model->units[unit]) ? microcode_candidate
                                                                             : unit_candidate);
        status = unit_assign(&sharing, unit, err);
    }
    for (int unit = 0; unit < model->nunits && status == 0; unit++)
        status = unit_beside(&sharing, unit, err);
    if (status == 0)
        status = ports_assign_paths(&sharing, err);
    if (status == 0)
        ports_share_stores(question, model, usages);
    sharing_end(&sharing);
    return status;
}

int port_infer_units(const struct port_oracle *oracle, const struct port_form *forms,
                     struct port_model *model, struct err *err)
{
    int which[PORT_UNITS_MAX];
    struct port_usage usages[PORT_UNITS_MAX];
    for (int u = 0; u < model->nunits; u++)
        which[u] = model->units[u].blocker;
    const struct port_question question = {
        .oracle = oracle, .forms = forms, .which = which, .n = model->nunits};
    if (port_infer(&question, model, usages, err) != 0)
        return -1;
    for (int u = 0; u < model->nunits; u++) {
        const struct port_demands known = model->units[u].usage.demands; // of paths
        model->units[u].usage = usages[u];
        if (port_unit_is_path(&model->units[u])) // in pairs it does not wait for itself
            ports_demand_drop(&model->units[u].usage.demands, -1);
        for (int d = 0; d < known.n; d++)
            if (known.of[d].unit >= 0 && port_unit_is_path(&model->units[known.of[d].unit]))
                ports_demand_put(&model->units[u].usage.demands, known.of[d].unit)->clk =
                    known.of[d].clk;
    }
    return ports_blockers_paths(oracle, forms, model, err);
}
