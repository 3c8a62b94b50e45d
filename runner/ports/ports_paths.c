// SPDX-License-Identifier: MIT
// Paths that several ports share: for results that leave the vector side, say, or for third
// operands. No form of one µop shows such a path alone, but forms that need it disturb each other
// more than their ports explain. A path is a unit: each form needs it for some part of a cycle or
// more. A few forms that need it are its probes, beside which all others are timed.
// First (port_find_paths) some hundred forms are timed in pairs (ports_pairs.c); the shares that
// explain the pairs are paths (ports_shares.c), of which those stay that also explain larger mixes
// and have a probe. Then (ports_assign_paths) every form is timed beside the probes only.
#include "ports_pairs.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_PROBES = 3,
    BINDING_STEPS = 20,
    PAIRS_LEAST = 12, // forms in pairs: fewer say nothing of a CPU
};
static const double SLOTS_MAX = 4.5; // more is microcode
// A share explains at least so much of a form's pairs with probes that mostly two have to agree.
static const double PROBED_COST = 0.3;
static const double SHOWN = 1.06; // of a pair with a path's first probe: less asks for no other one
// Of a path: what one probe shows may be less than what others do by as much.
static const double DOUBT_SHARE = 0.25;
static const double EXPLAINED = 0.9;    // of what a form waits for, by its shares
static const double APART_GAIN = 1.1;   // of the loss of mixes, by a binding of its own
static const double KEPT_GAIN = 1.03;   // of the error of all mixes, by a path
static const double PROBE_SPREAD = 0.1; // of a pair: what varies more says nothing

// Whether form i's share of a path shows beside form j.
static bool pairs_show(const struct pairs *pairs, int path, int i, int j)
{
    const double *shares = pairs->shares[path];
    return i != j && shares[i] > 0 && shares[j] > 0 &&
           shares[i] * pairs->count[i] + shares[j] * pairs->count[j] >
               PATH_EXCESS * pairs->cells[i][j].predicted;
}

// How far the pairs of a form are from what the model says, on average.
static double pairs_row_error(const struct pairs *pairs, int i)
{
    double sum = 0, shares[PORT_PATHS_MAX], others[PORT_PATHS_MAX];
    for (int k = 0; k < pairs->npaths; k++)
        shares[k] = pairs->shares[k][i];
    for (int j = 0; j < pairs->n; j++) {
        for (int k = 0; k < pairs->npaths; k++)
            others[k] = pairs->shares[k][j];
        if (j != i)
            sum += cell_error(&pairs->cells[i][j], shares, pairs->count[i], others, pairs->count[j],
                              pairs->npaths);
    }
    return sum / pairs->n;
}

// Whether at least half of the path's members are understood no better than form i.
static bool pairs_clear(const struct pairs *pairs, int path, int i)
{
    int better = 0, members = 0;
    for (int j = 0; j < pairs->n; j++) {
        members += pairs->shares[path][j] > 0;
        better +=
            pairs->shares[path][j] > 0 && pairs_row_error(pairs, j) < pairs_row_error(pairs, i);
    }
    return 2 * better <= members;
}

// Whether the form takes longer than its ports explain, and its shares of paths; so it waits for
// itself, or for what nobody knows, and shows nothing about others. The shares of one whose
// instances depend on each other may be chance: its ports alone must explain it.
static bool pairs_waits(const struct pairs *pairs, int i)
{
    struct port_usage ports = *pairs->usages[i];
    ports.busy_clk = 0;
    const struct port_usage *usages[] = {&ports};
    const int one[] = {1};
    double explained = port_predict(pairs->model, usages, one, 1);
    for (int k = 0; k < pairs->npaths && !pairs->forms[pairs->rep[i]].chains; k++)
        explained = fmax(explained, pairs->shares[k][i]);
    return pairs->clk[i] > PATH_EXCESS * explained;
}

// The other paths that a form needs, a bit each.
static unsigned pairs_others(const struct pairs *pairs, int path, int i)
{
    unsigned others = 0;
    for (int k = 0; k < pairs->npaths; k++)
        others |= k != path && pairs->shares[k][i] > 0 ? 1u << k : 0;
    return others;
}

enum probe_rank { PROBE_ANY, PROBE_PURE, PROBE_TELLS, PROBE_RANKS };

// The member beside which most of those show that do not show beside two probes yet, of those that
// need only this path if half as many do beside one of them; what is not understood itself is no
// probe. shown[]: beside how many each does; -1: it is one. common: the other paths that all probes
// so far need: who needs these and this one shows no more beside any of them, so one that does not
// need all of them comes first. -1: none.
static int path_probe(const struct pairs *pairs, int path, const int *shown, unsigned common)
{
    int best[PROBE_RANKS] = {-1, -1, -1}, most[PROBE_RANKS] = {0};
    for (int p = 0; p < pairs->n; p++) {
        int show = 0;
        if (pairs->shares[path][p] <= 0 || shown[p] < 0 || !pairs_clear(pairs, path, p) ||
            pairs_waits(pairs, p))
            continue;
        unsigned others = pairs_others(pairs, path, p);
        const bool has[PROBE_RANKS] = {true, others == 0, (common & ~others) != 0};
        for (int i = 0; i < pairs->n; i++)
            show += (shown[i] < 2 || has[PROBE_TELLS]) && pairs_show(pairs, path, i, p);
        for (int rank = 0; rank < PROBE_RANKS; rank++)
            if (has[rank] && show > most[rank]) {
                most[rank] = show;
                best[rank] = p;
            }
    }
    if (best[PROBE_TELLS] >= 0)
        return best[PROBE_TELLS];
    return best[PROBE_PURE] >= 0 && 2 * most[PROBE_PURE] >= most[PROBE_ANY] ? best[PROBE_PURE]
                                                                            : best[PROBE_ANY];
}

// With its shares; the first path is unit first_unit.
static void pairs_usage(const struct pairs *pairs, int rep, int first_unit,
                        struct port_usage *usage)
{
    *usage = *pairs->usages[rep];
    usage->nshares = 0;
    for (int k = 0; k < pairs->npaths; k++)
        if (pairs->shares[k][rep] > 0)
            usage->shares[usage->nshares++] =
                (struct port_share){first_unit + k, pairs->shares[k][rep]};
}

static void model_add_probe(struct port_model *model, const struct pairs *pairs, int rep)
{
    struct port_probe *probe = &model->probes[model->nprobes];
    for (int p = 0; p < model->nprobes; p++)
        if (model->probes[p].form == pairs->rep[rep])
            return;
    if (model->nprobes == PORT_PROBES_MAX)
        return;
    model->nprobes++;
    probe->form = pairs->rep[rep];
    pairs_usage(pairs, rep, model->nunits - pairs->npaths, &probe->usage);
}

// Of the forms that some form stands for in pairs: their numbers, and usages with the shares of
// that one. Returns how many.
static int pairs_forms(const struct pairs *pairs, const int *which, const struct port_usage *all,
                       int *forms, struct port_usage *usages)
{
    int n = 0;
    for (int i = 0; i < pairs->nwhich; i++) {
        if (pairs->rep_of[i] < 0)
            continue;
        pairs_usage(pairs, pairs->rep_of[i], pairs->model->nunits, &usages[n]);
        usages[n].slots = all[i].slots;
        usages[n].slots_mixed = all[i].slots_mixed;
        forms[n++] = which[i];
    }
    return n;
}

// Finds what of the model's binding (writes: PORT_WRITES_COUNT), or of what forms that write this
// are bound more, explains the mixes that tell of it best. Returns their loss.
static double model_fit_binding(struct port_model *model, int writes,
                                const struct ports_mixes *mixes, const struct port_usage *usages)
{
    bool all = writes == PORT_WRITES_COUNT;
    double *binding = all ? &model->binding : &model->binding_more[writes];
    double least = INFINITY, best = *binding;
    int from = all ? 0 : -(int)round(model->binding * BINDING_STEPS);
    for (int step = from; step <= from + BINDING_STEPS; step++) {
        *binding = (double)step / BINDING_STEPS;
        double loss = ports_mixes_loss(mixes, model, usages, writes);
        if (loss < least) {
            least = loss;
            best = *binding;
        }
    }
    *binding = best;
    return least;
}

// How early µops are bound; and those of forms that write one kind of operand, if that is clearly
// earlier or later. The core of a Zen 5 deals operations that write masks out to their two ports
// whatever waits there.
static void model_fit_bindings(struct port_model *model, const struct ports_mixes *mixes,
                               const struct port_usage *usages)
{
    memset(model->binding_more, 0, sizeof model->binding_more);
    model_fit_binding(model, PORT_WRITES_COUNT, mixes, usages);
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
        double as_others = ports_mixes_loss(mixes, model, usages, writes);
        if (model_fit_binding(model, writes, mixes, usages) >= as_others / APART_GAIN)
            model->binding_more[writes] = 0;
    }
}

// The mixes that decide which paths there are, and what is needed to predict them.
struct deciding {
    const struct ports_mixes *mixes;
    const int *which;             // the forms in question
    const struct port_usage *all; // of them
    int *forms;                   // those that are in mixes
    struct port_usage *usages;    // of these, with their shares
};

// Error of the mixes by the shares that there are; without a path, -1: with all.
static double pairs_mixes_error(const struct pairs *pairs, const struct deciding *deciding,
                                int without)
{
    struct port_model tried = *pairs->model;
    tried.nunits += pairs->npaths;
    pairs_forms(pairs, deciding->which, deciding->all, deciding->forms, deciding->usages);
    return ports_mixes_error(deciding->mixes, &tried, deciding->usages,
                             without < 0 ? -1 : pairs->model->nunits + without);
}

// Whether every path has a probe.
static bool pairs_probed(const struct pairs *pairs)
{
    const int shown[REPS_MAX] = {0};
    for (int k = 0; k < pairs->npaths; k++)
        if (path_probe(pairs, k, shown, 0) < 0)
            return false;
    return true;
}

static void pairs_take_shares(struct pairs *pairs, int npaths,
                              double shares[PORT_PATHS_MAX][REPS_MAX])
{
    pairs->npaths = npaths;
    memcpy(pairs->shares, shares, sizeof pairs->shares);
}

// Of the paths that pairs propose, takes the one that explains the mixes best, if it explains any.
// Returns whether there is one.
static bool pairs_take_path(struct pairs *pairs, const struct deciding *deciding)
{
    struct pairs_proposal *proposals = xcalloc(PAIRS_PROPOSALS, sizeof *proposals);
    double before[PORT_PATHS_MAX][REPS_MAX];
    double least = pairs_mixes_error(pairs, deciding, -1) / KEPT_GAIN;
    int npaths = pairs->npaths, best = -1;
    memcpy(before, pairs->shares, sizeof before);
    int n = pairs_propose_paths(pairs, proposals);
    for (int p = 0; p < n; p++) {
        pairs_take_shares(pairs, npaths + 1, proposals[p].shares);
        double with = pairs_mixes_error(pairs, deciding, -1);
        if (with < least && pairs_probed(pairs)) {
            least = with;
            best = p;
        }
    }
    pairs_take_shares(pairs, best < 0 ? npaths : npaths + 1,
                      best < 0 ? before : proposals[best].shares);
    free(proposals);
    return best >= 0;
}

// Leaves out the paths without which the later ones explain the mixes as well, or without a probe.
static void pairs_keep_paths(struct pairs *pairs, const struct deciding *deciding)
{
    const int shown[REPS_MAX] = {0};
    double error = pairs_mixes_error(pairs, deciding, -1);
    bool keep[PORT_PATHS_MAX];
    int kept = 0;
    for (int k = 0; k < pairs->npaths; k++)
        keep[k] =
            path_probe(pairs, k, shown, 0) >= 0 && pairs_mixes_error(pairs, deciding, k) > error;
    for (int k = 0; k < pairs->npaths; k++)
        if (keep[k])
            memmove(pairs->shares[kept++], pairs->shares[k], sizeof pairs->shares[k]);
    pairs->npaths = kept;
}

// Finds the bindings by the shares that there are, and what pairs take with them.
static void pairs_bind(struct pairs *pairs, const struct deciding *deciding,
                       struct port_model *model)
{
    struct port_model bound = *model;
    bound.nunits += pairs->npaths;
    pairs_forms(pairs, deciding->which, deciding->all, deciding->forms, deciding->usages);
    model_fit_bindings(&bound, deciding->mixes, deciding->usages);
    model->binding = bound.binding;
    memcpy(model->binding_more, bound.binding_more, sizeof bound.binding_more);
    pairs_predict(pairs);
}

// Finds the bindings, then path after path, and the bindings beside these: what forms lose since
// they are bound early looks like a path of theirs.
static int pairs_explain(struct pairs *pairs, const struct port_question *question,
                         const struct port_usage *all, struct port_model *model, struct err *err)
{
    struct ports_mixes *mixes = NULL;
    struct port_usage *usages = xcalloc((size_t)pairs->nwhich + 1, sizeof *usages);
    int *forms = xcalloc((size_t)pairs->nwhich + 1, sizeof *forms);
    int n = pairs_forms(pairs, question->which, all, forms, usages);
    const struct port_question drawn = {
        .oracle = question->oracle, .forms = pairs->forms, .which = forms, .n = n};
    int status = ports_mixes_time(&drawn, model, usages, &mixes, err);
    if (status == 0) {
        const struct deciding deciding = {mixes, question->which, all, forms, usages};
        do
            pairs_bind(pairs, &deciding, model);
        while (pairs->npaths < PORT_PATHS_MAX && model->nunits + pairs->npaths < PORT_UNITS_MAX &&
               pairs_take_path(pairs, &deciding));
        pairs_join_paths(pairs);
        pairs_keep_paths(pairs, &deciding);
        pairs_bind(pairs, &deciding, model);
    }
    free(mixes);
    free(usages);
    free(forms);
    return status;
}

static void model_add_paths(struct port_model *model, const struct pairs *pairs)
{
    model->nunits += pairs->npaths;
    for (int k = 0; k < pairs->npaths; k++) {
        struct port_unit *unit = &model->units[model->nunits - pairs->npaths + k];
        int shown[REPS_MAX] = {0};
        unsigned common = 0; // other paths that all probes so far need
        *unit = (struct port_unit){.blocker = -1, .whole_blocker = -1};
        snprintf(unit->name, sizeof unit->name, PORT_PATH "%d", k + 1);
        for (int p = 0; p < PATH_PROBES; p++) {
            int rep = path_probe(pairs, k, shown, common);
            if (rep < 0)
                break;
            common = pairs_others(pairs, k, rep) & (p > 0 ? common : UINT_MAX);
            model_add_probe(model, pairs, rep);
            for (int i = 0; i < pairs->n; i++)
                shown[i] += shown[i] >= 0 && pairs_show(pairs, k, i, rep);
            shown[rep] = -1;
            if (p > 0)
                continue;
            unit->blocker = pairs->rep[rep];
            unit->blocker_clk = pairs->shares[k][rep];
            unit->usage = *pairs->usages[rep];
        }
    }
}

// --- all forms ---

static bool usage_may_share(const struct port_usage *usage, double clk)
{
    return usage->outcome == OUTCOME_OK && usage->unit < 0 && usage->slots <= SLOTS_MAX &&
           clk > PATH_SHARE_MIN;
}

// An instance of a probe alone; a run need not know its throughput.
static double probe_clk(const struct port_model *model, const struct port_probe *probe)
{
    const struct port_usage *usage = &probe->usage;
    const int one = 1;
    return port_predict(model, &usage, &one, 1);
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
    for (int s = 0; s < usage->nshares; s++)
        if (usage->shares[s].unit == unit)
            return usage->shares[s].clk;
    return 0;
}

static void usage_take_shares(struct port_usage *usage, const int *paths, int npaths,
                              const double *shares)
{
    for (int k = 0; k < npaths; k++) {
        if (shares[k] <= 0)
            continue;
        usage->shares[usage->nshares++] = (struct port_share){paths[k], shares[k]};
        if (shares[k] > EXPLAINED * usage->busy_clk)
            usage->busy_clk = 0;
    }
}

// The pairs of forms with probes, [form * nprobes + probe].
struct probing {
    const struct port_question *question;
    const struct port_model *model;
    const struct port_usage *usages;
    int *position; // in the question, of each form
    int nforms;
    struct port_mix *mixes;
    struct port_timing *timings; // of those that were not timed the outcome is not ok
    double *predicted_clk;       // by ports
    double *enough_clk;          // less leaves no share of a path
};

// What a pair takes at least if the form has a share of this path.
static double probe_least_clk(const struct port_probe *probe, int path, const struct port_mix *pair)
{
    return usage_share(&probe->usage, path) * pair->parts[1].count +
           DOUBT_SHARE * pair->parts[0].count;
}

// What a pair may take at most to show that the form has a share of none of the probe's paths.
static double probe_enough_clk(const struct port_probe *probe, const struct port_mix *pair)
{
    double least = INFINITY;
    for (int s = 0; s < probe->usage.nshares; s++)
        least = fmin(least, probe_least_clk(probe, probe->usage.shares[s].unit, pair));
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
}

// The first probe of a path shows most members.
static bool probe_is_first(const struct port_model *model, int path, int p)
{
    for (int before = 0; before < p; before++)
        if (usage_share(&model->probes[before].usage, path) > 0)
            return false;
    return usage_share(&model->probes[p].usage, path) > 0;
}

// Whether a pair with the first probe of a path rules out that the form needs it.
static bool probing_excludes(const struct probing *probing, int at, int path)
{
    const struct port_probe *probe = &probing->model->probes[at % probing->model->nprobes];
    double clk = probing->timings[at].clk;
    return probing->timings[at].outcome == OUTCOME_OK &&
           clk <= SHOWN * probing->predicted_clk[at] &&
           clk < probe_least_clk(probe, path, &probing->mixes[at]);
}

// Whether a form is to be timed beside probe p: it is the first one of a path; or (`others`) the
// first one of one of its paths does not rule out that the form needs that.
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

// Times the pairs that are due; of each as many orders as show that a form needs no path.
static int probing_time(struct probing *probing, bool others, struct err *err)
{
    const struct port_question *question = probing->question;
    int nprobes = probing->model->nprobes, n = 0;
    size_t most = (size_t)probing->nforms * (size_t)nprobes + 1;
    struct port_mix *mixes = xcalloc(most, sizeof *mixes);
    struct port_timing *timings = xcalloc(most, sizeof *timings);
    double *enough_clk = xcalloc(most, sizeof *enough_clk);
    int *at = xcalloc(most, sizeof *at);
    for (int i = 0; i < probing->nforms * nprobes; i++) {
        if (!probe_is_due(probing, i / nprobes, i % nprobes, others))
            continue;
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

// What a form's pairs with the probes say of its shares.
static void probing_assign(const struct probing *probing, int form, struct port_usage *usage)
{
    const struct port_model *model = probing->model;
    const struct port_form *forms = probing->question->forms;
    int paths[PORT_PATHS_MAX], asked = probing->question->which[probing->position[form]];
    struct cell cells[PORT_PROBES_MAX];
    double shares[PORT_PATHS_MAX] = {0};
    struct row row = {.npaths = model_paths(model, paths),
                      .clk = forms[asked].rthroughput_clk,
                      .cost = PROBED_COST};
    bool itself = false;
    for (int p = 0; p < model->nprobes; p++) {
        const struct port_probe *probe = &model->probes[p];
        int at = form * model->nprobes + p;
        const struct port_timing *timing = &probing->timings[at];
        bool same = strcmp(forms[probe->form].name, forms[asked].name) == 0;
        bool ok = timing->outcome == OUTCOME_OK && !same &&
                  timing->spread_clk <= PROBE_SPREAD * timing->clk;
        cells[p] = (struct cell){ok ? timing->clk : (double)NAN, probing->predicted_clk[at]};
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
    usage_take_shares(usage, paths, row.npaths, shares);
}

int ports_assign_paths(const struct port_question *question, const struct port_model *model,
                       struct port_usage *usages, struct err *err)
{
    struct probing probing = {.question = question, .model = model, .usages = usages};
    probing_begin(&probing);
    int status = probing_time(&probing, false, err);
    if (status == 0)
        status = probing_time(&probing, true, err);
    for (int k = 0; k < probing.nforms && status == 0; k++)
        probing_assign(&probing, k, &usages[probing.position[k]]);
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
        usages[c] = (struct port_usage){.slots = 1,
                                        .side_slots = model->classes[c].side,
                                        .unit = -1,
                                        .nuses = 1,
                                        .uses = {{model->classes[c].set, 1}},
                                        .uops = 1};
    }
    const struct port_question question = {
        .oracle = oracle, .forms = forms, .which = which, .n = model->nclasses};
    if (ports_assign_paths(&question, model, usages, err) != 0)
        return -1;
    for (int c = 0; c < model->nclasses; c++) {
        model->classes[c].nshares = usages[c].nshares;
        memcpy(model->classes[c].shares, usages[c].shares, sizeof usages[c].shares);
    }
    return 0;
}

int port_find_paths(const struct port_question *question, struct port_model *model,
                    const struct port_usage *usages, struct err *err)
{
    struct pairs *pairs = xcalloc(1, sizeof *pairs);
    int status = pairs_measure(pairs, question, usages, model, err);
    if (status == 0 && pairs->n >= PAIRS_LEAST)
        status = pairs_explain(pairs, question, usages, model, err);
    if (status == 0)
        model_add_paths(model, pairs);
    pairs_free(pairs);
    free(pairs);
    return status == 0 ? ports_blockers_paths(question->oracle, question->forms, model, err)
                       : status;
}
