// SPDX-License-Identifier: MIT
// Sides: a part of the core that takes fewer slots a cycle than dispatch has, whatever ports they
// go to. A Zen 5 dispatches eight, of which six may go to the vector side. What is eliminated at
// rename shows it: it waits for no port, so forms that take longer beside it than the front end and
// their ports explain send their slots to the same place.
#include "ports_discover.h"
#include "ports_trials.h"

#include <math.h>
#include <stdlib.h>

enum {
    SIDE_CYCLES = 12, // that probes keep the side busy for in discovery
    SIDE_MIXES = 2,   // of a class and probes
    // In a disturbed moment all is slower, and by different parts.
    SIDE_TRIES = 2,
    SIDE_TRIES_MOST = 6, // where no side was found
    INSTANCES_MAX = 4,
    PROBES_MOST = 900, // beside the instances of a form
    CYCLES_LEAST = 2,
};
// Of the slots that a full side leaves of dispatch, which blockers take: no core dispatches quite
// its width in every cycle, and that is no side.
static const double LEFT_SHARE = 0.5;
static const double SHOWN_SHARE =
    0.083; // of the time, by which blockers on the side make it longer
// That a blocker takes of the side, if any. It may be more: on a Zen 5 a vector load among moves
// takes two of the six, unless another stands beside it. But some must take exactly one: what goes
// to ports that the probe has after all, now and then, seems to take another part of a slot (6/5).
static const double SLOT_LEAST = 0.5;
static const double SLOT_TOLERANCE = 0.12;
static const double LONG_CLK = 30;     // of these forms one instance is enough
static const double FRONT_ROOM = 3;    // times what dispatch has to do beside a full side
static const double SEEN_SHARE = 0.02; // of the time: less than that of a form's slots is noise
// How code lies, and the groups that microcode cuts, make mixes longer, too; nothing makes them
// shorter.
static const double SLOTS_NOISE = 0.7, MICROCODE_NOISE = 0.25; // the latter of all slots
static const double EXPLAINED = 1.08;                          // times what the slots take

// Blockers beside a full side, which takes no longer for them unless they are on it: as many as
// their ports and the front end let pass, and half as many, but enough to be seen. What a probe
// would take of their ports, if it were executed now and then, does not fit to both.
static int side_blockers(const struct port_model *model, int class, int width, int mix)
{
    double left = LEFT_SHARE * (model->width - width);
    int most = (int)(SIDE_CYCLES * fmin(port_set_size(model->classes[class].set), left));
    int least = (int)ceil(SHOWN_SHARE * SIDE_CYCLES * width);
    int fewer = most / 2 > least ? most / 2 : least;
    return mix == 0 || fewer > most ? most : fewer;
}

// The mixes of a probe, of which `width` pass a cycle: alone, and with blockers of all classes.
static void side_mixes(const struct port_model *model, int probe, int width, struct port_mix *mixes)
{
    int n = PORT_CONTROLS, probes = SIDE_CYCLES * width;
    ports_put_controls(probe, probes, mixes);
    for (int c = 0; c < model->nclasses; c++)
        for (int m = 0; m < SIDE_MIXES; m++)
            mixes[n++] = (struct port_mix){
                {{model->classes[c].blocker, side_blockers(model, c, width, m)}, {probe, probes}},
                2,
                MIX_ORDERS_FEW
            };
}

// What the timings of these mixes say of the classes: sides[]. Whether there are some on the side
// and some that are not: what all are on is the width.
static bool side_judge(const struct port_model *model, const struct port_mix *mixes,
                       const struct port_timing *timings, bool *sides)
{
    double alone_clk = ports_controls_clk(timings);
    int on = 0, off = 0, at = PORT_CONTROLS;
    for (int c = 0; c < model->nclasses; c++) {
        double least = INFINITY, most = -INFINITY;
        for (int m = 0; m < SIDE_MIXES; m++, at++) {
            const struct port_part *parts = mixes[at].parts;
            double slots = (timings[at].clk / alone_clk - 1) * parts[1].count / parts[0].count;
            if (timings[at].outcome != OUTCOME_OK)
                slots = (double)NAN;
            least = slots >= least ? least : slots; // NaN stays
            most = slots <= most ? most : slots;
        }
        sides[c] = least > SLOT_LEAST;
        on += least > 1 - SLOT_TOLERANCE && most < 1 + SLOT_TOLERANCE;
        off += least < SLOT_LEAST;
    }
    return on > 0 && off > 0;
}

// The eliminated form of each throughput that disturbs least, those of fewest a cycle first.
// Returns how many.
static int side_probes(const struct discovery *d, struct candidate *probes)
{
    int n = 0;
    for (int size = 1; size < d->width; size++) {
        int best = -1;
        for (int i = 0; i < d->neliminated; i++) {
            const struct port_form *form = &d->forms[d->eliminated[i].form];
            if (d->eliminated[i].size == size && form->upper == UPPER_NONE &&
                (best < 0 || form->blocker_cost < d->forms[d->eliminated[best].form].blocker_cost))
                best = i;
        }
        if (best >= 0)
            probes[n++] = d->eliminated[best];
    }
    return n;
}

// The mixes of all probes, `each` of them of one.
struct side_search {
    struct candidate *probes;
    int nprobes, each;
    struct port_mix *mixes;
    struct port_timing *timings; // the least of all tries
};

static void side_begin(const struct discovery *d, const struct port_model *model,
                       struct side_search *search)
{
    search->probes = xcalloc((size_t)d->width + 1, sizeof *search->probes);
    search->nprobes = side_probes(d, search->probes);
    search->each = PORT_CONTROLS + SIDE_MIXES * model->nclasses;
    size_t n = (size_t)(search->nprobes * search->each) + 1;
    search->mixes = xcalloc(n, sizeof *search->mixes);
    search->timings = xcalloc(n, sizeof *search->timings);
    for (int p = 0; p < search->nprobes; p++)
        side_mixes(model, search->probes[p].form, search->probes[p].size,
                   search->mixes + p * search->each);
    for (size_t i = 0; i < n; i++)
        search->timings[i].outcome = OUTCOME_UNSTABLE;
}

static void side_end(struct side_search *search)
{
    free(search->probes);
    free(search->mixes);
    free(search->timings);
}

// Times all mixes once more.
static int side_try(const struct discovery *d, struct side_search *search, struct err *err)
{
    int n = search->nprobes * search->each;
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    int status = ports_time(d->oracle, "sides", search->mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++)
        if (timings[i].outcome == OUTCOME_OK &&
            (search->timings[i].outcome != OUTCOME_OK || timings[i].clk < search->timings[i].clk))
            search->timings[i] = timings[i];
    free(timings);
    return status;
}

// Whether one class has as many ports as the side is wide, and all others on the side are inside
// it: then its ports say as much, and what takes a slot of the side shows a µop on them.
static bool side_is_ports(const struct port_model *model, const bool *sides, int width)
{
    uint32_t ports = 0;
    bool one = false;
    for (int c = 0; c < model->nclasses; c++)
        ports |= sides[c] ? model->classes[c].set : 0;
    for (int c = 0; c < model->nclasses; c++)
        one |= sides[c] && model->classes[c].set == ports;
    return one && port_set_size(ports) == width;
}

// What the timings say so far, into the model.
static void side_choose(const struct side_search *search, struct port_model *model)
{
    model->side = (struct port_side){.probe = -1};
    for (int p = 0; p < search->nprobes && model->side.width == 0; p++) {
        bool sides[PORT_CLASSES_MAX];
        int width = search->probes[p].size;
        const struct port_timing *timings = search->timings + p * search->each;
        if (!side_judge(model, search->mixes + p * search->each, timings, sides) ||
            side_is_ports(model, sides, width))
            continue;
        double clk = ports_controls_clk(timings) / (SIDE_CYCLES * width);
        model->side = (struct port_side){width, search->probes[p].form, clk};
        for (int c = 0; c < model->nclasses; c++)
            model->classes[c].side = sides[c];
    }
}

int discover_side(const struct discovery *d, struct port_model *model, struct err *err)
{
    struct side_search search;
    int status = 0;
    side_begin(d, model, &search);
    for (int tries = 1; tries <= SIDE_TRIES_MOST && search.nprobes > 0 && status == 0 &&
                        (tries <= SIDE_TRIES || model->side.width == 0);
         tries++) {
        status = side_try(d, &search, err);
        if (status == 0)
            side_choose(&search, model);
    }
    side_end(&search);
    return status;
}

// A form beside as many probes as keep the side busy for as long as the form would take, and as its
// slots would take beside a full side, so that only what it takes of the side makes the mix longer.
// false: that would not be seen.
static bool side_mix(const struct inference *inference, int i, const struct port_usage *usage,
                     unsigned orders, struct port_mix *mix)
{
    const struct port_model *model = inference->model;
    const struct port_form *forms = inference->question->forms;
    int form = inference->question->which[i];
    double alone = inference->trials[i].alone_clk;
    if (usage->outcome != OUTCOME_OK || !(usage->slots > 0) ||
        !port_forms_mix(&forms[form], &forms[model->side.probe]))
        return false;
    double clk = fmax(alone, FRONT_ROOM * usage->slots / (model->width - model->side.width));
    int instances = alone > LONG_CLK ? 1 : INSTANCES_MAX;
    while (instances > 1 && ceil(instances * clk) * model->side.width > PROBES_MOST)
        instances--;
    int probes = (int)fmax(CYCLES_LEAST, ceil(instances * clk)) * model->side.width;
    *mix = (struct port_mix){
        {{form, instances}, {model->side.probe, probes}},
        2, orders
    };
    return instances * usage->slots > SEEN_SHARE * probes;
}

// What seems to be no more than that is none. Microcode may cut groups of dispatch by half.
static double side_tolerance(const struct port_model *model, const struct port_usage *usage)
{
    return usage->slots > PORT_GROUP_SLOTS
               ? fmax(MICROCODE_NOISE * usage->slots, model->width / 2.0)
               : SLOTS_NOISE;
}

// As its ports suggest: what has µops where blockers take slots of the side takes as many.
static double side_suggested(const struct port_model *model, const struct port_usage *usage)
{
    double uops = 0;
    for (int u = 0; u < usage->nuses; u++)
        for (int c = 0; c < model->nclasses; c++)
            if (model->classes[c].side && model->classes[c].set == usage->uses[u].set) {
                uops += usage->uses[u].uops;
                break;
            }
    return fmin(uops, usage->slots);
}

// What it takes at most where others of its kind stand beside it: its slots, a whole number of them
// where they are few.
static double side_slots_most(const struct port_usage *usage)
{
    return usage->slots > PORT_GROUP_SLOTS ? usage->slots : fmax(1, round(usage->slots));
}

// Times forms beside the probe; the least counts. What is there always shows, and what shows may be
// the bad luck of an order: so what ports do not suggest is timed `again`.
static int side_time(const struct inference *inference, struct port_usage *usages, bool again,
                     struct err *err)
{
    const struct port_question *question = inference->question;
    const struct port_side *side = &inference->model->side;
    size_t most = (size_t)question->n + PORT_CONTROLS;
    struct port_mix *mixes = xcalloc(most, sizeof *mixes);
    struct port_timing *timings = xcalloc(most, sizeof *timings);
    int *at = xcalloc(most, sizeof *at), n = PORT_CONTROLS;
    enum mix_order order = again ? MIX_SHUFFLED : MIX_INTERLEAVED;
    ports_put_controls(side->probe, SIDE_CYCLES * side->width, mixes);
    for (int i = 0; i < question->n; i++) {
        double known = fmax(side_tolerance(inference->model, &usages[i]),
                            side_suggested(inference->model, &usages[i]) + SLOTS_NOISE);
        if (!(again && usages[i].side_slots <= known) &&
            side_mix(inference, i, &usages[i], 1u << order, &mixes[n]))
            at[n++] = i;
    }
    int status =
        n > PORT_CONTROLS ? ports_time(question->oracle, "sides", mixes, n, timings, err) : 0;
    double probe_clk = fmin(side->clk, ports_controls_clk(timings) / (SIDE_CYCLES * side->width));
    for (int k = PORT_CONTROLS; k < n && status == 0; k++) {
        const struct port_part *parts = mixes[k].parts;
        double slots = (timings[k].clk / probe_clk - parts[1].count) / parts[0].count;
        struct port_usage *usage = &usages[at[k]];
        if (timings[k].outcome == OUTCOME_OK)
            usage->side_slots = fmin(usage->side_slots, fmax(0, slots)); // the number, for NaN
        ports_tell(question->evidence, question->forms[side->probe].name, &mixes[k], &timings[k]);
    }
    free(mixes);
    free(timings);
    free(at);
    return status;
}

// What seems to be more than the slots is so among probes only: a load may leave the slot beside it
// empty unless another load takes it. In no order that is every other time. And what a form takes
// longer alone than its ports explain is not unexplained where its slots of the side take as long.
static void side_conclude(const struct port_model *model, struct port_usage *usage)
{
    double most = side_slots_most(usage);
    if (usage->side_slots <= side_tolerance(model, usage))
        usage->side_slots = 0;
    else if (usage->slots <= PORT_GROUP_SLOTS)
        usage->side_slots = floor(usage->side_slots + 1 - SLOTS_NOISE);
    if (usage->side_slots > most)
        usage->side_slots = (usage->side_slots + most) / 2;
    if (usage->busy_clk <= EXPLAINED * usage->side_slots / model->side.width)
        usage->busy_clk = 0;
}

int trials_side(const struct inference *inference, struct port_usage *usages, struct err *err)
{
    int n = inference->question->n;
    if (inference->model->side.width == 0 || inference->narrow)
        return 0;
    for (int i = 0; i < n; i++)
        usages[i].side_slots = (double)NAN;
    if (side_time(inference, usages, false, err) != 0 || side_time(inference, usages, true, err))
        return -1;
    for (int i = 0; i < n; i++)
        side_conclude(inference->model, &usages[i]);
    return 0;
}
