// SPDX-License-Identifier: MIT
// Inference: each form is timed alone, beside fillers (its slots), and beside the blockers of each
// class: what the whole takes longer than the blockers is its µops on the class's ports. First the
// classes that no other contains; where a form uses none of their ports it needs no trial with the
// classes inside. What all trials of a form say together is made of them by ports_fit.c.
#include "ports_count.h"
#include "ports_fit.h"
#include "ports_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALONE_COUNT = 8,
    INSTANCES_OF_FORM_MAX = 4,
    BODY_MAX = 900, // instances and blockers in a body, if one instance allows it
    TRIALS_OF_CLASS = 4,
    FUSED_COUNT = 24, // of a form that is faster than a slot, and of fillers
};
static const double FUSED_MOST = 0.8;     // slots that such a form takes alone
static const double BUSY_LEAST_CLK = 0.9; // shorter ones wait for nothing but ports
static const double BUSY_FILLED = 0.5;    // of the time alone, in fillers
static const double ALONE_MAX_CLK =
    100; // longer ones are microcode: blockers would have to be too many
static const double LONG_CLK = 30;
static const double USED_UOPS = 0.3; // fewer are none
static const double SERIAL_UOPS = 6; // more than its slots on every set: it stops everything

struct inference {
    const struct port_question *question;
    const struct port_model *model;
    const char *const *names;        // of its classes, as the evidence is told them
    const struct port_usage *narrow; // by position in which, what is known; NULL: nothing
    struct port_trials *trials;      // by position in which
    struct port_timing *alone;
    struct port_groups groups;
};

// What a mix is timed for.
enum trial_kind {
    TRIAL_ALONE,
    TRIAL_CLASS,       // beside blockers of a class: the µops on its ports
    TRIAL_SLOTS,       // beside fillers: the slots of dispatch
    TRIAL_SLOTS_MIXED, // the same in no particular order
    TRIAL_BUSY,        // beside few fillers: how fast it is among others
};

// Mixes of a round, and what each is for.
struct round_mixes {
    struct port_mix *mixes;
    struct port_timing *timings;
    struct round_purpose {
        int owner; // position in which
        enum trial_kind kind;
        struct port_trial trial; // what it becomes; its class is that of TRIAL_CLASS
    } * purposes;
    int n, capacity;
};

static void round_add(struct round_mixes *round, const struct port_mix *mix,
                      struct round_purpose purpose)
{
    if (round->n == round->capacity) {
        round->capacity = round->capacity ? 2 * round->capacity : 1024;
        size_t n = (size_t)round->capacity;
        round->mixes = xrealloc(round->mixes, n * sizeof *round->mixes);
        round->timings = xrealloc(round->timings, n * sizeof *round->timings);
        round->purposes = xrealloc(round->purposes, n * sizeof *round->purposes);
    }
    round->mixes[round->n] = *mix;
    round->purposes[round->n++] = purpose;
}

static void round_free(struct round_mixes *round)
{
    free(round->mixes);
    free(round->timings);
    free(round->purposes);
}

static int infer_alone(struct inference *inference, struct err *err)
{
    struct round_mixes round = {.n = 0};
    for (int i = 0; i < inference->question->n; i++) {
        const struct port_mix mix = {
            {{inference->question->which[i], ALONE_COUNT}}, 1, 1u << MIX_INTERLEAVED};
        round_add(&round, &mix, (struct round_purpose){.owner = i, .kind = TRIAL_ALONE});
    }
    int status = ports_time(inference->question->oracle, "forms alone", round.mixes, round.n,
                            round.timings, err);
    for (int i = 0; i < round.n && status == 0; i++) {
        const struct port_timing *timing = &round.timings[i];
        bool counted = timing->outcome == OUTCOME_OK && timing->counted;
        inference->alone[i] = *timing;
        inference->trials[i] = (struct port_trials){
            .alone_clk = timing->clk / ALONE_COUNT,
            .shared_clk = NAN,
            .slots_mixed = NAN,
            .best_clk = inference->question->forms[inference->question->which[i]].rthroughput_clk,
            .slots = counted ? timing->slots / ALONE_COUNT : (double)NAN,
            .counted_uops =
                port_groups_uops(&inference->groups, inference->model, timing, 0) / ALONE_COUNT,
            .counted_total = port_groups_total(&inference->groups, timing) / ALONE_COUNT,
            .touched = port_groups_touched(&inference->groups, timing),
        };
        if (inference->narrow)
            inference->trials[i].slots = inference->narrow[i].uops;
    }
    round_free(&round);
    return status;
}

static bool infer_possible(const struct inference *inference, int i)
{
    return inference->alone[i].outcome == OUTCOME_OK && inference->trials[i].alone_clk > 0 &&
           inference->trials[i].alone_clk <= ALONE_MAX_CLK;
}

// The throughput with chains broken, if it is known.
static double infer_best_clk(const struct inference *inference, int i)
{
    return fmin(inference->trials[i].alone_clk,
                inference->question->forms[inference->question->which[i]].rthroughput_clk);
}

// Long enough for the chains that instances with registers of their own have. Dispatch in groups
// makes some numbers fit better than others, so there are two, and a third and fourth in no order,
// where instances lose what random neighbours make them lose. Forms that are faster than slots are
// fused with what stands before them (nops on Zen 4): in no order many stand behind each other, so
// they are as many as the fillers. And few fillers: some forms take longer alone than among others,
// for the scheduler's sake.
static void infer_add_slots(struct inference *inference, struct round_mixes *round, int i)
{
    enum { ORDERED = 1 << MIX_INTERLEAVED | 1 << MIX_BLOCKS };
    const struct port_model *model = inference->model;
    if (model->filler < 0)
        return;
    double alone = inference->trials[i].alone_clk;
    double best = infer_best_clk(inference, i);
    bool fused = best < FUSED_MOST / model->width;
    const struct {
        double cycles;
        unsigned orders;
        enum trial_kind kind;
    } trials[] = {
        {1.3 * alone + 2,    ORDERED,                                      TRIAL_SLOTS      },
        {1.2 * alone + 1,    ORDERED,                                      TRIAL_SLOTS      },
        {1.3 * alone + 2,    1u << MIX_SHUFFLED,                           TRIAL_SLOTS_MIXED},
        {1.2 * alone + 1,    1u << MIX_SHUFFLED_2,                         TRIAL_SLOTS_MIXED},
        {BUSY_FILLED * best, (unsigned)MIX_ORDERS_FEW | PORT_MIX_BREAKING, TRIAL_BUSY       },
    };
    for (size_t k = 0; k < sizeof trials / sizeof trials[0]; k++) {
        if (trials[k].kind == TRIAL_SLOTS && !isnan(inference->trials[i].slots))
            continue; // counted
        if (trials[k].kind == TRIAL_BUSY && !(best >= BUSY_LEAST_CLK))
            continue;
        int instances = alone > LONG_CLK ? 1 : INSTANCES_OF_FORM_MAX;
        int fillers = (int)ceil(model->width * trials[k].cycles) * INSTANCES_OF_FORM_MAX;
        if (fused && trials[k].kind == TRIAL_SLOTS_MIXED)
            instances = fillers = FUSED_COUNT;
        const struct port_mix mix = {
            {{inference->question->which[i], instances}, {model->filler, fillers}},
            2,
            trials[k].orders
        };
        round_add(round, &mix,
                  (struct round_purpose){
                      i, trials[k].kind, {.instances = instances, .blockers = fillers}
        });
    }
}

// What the trial beside fillers says of dispatch.
static void infer_slots(const struct port_model *model, struct port_trials *trials,
                        const struct port_trial *trial, enum trial_kind kind)
{
    double slots = fmax(0, (trial->clk * model->width - trial->blockers) / trial->instances);
    trials->slots = fmin(trials->slots, slots);
    if (kind == TRIAL_SLOTS_MIXED)
        trials->slots_mixed = fmin(trials->slots_mixed, slots);
}

// Few blockers, so that schedulers which bind µops to ports early lose little; and many, for forms
// whose own time would hide few. The fewest, with moves between instances that would wait for each
// other: µops shown are never too few, so what the moves cost makes at worst a useless trial.
static void infer_add_trials(struct inference *inference, struct round_mixes *round, int i, int c)
{
    enum { DENSE = 1 << MIX_INTERLEAVED | 1 << MIX_SHUFFLED };
    const struct port_class *class = &inference->model->classes[c];
    const struct port_form *form = &inference->question->forms[inference->question->which[i]];
    int size = port_set_size(class->set);
    double alone = inference->trials[i].alone_clk;
    double best = infer_best_clk(inference, i);
    const struct {
        double cycles;
        unsigned orders;
        bool wanted;
    } trials[TRIALS_OF_CLASS] = {
        {fmax(1, ceil(best - 0.1)),      DENSE | PORT_MIX_BREAKING, true        },
        {fmax(2, ceil(1.5 * best) + 1),  DENSE | PORT_MIX_BREAKING, form->chains},
        {fmax(2, ceil(1.5 * alone) + 1), (unsigned)MIX_ORDERS_FEW,  true        },
        {fmax(6, 2 * ceil(alone) + 4),   1u << MIX_INTERLEAVED,     true        },
    };
    for (int k = 0; k < TRIALS_OF_CLASS; k++) {
        if (!trials[k].wanted)
            continue;
        int blockers = (int)(size * trials[k].cycles);
        int instances = BODY_MAX / (blockers + 1);
        if (instances > INSTANCES_OF_FORM_MAX)
            instances = INSTANCES_OF_FORM_MAX;
        if (instances < 1)
            instances = 1;
        const struct port_mix mix = {
            {{inference->question->which[i], instances}, {class->blocker, blockers * instances}},
            2,
            trials[k].orders
        };
        round_add(round, &mix,
                  (struct round_purpose){
                      i,
                      TRIAL_CLASS,
                      {.class = c, .instances = instances, .blockers = blockers * instances}
        });
    }
}

static void trials_add(struct port_trials *trials, struct port_trial trial)
{
    trials->trials = xrealloc(trials->trials, (size_t)(trials->n + 1) * sizeof *trials->trials);
    trials->trials[trials->n++] = trial;
}

// What of the class's count is the form's.
static double infer_counted_uops(const struct inference *inference, const struct port_trial *trial,
                                 const struct port_timing *timing)
{
    double uops = port_groups_uops(&inference->groups, inference->model, timing,
                                   inference->model->classes[trial->class].set);
    return (uops - trial->blockers) / trial->instances;
}

static int infer_round(struct inference *inference, const char *what, struct round_mixes *round,
                       struct err *err)
{
    const struct port_model *model = inference->model;
    const struct port_evidence *evidence = inference->question->evidence;
    int status =
        ports_time(inference->question->oracle, what, round->mixes, round->n, round->timings, err);
    for (int i = 0; i < round->n && status == 0; i++) {
        const struct round_purpose *purpose = &round->purposes[i];
        bool beside_class = purpose->kind == TRIAL_CLASS;
        struct port_trials *trials = &inference->trials[purpose->owner];
        struct port_trial trial = purpose->trial;
        const struct port_timing *timing = &round->timings[i];
        trial.clk = timing->outcome == OUTCOME_OK ? timing->clk : (double)NAN;
        trial.counted_uops =
            beside_class ? infer_counted_uops(inference, &trial, timing) : (double)NAN;
        if (beside_class)
            trials_add(trials, trial);
        else if (timing->outcome == OUTCOME_OK && purpose->kind != TRIAL_BUSY)
            infer_slots(model, trials, &trial, purpose->kind);
        // What it took beside something else it can take alone.
        if (timing->outcome == OUTCOME_OK)
            trials->shared_clk = fmin(trials->shared_clk, timing->clk / trial.instances);
        if (evidence)
            evidence->tell(evidence->context, inference->question->which[purpose->owner],
                           beside_class ? inference->names[trial.class] : "front end",
                           trial.blockers, trial.instances, timing);
    }
    round_free(round);
    *round = (struct round_mixes){.n = 0};
    return status;
}

static bool class_maximal(const struct port_model *model, int c)
{
    uint32_t set = model->classes[c].set;
    for (int i = 0; i < model->nclasses; i++)
        if (i != c && (set & ~model->classes[i].set) == 0)
            return false;
    return true;
}

static double trials_least(const struct port_model *model, const struct port_trials *trials, int c)
{
    double least = NAN;
    for (int i = 0; i < trials->n; i++)
        if (trials->trials[i].class == c && !isnan(trials->trials[i].clk) &&
            !(least <= port_trial_uops(model, &trials->trials[i])))
            least = port_trial_uops(model, &trials->trials[i]);
    return least;
}

// Whether the form may use ports of class c: it uses some of a maximal class that meets it.
static bool infer_wanted(const struct inference *inference, int i, int c)
{
    const struct port_model *model = inference->model;
    if (class_maximal(model, c))
        return false;
    for (int m = 0; m < model->nclasses; m++)
        if (class_maximal(model, m) && model->classes[m].set & model->classes[c].set &&
            trials_least(model, &inference->trials[i], m) > USED_UOPS)
            return true;
    return false;
}

// A form beside which nothing runs uses no ports: it waits for everything.
static bool infer_serialises(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    double least = INFINITY;
    for (int c = 0; c < inference->model->nclasses; c++) {
        double uops = class_maximal(inference->model, c)
                          ? trials_least(inference->model, trials, c) /
                                port_set_size(inference->model->classes[c].set)
                          : (double)NAN;
        if (!isnan(uops))
            least = fmin(least, uops);
    }
    return least != (double)INFINITY && least > SERIAL_UOPS / 2;
}

static struct port_usage infer_usage(const struct inference *inference, int i)
{
    struct port_usage none = {.slots = NAN, .unit = -1, .outcome = OUTCOME_NOT_MEASURABLE};
    if (inference->alone[i].outcome != OUTCOME_OK) {
        none.outcome = inference->alone[i].outcome;
        none.detail = "its throughput beside nothing has no value";
        return none;
    }
    none.slots = inference->trials[i].slots;
    none.detail = "takes too long: microcode, or it waits for something outside the core";
    if (!infer_possible(inference, i))
        return none;
    none.detail = "serialises: nothing else runs beside it";
    if (infer_serialises(inference, i))
        return none;
    struct port_trials trials = inference->trials[i];
    if (inference->narrow) { // alone it may have more ports
        trials.alone_clk = INFINITY;
        trials.best_clk = NAN;
    }
    return port_fit(inference->model, &trials);
}

// What each form in question uses of a part of a model.
static int infer_part(struct inference *inference, struct port_usage *usages, struct err *err)
{
    const struct port_question *question = inference->question;
    const struct port_model *model = inference->model;
    int n = question->n;
    inference->trials = xcalloc((size_t)n + 1, sizeof *inference->trials);
    inference->alone = xcalloc((size_t)n + 1, sizeof *inference->alone);
    struct round_mixes round = {.n = 0};
    int status = port_groups_find(question->oracle, model, &inference->groups, err);
    if (status == 0)
        status = infer_alone(inference, err);
    for (int i = 0; i < n && status == 0; i++)
        if (infer_possible(inference, i)) {
            infer_add_slots(inference, &round, i);
            for (int c = 0; c < model->nclasses; c++)
                if (class_maximal(model, c))
                    infer_add_trials(inference, &round, i, c);
        }
    if (status == 0)
        status = infer_round(inference, "largest classes", &round, err);
    for (int i = 0; i < n && status == 0; i++)
        for (int c = 0; c < model->nclasses; c++)
            if (infer_possible(inference, i) && infer_wanted(inference, i, c))
                infer_add_trials(inference, &round, i, c);
    if (status == 0)
        status = infer_round(inference, "classes inside", &round, err);
    for (int i = 0; i < n && status == 0; i++)
        usages[i] = infer_usage(inference, i);
    for (int i = 0; i < n; i++)
        free(inference->trials[i].trials);
    round_free(&round);
    free(inference->trials);
    free(inference->alone);
    return status;
}

// The forms of a part of the question, and what is found of them.
struct infer_some {
    struct port_question question;
    int *which, *position; // in the whole question
    struct port_usage *usages;
};

static void some_begin(struct infer_some *some, const struct port_question *whole)
{
    some->question = *whole;
    some->which = xcalloc((size_t)whole->n + 1, sizeof *some->which);
    some->position = xcalloc((size_t)whole->n + 1, sizeof *some->position);
    some->usages = xcalloc((size_t)whole->n + 1, sizeof *some->usages);
    some->question.which = some->which;
    some->question.n = 0;
}

static void some_add(struct infer_some *some, const struct port_question *whole, int position)
{
    some->which[some->question.n] = whole->which[position];
    some->position[some->question.n++] = position;
}

static void some_end(struct infer_some *some)
{
    free(some->which);
    free(some->position);
    free(some->usages);
}

static int some_infer(struct infer_some *some, const struct port_model *model, enum ports_part part,
                      const struct port_usage *narrow, struct err *err)
{
    struct port_model of_part;
    const char *names[PORT_CLASSES_MAX];
    ports_model_part(model, part, &of_part, names);
    struct inference inference = {
        .question = &some->question, .model = &of_part, .names = names, .narrow = narrow};
    return some->question.n ? infer_part(&inference, some->usages, err) : 0;
}

// Which of the wide forms make others use other ports.
static int some_tell(struct infer_some *some, const struct port_model *model, struct err *err)
{
    int n = some->question.n;
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    for (int i = 0; i < n; i++)
        mixes[i] = ports_teller_mix(model, some->which[i]);
    int status = ports_time(some->question.oracle, "wide vectors", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        double clk = some->question.forms[some->which[i]].rthroughput_clk;
        some->usages[i].wide = ports_teller_slower(model, &timings[i], isnan(clk) ? 1 : clk);
        ports_tell(some->question.evidence, model->classes[model->teller].name, &mixes[i],
                   &timings[i]);
    }
    free(mixes);
    free(timings);
    return status;
}

// The ports on which vectors have another choice while wide forms are about.
static uint32_t model_moving(const struct port_model *model)
{
    uint32_t ports = 0;
    for (int c = 0; c < model->nclasses && model->teller >= 0; c++)
        if (model->classes[c].holds == PORT_WIDE || model->classes[c].holds == PORT_NARROW)
            ports |= model->classes[c].set;
    return ports;
}

static int usage_moving(const struct port_usage *usage, uint32_t moving)
{
    int uops = 0;
    for (int u = 0; u < usage->nuses; u++)
        uops += usage->uses[u].set & ~moving ? 0 : usage->uses[u].uops;
    return usage->outcome == OUTCOME_OK ? uops : 0;
}

// What stays, and what the form's other uops choose from beside wide forms, largest sets first.
static void usage_set_wide(struct port_usage *usage, const struct port_usage *beside,
                           uint32_t moving)
{
    struct port_use uses[2 * PORT_USES_MAX];
    int n = 0;
    if (beside->outcome != OUTCOME_OK || beside->uops == 0)
        return;
    for (int u = 0; u < usage->nuses; u++)
        if (usage->uses[u].set & ~moving)
            uses[n++] = usage->uses[u];
    for (int u = 0; u < beside->nuses; u++) {
        int at = n++;
        for (; at > 0 && port_set_size(uses[at - 1].set) < port_set_size(beside->uses[u].set); at--)
            uses[at] = uses[at - 1];
        uses[at] = beside->uses[u];
    }
    bool same = n == usage->nuses;
    for (int u = 0; u < n && same; u++)
        same = uses[u].set == usage->uses[u].set && uses[u].uops == usage->uses[u].uops;
    if (same || n > PORT_USES_MAX)
        return;
    usage->nwide = n;
    memcpy(usage->wide_uses, uses, (size_t)n * sizeof *uses);
}

// What vector forms use while wide forms are about.
static int infer_beside_wide(const struct port_question *question, const struct port_model *model,
                             struct port_usage *usages, struct err *err)
{
    uint32_t moving = model_moving(model);
    struct infer_some some;
    some_begin(&some, question);
    struct port_usage *narrow = xcalloc((size_t)question->n + 1, sizeof *narrow);
    for (int i = 0; i < question->n && moving; i++) {
        int bits = question->forms[question->which[i]].bits;
        int uops = usage_moving(&usages[i], moving);
        if (bits == 0 || bits >= PORT_WIDE_BITS || uops == 0)
            continue;
        narrow[some.question.n].uops = uops;
        some_add(&some, question, i);
    }
    int status = some_infer(&some, model, PORTS_BESIDE_WIDE, narrow, err);
    for (int i = 0; i < some.question.n && status == 0; i++)
        usage_set_wide(&usages[some.position[i]], &some.usages[i], moving);
    free(narrow);
    some_end(&some);
    return status;
}

int port_infer(const struct port_question *question, const struct port_model *model,
               struct port_usage *usages, struct err *err)
{
    int status = 0;
    for (int wide = 0; wide < 2 && status == 0; wide++) {
        struct infer_some some;
        some_begin(&some, question);
        for (int i = 0; i < question->n; i++)
            if ((question->forms[question->which[i]].bits >= PORT_WIDE_BITS) == wide)
                some_add(&some, question, i);
        status = some_infer(&some, model, wide ? PORTS_OF_WIDE : PORTS_NARROW, NULL, err);
        if (status == 0 && wide && model->teller >= 0)
            status = some_tell(&some, model, err);
        for (int i = 0; i < some.question.n && status == 0; i++)
            usages[some.position[i]] = some.usages[i];
        some_end(&some);
    }
    return status == 0 ? infer_beside_wide(question, model, usages, err) : status;
}
