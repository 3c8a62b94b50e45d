// SPDX-License-Identifier: MIT
// Units that are not pipelined, for which forms wait although their ports are free. Two forms that
// take as long together as one after the other wait for the same unit: a divider, or with many
// slots the sequencer of microcode.
#include "ports_fit.h"
#include "ports_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_MAX = 4,       // slots of a divider's first blockers: more may be microcode
    MEMBER_SLOTS = 12,   // slots of a divider's member: more is microcode, if it is also more
    SLOTS_TIMES = 3,     // than so many times those of the unit's blocker
    BUSY_MAX = 40,       // cycles
    MICROCODE_TRIES = 5, // blockers of microcode: some wait for something else
    LONG_TRIES = 10,     // blockers of many slots for dividers: some wait for themselves
    MIX_CLK = 60,        // cycles that each of two forms keeps its unit busy in a mix
};
// Throughput of a divider's member, at least. Less may be a chain, or a port that no class shows;
// 2.5 cycles may be timed as a little less.
static const double BUSY_MIN_CLK = 2.4;
static const double MICROCODE_MIN_CLK = 1.5;
static const double MICROCODE_SLOTS = 2.5; // less is no microcode
static const double EXCESS = 1.3;          // of microcode's throughput over that by its ports
static const double UNIT_EXCESS = 1.2;     // the same of a divider's members
static const double SUM_SHARE = 0.93;      // of the sum of both times: more is the same unit
static const double WHOLE_SHARE = 1.25;    // of that sum: more needs all parts

struct unit_search {
    const struct port_question *question;
    struct port_model *model;
    struct port_usage *usages;
    const struct port_evidence *evidence; // NULL: none
    const struct port_model *named;       // its names live as long as the evidence
    int *waiting;                         // positions in which, of forms that may need the unit
    double *clk;                          // of an instance, by position in which
    struct port_mix *mixes;               // of a series, by index in waiting
    struct port_timing *timings;
    int nwaiting;
};

static void search_begin(struct unit_search *search, int n)
{
    search->waiting = xcalloc((size_t)n + 1, sizeof *search->waiting);
    search->clk = xcalloc((size_t)n + 1, sizeof *search->clk);
    search->mixes = xcalloc((size_t)n + 1, sizeof *search->mixes);
    search->timings = xcalloc((size_t)n + 1, sizeof *search->timings);
    // The wait of a usage is the least of its times.
    for (int i = 0; i < n; i++) {
        double clk = search->question->forms[search->question->which[i]].rthroughput_clk;
        double wait_clk = port_usage_wait_clk(&search->usages[i]);
        search->clk[i] = wait_clk > 0 ? fmin(clk, wait_clk) : clk;
    }
}

static void search_end(struct unit_search *search)
{
    free(search->waiting);
    free(search->clk);
    free(search->mixes);
    free(search->timings);
}

static double unit_ports_clk(const struct port_model *model, const struct port_usage *a, int x,
                             const struct port_usage *b, int y)
{
    struct port_usage ports[] = {*a, *b};
    ports[0].demands.n = ports[1].demands.n = 0;
    ports[0].front.stall_clk = ports[1].front.stall_clk = 0; // the sequencer shows by it
    const struct port_usage *usages[] = {&ports[0], &ports[1]};
    const int counts[] = {x, y};
    return port_bound(model, usages, counts, 2);
}

// Returns true if the form may need a divider. Microcode may divide, too.
static bool unit_candidate(const struct unit_search *search, int i)
{
    const struct port_usage *usage = &search->usages[i];
    double clk = search->clk[i];
    bool may = usage->demands.n == 1; // an unknown wait, or
    if (may && usage->demands.of[0].unit >= 0)
        may = port_unit_is_microcode(&search->model->units[usage->demands.of[0].unit]);
    return usage->outcome == OUTCOME_OK && may && clk >= BUSY_MIN_CLK && clk <= BUSY_MAX &&
           clk > UNIT_EXCESS * unit_ports_clk(search->model, usage, 1, usage, 0);
}

static bool microcode_candidate(const struct unit_search *search, int i)
{
    const struct port_usage *usage = &search->usages[i];
    return usage->outcome == OUTCOME_OK && ports_waits_only(usage) &&
           usage->front.slots > MICROCODE_SLOTS && search->clk[i] >= MICROCODE_MIN_CLK &&
           search->clk[i] <= BUSY_MAX;
}

// Returns true if a candidate takes longer than its slots and ports explain.
static bool microcode_shows(const struct unit_search *search, int i)
{
    const struct port_usage *usage = &search->usages[i];
    return microcode_candidate(search, i) && usage->front.slots > SLOTS_MAX &&
           search->clk[i] > EXCESS * unit_ports_clk(search->model, usage, 1, usage, 0);
}

static void unit_collect(struct unit_search *search, int n,
                         bool (*candidate)(const struct unit_search *, int))
{
    search->nwaiting = 0;
    for (int i = 0; i < n; i++)
        if (candidate(search, i))
            search->waiting[search->nwaiting++] = i;
}

// Returns the cost of form i as the unit's blocker; lower is better. Legacy and wide forms cannot
// stand beside each other, and a form whose instances chain may wait for itself.
static int unit_cost(const struct unit_search *search, int i)
{
    const struct port_form *form = &search->question->forms[search->question->which[i]];
    int upper = form->upper == UPPER_LEGACY ? 2 : form->upper == UPPER_WIDE ? 1 : 0;
    return 2 * upper + form->chains;
}

// Returns the form of fewest slots, of those the fastest: it disturbs least. -1: all have more than
// `most`.
static int unit_choose(const struct unit_search *search, double most)
{
    int best = -1, cost = 0;
    for (int i = 0; i < search->nwaiting; i++) {
        int other = search->waiting[i], mine = unit_cost(search, other);
        if (!(search->usages[other].front.slots <= most) ||
            !ports_waits_only(&search->usages[other]))
            continue;
        double fewer =
            best < 0 ? 1 : search->usages[best].front.slots - search->usages[other].front.slots;
        bool faster = best >= 0 && search->clk[other] < search->clk[best];
        if (best < 0 || mine < cost ||
            (mine == cost && (fewer > 0.5 || (fewer > -0.5 && faster)))) {
            best = other;
            cost = mine;
        }
    }
    return best;
}

// Returns the fastest form of microcode, of those that of fewest slots: slow ones have other waits,
// too.
static int microcode_choose(const struct unit_search *search)
{
    int best = search->waiting[0];
    for (int i = 1; i < search->nwaiting; i++) {
        int other = search->waiting[i];
        int better = unit_cost(search, best) - unit_cost(search, other);
        double faster = search->clk[best] - search->clk[other];
        bool fewer = search->usages[other].front.slots < search->usages[best].front.slots;
        if (better > 0 || (better == 0 && (faster > 0.1 || (faster > -0.1 && fewer))))
            best = other;
    }
    return best;
}

// Times every waiting form beside `blocker`, which takes `clk` of the unit; forms that cannot stand
// beside it are skipped.
static int unit_measure(struct unit_search *search, int unit, int blocker, double clk,
                        struct err *err)
{
    const struct port_form *forms = search->question->forms;
    const struct port_unit *to = &search->model->units[unit];
    double most = port_unit_is_microcode(to)
                      ? (double)INFINITY
                      : fmax(MEMBER_SLOTS, SLOTS_TIMES * to->usage.front.slots);
    int *timed = xcalloc((size_t)search->nwaiting + 1, sizeof *timed), n = 0;
    for (int i = 0; i < search->nwaiting; i++) {
        int form = search->question->which[search->waiting[i]];
        search->mixes[n] = ports_pair(form, search->clk[search->waiting[i]], blocker, clk, MIX_CLK);
        if (port_forms_mix(&forms[form], &forms[blocker]) &&
            !(search->usages[search->waiting[i]].front.slots > most))
            timed[n++] = i;
    }
    int status =
        ports_time(search->question->oracle, "units", search->mixes, n, search->timings, err);
    for (int i = search->nwaiting - 1; i >= 0 && status == 0; i--) {
        if (n == 0 || timed[n - 1] != i) {
            search->timings[i] = (struct port_timing){.outcome = OUTCOME_SKIPPED};
            continue;
        }
        search->timings[i] = search->timings[--n];
        search->mixes[i] = search->mixes[n];
        ports_tell(search->evidence, search->named->units[unit].name, &search->mixes[i],
                   &search->timings[i]);
    }
    free(timed);
    return status;
}

// Assigns the unit to each waiting form that takes as long beside its blocker as one after the
// other, or longer, and removes it from `waiting`. `rep`: usage of the blocker. Returns the number
// of these forms, or -1.
static int unit_assign(struct unit_search *search, int unit, const struct port_usage *rep,
                       struct err *err)
{
    struct port_unit *to = &search->model->units[unit];
    int n = search->nwaiting, kept = 0;
    if (unit_measure(search, unit, to->blocker, to->blocker_clk, err) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        int at = search->waiting[i];
        int x = search->mixes[i].parts[0].count, y = search->mixes[i].parts[1].count;
        struct port_usage *usage = &search->usages[at];
        double sum = search->clk[at] * x + to->blocker_clk * y;
        bool itself = search->question->which[at] == to->blocker;
        bool timed = search->timings[i].outcome == OUTCOME_OK;
        if (!itself && !(timed && search->timings[i].clk > SUM_SHARE * sum &&
                         SUM_SHARE * sum > unit_ports_clk(search->model, usage, x, rep, y))) {
            search->waiting[kept++] = at;
            continue;
        }
        bool first = ports_waits_only(usage);
        ports_demand_drop(&usage->demands, -1);
        struct port_demand *demand = ports_demand_put(&usage->demands, unit);
        demand->clk = search->clk[at];
        demand->whole = first && !itself && !port_unit_is_microcode(to) &&
                        search->timings[i].clk > WHOLE_SHARE * sum;
        if (demand->whole && to->whole_blocker < 0) {
            to->whole_blocker = search->question->which[at];
            to->whole_clk = search->clk[at];
        }
    }
    search->nwaiting = kept;
    return n - kept;
}

// Finds beside_clk: the time of the unit for forms that need a part of it, beside one that needs
// all.
static int unit_beside(struct unit_search *search, int n, int unit, struct err *err)
{
    const struct port_unit *to = &search->model->units[unit];
    if (to->whole_blocker < 0)
        return 0;
    search->nwaiting = 0;
    for (int i = 0; i < n; i++) {
        const struct port_demand *first = &search->usages[i].demands.of[0];
        if (search->usages[i].demands.n > 0 && first->unit == unit && !first->whole)
            search->waiting[search->nwaiting++] = i;
    }
    if (unit_measure(search, unit, to->whole_blocker, to->whole_clk, err) != 0)
        return -1;
    for (int i = 0; i < search->nwaiting; i++) {
        const struct port_mix *mix = &search->mixes[i];
        double clk = search->timings[i].clk - to->whole_clk * mix->parts[1].count;
        if (search->timings[i].outcome == OUTCOME_OK)
            search->usages[search->waiting[i]].demands.of[0].beside_clk =
                fmax(clk / mix->parts[0].count, search->clk[search->waiting[i]]);
    }
    return 0;
}

// Returns true if at least two families share the unit. A unit of one family (wrgsbase r32 and r64)
// waits for itself only, or for everything, and predicts nothing about others.
static bool unit_is_shared(const struct unit_search *search, int unit, int rep)
{
    const struct port_form *forms = search->question->forms;
    const int *which = search->question->which;
    for (int i = 0; i < search->question->n; i++) {
        if (port_demand_on(&search->usages[i].demands, unit) && i != rep &&
            (!forms[which[rep]].family || forms[which[i]].family != forms[which[rep]].family))
            return true;
    }
    return false;
}

// Takes the unit from its forms again. All but the blocker go on waiting for another.
static void unit_undo(struct unit_search *search, int unit, int rep)
{
    for (int i = 0; i < search->question->n; i++) {
        struct port_demands *demands = &search->usages[i].demands;
        const struct port_demand *demand = port_demand_on(demands, unit);
        if (!demand)
            continue;
        double clk = demand->clk;
        ports_demand_drop(demands, unit);
        if (demands->n == 0)
            ports_demand_put(demands, -1)->clk = clk;
        if (i != rep)
            search->waiting[search->nwaiting++] = i;
    }
}

// Tries the form at position rep as the blocker of a new unit. Returns its members, or -1.
static int unit_try(struct unit_search *search, const char *name, int rep, struct err *err)
{
    struct port_model *model = search->model;
    struct port_unit *unit = &model->units[model->nunits];
    *unit = (struct port_unit){.blocker = search->question->which[rep],
                               .blocker_clk = search->clk[rep],
                               .usage = search->usages[rep],
                               .whole_blocker = -1};
    if (name)
        snprintf(unit->name, sizeof unit->name, "%s", name);
    else
        snprintf(unit->name, sizeof unit->name, "U%d", model->nunits + 1);
    int members = unit_assign(search, model->nunits, &search->usages[rep], err);
    if (unit_is_shared(search, model->nunits, rep))
        model->nunits++;
    else
        unit_undo(search, model->nunits, rep);
    return members;
}

// Finds the sequencer of microcode with forms that take longer than their slots; others may need it
// as well.
static int unit_find_microcode(struct unit_search *search, int n, struct err *err)
{
    int unit = search->model->nunits, status = 0, rep = -1;
    unit_collect(search, n, microcode_shows);
    for (int tries = 0; tries < MICROCODE_TRIES && search->nwaiting > 0 && status >= 0 &&
                        search->model->nunits == unit;
         tries++)
        status = unit_try(search, PORT_MICROCODE, rep = microcode_choose(search), err);
    if (status < 0 || search->model->nunits == unit)
        return status;
    unit_collect(search, n, microcode_candidate);
    return unit_assign(search, unit, &search->usages[rep], err);
}

// Finds dividers with blockers of at most so many slots.
static int unit_find_dividers(struct unit_search *search, int n, double slots, int tries,
                              struct err *err)
{
    int status = 0;
    unit_collect(search, n, unit_candidate);
    for (; tries > 0 && search->model->nunits < PORT_UNITS_MAX - 1 && status >= 0; tries--) {
        int rep = unit_choose(search, slots);
        if (rep < 0)
            break;
        status = unit_try(search, NULL, rep, err);
    }
    return status;
}

int port_find_units(const struct port_question *question, struct port_model *model,
                    struct port_usage *usages, struct err *err)
{
    struct unit_search search = {
        .question = question, .model = model, .usages = usages, .named = model};
    int status = 0, n = question->n;
    search_begin(&search, n);
    status = unit_find_dividers(&search, n, SLOTS_MAX, n, err);
    if (status >= 0)
        status = unit_find_microcode(&search, n, err);
    if (status >= 0)
        status = unit_find_dividers(&search, n, INFINITY, LONG_TRIES, err);
    for (int unit = 0; unit < model->nunits && status >= 0; unit++)
        status = unit_beside(&search, n, unit, err);
    search_end(&search);
    return status < 0 ? -1 : 0;
}

int port_assign_units(const struct port_question *question, const struct port_model *model,
                      struct port_usage *usages, struct err *err)
{
    struct port_model copy = *model;
    struct unit_search search = {.question = question,
                                 .model = &copy,
                                 .usages = usages,
                                 .evidence = question->evidence,
                                 .named = model};
    int status = 0, n = question->n;
    search_begin(&search, n);
    for (int unit = 0; unit < model->nunits && status >= 0; unit++) {
        if (port_unit_is_path(&model->units[unit]))
            continue;
        unit_collect(&search, n,
                     port_unit_is_microcode(&model->units[unit]) ? microcode_candidate
                                                                 : unit_candidate);
        status = unit_assign(&search, unit, &model->units[unit].usage, err);
    }
    for (int unit = 0; unit < model->nunits && status >= 0; unit++)
        status = unit_beside(&search, n, unit, err);
    if (status >= 0)
        status = ports_assign_paths(question, model, usages, err);
    if (status == 0)
        ports_share_stores(question, model, usages);
    search_end(&search);
    return status < 0 ? -1 : 0;
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
