// SPDX-License-Identifier: MIT
// Shares of paths of every form, which is timed beside the probes of the paths (ports_paths.c) and
// takes the shares that explain these times. Most forms take as long as a sibling beside all
// probes. So the shares of one with the same ports, operands and throughput are expected of others:
// these are timed beside the probes that identify its paths, and take its shares if they take as
// long as it beside each.
#include "ports_fit.h"
#include "ports_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SLOTS_MAX = 4.5; // slots of a form; more is microcode
// Relative error of a form's pairs with probes that a share explains at least: mostly two have to
// agree.
static const double PROBED_COST = 0.3;
static const double SHOWN = 1.06; // of the ports' time beside a first probe: less needs no other
// Cycles of a path by which one probe may show less than others.
static const double DOUBT_SHARE = 0.25;
static const double EXPLAINED = 0.9;      // of a form's wait, by a share: it is explained
static const double PROBE_SPREAD = 0.1;   // of a pair's time; pairs that vary more are ignored
static const double EXPECTED = 1.05;      // of the time of a sibling's pair: more is no sibling
static const double SHARES_DIFFER = 0.15; // cycles; more contradict a sibling

static bool usage_may_share(const struct port_usage *usage, double clk)
{
    return usage->outcome == OUTCOME_OK && ports_waits_only(usage) &&
           usage->front.slots <= SLOTS_MAX && clk > PATH_SHARE_MIN;
}

// Returns the time of an instance of a probe alone by its ports: a run need not know its
// throughput.
static double probe_clk(const struct port_model *model, const struct port_probe *probe)
{
    const struct port_usage *usage = &probe->usage;
    const int one = 1;
    return port_bound(model, &usage, &one, 1);
}

static int model_paths(const struct port_model *model, int paths[PORT_PATHS_MAX])
{
    int n = 0;
    for (int u = 0; u < model->nunits && n < PORT_PATHS_MAX; u++)
        if (port_unit_is_path(&model->units[u]))
            paths[n++] = u;
    return n;
}

static double usage_share(const struct port_usage *usage, int unit)
{
    const struct port_demand *demand = port_demand_on(&usage->demands, unit);
    return demand ? demand->clk : 0;
}

static void usage_take_shares(struct port_usage *usage, const int *paths, int npaths,
                              const double *shares)
{
    for (int k = 0; k < npaths; k++) {
        if (shares[k] <= 0)
            continue;
        ports_demand_put(&usage->demands, paths[k])->clk = shares[k];
        if (shares[k] > EXPLAINED * port_usage_wait_clk(usage))
            ports_demand_drop(&usage->demands, -1);
    }
}

// Pairs of forms with probes, [form * nprobes + probe].
struct probing {
    const struct port_question *question;
    const struct port_model *model;
    struct port_usage *usages;
    int *position; // in the question, of each form
    int nforms;
    struct port_mix *mixes;
    struct port_timing *timings; // outcome not OK: not timed
    double *predicted_clk;       // times by ports
    double *enough_clk;          // no share of a path shows in less
    bool *due;                   // to be timed
};
// Some of the forms.
struct some {
    int *at, n;
};

// Returns the least time of a pair if the form has a share of this path.
static double probe_least_clk(const struct port_probe *probe, int path, const struct port_mix *pair)
{
    return usage_share(&probe->usage, path) * pair->parts[1].count +
           DOUBT_SHARE * pair->parts[0].count;
}

// Returns the time below which a pair shows that the form has a share of none of the probe's paths.
static double probe_enough_clk(const struct port_probe *probe, const struct port_mix *pair)
{
    double least = INFINITY;
    for (int d = 0; d < probe->usage.demands.n; d++)
        if (probe->usage.demands.of[d].unit >= 0)
            least = fmin(least, probe_least_clk(probe, probe->usage.demands.of[d].unit, pair));
    return least;
}

static void probing_begin(struct probing *probing)
{
    const struct port_question *question = probing->question;
    const struct port_form *forms = question->forms;
    const struct port_model *model = probing->model;
    size_t most = (size_t)question->n * (size_t)model->nprobes + 1;
    probing->position = xcalloc((size_t)question->n + 1, sizeof *probing->position);
    probing->mixes = xcalloc(most, sizeof *probing->mixes);
    probing->timings = xcalloc(most, sizeof *probing->timings);
    probing->predicted_clk = xcalloc(most, sizeof *probing->predicted_clk);
    probing->enough_clk = xcalloc(most, sizeof *probing->enough_clk);
    probing->due = xcalloc(most, sizeof *probing->due);
    for (int i = 0, at = 0; i < question->n && model->nprobes > 0; i++) {
        const struct port_usage *usage = &probing->usages[i];
        double clk = forms[question->which[i]].rthroughput_clk;
        if (!usage_may_share(usage, clk))
            continue;
        probing->position[probing->nforms++] = i;
        for (int p = 0; p < model->nprobes; p++, at++) {
            const struct port_probe *probe = &model->probes[p];
            probing->mixes[at] =
                paths_pair(question->which[i], clk, probe->form, probe_clk(model, probe));
            probing->timings[at].outcome = OUTCOME_SKIPPED;
            probing->predicted_clk[at] =
                ports_pair_clk(model, forms, usage, &probe->usage, &probing->mixes[at]);
            probing->enough_clk[at] =
                fmax(probing->predicted_clk[at], probe_enough_clk(probe, &probing->mixes[at]));
        }
    }
}

static void probing_end(struct probing *probing)
{
    free(probing->position);
    free(probing->mixes);
    free(probing->timings);
    free(probing->predicted_clk);
    free(probing->enough_clk);
    free(probing->due);
}

// The first probe of a path shows most members.
static bool probe_is_first(const struct port_model *model, int path, int p)
{
    for (int before = 0; before < p; before++)
        if (usage_share(&model->probes[before].usage, path) > 0)
            return false;
    return usage_share(&model->probes[p].usage, path) > 0;
}

// Returns true if a pair with the first probe of a path rules out that the form needs it.
static bool probing_excludes(const struct probing *probing, int at, int path)
{
    const struct port_probe *probe = &probing->model->probes[at % probing->model->nprobes];
    double clk = probing->timings[at].clk;
    return probing->timings[at].outcome == OUTCOME_OK &&
           clk <= SHOWN * probing->predicted_clk[at] &&
           clk < probe_least_clk(probe, path, &probing->mixes[at]);
}

// Returns true if a form is to be timed beside probe p: it is the first one of a path; or
// (`others`) the first one of one of its paths does not rule out that the form needs that.
static bool probe_is_due(const struct probing *probing, int form, int p, bool others)
{
    const struct port_model *model = probing->model;
    bool first = false, due = false;
    for (int u = 0; u < model->nunits; u++) {
        if (!port_unit_is_path(&model->units[u]))
            continue;
        first |= probe_is_first(model, u, p);
        for (int q = 0; q < p; q++)
            due |= probe_is_first(model, u, q) && usage_share(&model->probes[p].usage, u) > 0 &&
                   !probing_excludes(probing, form * model->nprobes + q, u);
    }
    return others ? due && !first : first;
}

// Times the pairs that are due, in further orders as long as the form may need a path.
static int probing_time(struct probing *probing, struct err *err)
{
    const struct port_question *question = probing->question;
    int npairs = probing->nforms * probing->model->nprobes, n = 0;
    struct port_mix *mixes = xcalloc((size_t)npairs + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)npairs + 1, sizeof *timings);
    double *enough_clk = xcalloc((size_t)npairs + 1, sizeof *enough_clk);
    int *at = xcalloc((size_t)npairs + 1, sizeof *at);
    for (int i = 0; i < npairs; i++) {
        if (!probing->due[i])
            continue;
        probing->due[i] = false;
        mixes[n] = probing->mixes[i];
        enough_clk[n] = probing->enough_clk[i];
        at[n++] = i;
    }
    const struct port_series series = {"paths", mixes, enough_clk, n};
    int status = ports_time_enough(question->oracle, &series, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        probing->timings[at[i]] = timings[i];
        ports_tell(question->evidence, question->forms[mixes[i].parts[1].form].name, &mixes[i],
                   &timings[i]);
    }
    free(mixes);
    free(timings);
    free(enough_clk);
    free(at);
    return status;
}

// Returns true if a pair has a steady time.
static bool probing_tells(const struct probing *probing, int at)
{
    const struct port_timing *timing = &probing->timings[at];
    return timing->outcome == OUTCOME_OK && timing->spread_clk <= PROBE_SPREAD * timing->clk;
}

static const struct port_form *probing_form(const struct probing *probing, int form)
{
    return &probing->question->forms[probing->question->which[probing->position[form]]];
}

// Fits the shares of a form to its pairs with the probes.
static void probing_assign(const struct probing *probing, int form, double *shares)
{
    const struct port_model *model = probing->model;
    const struct port_form *forms = probing->question->forms;
    int paths[PORT_PATHS_MAX];
    struct cell cells[PORT_PROBES_MAX];
    struct row row = {.npaths = model_paths(model, paths),
                      .clk = probing_form(probing, form)->rthroughput_clk,
                      .cost = PROBED_COST};
    bool itself = false;
    for (int p = 0; p < model->nprobes; p++) {
        const struct port_probe *probe = &model->probes[p];
        int at = form * model->nprobes + p;
        bool same = strcmp(forms[probe->form].name, probing_form(probing, form)->name) == 0;
        bool ok = probing_tells(probing, at) && !same;
        cells[p] =
            (struct cell){ok ? probing->timings[at].clk : (double)NAN, probing->predicted_clk[at]};
        row.cells[p].cell = &cells[p];
        row.cells[p].count = probing->mixes[at].parts[0].count;
        row.cells[p].other_count = probing->mixes[at].parts[1].count;
        for (int k = 0; k < row.npaths; k++) {
            row.cells[p].others[k] = usage_share(&probe->usage, paths[k]);
            if (same)
                shares[k] = row.cells[p].others[k];
        }
        itself |= same;
        row.n++;
    }
    if (!itself)
        row_fit(&row, shares);
}

// Returns the times of a form beside the probes, for comparison with others.
static struct port_shared probing_shared(const struct probing *probing, int form)
{
    int nprobes = probing->model->nprobes;
    struct port_shared shared = {.form = probing_form(probing, form),
                                 .usage = probing->usages[probing->position[form]]};
    for (int p = 0; p < nprobes; p++) {
        int at = form * nprobes + p;
        shared.times[p] = probing_tells(probing, at)
                              ? probing->timings[at].clk / probing->predicted_clk[at]
                              : (double)NAN;
    }
    return shared;
}

// Returns the probe that identifies a path best, as a bit: that which needs the fewest other paths.
// 0: none.
static unsigned path_teller(const struct port_model *model, int path)
{
    unsigned teller = 0;
    int least = PORT_PATHS_MAX + 1;
    for (int p = 0; p < model->nprobes; p++) {
        const struct port_usage *usage = &model->probes[p].usage;
        int shares = usage->demands.n - (port_usage_wait_clk(usage) > 0);
        if (usage_share(usage, path) <= 0 || shares >= least)
            continue;
        least = shares;
        teller = 1u << p;
    }
    return teller;
}

// Returns true if a probe needs a path that forms with these shares need.
static bool probe_meets(const struct port_model *model, int p, const double *shares)
{
    int paths[PORT_PATHS_MAX], npaths = model_paths(model, paths);
    for (int k = 0; k < npaths; k++)
        if (shares[k] > 0 && usage_share(&model->probes[p].usage, paths[k]) > 0)
            return true;
    return false;
}

// Returns the probes that rule out that a form with these shares needs the path as well: the first
// one, and if it needs paths of these shares, one that does not, if there is any.
static unsigned path_excluders(const struct port_model *model, int path, const double *shares)
{
    unsigned probes = 0;
    for (int p = 0; p < model->nprobes; p++) {
        bool first = probe_is_first(model, path, p);
        if (usage_share(&model->probes[p].usage, path) <= 0)
            continue;
        if (first)
            probes |= 1u << p;
        if (!probe_meets(model, p, shares))
            return probes | 1u << p;
    }
    return probes;
}

// Returns the probes beside which a form is timed that is expected to have these shares: for each
// share the probe that identifies its path, and for each other path those that rule it out.
static unsigned shared_probes(const struct port_model *model, const struct port_shared *expected)
{
    int paths[PORT_PATHS_MAX], npaths = model_paths(model, paths);
    unsigned probes = 0;
    for (int k = 0; k < npaths; k++) {
        probes |= path_excluders(model, paths[k], expected->shares);
        if (expected->shares[k] > 0)
            probes |= path_teller(model, paths[k]);
    }
    return probes;
}

// Returns true if a form takes as long as the expected one beside each of these probes.
static bool shared_stands(const struct port_model *model, const struct port_shared *shared,
                          const struct port_shared *expected)
{
    unsigned probes = shared_probes(model, expected);
    bool stands = true;
    for (int p = 0; p < model->nprobes; p++)
        if (probes & 1u << p)
            stands &= shared->times[p] <= EXPECTED * expected->times[p] &&
                      expected->times[p] <= EXPECTED * shared->times[p];
    return stands;
}

// Returns a sibling whose shares this form may inherit; NULL: none. With `standing`, both must take
// as long beside the probes; otherwise the sibling's own times must be known.
static const struct port_shared *shared_find(const struct probing *probing,
                                             const struct port_shared *shared, bool standing)
{
    const struct port_shared *known = NULL;
    while ((known = siblings_shared(probing->question->siblings, shared, known)))
        if (shared_stands(probing->model, standing ? shared : known, known))
            return known;
    return NULL;
}

static bool usage_is_drawn(const struct port_usage *usage)
{
    return usage->way == PORT_WAY_AGREES || usage->way == PORT_WAY_DIFFERS;
}

// Splits the forms into the first of all that are alike, with those that are drawn, and the others,
// of which the shares of a sibling are expected.
static void probing_split(const struct probing *probing, struct some *first, struct some *others)
{
    struct port_siblings *expected = port_siblings_new(0);
    for (int k = 0; k < probing->nforms; k++) {
        const struct port_shared shared = probing_shared(probing, k);
        bool drawn = usage_is_drawn(&shared.usage);
        bool known =
            probing->question->siblings && !drawn &&
            (siblings_shared(expected, &shared, NULL) || shared_find(probing, &shared, false));
        if (!known && !drawn)
            siblings_learn_shares(expected, &shared);
        struct some *to = known ? others : first;
        to->at[to->n++] = k;
    }
    port_siblings_free(expected);
}

// Returns the forms that seem to need a path and have moves between their instances.
static struct some probing_suspects(const struct probing *probing, const struct some *some)
{
    struct some suspects = {xcalloc((size_t)some->n + 1, sizeof(int)), 0};
    for (int i = 0; i < some->n; i++) {
        const struct port_form *form = probing_form(probing, some->at[i]);
        double shares[PORT_PATHS_MAX] = {0}, most = 0;
        if (form->moves <= form->resets)
            continue;
        probing_assign(probing, some->at[i], shares);
        for (int k = 0; k < PORT_PATHS_MAX; k++)
            most = fmax(most, shares[k]);
        if (most > 0)
            suspects.at[suspects.n++] = some->at[i];
    }
    return suspects;
}

static bool probing_alone_fits(const struct probing *probing, int form,
                               const struct port_timing *timing)
{
    int count = probing->mixes[form * probing->model->nprobes].parts[0].count;
    return timing->outcome == OUTCOME_OK &&
           timing->clk <= PATH_ALONE_MOST * count * probing_form(probing, form)->rthroughput_clk;
}

// Times suspects without their moves: those that take ports, as between masks, would look like
// shares. Forms that are slower alone with moves are timed anew without, with registers of their
// own for some instances; pairs of those that then wait for each other are dropped.
static int probing_check_moves(struct probing *probing, const struct some *some, struct err *err)
{
    enum { MOVED, PLAIN, WAYS };
    int nprobes = probing->model->nprobes, n = 0;
    struct some suspects = probing_suspects(probing, some);
    size_t most = WAYS * (size_t)suspects.n + 1;
    struct port_mix *mixes = xcalloc(most, sizeof *mixes);
    struct port_timing *timings = xcalloc(most, sizeof *timings);
    for (int i = 0; i < suspects.n; i++)
        for (int way = 0; way < WAYS; way++, n++) {
            mixes[n] = probing->mixes[suspects.at[i] * nprobes];
            mixes[n].nparts = 1;
            if (way == PLAIN)
                mixes[n].orders &= ~(unsigned)PORT_MIX_INDEPENDENT;
        }
    int status = ports_time(probing->question->oracle, "paths", mixes, n, timings, err);
    for (int i = 0; i < suspects.n && status == 0; i++) {
        const struct port_timing *timing = &timings[WAYS * i];
        int form = suspects.at[i];
        bool plain = probing_alone_fits(probing, form, &timing[PLAIN]);
        if (timing[MOVED].outcome != OUTCOME_OK ||
            probing_alone_fits(probing, form, &timing[MOVED]))
            continue;
        for (int p = 0; p < nprobes; p++) {
            int at = form * nprobes + p;
            probing->due[at] = plain && probing->timings[at].outcome != OUTCOME_SKIPPED;
            probing->timings[at].outcome = OUTCOME_SKIPPED;
            probing->mixes[at].orders &= ~(unsigned)PORT_MIX_INDEPENDENT;
        }
    }
    free(suspects.at);
    free(mixes);
    free(timings);
    return status == 0 ? probing_time(probing, err) : status;
}

// Times forms beside all probes that they need, finds their shares, and keeps these for others.
static int probing_search(struct probing *probing, const struct some *some, struct err *err)
{
    int nprobes = probing->model->nprobes, paths[PORT_PATHS_MAX];
    int npaths = model_paths(probing->model, paths), status = 0;
    for (int others = 0; others < 2 && status == 0; others++) {
        for (int i = 0; i < some->n; i++)
            for (int p = 0; p < nprobes; p++)
                probing->due[some->at[i] * nprobes + p] =
                    probe_is_due(probing, some->at[i], p, others);
        status = probing_time(probing, err);
    }
    if (status == 0)
        status = probing_check_moves(probing, some, err);
    for (int i = 0; i < some->n && status == 0; i++) {
        struct port_usage *usage = &probing->usages[probing->position[some->at[i]]];
        struct port_shared shared = probing_shared(probing, some->at[i]);
        probing_assign(probing, some->at[i], shared.shares);
        if (probing->question->siblings && !usage_is_drawn(usage))
            siblings_learn_shares(probing->question->siblings, &shared);
        usage_take_shares(usage, paths, npaths, shared.shares);
    }
    return status;
}

// Times forms beside the probes that identify the shares of a sibling. *some keeps the forms that
// differ from it.
static int probing_expect(struct probing *probing, struct some *some, struct err *err)
{
    int nprobes = probing->model->nprobes, paths[PORT_PATHS_MAX];
    int npaths = model_paths(probing->model, paths), left = 0;
    double *enough_clk = xcalloc((size_t)some->n * (size_t)nprobes + 1, sizeof *enough_clk);
    for (int i = 0; i < some->n; i++) {
        const struct port_shared shared = probing_shared(probing, some->at[i]);
        const struct port_shared *expected = shared_find(probing, &shared, false);
        unsigned probes = expected ? shared_probes(probing->model, expected) : 0;
        for (int p = 0; p < nprobes; p++) {
            int at = some->at[i] * nprobes + p;
            enough_clk[i * nprobes + p] = probing->enough_clk[at];
            probing->due[at] = probes & 1u << p;
            if (probing->due[at])
                probing->enough_clk[at] =
                    fmax(probing->enough_clk[at], expected->times[p] * probing->predicted_clk[at]);
        }
    }
    int status = probing_time(probing, err);
    for (int i = 0; i < some->n && status == 0; i++) {
        const struct port_shared shared = probing_shared(probing, some->at[i]);
        const struct port_shared *known = shared_find(probing, &shared, true);
        memcpy(&probing->enough_clk[some->at[i] * nprobes], &enough_clk[i * nprobes],
               (size_t)nprobes * sizeof *enough_clk);
        if (known) {
            usage_take_shares(&probing->usages[probing->position[some->at[i]]], paths, npaths,
                              known->shares);
        } else {
            // These pairs are timed again: some were timed in fewer orders than a search needs.
            for (int p = 0; p < nprobes; p++)
                probing->timings[some->at[i] * nprobes + p].outcome = OUTCOME_SKIPPED;
            some->at[left++] = some->at[i];
        }
    }
    some->n = left;
    free(enough_clk);
    return status;
}

// Compares the shares of drawn forms, which were timed beside all probes, with those of a sibling
// that takes as long.
static void probing_compare(const struct probing *probing)
{
    int paths[PORT_PATHS_MAX], npaths = model_paths(probing->model, paths);
    for (int k = 0; k < probing->nforms; k++) {
        struct port_usage *usage = &probing->usages[probing->position[k]];
        const struct port_shared shared = probing_shared(probing, k);
        const struct port_shared *known =
            usage_is_drawn(usage) ? shared_find(probing, &shared, true) : NULL;
        for (int p = 0; p < npaths && known; p++)
            if (fabs(known->shares[p] - usage_share(usage, paths[p])) > SHARES_DIFFER)
                usage->way = PORT_WAY_DIFFERS;
    }
}

int ports_assign_paths(const struct port_question *question, const struct port_model *model,
                       struct port_usage *usages, struct err *err)
{
    struct probing probing = {.question = question, .model = model, .usages = usages};
    probing_begin(&probing);
    size_t n = (size_t)probing.nforms + 1;
    struct some first = {xcalloc(n, sizeof(int)), 0}, others = {xcalloc(n, sizeof(int)), 0};
    probing_split(&probing, &first, &others);
    int status = probing_search(&probing, &first, err);
    if (status == 0)
        status = probing_expect(&probing, &others, err);
    if (status == 0)
        status = probing_search(&probing, &others, err);
    if (status == 0 && question->siblings)
        probing_compare(&probing);
    free(first.at);
    free(others.at);
    probing_end(&probing);
    return status;
}

int ports_blockers_paths(const struct port_oracle *oracle, const struct port_form *forms,
                         struct port_model *model, struct err *err)
{
    int which[PORT_CLASSES_MAX];
    struct port_usage usages[PORT_CLASSES_MAX];
    for (int c = 0; c < model->nclasses; c++) {
        which[c] = model->classes[c].blocker;
        usages[c] = ports_one_uop(model->classes[c].set);
    }
    const struct port_question question = {
        .oracle = oracle, .forms = forms, .which = which, .n = model->nclasses};
    if (ports_assign_paths(&question, model, usages, err) != 0)
        return -1;
    for (int c = 0; c < model->nclasses; c++) {
        model->classes[c].demands = usages[c].demands;
    }
    return 0;
}
