// SPDX-License-Identifier: MIT
// Inference: each form is timed alone, beside fillers (its slots), and beside the blockers of each
// class: the time that the mix takes longer than the blockers shows its µops on the class's ports.
// Classes that no other contains come first; a form that uses none of their ports needs no trial
// with the classes inside. Trials never show too few µops, so a class of which the first kernel
// shows none, or no more than the classes inside it, needs no second one. ports_fit.c joins all
// trials of a form.
#include "ports_suggest.h"
#include "ports_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// µops on each port: more are no µops, but a wait of the form or of others.
static const double WAIT_UOPS = 3;
static const double KEPT_UOPS = 16; // µops shown on all ports beside WAIT_UOPS a slot, the same
// Slots that fillers lose beside a form without ports, as a share of all slots in its time: from
// here on nothing was dispatched because it waits. Beside locked forms fillers pass in a part of
// the time.
static const double WAIT_LOCKED = 0.5, WAIT_ALL = 0.95;
static const double GROWN_TIMES = 1.5; // growth of the µops shown from fewer to more blockers

// Returns true if the form may use ports of class c: it uses a maximal class that overlaps with it.
static bool infer_wanted(const struct inference *inference, int i, int c)
{
    const struct port_model *model = inference->model;
    if (trials_class_maximal(model, c))
        return true;
    for (int m = 0; m < model->nclasses; m++)
        if (trials_class_maximal(model, m) && model->classes[m].set & model->classes[c].set &&
            trials_least(model, &inference->trials[i], m) > PORT_NOISE)
            return true;
    return false;
}

// Returns true if nothing runs beside the form: it waits for everything, and shows no ports.
static bool infer_serialises(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    double least = INFINITY;
    for (int c = 0; c < inference->model->nclasses; c++) {
        double uops = trials_class_maximal(inference->model, c)
                          ? trials_least(inference->model, trials, c) /
                                port_set_size(inference->model->classes[c].set)
                          : (double)NAN;
        if (!isnan(uops))
            least = fmin(least, uops);
    }
    return least != (double)INFINITY && least > WAIT_UOPS;
}

// Returns true if the form keeps ports for much longer than its µops could: it waits for the
// results of all µops there, or others wait for it.
static bool infer_keeps(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    return trials_shown(inference->model, trials) > WAIT_UOPS * trials->slots + KEPT_UOPS;
}

// Sets the µops that a trial shows beside the class, and its number of blockers per instance.
// Returns false if the trial is beside another class, or has no time.
static bool trial_shows(const struct port_model *model, const struct port_trial *trial, int class,
                        double *beside, double *uops)
{
    *beside = (double)trial->blockers / trial->instances;
    *uops = port_trial_uops(model, trial);
    return trial->class == class && !isnan(*uops);
}

// Returns true if the cost of a form to the blockers of a class grows with their number, over three
// numbers of them: then it is something other than µops on ports.
static bool class_grows(const struct port_model *model, const struct port_trials *trials, int class)
{
    double fewest = INFINITY, most = -INFINITY, beside, uops, least = 0, last = 0;
    for (int t = 0; t < trials->n; t++) {
        if (!trial_shows(model, &trials->trials[t], class, &beside, &uops))
            continue;
        if (beside < fewest) {
            fewest = beside;
            least = uops;
        }
        if (beside > most) {
            most = beside;
            last = uops;
        }
    }
    bool grows = false;
    for (int t = 0; t < trials->n; t++)
        if (trial_shows(model, &trials->trials[t], class, &beside, &uops) && beside > fewest &&
            beside < most)
            grows |= uops > fmax(least, 0) * GROWN_TIMES + WAIT_UOPS &&
                     last > uops * GROWN_TIMES + WAIT_UOPS;
    return grows;
}

static bool infer_grows(const struct inference *inference, int i)
{
    bool grows = false;
    for (int c = 0; c < inference->model->nclasses; c++)
        grows |= class_grows(inference->model, &inference->trials[i], c);
    return grows;
}

// Returns the µops that the slots of a form allow; 0: unknown. A slot has one µop, with memory up
// to three (a load, an operation, or a store's address and data), four if memory is rewritten.
// Twice as many with the widest vectors, which some cores do in two passes of one slot.
static int infer_uops_most(const struct port_form *form, double slots)
{
    int fused = form->rewrites ? 4 : form->memory || form->stores ? 3 : 1;
    int passes = form->bits >= PORT_WIDE_BITS ? 2 : 1;
    return isnan(slots) ? 0 : fused * passes * (int)fmax(1, round(slots));
}

// Returns the trials of the form for the fit.
static struct port_trials infer_trials(const struct inference *inference, int i)
{
    struct port_trials trials = inference->trials[i];
    const struct port_form *form = trials_form(inference, i);
    bool decoding = form->decoding;
    trials.uops_most = infer_uops_most(form, trials.slots);
    for (int c = 0; c < inference->model->nclasses; c++)
        if (trials_share(inference, i, c))
            trials.shares |= UINT32_C(1) << c;
    if (inference->moved || decoding) { // alone it may have more ports, or wait for decoding
        trials.alone_clk = INFINITY;
        trials.best_clk = NAN;
    }
    if (decoding)
        trials.shared_clk = NAN;
    return trials;
}

// Returns true if trials have lost what they ask: of a class that no other contains none has a
// value, or of the slots. No µops would be found there, whatever the form needs.
static bool infer_lost(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    bool lost = trials->slots_lost && isnan(trials->slots);
    for (int c = 0; c < inference->model->nclasses; c++)
        lost |= (trials->lost & UINT32_C(1) << c) && trials_class_maximal(inference->model, c) &&
                isnan(trials_least(inference->model, trials, c));
    return lost;
}

// Returns the slots that fillers lose by a form whose ports do not show; NaN if that is a wait
// rather than slots.
static double infer_slots_alone(const struct inference *inference, int i)
{
    double slots = fmin(inference->trials[i].slots, inference->trials[i].slots_whole);
    double all = inference->model->width * trials_best_clk(inference, i);
    double most = trials_form(inference, i)->locks ? WAIT_LOCKED : WAIT_ALL;
    return slots < most * all ? slots : (double)NAN;
}

// Returns true if a set of the usage contains that of a class whose blocker cannot stand beside the
// form: its µops may be there.
static bool infer_untried(const struct inference *inference, int i, const struct port_usage *usage)
{
    const struct port_model *model = inference->model;
    bool untried = false;
    for (int c = 0; c < model->nclasses; c++) {
        const struct port_class *class = &model->classes[c];
        const struct port_form *blocker = &inference->question->forms[class->blocker];
        if (!port_forms_clash(trials_form(inference, i), blocker))
            continue;
        for (int u = 0; u < usage->uses.n; u++)
            untried |=
                usage->uses.use[u].set != class->set && (class->set & ~usage->uses.use[u].set) == 0;
    }
    return untried;
}

static struct port_usage infer_usage(const struct inference *inference, int i)
{
    struct port_usage none = {
        .front = {.slots = NAN, .mixed = NAN},
          .outcome = OUTCOME_NOT_MEASURABLE
    };
    if (inference->alone[i].outcome != OUTCOME_OK) {
        none.outcome = inference->alone[i].outcome;
        none.detail = "no throughput: it has no value beside nothing";
        return none;
    }
    none.detail = "takes too long: microcode, or it waits for something outside the core";
    if (!trials_possible(inference, i))
        return none;
    none.front.mixed = infer_slots_alone(inference, i);
    none.detail = "locked: the memory operations of all others wait for it, so nothing beside it "
                  "shows its ports";
    if (trials_form(inference, i)->locks)
        return none;
    none.outcome = OUTCOME_UNSTABLE;
    none.detail = "unstable: trials beside all blockers of some ports, or beside fillers, have no "
                  "value";
    if (infer_lost(inference, i))
        return none;
    none.outcome = OUTCOME_NOT_MEASURABLE;
    none.detail = isnan(none.front.mixed)
                      ? "serialises: nothing else runs beside it"
                      : "fills dispatch: blockers find no slots beside it to show its ports";
    if (infer_serialises(inference, i))
        return none;
    none.detail = "keeps ports: for longer than its µops, since it waits, or others wait for it";
    if (infer_keeps(inference, i))
        return none;
    none.detail = "slows others: the more the more there are, so it keeps no ports";
    if (infer_grows(inference, i))
        return none;
    struct port_trials trials = infer_trials(inference, i);
    struct port_usage usage = port_fit(inference->model, &trials);
    usage.ambiguous |= infer_untried(inference, i, &usage);
    return usage;
}

// Returns true if trials show more µops than the slots of the form allow.
static bool infer_shows_too_many(const struct inference *inference, int i)
{
    const struct port_trials *trials = &inference->trials[i];
    int most = infer_uops_most(trials_form(inference, i), trials->slots);
    return most > 0 && trials_shown(inference->model, trials) > most + PORT_NOISE;
}

// Returns the kinds of trials of a form beside a class that are due: the screen first; then the
// others, if the screen shows more than is explained, smaller classes before those that contain
// them; then another number of blockers for microcode, and the balanced one if all show more than
// slots allow.
static unsigned infer_due(const struct inference *inference, int i, int c)
{
    unsigned timed = inference->beside[i][c];
    double least = trials_least(inference->model, &inference->trials[i], c);
    if (!infer_wanted(inference, i, c))
        return 0;
    if (!(timed & BESIDE_SCREEN))
        return BESIDE_SCREEN;
    if (least <= PORT_NOISE_BEST || trials_share(inference, i, c))
        return 0;
    if (infer_serialises(inference, i))
        return trials_class_maximal(inference->model, c) ? BESIDE_ALL & ~timed : 0;
    for (int j = 0; j < c; j++)
        if (trials_class_inside(inference->model, j, c) && infer_due(inference, i, j))
            return 0;
    if (least <= trials_inside(inference, i, c) + PORT_NOISE_BEST)
        return 0;
    if ((timed & BESIDE_ALL) != BESIDE_ALL)
        return BESIDE_ALL & ~timed;
    unsigned more = inference->trials[i].slots > PORT_GROUP_SLOTS ? BESIDE_LONGER : 0;
    more |= infer_shows_too_many(inference, i) ? BESIDE_BALANCED : 0;
    return more & ~timed;
}

// Takes the trials that show the usages of forms, without any expectation of them.
static int infer_search(struct inference *inference, const int *some, int n, struct err *err)
{
    struct round_mixes round = {.n = 0};
    int status;
    bool due;
    do {
        for (int k = 0; k < n; k++) {
            int i = some[k];
            unsigned kinds[PORT_CLASSES_MAX] = {0};
            if (!trials_possible(inference, i))
                continue;
            for (int c = 0; c < inference->model->nclasses && !trials_form(inference, i)->locks;
                 c++)
                kinds[c] = infer_due(inference, i, c);
            for (int c = 0; c < inference->model->nclasses; c++)
                trials_add_beside(inference, &round, i, c, kinds[c]);
            trials_add_filled(inference, &round, i, trials_due_filled(inference, i));
        }
        due = round.n > 0;
        status = trials_round(inference, "forms beside blockers", &round, err);
    } while (status == 0 && due);
    return status;
}

// Positions of forms in the question.
struct positions {
    int *at;
    int n;
};

// Searches the usages of these forms, and keeps them for their siblings.
static int infer_searched(struct inference *inference, const struct positions *some,
                          enum port_way way, struct port_usage *usages, struct err *err)
{
    int status = some->n ? infer_search(inference, some->at, some->n, err) : 0;
    for (int k = 0; k < some->n && status == 0; k++) {
        struct port_usage *usage = &usages[some->at[k]];
        *usage = infer_usage(inference, some->at[k]);
        usage->way = way;
        if (inference->question->siblings)
            suggest_learn(inference, some->at[k], usage);
    }
    return status;
}

// Splits the question into the first form of each family, with and without memory operands, and the
// others.
static void infer_split(const struct inference *inference, struct positions *first,
                        struct positions *others)
{
    for (int i = 0; i < inference->question->n; i++) {
        bool known = !inference->question->siblings || suggest_knows(inference, i);
        for (int k = 0; k < first->n && !known && inference->question->siblings; k++)
            known = suggest_are_siblings(inference, i, first->at[k]);
        struct positions *to = known && inference->question->siblings ? others : first;
        to->at[to->n++] = i;
    }
}

// Tries the suggestions of siblings. `open` keeps the forms without one that fits.
static int infer_suggested(struct inference *inference, struct positions *open,
                           struct positions *drawn, struct port_usage *usages, struct err *err)
{
    struct round_mixes round = {.n = 0};
    struct positions left = {xcalloc((size_t)open->n + 1, sizeof *left.at), 0};
    int status = 0, n = open->n;
    while (n > 0 && status == 0) {
        int waiting = 0;
        for (int k = 0; k < n; k++) {
            int i = open->at[k];
            enum suggest_state state = trials_possible(inference, i)
                                           ? suggest_step(inference, &round, i, &usages[i])
                                           : SUGGEST_NONE;
            usages[i].way = PORT_WAY_SIBLING;
            if (state == SUGGEST_OPEN)
                open->at[waiting++] = i;
            else if (state == SUGGEST_NONE)
                left.at[left.n++] = i;
            else if (suggest_drawn(inference, i))
                drawn->at[drawn->n++] = i;
        }
        n = waiting;
        status = trials_round(inference, "forms like their siblings", &round, err);
    }
    free(open->at);
    *open = left;
    return status;
}

// Returns true if the only doubt about the form is that it has slots and no port with a blocker.
static bool usage_may_be_eliminated(const struct port_usage *usage)
{
    return usage->outcome == OUTCOME_OK && usage->ambiguous && usage->uses.n == 0 &&
           usage->residual <= PORT_NOISE_BEST && round(usage->front.slots) <= 1;
}

// Clears the doubt about forms that are eliminated at rename: their slots have no µops.
static int infer_eliminated(const struct inference *inference, struct port_usage *usages,
                            struct err *err)
{
    size_t most = (size_t)inference->question->n + 1;
    int *some = xcalloc(most, sizeof *some), n = 0;
    struct port_mix *mixes = xcalloc(most, sizeof *mixes);
    struct port_timing *timings = xcalloc(most, sizeof *timings);
    for (int i = 0; i < inference->question->n && !inference->moved; i++)
        if (usage_may_be_eliminated(&usages[i])) {
            mixes[n] = ports_chain(inference->question->which[i]);
            some[n++] = i;
        }
    int status = n ? ports_time(inference->question->oracle, "chains", mixes, n, timings, err) : 0;
    for (int k = 0; k < n && status == 0; k++)
        usages[some[k]].ambiguous = !ports_chain_eliminated(&timings[k]);
    free(some);
    free(mixes);
    free(timings);
    return status;
}

static bool uses_have(const struct port_uses *uses, uint32_t set)
{
    bool have = false;
    for (int u = 0; u < uses->n; u++)
        have |= uses->use[u].set == set;
    return have;
}

// Returns the µops that a form certainly loses beside the blockers of stores, no more than pass in
// its own time: none if it waits, or stalls the front end.
static int infer_share(const struct inference *inference, int i, int c,
                       const struct port_usage *usage)
{
    const struct port_model *model = inference->model;
    double most = port_set_size(model->classes[c].set) * trials_best_clk(inference, i);
    double shown = trials_least(model, &inference->trials[i], c) + PORT_NOISE;
    bool told = usage->outcome == OUTCOME_OK && trials_share(inference, i, c) && shown >= 1 &&
                !(usage->front.stall_clk > 0) && !trials_wait(inference, i, c);
    return told ? (int)fmin(shown, most + PORT_NOISE) - trials_inside(inference, i, c) : 0;
}

// Puts what forms lose beside the blockers of stores into their usages as µops, which
// ports_share_stores() turns into shares: no fit had them.
static void infer_put_shares(const struct inference *inference, struct port_usage *usages)
{
    for (int i = 0; i < inference->question->n; i++)
        for (int c = 0; c < inference->model->nclasses; c++) {
            struct port_uses *uses = &usages[i].uses;
            uint32_t set = inference->model->classes[c].set;
            int uops = infer_share(inference, i, c, &usages[i]);
            if (uops <= 0 || uses->n == PORT_USES_MAX || uses_have(uses, set))
                continue;
            uses->use[uses->n++] = (struct port_use){set, uops};
            uses->uops += uops;
        }
}

// Finds the usages of the forms in question on a map: the first of each family by
// search, the others as a sibling. Those that differ, and a tenth of those that fit, are searched,
// too.
static int infer_map(struct inference *inference, struct port_usage *usages, struct err *err)
{
    size_t n = (size_t)inference->question->n + 1;
    struct positions first = {xcalloc(n, sizeof(int)), 0}, others = {xcalloc(n, sizeof(int)), 0};
    struct positions drawn = {xcalloc(n, sizeof(int)), 0};
    struct port_usage *suggested = xcalloc(n, sizeof *suggested);
    int status = trials_begin(inference, err);
    infer_split(inference, &first, &others);
    if (status == 0)
        status = infer_searched(inference, &first, PORT_WAY_SEARCH, usages, err);
    if (status == 0)
        status = infer_suggested(inference, &others, &drawn, usages, err);
    for (int k = 0; k < drawn.n; k++)
        suggested[k] = usages[drawn.at[k]];
    int refuted = others.n;
    for (int k = 0; k < drawn.n; k++)
        others.at[others.n++] = drawn.at[k];
    if (status == 0)
        status = infer_searched(inference, &others, PORT_WAY_REFUTED, usages, err);
    for (int k = 0; k < drawn.n && status == 0; k++) {
        struct port_usage *usage = &usages[others.at[refuted + k]];
        usage->way =
            port_uses_same(&usage->uses, &suggested[k].uses) ? PORT_WAY_AGREES : PORT_WAY_DIFFERS;
        usage->ambiguous |= usage->way == PORT_WAY_DIFFERS;
    }
    if (status == 0)
        status = infer_eliminated(inference, usages, err);
    if (status == 0)
        infer_put_shares(inference, usages);
    trials_end(inference);
    free(first.at);
    free(others.at);
    free(drawn.at);
    free(suggested);
    return status;
}

// Forms of a part of the question, with their usages.
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

static int some_infer(struct infer_some *some, const struct port_model *model, enum ports_map map,
                      const struct moved *moved, struct err *err)
{
    struct port_model of_map;
    const char *names[PORT_CLASSES_MAX];
    ports_model_map(model, map, moved != NULL, &of_map, names);
    struct inference inference = {
        .question = &some->question, .model = &of_map, .names = names, .map = map, .moved = moved};
    return some->question.n ? infer_map(&inference, some->usages, err) : 0;
}

// Finds the wide forms that make others use other ports.
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

// Returns the ports on which vectors have another choice beside wide forms.
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
    for (int u = 0; u < usage->uses.n; u++)
        uops += usage->uses.use[u].set & ~moving ? 0 : usage->uses.use[u].uops;
    return usage->outcome == OUTCOME_OK ? uops : 0;
}

// Sets wide_uses: the sets that do not depend on width, and the sets of the other µops beside wide
// forms, largest first.
static void usage_set_wide(struct port_usage *usage, const struct port_usage *beside,
                           uint32_t moving)
{
    struct port_use uses[2 * PORT_USES_MAX];
    int n = 0;
    if (beside->outcome != OUTCOME_OK || beside->uses.uops == 0)
        return;
    for (int u = 0; u < usage->uses.n; u++)
        if (usage->uses.use[u].set & ~moving)
            uses[n++] = usage->uses.use[u];
    for (int u = 0; u < beside->uses.n; u++) {
        int at = n++;
        for (; at > 0 && port_set_size(uses[at - 1].set) < port_set_size(beside->uses.use[u].set);
             at--)
            uses[at] = uses[at - 1];
        uses[at] = beside->uses.use[u];
    }
    if (n > PORT_USES_MAX)
        return;
    struct port_uses wide = {.n = n};
    for (int u = 0; u < n; u++) {
        wide.use[u] = uses[u];
        wide.uops += uses[u].uops;
    }
    if (memcmp(&wide, &usage->uses, sizeof wide) != 0)
        usage->wide_uses = wide;
}

// Returns the family of a form beside wide forms: siblings of the same ports.
static uint64_t family_beside(uint64_t family, const struct port_usage *usage, uint32_t moving)
{
    for (int u = 0; u < usage->uses.n; u++)
        if ((usage->uses.use[u].set & ~moving) == 0)
            family += usage->uses.use[u].set * UINT64_C(0x9e3779b97f4a7c15) *
                      (uint64_t)usage->uses.use[u].uops;
    return family;
}

// Finds the usages of vector forms in mixes with wide forms.
static int infer_beside_wide(const struct port_question *question, const struct port_model *model,
                             struct port_usage *usages, struct err *err)
{
    uint32_t moving = model_moving(model);
    struct infer_some some;
    some_begin(&some, question);
    struct moved *moved = xcalloc((size_t)question->n + 1, sizeof *moved);
    for (int i = 0; i < question->n && moving; i++) {
        int bits = question->forms[question->which[i]].bits;
        int uops = usage_moving(&usages[i], moving);
        if (bits == 0 || bits >= PORT_WIDE_BITS || uops == 0 ||
            question->forms[question->which[i]].upper == UPPER_LEGACY)
            continue;
        moved[some.question.n] = (struct moved){
            uops, family_beside(question->forms[question->which[i]].family, &usages[i], moving)};
        some_add(&some, question, i);
    }
    int status = some_infer(&some, model, PORTS_WIDE, moved, err);
    for (int i = 0; i < some.question.n && status == 0; i++) {
        usage_set_wide(&usages[some.position[i]], &some.usages[i], moving);
        if (some.usages[i].way == PORT_WAY_DIFFERS)
            usages[some.position[i]].way = PORT_WAY_DIFFERS;
    }
    free(moved);
    some_end(&some);
    return status;
}

int port_infer(const struct port_question *question, const struct port_model *model,
               struct port_usage *usages, struct err *err)
{
    int status = 0;
    bool apart = ports_wide_apart(model);
    for (int wide = 0; wide < (apart ? 2 : 1) && status == 0; wide++) {
        struct infer_some some;
        some_begin(&some, question);
        for (int i = 0; i < question->n; i++)
            if (!apart || (question->forms[question->which[i]].bits >= PORT_WIDE_BITS) == wide)
                some_add(&some, question, i);
        status = some_infer(&some, model, wide ? PORTS_WIDE : PORTS_NARROW, NULL, err);
        if (status == 0 && wide && model->teller >= 0)
            status = some_tell(&some, model, err);
        for (int i = 0; i < some.question.n && status == 0; i++)
            usages[some.position[i]] = some.usages[i];
        some_end(&some);
    }
    return status == 0 ? infer_beside_wide(question, model, usages, err) : status;
}
