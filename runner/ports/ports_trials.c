// SPDX-License-Identifier: MIT
// Trials of forms; see ports_trials.h.
#include "ports_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    INSTANCES_OF_FORM_MAX = 4,
    BODY_MAX = 900, // instances and blockers in a body, if one instance allows it
    BESIDE_KINDS = 6,
    FUSED_COUNT = 24, // instances of a form that is faster than a slot, and as many fillers
};
static const double FILLED_TIMES = 1.2;   // of the time alone, in fillers
static const double BESIDE_TIMES = 1.5;   // of the time alone, in blockers
static const double LONGER_TIMES = 1.25;  // of the screen
static const double BUSY_FILLED = 0.5;    // dispatch of the few fillers, of the throughput
static const double BUSY_REWRITES = 0.25; // the same, of forms whose throughput depends on places
static const double ALONE_MAX_CLK = 100;  // longer is microcode, and needs too many blockers
// Dispatch of the fillers between instances that may stall the front end, as a share of the
// instances' throughput; three times it hides all that can be hidden. Forms that are faster than
// PORT_MICROCODE_CLK are no microcode.
static const double FRONT_FILLED[] = {1, 0.5, 3};

// Purpose of a mix.
enum trial_kind {
    TRIAL_ALONE,
    TRIAL_CLASS,       // beside blockers of a class: the µops on its ports
    TRIAL_SLOTS,       // beside fillers: the slots of dispatch
    TRIAL_SLOTS_MIXED, // the same in no particular order
    TRIAL_SLOTS_WHOLE, // the same beside fillers that make whole cycles
    TRIAL_BUSY,        // beside few fillers: the throughput among others
    TRIAL_FRONT,       // the same without chains: the time of the front end
    TRIAL_FRONT_MANY,  // the same beside so many that they hide all they can
};

struct round_purpose {
    int owner; // position in which
    enum trial_kind kind;
    struct port_trial trial; // to be completed; has a class for TRIAL_CLASS only
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
    *round = (struct round_mixes){.n = 0};
}

// Returns the cycles of a filler among many, by the controls: time over that by the width is no
// slot of a form. Controls that take much longer were disturbed.
static double filler_clk(int width, int fillers, const struct port_timing *controls)
{
    double clk = ports_controls_clk(controls) / fillers, ideal = 1.0 / width;
    return clk > ideal && clk < (1 + PORT_EXCESS) * ideal ? clk : ideal;
}

static int trials_alone(struct inference *inference, struct err *err)
{
    struct round_mixes round = {.n = 0};
    int n = inference->question->n, fillers = 2 * PORT_BUSY_CLK * inference->model->width;
    for (int i = 0; i < n; i++) {
        const struct port_mix mix = {
            {{inference->question->which[i], PORT_ALONE}}, 1, 1u << MIX_INTERLEAVED};
        round_add(&round, &mix, (struct round_purpose){.owner = i, .kind = TRIAL_ALONE});
    }
    struct port_mix controls[PORT_CONTROLS];
    ports_put_controls(inference->model->filler, fillers, controls);
    for (int i = 0; i < PORT_CONTROLS && inference->model->filler >= 0; i++)
        round_add(&round, &controls[i], (struct round_purpose){.owner = -1, .kind = TRIAL_ALONE});
    int status = ports_time(inference->question->oracle, "forms alone", round.mixes, round.n,
                            round.timings, err);
    const struct port_timing *timings = status == 0 ? round.timings : NULL;
    inference->filler_clk = 1.0 / inference->model->width;
    if (timings && round.n > n)
        inference->filler_clk = filler_clk(inference->model->width, fillers, timings + n);
    for (int i = 0; i < n && timings; i++) {
        const struct port_timing *timing = &timings[i];
        bool counted = timing->outcome == OUTCOME_OK && timing->counted;
        inference->alone[i] = *timing;
        inference->trials[i] = (struct port_trials){
            .alone_clk = timing->clk / PORT_ALONE,
            .shared_clk = NAN,
            .slots_mixed = NAN,
            .slots_whole = NAN,
            .front_clk = NAN,
            .beside_clk = NAN,
            .among_fillers = NAN,
            .among_clk = NAN,
            .front_many_clk = NAN,
            .delivery_clk = NAN,
            .best_clk = trials_form(inference, i)->rthroughput_clk,
            .slots = counted ? timing->slots / PORT_ALONE : (double)NAN,
            .counted_uops =
                port_groups_uops(&inference->groups, inference->model, timing, 0) / PORT_ALONE,
            .counted_total = port_groups_total(&inference->groups, timing) / PORT_ALONE,
            .touched = port_groups_touched(&inference->groups, timing),
            .controls = &inference->controls,
        };
        if (inference->moved)
            inference->trials[i].slots = inference->moved[i].uops;
    }
    round_free(&round);
    return status;
}

bool trials_possible(const struct inference *inference, int i)
{
    return inference->alone[i].outcome == OUTCOME_OK && inference->trials[i].alone_clk > 0 &&
           inference->trials[i].alone_clk <= ALONE_MAX_CLK;
}

double trials_best_clk(const struct inference *inference, int i)
{
    return fmin(inference->trials[i].alone_clk, trials_form(inference, i)->rthroughput_clk);
}

// Returns the fillers per instance that make, with the moves before the next one, whole cycles of
// dispatch: instances that begin a cycle of their own then cut none short.
static int front_fillers(const struct port_model *model, const struct port_form *form, double clk)
{
    int run = model->width * (int)ceil(clk - PORT_NOISE_ALONE);
    while (run <= form->moves)
        run += model->width;
    return run - form->moves;
}

// Adds trials beside fillers, which are long enough for the chains of instances with registers of
// their own. Dispatch in groups favours some numbers of fillers, so there are two. Each is timed in
// an order, and in none, which shows the losses from random neighbours. Forms that are faster than
// slots are fused with what stands before them (nops on Zen 4): in no order many of them are
// adjacent, so they are as many as the fillers. Few fillers are timed, too, because the scheduler
// makes some forms slower alone than among others.
void trials_add_filled(struct inference *inference, struct round_mixes *round, int i,
                       unsigned kinds)
{
    enum {
        ORDERED = 1 << MIX_INTERLEAVED | 1 << MIX_BLOCKS,
        FEW = (unsigned)MIX_ORDERS_FEW,
        WHOLE = 1 << MIX_INTERLEAVED | PORT_MIX_INDEPENDENT
    };
    const struct port_model *model = inference->model;
    kinds &= ~(unsigned)inference->filled[i];
    inference->filled[i] |= (unsigned char)kinds;
    if (model->filler < 0)
        return;
    double alone = inference->trials[i].alone_clk;
    double best = trials_best_clk(inference, i);
    bool fused = best < (1 - PORT_NOISE_BEST) / model->width;
    const struct port_form *form = trials_form(inference, i);
    double busy_filled = form->rewrites ? BUSY_REWRITES : BUSY_FILLED;
    const struct {
        unsigned kinds;
        double cycles;
        unsigned orders;
        enum trial_kind kind;
    } trials[] = {
        {FILLED_ORDERED, FILLED_TIMES * alone + 1, ORDERED,                 TRIAL_SLOTS      },
        {FILLED_MIXED,   FILLED_TIMES * alone + 1, 1u << MIX_SHUFFLED,      TRIAL_SLOTS_MIXED},
        {FILLED_AGAIN,   FILLED_TIMES * alone + 2, ORDERED,                 TRIAL_SLOTS      },
        {FILLED_AGAIN,   FILLED_TIMES * alone + 2, 1u << MIX_SHUFFLED_2,    TRIAL_SLOTS_MIXED},
        {FILLED_BUSY,    busy_filled * best,       FEW | PORT_MIX_BREAKING, TRIAL_BUSY       },
        {FILLED_WHOLE,   best,                     WHOLE,                   TRIAL_SLOTS_WHOLE},
    };
    for (size_t k = 0; k < sizeof trials / sizeof trials[0]; k++) {
        if (!(trials[k].kinds & kinds))
            continue;
        if (trials[k].kind == TRIAL_SLOTS && inference->alone[i].counted)
            continue; // the counter has the slots
        if (trials[k].kind == TRIAL_BUSY && !(best >= 1 - PORT_EXCESS))
            continue;
        int instances = alone > PORT_LONG_CLK ? 1 : INSTANCES_OF_FORM_MAX;
        int fillers = (int)ceil(model->width * trials[k].cycles) * INSTANCES_OF_FORM_MAX;
        if (fused && trials[k].kind == TRIAL_SLOTS_MIXED)
            instances = fillers = FUSED_COUNT;
        if (trials[k].kind == TRIAL_SLOTS_WHOLE)
            fillers = instances * front_fillers(model, form, best);
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

// Returns the slots of an instance that takes clk among `others`. Fillers may take a little longer
// alone than the width says (Zen 3: `lea r32 [r]` 1 to 2 %), and less of that among other forms. So
// the fillers' time alone gives too few slots, by a quarter beside 15 of them, and the width too
// many. The slots are the least whole number between the two. Beside very many fillers there is
// none, and a form has at least one slot. Microcode may have parts of slots, and keeps the lower
// value.
static double trial_instance_slots(const struct inference *inference, double clk, double others)
{
    double least = clk / inference->filler_clk - others;
    double most = clk * inference->model->width - others;
    if (least > PORT_GROUP_SLOTS)
        return least;
    double whole = most - least < 1 ? ceil(least) : fmax(1, ceil(least));
    return fmax(0, whole <= most + PORT_NOISE_ALONE ? whole : least);
}

// Keeps the slots that a trial beside fillers shows.
static void trial_slots(const struct inference *inference, struct port_trials *trials,
                        const struct port_trial *trial, enum trial_kind kind)
{
    double slots = trial_instance_slots(inference, trial->clk / trial->instances,
                                        (double)trial->blockers / trial->instances);
    trials->slots = fmin(trials->slots, slots);
    if (kind == TRIAL_SLOTS_MIXED)
        trials->slots_mixed = fmin(trials->slots_mixed, slots);
}

double trials_shown(const struct port_model *model, const struct port_trials *trials)
{
    double uops = 0;
    for (int c = 0; c < model->nclasses; c++)
        if (trials_class_maximal(model, c))
            uops += fmax(0, trials_least(model, trials, c)); // NaN: none
    return uops;
}

bool trials_class_inside(const struct port_model *model, int inner, int outer)
{
    return inner != outer && (model->classes[inner].set & ~model->classes[outer].set) == 0;
}

bool trials_share(const struct inference *inference, int i, int class)
{
    const struct port_question *question = inference->question;
    return ports_shares_stores(question->forms, &question->forms[question->which[i]],
                               &inference->model->classes[class]);
}

bool trials_wait(const struct inference *inference, int i, int class)
{
    const struct port_trials *trials = &inference->trials[i];
    bool waits = false;
    for (int t = 0; t < trials->n; t++)
        waits |= trials->trials[t].class == class &&
                 port_trial_waits(inference->model, trials, &trials->trials[t]);
    return waits;
}

int trials_inside(const struct inference *inference, int i, int c)
{
    const struct port_model *model = inference->model;
    int counts[PORT_CLASSES_MAX] = {0}, sum = 0;
    for (int j = 0; j < c; j++) { // smallest first
        if (!trials_class_inside(model, j, c) || trials_share(inference, i, j) ||
            trials_wait(inference, i, j))
            continue;
        double count = trials_least(model, &inference->trials[i], j) + PORT_NOISE;
        for (int k = 0; k < j; k++)
            count -= trials_class_inside(model, k, j) ? counts[k] : 0;
        counts[j] = count >= 1 ? (int)count : 0;
        sum += counts[j];
    }
    return sum;
}

// Returns how many blockers of the class pass beside `instances` in their time, by the µops known
// so far; 0: none.
static int balanced_blockers(const struct inference *inference, int i, int c, int instances)
{
    double room = port_set_size(inference->model->classes[c].set) * trials_best_clk(inference, i) -
                  trials_inside(inference, i, c);
    return (int)fmax(0, floor(instances * room + PORT_NOISE_BEST));
}

// Returns the mix of a trial: instances of a form with these times beside blockers of a class.
static struct port_mix beside_mix(const struct port_model *model, int c, int kind, int form,
                                  double alone_clk, double best_clk)
{
    enum { DENSE = 1 << MIX_INTERLEAVED | 1 << MIX_SHUFFLED };
    double screen = fmax(PORT_BUSY_CLK, 2 * ceil(alone_clk) + 4);
    const double cycles[BESIDE_KINDS] = {fmax(1, ceil(best_clk - PORT_NOISE_ALONE)),
                                         fmax(2, ceil(BESIDE_TIMES * best_clk) + 1),
                                         fmax(2, ceil(BESIDE_TIMES * alone_clk) + 1),
                                         screen,
                                         best_clk,
                                         ceil(LONGER_TIMES * screen)};
    static const unsigned orders[BESIDE_KINDS] = {
        DENSE | PORT_MIX_BREAKING, DENSE | PORT_MIX_BREAKING, (unsigned)MIX_ORDERS_FEW,
        1u << MIX_INTERLEAVED,     DENSE | PORT_MIX_BREAKING, 1u << MIX_INTERLEAVED};
    int blockers = (int)(port_set_size(model->classes[c].set) * cycles[kind]);
    int instances = BODY_MAX / (blockers + 1);
    if (instances > INSTANCES_OF_FORM_MAX)
        instances = INSTANCES_OF_FORM_MAX;
    if (instances < 1)
        instances = 1;
    return (struct port_mix){
        {{form, instances}, {model->classes[c].blocker, instances * blockers}},
        2, orders[kind]
    };
}

// Adds trials beside blockers. With few of them, schedulers that bind µops early lose little; with
// many, a form whose own time would hide few shows, too. The fewest have moves between instances
// that would wait for each other: trials never show too few µops, so moves can only make a trial
// useless.
void trials_add_beside(struct inference *inference, struct round_mixes *round, int i, int c,
                       unsigned kinds)
{
    const struct port_form *form = trials_form(inference, i);
    double alone = inference->trials[i].alone_clk;
    double best = trials_best_clk(inference, i);
    kinds &= ~(unsigned)inference->beside[i][c];
    inference->beside[i][c] |= (unsigned char)kinds;
    if (port_forms_clash(form, &inference->question->forms[inference->model->classes[c].blocker]))
        return;
    for (int k = 0; k < BESIDE_KINDS; k++) {
        if (!(kinds & 1u << k) || (1u << k == BESIDE_MORE && !form->chains))
            continue;
        struct port_mix mix =
            beside_mix(inference->model, c, k, inference->question->which[i], alone, best);
        int instances = mix.parts[0].count, *blockers = &mix.parts[1].count;
        if (1u << k == BESIDE_BALANCED)
            *blockers = balanced_blockers(inference, i, c, instances);
        if (*blockers == 0)
            continue;
        round_add(round, &mix,
                  (struct round_purpose){
                      i, TRIAL_CLASS, {.class = c, .instances = instances, .blockers = *blockers}
        });
    }
}

// Times the blocker of each class beside those of the classes inside it, as forms are timed, and
// keeps what shows more than noise.
static int trials_controls(struct inference *inference, struct err *err)
{
    enum { KINDS = BESIDE_FEW | BESIDE_ORDERS | BESIDE_SCREEN }; // those of forms without chains
    const struct port_model *model = inference->model;
    struct port_controls all = {
        xcalloc((size_t)(model->nclasses * model->nclasses) + 1, sizeof *all.controls), 0};
    struct round_mixes round = {.n = 0};
    for (int outer = 0; outer < model->nclasses; outer++)
        for (int inner = 0; inner < model->nclasses; inner++) {
            const struct port_class *class = &model->classes[outer];
            if (!trials_class_inside(model, inner, outer))
                continue;
            all.controls[all.n] = (struct port_control){class->set, inner, NAN};
            for (int k = 0; k < BESIDE_KINDS; k++) {
                const struct port_mix mix = beside_mix(model, inner, k, class->blocker,
                                                       class->blocker_clk, class->blocker_clk);
                const struct port_trial trial = {inner, mix.parts[0].count, mix.parts[1].count, NAN,
                                                 NAN};
                if (KINDS & 1u << k)
                    round_add(&round, &mix, (struct round_purpose){all.n, TRIAL_CLASS, trial});
            }
            all.n++;
        }
    int status = round.n ? ports_time(inference->question->oracle, "controls", round.mixes, round.n,
                                      round.timings, err)
                         : 0;
    for (int i = 0; i < round.n && status == 0; i++) {
        struct port_control *control = &all.controls[round.purposes[i].owner];
        struct port_trial trial = round.purposes[i].trial;
        trial.clk = round.timings[i].outcome == OUTCOME_OK ? round.timings[i].clk : (double)NAN;
        control->uops = fmin(control->uops, port_trial_uops(model, &trial));
    }
    inference->controls.controls = all.controls;
    for (int i = 0; i < all.n; i++)
        if (all.controls[i].uops > PORT_NOISE_BEST)
            all.controls[inference->controls.n++] = all.controls[i];
    round_free(&round);
    return status;
}

// Returns the fillers and moves beside an instance.
static double trial_others(const struct inference *inference, int i, const struct port_trial *trial)
{
    const struct port_form *form = trials_form(inference, i);
    return (double)trial->blockers / trial->instances + form->moves - form->resets;
}

// Keeps the slots of the form among fillers that make whole cycles with the moves before it.
static void trial_whole(const struct inference *inference, int i, const struct port_trial *trial)
{
    struct port_trials *trials = &inference->trials[i];
    double others = trial_others(inference, i, trial);
    double slots = trial_instance_slots(inference, trial->clk / trial->instances, others);
    trials->slots_whole = fmin(trials->slots_whole, slots);
}

// Keeps the time that the front end takes for an instance: the least of both numbers of fillers,
// since chains and ports only make one of them longer. Fillers that are free beside it show a wait
// for something else, a divider, and then the time beside more of them is no stall.
static void trial_front(const struct inference *inference, int i, const struct port_trial *trial)
{
    const struct port_model *model = inference->model;
    struct port_trials *trials = &inference->trials[i];
    double others = trial_others(inference, i, trial);
    double clk = trial->clk / trial->instances;
    trial_whole(inference, i, trial);
    if (clk > (1 + PORT_SAME) * trials_best_clk(inference, i) &&
        !(trials->among_fillers < others)) {
        trials->among_fillers = others;
        trials->among_clk = clk;
    }
    if (clk <= (1 + PORT_SAME) * trials_best_clk(inference, i) ||
        trials->beside_clk <= (1 + PORT_SAME) * clk)
        trials->front_clk = 0;
    trials->beside_clk = clk;
    trials->front_clk = fmin(trials->front_clk, clk - others * inference->filler_clk);
    trials->delivery_clk = fmin(trials->delivery_clk, clk - ports_delivery_clk(model, others) -
                                                          ports_delivery_loss(model));
}

// Keeps the time beside so many fillers that they hide all they can.
static void trial_front_many(const struct inference *inference, int i,
                             const struct port_trial *trial)
{
    inference->trials[i].front_many_clk =
        trial->clk / trial->instances - trial_others(inference, i, trial) * inference->filler_clk;
}

static void trials_keep(struct port_trials *trials, struct port_trial trial)
{
    trials->trials = xrealloc(trials->trials, (size_t)(trials->n + 1) * sizeof *trials->trials);
    trials->trials[trials->n++] = trial;
}

// Returns the form's part of the µops counted on the class's ports.
static double trial_counted_uops(const struct inference *inference, const struct port_trial *trial,
                                 const struct port_timing *timing)
{
    double uops = port_groups_uops(&inference->groups, inference->model, timing,
                                   inference->model->classes[trial->class].set);
    return (uops - trial->blockers) / trial->instances;
}

int trials_round(struct inference *inference, const char *what, struct round_mixes *round,
                 struct err *err)
{
    const struct port_evidence *evidence = inference->question->evidence;
    int status = round->n ? ports_time(inference->question->oracle, what, round->mixes, round->n,
                                       round->timings, err)
                          : 0;
    for (int i = 0; i < round->n && status == 0; i++) {
        const struct round_purpose *purpose = &round->purposes[i];
        bool beside_class = purpose->kind == TRIAL_CLASS;
        struct port_trials *trials = &inference->trials[purpose->owner];
        struct port_trial trial = purpose->trial;
        const struct port_timing *timing = &round->timings[i];
        trial.clk = timing->outcome == OUTCOME_OK ? timing->clk : (double)NAN;
        trial.counted_uops =
            beside_class ? trial_counted_uops(inference, &trial, timing) : (double)NAN;
        bool lost = outcome_is_missing(timing->outcome);
        if (lost && beside_class)
            trials->lost |= UINT32_C(1) << trial.class;
        trials->slots_lost |= lost && !beside_class;
        if (beside_class)
            trials_keep(trials, trial);
        else if (timing->outcome == OUTCOME_OK && purpose->kind == TRIAL_FRONT)
            trial_front(inference, purpose->owner, &trial);
        else if (timing->outcome == OUTCOME_OK && purpose->kind == TRIAL_FRONT_MANY)
            trial_front_many(inference, purpose->owner, &trial);
        else if (timing->outcome == OUTCOME_OK && purpose->kind == TRIAL_SLOTS_WHOLE)
            trial_whole(inference, purpose->owner, &trial);
        else if (timing->outcome == OUTCOME_OK && purpose->kind != TRIAL_BUSY)
            trial_slots(inference, trials, &trial, purpose->kind);
        // An instance alone takes no longer than its share of a mix.
        if (timing->outcome == OUTCOME_OK)
            trials->shared_clk = fmin(trials->shared_clk, timing->clk / trial.instances);
        if (evidence)
            evidence->tell(evidence->context, inference->question->which[purpose->owner],
                           beside_class ? inference->names[trial.class] : "front end",
                           trial.blockers, trial.instances, timing);
    }
    round_free(round);
    return status;
}

bool trials_class_maximal(const struct port_model *model, int c)
{
    uint32_t set = model->classes[c].set;
    for (int i = 0; i < model->nclasses; i++)
        if (i != c && (set & ~model->classes[i].set) == 0)
            return false;
    return true;
}

double trials_least(const struct port_model *model, const struct port_trials *trials, int c)
{
    double least = NAN;
    for (int i = 0; i < trials->n; i++)
        if (trials->trials[i].class == c && !isnan(trials->trials[i].clk) &&
            !(least <= port_trial_uops(model, &trials->trials[i])))
            least = port_trial_uops(model, &trials->trials[i]);
    return least;
}

// Slots need no second look if they are one, or a whole number that is no more than the µops, and
// the same in any order. Forms that may begin a group of dispatch are timed among whole groups,
// unless the trials of their stalls have done that.
unsigned trials_due_filled(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    if (inference->moved) // the slots are known
        return 0;
    if (!inference->filled[i])
        return FILLED_ORDERED | FILLED_MIXED | FILLED_BUSY;
    double whole = floor(trials->slots + PORT_NOISE_ALONE);
    double uops = trials_shown(inference->model, trials);
    bool settled = trials->slots <= whole + PORT_NOISE_BEST &&
                   trials->slots <= fmax(uops, 1) + PORT_NOISE_BEST &&
                   trials->slots_mixed <= trials->slots + PORT_NOISE_BEST;
    bool begins = trials->slots > PORT_GROUP_SLOTS && isnan(trials->slots_whole);
    return (settled ? 0 : (unsigned)FILLED_AGAIN) | (begins ? (unsigned)FILLED_WHOLE : 0);
}

// Times the forms that may stall the front end beside few fillers, which hide little, and those
// that do beside many.
static int trials_front(struct inference *inference, struct err *err)
{
    const struct port_model *model = inference->model;
    int status = 0;
    for (size_t k = 0; k < ARRAY_LEN(FRONT_FILLED) && status == 0 && model->filler >= 0; k++) {
        struct round_mixes round = {.n = 0};
        for (int i = 0; i < inference->question->n; i++) {
            double best = trials_best_clk(inference, i);
            bool many = FRONT_FILLED[k] > 1;
            double shown_clk = many ? PORT_NOISE : 2 * PORT_NOISE;
            if (!trials_possible(inference, i) || !(best >= PORT_MICROCODE_CLK) ||
                (k > 0 && !(inference->trials[i].front_clk > shown_clk)))
                continue;
            int form = inference->question->which[i];
            int instances = best > PORT_LONG_CLK ? 1 : INSTANCES_OF_FORM_MAX;
            int fillers =
                instances * front_fillers(model, trials_form(inference, i), best * FRONT_FILLED[k]);
            const struct port_trial trial = {.instances = instances, .blockers = fillers};
            const struct port_mix mix = {
                {{form, instances}, {model->filler, fillers}},
                2,
                1u << MIX_INTERLEAVED | PORT_MIX_INDEPENDENT
            };
            round_add(&round, &mix,
                      (struct round_purpose){i, many ? TRIAL_FRONT_MANY : TRIAL_FRONT, trial});
        }
        status = trials_round(inference, "forms in front of the ports", &round, err);
    }
    return status;
}

int trials_begin(struct inference *inference, struct err *err)
{
    size_t n = (size_t)inference->question->n + 1;
    inference->trials = xcalloc(n, sizeof *inference->trials);
    inference->alone = xcalloc(n, sizeof *inference->alone);
    inference->beside = xcalloc(n, sizeof *inference->beside);
    inference->filled = xcalloc(n, sizeof *inference->filled);
    inference->rejected = xcalloc(n, sizeof *inference->rejected);
    int status =
        port_groups_find(inference->question->oracle, inference->model, &inference->groups, err);
    if (status == 0)
        status = trials_controls(inference, err);
    if (status == 0)
        status = trials_alone(inference, err);
    return status == 0 && !inference->moved ? trials_front(inference, err) : status;
}

void trials_end(struct inference *inference)
{
    for (int i = 0; i < inference->question->n; i++) {
        free(inference->trials[i].trials);
        free(inference->rejected[i].siblings);
    }
    free(inference->trials);
    free(inference->controls.controls);
    free(inference->alone);
    free(inference->beside);
    free(inference->filled);
    free(inference->rejected);
}
