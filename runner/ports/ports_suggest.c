// SPDX-License-Identifier: MIT
// Suggestions of siblings; see ports_suggest.h. Counts of µops in the sets of a model follow from
// each other: µops on p015 are on p0156B, too, and if p0156B has one µop and p01 certainly has it,
// p015 has no other. So a few classes imply all others, and only these are timed: the screens of
// all of them, and more for the sets that the suggestion uses, since trials may show too many µops.
#include "ports_suggest.h"

#include "util/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN_OF = 10, DRAWN_LEAST = 50 };
static const double DIFFER_MOST = 0.02; // of at least DRAWN_LEAST drawn forms: more are a doubt

struct sibling {
    uint64_t family;
    enum ports_map map;
    bool memory, wide;
    struct port_usage usage;
    uint32_t plan;                   // classes that imply all others, a bit each
    double excess[PORT_CLASSES_MAX]; // µops that its own trials show too many, by class
};
struct port_siblings {
    uint64_t seed;
    struct sibling *siblings;
    int n, capacity;
};

struct port_siblings *port_siblings_new(uint64_t seed)
{
    struct port_siblings *siblings = xcalloc(1, sizeof *siblings);
    siblings->seed = seed;
    return siblings;
}

void port_siblings_free(struct port_siblings *siblings)
{
    if (siblings)
        free(siblings->siblings);
    free(siblings);
}

uint64_t port_family(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

const char *port_way_name(enum port_way way)
{
    static const char *const names[PORT_WAYS] = {"search", "sibling", "refuted", "agrees",
                                                 "differs"};
    return names[way];
}

void port_ways_text(const int64_t ways[PORT_WAYS], uint32_t seed, struct strbuf *out)
{
    int64_t drawn = ways[PORT_WAY_AGREES] + ways[PORT_WAY_DIFFERS];
    strbuf_printf(out,
                  "ports: %" PRId64 " searched, %" PRId64 " as a checked sibling, %" PRId64
                  " rejected as siblings; spot check (seed %u): %" PRId64 " of %" PRId64 " wrong",
                  ways[PORT_WAY_SEARCH], ways[PORT_WAY_SIBLING], ways[PORT_WAY_REFUTED], seed,
                  ways[PORT_WAY_DIFFERS], drawn);
}

bool port_ways_doubt(const int64_t ways[PORT_WAYS], struct strbuf *out)
{
    int64_t differ = ways[PORT_WAY_DIFFERS], drawn = differ + ways[PORT_WAY_AGREES];
    if (drawn < DRAWN_LEAST || (double)differ <= DIFFER_MOST * (double)drawn)
        return false;
    strbuf_printf(out,
                  "of %" PRId64 " forms that were searched although they are like a sibling, "
                  "%" PRId64 " (%.1f %%) have other ports",
                  drawn, differ, 100.0 * (double)differ / (double)drawn);
    return true;
}

// Returns the family of a form; beside wide vectors it is all forms with the same ports.
static uint64_t form_family(const struct inference *inference, int i)
{
    return inference->moved ? inference->moved[i].family : trials_form(inference, i)->family;
}

static bool form_has_memory(const struct inference *inference, int i)
{
    return !inference->moved && trials_form(inference, i)->memory;
}

// Returns true if the sibling accesses the same kind of memory.
static bool sibling_alike(const struct inference *inference, int i, const struct sibling *sibling)
{
    return sibling->memory == form_has_memory(inference, i) &&
           sibling->wide == trials_form(inference, i)->memory_wide;
}

static bool sibling_of(const struct inference *inference, int i, const struct sibling *sibling)
{
    return sibling->map == inference->map && sibling->family == form_family(inference, i);
}

static int uops_inside(const struct port_usage *usage, uint32_t set)
{
    int uops = 0;
    for (int u = 0; u < usage->uses.n; u++)
        uops += usage->uses.use[u].set & ~set ? 0 : usage->uses.use[u].uops;
    return uops;
}

static bool class_is_used(const struct port_usage *usage, uint32_t set)
{
    bool used = false;
    for (int u = 0; u < usage->uses.n; u++)
        used |= usage->uses.use[u].set == set;
    return used;
}

// Returns true if all µops inside `set` are on sets inside or outside `part`, none on one that has
// ports of both.
static bool uses_divided(const struct port_usage *usage, uint32_t set, uint32_t part)
{
    bool divided = true;
    for (int u = 0; u < usage->uses.n; u++) {
        uint32_t use = usage->uses.use[u].set;
        divided &= use & ~set || !(use & part) || !(use & ~part);
    }
    return divided;
}

// Returns true if the count of a class follows from other counts. Its lower bound is the
// count of the used classes inside it; its upper bound the count of a class that contains it, less
// the used classes there that have none of its ports.
static bool class_follows(const struct port_model *model, const struct port_usage *usage, int class)
{
    bool least = true, most = false;
    uint32_t set = model->classes[class].set;
    for (int u = 0; u < usage->uses.n; u++)
        least &= uses_divided(usage, set, usage->uses.use[u].set);
    for (int c = 0; c < model->nclasses; c++)
        most |=
            trials_class_inside(model, class, c) && uses_divided(usage, model->classes[c].set, set);
    return least && most;
}

// Returns few classes that imply the others; all if µops are on a set without a class.
static uint32_t plan_make(const struct port_model *model, const struct port_usage *usage)
{
    uint32_t plan = 0;
    int classes = 0;
    for (int c = 0; c < model->nclasses; c++)
        classes += class_is_used(usage, model->classes[c].set);
    for (int c = 0; c < model->nclasses; c++)
        if (classes < usage->uses.n || class_is_used(usage, model->classes[c].set) ||
            !class_follows(model, usage, c))
            plan |= UINT32_C(1) << c;
    return plan;
}

bool suggest_knows(const struct inference *inference, int i)
{
    const struct port_siblings *known = inference->question->siblings;
    for (int s = 0; s < known->n; s++)
        if (sibling_of(inference, i, &known->siblings[s]) &&
            sibling_alike(inference, i, &known->siblings[s]))
            return true;
    return false;
}

bool suggest_are_siblings(const struct inference *inference, int a, int b)
{
    return form_family(inference, a) == form_family(inference, b) &&
           form_has_memory(inference, a) == form_has_memory(inference, b) &&
           trials_form(inference, a)->memory_wide == trials_form(inference, b)->memory_wide;
}

void suggest_learn(struct inference *inference, int i, const struct port_usage *usage)
{
    struct port_siblings *known = inference->question->siblings;
    if (usage->outcome != OUTCOME_OK || (usage->ambiguous && !inference->moved))
        return;
    for (int s = 0; s < known->n; s++)
        if (sibling_of(inference, i, &known->siblings[s]) &&
            sibling_alike(inference, i, &known->siblings[s]) &&
            port_uses_same(&known->siblings[s].usage.uses, &usage->uses))
            return;
    if (known->n == known->capacity) {
        known->capacity = known->capacity ? 2 * known->capacity : 256;
        known->siblings =
            xrealloc(known->siblings, (size_t)known->capacity * sizeof *known->siblings);
    }
    struct sibling *sibling = &known->siblings[known->n++];
    *sibling = (struct sibling){form_family(inference, i),
                                inference->map,
                                form_has_memory(inference, i),
                                trials_form(inference, i)->memory_wide,
                                *usage,
                                plan_make(inference->model, usage),
                                {0}};
    for (int c = 0; c < inference->model->nclasses; c++) {
        double more = trials_least(inference->model, &inference->trials[i], c) -
                      uops_inside(usage, inference->model->classes[c].set) -
                      port_controls_uops(&inference->controls, &usage->uses, c);
        sibling->excess[c] = more > 0 ? fmin(more, PORT_NOISE) : 0;
    }
}

bool suggest_drawn(const struct inference *inference, int i)
{
    uint64_t state =
        inference->question->siblings->seed ^ port_family(trials_form(inference, i)->name);
    return random_below(&state, DRAWN_OF) == 0;
}

// Returns the most µops that trials beside a class may show of a form like the sibling.
static double sibling_most(const struct inference *inference, const struct sibling *sibling, int c)
{
    return uops_inside(&sibling->usage, inference->model->classes[c].set) + sibling->excess[c] +
           port_controls_uops(&inference->controls, &sibling->usage.uses, c) + PORT_NOISE_BEST;
}

// Returns the number of classes that show more than is suggested and have trials left; -1: the
// suggestion is refuted.
static int sibling_doubts(const struct inference *inference, int i, const struct sibling *sibling)
{
    int doubts = 0;
    for (int c = 0; c < inference->model->nclasses; c++) {
        double uops = uops_inside(&sibling->usage, inference->model->classes[c].set);
        double most = sibling_most(inference, sibling, c);
        double least = trials_least(inference->model, &inference->trials[i], c);
        bool all = inference->beside[i][c] == BESIDE_ALL;
        if (trials_share(inference, i, c))
            continue;
        if (least < uops - PORT_NOISE || (all && !(least <= most)))
            return -1;
        doubts += least > most;
    }
    return doubts;
}

static bool sibling_is_rejected(const struct rejected *rejected, int sibling)
{
    int at = 0;
    while (at < rejected->n && rejected->siblings[at] != sibling)
        at++;
    return at < rejected->n;
}

static void sibling_reject(struct rejected *rejected, int sibling)
{
    rejected->siblings =
        xrealloc(rejected->siblings, (size_t)(rejected->n + 1) * sizeof *rejected->siblings);
    rejected->siblings[rejected->n++] = sibling;
}

// Returns the index of the suggestion with the fewest doubts, first of siblings of the same kind;
// -1: none is left.
static int sibling_choose(const struct inference *inference, int i)
{
    const struct port_siblings *known = inference->question->siblings;
    int best = -1, least = 0;
    for (int s = 0; s < known->n; s++) {
        const struct sibling *sibling = &known->siblings[s];
        if (!sibling_of(inference, i, sibling) || sibling_is_rejected(&inference->rejected[i], s))
            continue;
        int doubts = sibling_doubts(inference, i, sibling);
        int other = doubts + (sibling_alike(inference, i, sibling) ? 0 : PORT_CLASSES_MAX + 1);
        if (doubts < 0 || (best >= 0 && other >= least))
            continue;
        best = s;
        least = other;
    }
    return best;
}

// Returns true if the time alone is longer than the usage explains, or depends on the place of
// rewritten memory.
static bool alone_is_open(const struct inference *inference, int i, const struct port_usage *usage)
{
    const struct port_form *form = trials_form(inference, i);
    return !inference->moved &&
           (form->rewrites || trials_best_clk(inference, i) >
                                  (1 + PORT_EXCESS) * ports_one_clk(inference->model, usage));
}

static void sibling_add_trials(struct inference *inference, struct round_mixes *round, int i,
                               const struct sibling *sibling)
{
    const struct port_model *model = inference->model;
    for (int c = 0; c < model->nclasses; c++) {
        unsigned kinds = BESIDE_SCREEN;
        bool share = trials_share(inference, i, c);
        if (!share && !(sibling->plan & UINT32_C(1) << c))
            continue;
        if (class_is_used(&sibling->usage, model->classes[c].set))
            kinds |= BESIDE_FEW | BESIDE_MORE;
        if (inference->beside[i][c] && !share &&
            !(trials_least(model, &inference->trials[i], c) <= sibling_most(inference, sibling, c)))
            kinds = inference->beside[i][c] & BESIDE_ORDERS ? BESIDE_ALL : kinds | BESIDE_ORDERS;
        trials_add_beside(inference, round, i, c, kinds);
    }
    unsigned filled = trials_due_filled(inference, i);
    if (!alone_is_open(inference, i, &sibling->usage))
        filled &= ~(unsigned)FILLED_BUSY;
    else if (!inference->moved)
        filled |= FILLED_BUSY;
    trials_add_filled(inference, round, i, filled);
}

// Returns the fit of the trials, with the suggested counts for the classes that were not timed.
static struct port_usage sibling_fit(const struct inference *inference, int i,
                                     const struct port_usage *suggested)
{
    const struct port_model *model = inference->model;
    struct port_trials trials = inference->trials[i];
    size_t n = (size_t)(trials.n + model->nclasses) + 1;
    trials.trials = xcalloc(n, sizeof *trials.trials);
    if (trials.n > 0)
        memcpy(trials.trials, inference->trials[i].trials,
               (size_t)trials.n * sizeof *trials.trials);
    for (int c = 0; c < model->nclasses; c++) {
        int size = port_set_size(model->classes[c].set);
        int blockers = size * (int)fmax(PORT_BUSY_CLK, 2 * ceil(trials.alone_clk));
        int uops = uops_inside(suggested, model->classes[c].set);
        if (trials_share(inference, i, c))
            trials.shares |= UINT32_C(1) << c;
        if (inference->beside[i][c])
            continue;
        trials.trials[trials.n++] =
            (struct port_trial){c, 1, blockers, (double)(blockers + uops) / size, (double)NAN};
    }
    if (inference->moved) { // alone it may have more ports
        trials.alone_clk = INFINITY;
        trials.best_clk = NAN;
    }
    struct port_usage usage = port_fit(model, &trials);
    free(trials.trials);
    return usage;
}

enum suggest_state suggest_step(struct inference *inference, struct round_mixes *round, int i,
                                struct port_usage *usage)
{
    int due = round->n, s;
    while ((s = sibling_choose(inference, i)) >= 0) {
        const struct sibling *sibling = &inference->question->siblings->siblings[s];
        sibling_add_trials(inference, round, i, sibling);
        if (round->n > due)
            return SUGGEST_OPEN;
        *usage = sibling_fit(inference, i, &sibling->usage);
        // A form that waits for something else has a sibling that waits, too.
        bool waits = port_usage_wait_clk(usage) > 0 &&
                     !(port_usage_wait_clk(&sibling->usage) > 0) && !inference->moved;
        if (!(usage->ambiguous && !inference->moved) && !waits &&
            port_uses_same(&usage->uses, &sibling->usage.uses))
            return SUGGEST_SETTLED;
        sibling_reject(&inference->rejected[i], s);
    }
    return SUGGEST_NONE;
}
