// SPDX-License-Identifier: MIT
// Paths that several ports share: for results that leave the vector side, say, or for third
// operands. No form of one µop shows such a path alone, but forms that need it disturb each other
// more than their ports explain. A path is a unit: each form needs it for a part of a cycle or
// more. First (port_find_paths) some hundred forms are timed in pairs. Each fast one of them is
// taken to need a path all the time, and the others for as long as their pairs with it take longer
// than is explained. Of those that explain pairs, the one that also explains most of larger mixes
// is the blocker of a path, as long as there is any. Then (ports_assign_paths) every form is timed
// beside the blockers. Those that need fewest other paths come first: what is explained by then is
// no share of the next.
#include "ports_fit.h"
#include "ports_share.h"
#include "util/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPS_MAX = 112,   // forms in pairs, each of another usage or with other operands
    PATH_MEMBERS = 3, // least number of forms in pairs that need a path
    MIXES = 1500,     // larger mixes of the same forms, and the forms in each, and their instances
    FORMS_MIN = 3,
    FORMS_MOST = 6,
    COUNT_MOST = 3,
};
static const double SLOWER_COST = 2;  // weight of a pair that is predicted too slow
static const double ERROR_MOST = 0.5; // of a pair: more has another cause than the path
static const double ERROR_GAIN = 2.5; // least gain of all pairs by a path

// Forms that represent others (rep), each beside each.
struct pairs {
    const struct port_model *model;
    const struct port_form *forms;
    int n;
    int rep[REPS_MAX]; // forms
    const struct port_usage *usages[REPS_MAX];
    double clk[REPS_MAX];
    int count[REPS_MAX]; // instances in a pair
    // Times of pairs, [i][j] and [j][i] the same: measured (NaN: unknown), and by ports and paths.
    double measured[REPS_MAX][REPS_MAX], explained[REPS_MAX][REPS_MAX];
    struct port_mix mixes[MIXES];
    int drawn[MIXES][FORMS_MOST]; // index in rep of each part
    double mixes_clk[MIXES];      // NaN: unknown
    int npaths;
    int blockers[PORT_PATHS_MAX];
    double shares[PORT_PATHS_MAX][REPS_MAX]; // cycles of an instance
};

static bool usages_alike(const struct port_usage *a, const struct port_usage *b)
{
    return port_uses_same(&a->uses, &b->uses) && round(a->front.slots) == round(b->front.slots) &&
           fabs(port_usage_wait_clk(a) - port_usage_wait_clk(b)) < PORT_NOISE_ALONE;
}

// Returns the representative of a form: of the same usage, throughput and kinds of operands.
// pairs->n: none yet.
static int pairs_twin(const struct pairs *pairs, const struct port_form *form,
                      const struct port_usage *usage)
{
    for (int r = 0; r < pairs->n; r++) {
        const struct port_form *rep = &pairs->forms[pairs->rep[r]];
        if (usages_alike(usage, pairs->usages[r]) && form->chains == rep->chains &&
            form->operands == rep->operands &&
            fabs(form->rthroughput_clk - pairs->clk[r]) < PORT_EXCESS * pairs->clk[r])
            return r;
    }
    return pairs->n;
}

static void pairs_add(struct pairs *pairs, int form, const struct port_usage *usage)
{
    pairs->rep[pairs->n] = form;
    pairs->usages[pairs->n] = usage;
    pairs->clk[pairs->n] = pairs->forms[form].rthroughput_clk;
    pairs->n++;
}

// Chooses the first form of each kind and, as long as there is room, the last one of another
// mnemonic: a path that few kinds need shows little in one form of each.
static void pairs_choose(struct pairs *pairs, const struct port_question *question,
                         const struct port_usage *usages)
{
    int *rep_of = xcalloc((size_t)question->n + 1, sizeof *rep_of);
    for (int i = 0; i < question->n; i++) {
        const struct port_form *form = &pairs->forms[question->which[i]];
        bool fits = usages[i].outcome == OUTCOME_OK &&
                    usages[i].front.slots <= PORT_MICROCODE_SLOTS && ports_waits_only(&usages[i]) &&
                    form->rthroughput_clk > PORT_NOISE;
        rep_of[i] = fits ? pairs_twin(pairs, form, &usages[i]) : REPS_MAX;
        if (rep_of[i] == pairs->n && pairs->n < REPS_MAX)
            pairs_add(pairs, question->which[i], &usages[i]);
    }
    bool again[REPS_MAX + 1] = {[REPS_MAX] = true};
    for (int i = question->n - 1; i >= 0 && pairs->n < REPS_MAX; i--) {
        int rep = rep_of[i], form = question->which[i];
        if (again[rep] || pairs->forms[form].family == pairs->forms[pairs->rep[rep]].family)
            continue;
        again[rep] = true;
        pairs_add(pairs, form, &usages[i]);
    }
    free(rep_of);
}

// Leaves out forms whose instances wait for each other in spite of the moves.
static int pairs_thin(struct pairs *pairs, const struct port_oracle *oracle, struct err *err)
{
    struct port_mix mixes[REPS_MAX];
    struct port_timing timings[REPS_MAX];
    for (int i = 0; i < pairs->n; i++) {
        mixes[i] = ports_pair(pairs->rep[i], pairs->clk[i], pairs->rep[i], pairs->clk[i]);
        mixes[i].nparts = 1;
    }
    int status = ports_time(oracle, "paths", mixes, pairs->n, timings, err), kept = 0;
    for (int i = 0; i < pairs->n && status == 0; i++) {
        double alone_clk = timings[i].clk / mixes[i].parts[0].count;
        if (timings[i].outcome != OUTCOME_OK || alone_clk > (1 + PORT_EXCESS) * pairs->clk[i])
            continue;
        pairs->rep[kept] = pairs->rep[i];
        pairs->usages[kept] = pairs->usages[i];
        pairs->count[kept] = mixes[i].parts[0].count;
        pairs->clk[kept++] = fmin(alone_clk, pairs->clk[i]);
    }
    pairs->n = kept;
    return status;
}

static int pairs_time(struct pairs *pairs, const struct port_oracle *oracle, struct err *err)
{
    int n = pairs->n * (pairs->n - 1) / 2, at = 0;
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    double *enough_clk = xcalloc((size_t)n + 1, sizeof *enough_clk);
    for (int i = 0; i < pairs->n; i++)
        for (int j = 0; j < i; j++, at++) {
            mixes[at] = ports_pair(pairs->rep[i], pairs->clk[i], pairs->rep[j], pairs->clk[j]);
            enough_clk[at] = ports_pair_clk(pairs->model, pairs->forms, pairs->usages[i],
                                            pairs->usages[j], &mixes[at]);
        }
    const struct port_series series = {"paths", mixes, enough_clk, n};
    int status = ports_time_enough(oracle, &series, timings, err);
    at = 0;
    for (int i = 0; i < pairs->n && status == 0; i++) {
        pairs->measured[i][i] = NAN;
        for (int j = 0; j < i; j++, at++) {
            bool ok = timings[at].outcome == OUTCOME_OK;
            pairs->measured[i][j] = pairs->measured[j][i] = ok ? timings[at].clk : (double)NAN;
            pairs->explained[i][j] = pairs->explained[j][i] = enough_clk[at];
        }
    }
    free(mixes);
    free(timings);
    free(enough_clk);
    return status;
}

// Returns the usage of a representative with the paths so far, and the moves before it.
static struct port_usage pairs_usage(const struct pairs *pairs, int rep)
{
    struct port_usage usage = *pairs->usages[rep];
    ports_usage_move(&pairs->forms[pairs->rep[rep]], &usage);
    for (int k = 0; k < pairs->npaths; k++)
        if (pairs->shares[k][rep] > 0)
            ports_demand_put(&usage.demands, pairs->model->nunits + k)->clk = pairs->shares[k][rep];
    return usage;
}

// Returns the predicted time of mix m with these usages.
static double mix_clk(const struct pairs *pairs, const struct port_usage *reps, int m)
{
    struct port_model model = *pairs->model;
    const struct port_usage *usages[FORMS_MOST];
    int counts[FORMS_MOST];
    model.nunits += pairs->npaths;
    for (int p = 0; p < pairs->mixes[m].nparts; p++) {
        usages[p] = &reps[pairs->drawn[m][p]];
        counts[p] = pairs->mixes[m].parts[p].count;
    }
    return port_predict(&model, usages, counts, pairs->mixes[m].nparts);
}

// Returns the error of the mixes by the paths so far.
static double pairs_mixes_error(const struct pairs *pairs)
{
    struct port_usage reps[REPS_MAX];
    double sum = 0;
    for (int i = 0; i < pairs->n; i++)
        reps[i] = pairs_usage(pairs, i);
    for (int m = 0; m < MIXES; m++)
        if (!isnan(pairs->mixes_clk[m]))
            sum += fmin(fabs(mix_clk(pairs, reps, m) / pairs->mixes_clk[m] - 1), ERROR_MOST);
    return sum;
}

// Draws and times the larger mixes.
static int pairs_time_mixes(struct pairs *pairs, const struct port_oracle *oracle, struct err *err)
{
    struct port_timing *timings = xcalloc(MIXES, sizeof *timings);
    double *enough_clk = xcalloc(MIXES, sizeof *enough_clk);
    struct port_usage reps[REPS_MAX];
    uint64_t state = 1;
    for (int i = 0; i < pairs->n; i++)
        reps[i] = pairs_usage(pairs, i);
    for (int m = 0; m < MIXES; m++) {
        struct port_mix *mix = &pairs->mixes[m];
        int instances = 0;
        *mix = (struct port_mix){.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
        mix->nparts = FORMS_MIN + random_below(&state, FORMS_MOST - FORMS_MIN + 1);
        for (int p = 0; p < mix->nparts; p++) {
            pairs->drawn[m][p] = random_below(&state, pairs->n);
            mix->parts[p].form = pairs->rep[pairs->drawn[m][p]];
            mix->parts[p].count = 1 + random_below(&state, COUNT_MOST);
            instances += mix->parts[p].count;
        }
        for (int p = 0; p < mix->nparts; p++)
            mix->parts[p].count *= PORT_MIX_BODY / instances;
        enough_clk[m] = mix_clk(pairs, reps, m);
    }
    const struct port_series series = {"mixes", pairs->mixes, enough_clk, MIXES};
    int status = ports_time_enough(oracle, &series, timings, err);
    for (int m = 0; m < MIXES; m++)
        pairs->mixes_clk[m] = timings[m].outcome == OUTCOME_OK ? timings[m].clk : (double)NAN;
    free(timings);
    free(enough_clk);
    return status;
}

// Returns true if the form can block a path: it is fast and certain, and does not wait for itself.
static bool pairs_may_block(const struct pairs *pairs, int b)
{
    const struct port_form *form = &pairs->forms[pairs->rep[b]];
    struct port_usage ports = *pairs->usages[b];
    ports.demands.n = 0;
    return pairs->clk[b] <= PORT_MICROCODE_CLK &&
           form->rthroughput_clk <= (1 + PORT_EXCESS) * pairs->clk[b] &&
           !(form->chains &&
             pairs->clk[b] > (1 + PORT_EXCESS) * ports_one_clk(pairs->model, &ports));
}

// Fills in the shares of a path that form b keeps busy all the time. Returns how many forms need
// it.
static int pairs_shares(const struct pairs *pairs, int b, double *shares)
{
    int members = 1;
    for (int i = 0; i < pairs->n; i++) {
        double clk = pairs->measured[b][i];
        double share = (clk - pairs->count[b] * pairs->clk[b]) / pairs->count[i];
        bool needs = clk > (1 + PORT_EXCESS) * pairs->explained[b][i] && share > PORT_NOISE;
        shares[i] = i == b ? pairs->clk[b] : needs ? fmin(share, pairs->clk[i]) : 0;
        members += needs;
    }
    return members;
}

// Returns the time of a pair with a path of these shares.
static double pairs_clk(const struct pairs *pairs, const double *shares, int i, int j)
{
    double sum = shares[i] * pairs->count[i] + shares[j] * pairs->count[j];
    return shares[i] > 0 && shares[j] > 0 ? fmax(pairs->explained[i][j], sum)
                                          : pairs->explained[i][j];
}

static double clk_error(double explained, double measured)
{
    double error = explained / measured - 1;
    return isnan(measured) ? 0 : fmin(error > 0 ? error * SLOWER_COST : -error, ERROR_MOST);
}

// Returns the error of all pairs that a path of these shares explains, less the cost of shares.
static double pairs_gain(const struct pairs *pairs, const double *shares)
{
    double gain = 0;
    for (int i = 0; i < pairs->n; i++) {
        gain -= shares[i] > 0 ? PORT_EXCESS : 0;
        for (int j = 0; j < i && shares[i] > 0; j++)
            gain += clk_error(pairs->explained[i][j], pairs->measured[i][j]) -
                    clk_error(pairs_clk(pairs, shares, i, j), pairs->measured[i][j]);
    }
    return gain;
}

// Adds the path that explains the mixes best, of those that explain pairs. Returns false if there
// is none.
static bool pairs_add_path(struct pairs *pairs)
{
    double *tried = pairs->shares[pairs->npaths], best[REPS_MAX];
    double least = pairs_mixes_error(pairs) * (1 - PORT_SAME);
    int blocker = -1;
    for (int b = 0; b < pairs->n; b++) {
        if (!pairs_may_block(pairs, b) || pairs_shares(pairs, b, tried) < PATH_MEMBERS ||
            pairs_gain(pairs, tried) < ERROR_GAIN)
            continue;
        pairs->npaths++;
        double error = pairs_mixes_error(pairs);
        pairs->npaths--;
        if (error >= least)
            continue;
        least = error;
        blocker = b;
        memcpy(best, tried, sizeof best);
    }
    if (blocker < 0)
        return false;
    memcpy(tried, best, sizeof best);
    for (int i = 0; i < pairs->n; i++)
        for (int j = 0; j < pairs->n; j++)
            pairs->explained[i][j] = pairs_clk(pairs, best, i, j);
    pairs->blockers[pairs->npaths++] = blocker;
    return true;
}

static void model_add_paths(struct port_model *model, const struct pairs *pairs)
{
    int first = model->nunits;
    model->nunits += pairs->npaths;
    for (int k = 0; k < pairs->npaths; k++) {
        int blocker = pairs->blockers[k];
        struct port_unit *unit = &model->units[first + k];
        *unit = (struct port_unit){.blocker = pairs->rep[blocker],
                                   .blocker_clk = pairs->shares[k][blocker],
                                   .usage = *pairs->usages[blocker],
                                   .whole_blocker = -1};
        snprintf(unit->name, sizeof unit->name, PORT_PATH "%d", k + 1);
        ports_demand_drop(&unit->usage.demands, -1);
        for (int other = 0; other < pairs->npaths; other++)
            if (pairs->shares[other][blocker] > 0)
                ports_demand_put(&unit->usage.demands, first + other)->clk =
                    pairs->shares[other][blocker];
    }
}

int port_find_paths(const struct port_question *question, struct port_model *model,
                    const struct port_usage *usages, struct err *err)
{
    struct pairs *pairs = xcalloc(1, sizeof *pairs);
    *pairs = (struct pairs){.model = model, .forms = question->forms};
    pairs_choose(pairs, question, usages);
    int status = pairs_thin(pairs, question->oracle, err);
    if (status == 0)
        status = pairs_time(pairs, question->oracle, err);
    bool enough = pairs->n >= PATH_MEMBERS;
    if (status == 0 && enough)
        status = pairs_time_mixes(pairs, question->oracle, err);
    while (status == 0 && enough && pairs->npaths < PORT_PATHS_MAX &&
           model->nunits + pairs->npaths < PORT_UNITS_MAX && pairs_add_path(pairs))
        ;
    if (status == 0)
        model_add_paths(model, pairs);
    free(pairs);
    return status == 0 ? ports_blockers_paths(question->oracle, question->forms, model, err)
                       : status;
}

// --- The paths of every form. ---

// Returns true if the form may need a path: it is no microcode, and has no other unit.
static bool path_candidate(const struct sharing *sharing, int i)
{
    const struct port_usage *usage = &sharing->usages[i];
    return usage->outcome == OUTCOME_OK && ports_waits_only(usage) &&
           usage->front.slots <= PORT_GROUP_SLOTS && sharing->clk[i] > PORT_NOISE;
}

// Times forms with moves between their instances alone, with the moves and without: moves that take
// ports, as between masks, would look like shares. Forms that are slower alone than they were do
// without, or are left out.
static int path_check_moves(struct sharing *sharing, struct err *err)
{
    const struct port_question *question = sharing->question;
    sharing->n = 0;
    for (int i = 0; i < question->n; i++) {
        const struct port_form *form = &question->forms[question->which[i]];
        for (int plain = 0; plain < 2 && sharing->may[i] && form->moves > form->resets; plain++) {
            int k = sharing->n;
            sharing->without[i] = plain ? PORT_MIX_INDEPENDENT : 0;
            sharing_add(sharing, i, -1, 1);
            sharing->enough_clk[k] =
                (1 + PORT_EXCESS) * sharing->clk[i] * sharing->mixes[k].parts[0].count;
        }
    }
    int status = sharing_time(sharing, "paths", err);
    for (int k = 0; k < sharing->n && status == 0; k += 2) {
        bool fits[2];
        for (int plain = 0; plain < 2; plain++)
            fits[plain] = sharing->timings[k + plain].outcome == OUTCOME_OK &&
                          sharing->timings[k + plain].clk <= sharing->enough_clk[k + plain];
        sharing->without[sharing->at[k]] = fits[0] ? 0 : PORT_MIX_INDEPENDENT;
        sharing->may[sharing->at[k]] = fits[0] || fits[1];
    }
    return status;
}

static int path_assign(struct sharing *sharing, int unit, struct err *err)
{
    const struct port_unit *path = &sharing->model->units[unit];
    int status = sharing_ask(sharing, unit, path->blocker, path->blocker_clk, err);
    for (int k = 0; k < sharing->n && status == 0; k++) {
        int at = sharing->at[k];
        struct port_usage *usage = &sharing->usages[at];
        double clk = fmin(sharing_clk(sharing, unit, k), sharing->clk[at]);
        if (clk <= 0)
            continue;
        if (clk > (1 - PORT_EXCESS) * port_usage_wait_clk(usage))
            ports_demand_drop(&usage->demands, -1);
        ports_demand_put(&usage->demands, unit)->clk = clk;
    }
    return status;
}

int ports_assign_paths(struct sharing *sharing, struct err *err)
{
    const struct port_model *model = sharing->model;
    int status = 0;
    bool checked = false;
    sharing_choose(sharing, path_candidate);
    for (int demands = 1; demands <= PORT_DEMANDS_MAX; demands++)
        for (int u = 0; u < model->nunits && status == 0; u++) {
            if (!port_unit_is_path(&model->units[u]) || model->units[u].usage.demands.n != demands)
                continue;
            status = checked ? 0 : path_check_moves(sharing, err);
            checked = true;
            if (status == 0)
                status = path_assign(sharing, u, err);
        }
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
    struct sharing sharing = {
        .question = &question, .model = model, .usages = usages, .named = model};
    sharing_begin(&sharing);
    for (int c = 0; c < model->nclasses; c++) // a run of few forms has not timed it alone
        if (isnan(sharing.clk[c]))
            sharing.clk[c] = model->classes[c].blocker_clk;
    int status = ports_assign_paths(&sharing, err);
    sharing_end(&sharing);
    for (int c = 0; c < model->nclasses && status == 0; c++)
        model->classes[c].demands = usages[c].demands;
    return status;
}
