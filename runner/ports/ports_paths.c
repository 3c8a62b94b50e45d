// SPDX-License-Identifier: MIT
// Paths that several ports share: for results that leave the vector side, say, or for third
// operands. No form of one µop shows such a path alone, but forms that need it disturb each other
// more than their ports explain. A path is a unit: each form needs it for a part of a cycle or
// more. A few forms that need it are its probes, beside which all others are timed. First
// (port_find_paths) some hundred forms are timed in pairs (ports_pairs.c); the shares that explain
// the pairs are paths (ports_shares.c), of which those stay that also explain larger mixes and have
// a probe. Then every form is timed beside the probes only (ports_probes.c).
#include "ports_pairs.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATH_PROBES = 3,
    PAIRS_LEAST = 12, // forms in pairs: fewer show no paths
};
static const double KEPT_GAIN = 1.03; // ratio of the errors of mixes without and with a path

// Returns true if form i's share of a path shows beside form j.
static bool pairs_show(const struct pairs *pairs, int path, int i, int j)
{
    const double *shares = pairs->shares[path];
    return i != j && shares[i] > 0 && shares[j] > 0 &&
           shares[i] * pairs->count[i] + shares[j] * pairs->count[j] >
               PATH_EXCESS * pairs->cells[i][j].predicted;
}

// Returns the mean error of the pairs of a form.
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

// Returns true if form i is explained at least as well as half of the path's members.
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

// Returns true if the form takes longer than its ports and shares explain: it waits for itself, or
// for something unknown, and is no probe. Shares of forms whose instances depend on each other may
// be chance, and do not count.
static bool pairs_waits(const struct pairs *pairs, int i)
{
    struct port_usage ports = *pairs->usages[i];
    ports_demand_drop(&ports.demands, -1);
    const struct port_usage *usages[] = {&ports};
    const int one[] = {1};
    double explained = port_bound(pairs->model, usages, one, 1);
    for (int k = 0; k < pairs->npaths && !pairs->forms[pairs->rep[i]].chains; k++)
        explained = fmax(explained, pairs->shares[k][i]);
    return pairs->clk[i] > PATH_EXCESS * explained;
}

// Returns the other paths that a form needs, a bit each.
static unsigned pairs_others(const struct pairs *pairs, int path, int i)
{
    unsigned others = 0;
    for (int k = 0; k < pairs->npaths; k++)
        others |= k != path && pairs->shares[k][i] > 0 ? 1u << k : 0;
    return others;
}

// Probes of a path so far.
struct chosen {
    int shown[REPS_MAX]; // number of probes beside which a form shows; -1: it is one
    int n;
    bool pure;       // one of them needs no other path
    unsigned common; // other paths that all of them need, a bit each
};
// Rank of a member as a probe. A form that needs another path as well shows no more beside a probe
// that needs both: so if all probes need others, one without comes next, or one that lacks one of
// these.
enum probe_rank { PROBE_ANY, PROBE_PURE, PROBE_LACKS, PROBE_ALONE, PROBE_RANKS };

// Returns the next probe, -1: none. It is the member beside which most of those show that do not
// show beside two probes yet; of members that need only this path, if half as many show beside it;
// or one of a later rank, if that is wanted. Members that are not explained are no probes.
static int path_probe(const struct pairs *pairs, int path, const struct chosen *chosen)
{
    int best[PROBE_RANKS] = {-1, -1, -1, -1}, most[PROBE_RANKS] = {0};
    bool mixed = chosen->n > 0 && !chosen->pure;
    for (int p = 0; p < pairs->n; p++) {
        int show = 0, all = 0;
        if (pairs->shares[path][p] <= 0 || chosen->shown[p] < 0 || !pairs_clear(pairs, path, p) ||
            pairs_waits(pairs, p))
            continue;
        for (int i = 0; i < pairs->n; i++) {
            bool shows = pairs_show(pairs, path, i, p);
            all += shows;
            show += shows && chosen->shown[i] < 2;
        }
        unsigned others = pairs_others(pairs, path, p);
        const int shown[PROBE_RANKS] = {show, others ? 0 : show,
                                        mixed && chosen->common & ~others ? all : 0,
                                        mixed && !others ? all : 0};
        for (int rank = 0; rank < PROBE_RANKS; rank++)
            if (shown[rank] > most[rank]) {
                most[rank] = shown[rank];
                best[rank] = p;
            }
    }
    if (best[PROBE_ALONE] >= 0)
        return best[PROBE_ALONE];
    if (best[PROBE_LACKS] >= 0)
        return best[PROBE_LACKS];
    return best[PROBE_PURE] >= 0 && 2 * most[PROBE_PURE] >= most[PROBE_ANY] ? best[PROBE_PURE]
                                                                            : best[PROBE_ANY];
}

static void chosen_add(const struct pairs *pairs, int path, struct chosen *chosen, int rep)
{
    unsigned others = pairs_others(pairs, path, rep);
    for (int i = 0; i < pairs->n; i++)
        chosen->shown[i] += chosen->shown[i] >= 0 && pairs_show(pairs, path, i, rep);
    chosen->shown[rep] = -1;
    chosen->pure |= others == 0;
    chosen->common = others & (chosen->n++ > 0 ? chosen->common : UINT_MAX);
}

// Copies the usage of rep with its shares; the first path is unit first_unit.
static void pairs_usage(const struct pairs *pairs, int rep, int first_unit,
                        struct port_usage *usage)
{
    *usage = *pairs->usages[rep];
    for (int k = 0; k < pairs->npaths; k++)
        if (pairs->shares[k][rep] > 0)
            ports_demand_put(&usage->demands, first_unit + k)->clk = pairs->shares[k][rep];
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

// Writes the forms that have a representative, and their usages with its shares. Returns how many.
static int pairs_forms(const struct pairs *pairs, const int *which, const struct port_usage *all,
                       int *forms, struct port_usage *usages)
{
    int n = 0;
    for (int i = 0; i < pairs->nwhich; i++) {
        if (pairs->rep_of[i] < 0)
            continue;
        pairs_usage(pairs, pairs->rep_of[i], pairs->model->nunits, &usages[n]);
        usages[n].front.slots = all[i].front.slots;
        usages[n].front.mixed = all[i].front.mixed;
        forms[n++] = which[i];
    }
    return n;
}

// Mixes that decide on paths, and the forms of their predictions.
struct deciding {
    const struct ports_mixes *mixes;
    const int *which;             // forms in question
    const struct port_usage *all; // their usages
    int *forms;                   // forms in mixes
    struct port_usage *usages;    // their usages, with shares
};

// Returns the error of the mixes by the present shares, without those of one path; -1: with all.
static double pairs_mixes_error(const struct pairs *pairs, const struct deciding *deciding,
                                int without)
{
    struct port_model tried = *pairs->model;
    tried.nunits += pairs->npaths;
    pairs_forms(pairs, deciding->which, deciding->all, deciding->forms, deciding->usages);
    return ports_mixes_error(deciding->mixes, &tried, deciding->usages,
                             without < 0 ? -1 : pairs->model->nunits + without);
}

// Returns true if every path has a probe.
static bool pairs_probed(const struct pairs *pairs)
{
    const struct chosen none = {.n = 0};
    for (int k = 0; k < pairs->npaths; k++)
        if (path_probe(pairs, k, &none) < 0)
            return false;
    return true;
}

static void pairs_take_shares(struct pairs *pairs, int npaths,
                              double shares[PORT_PATHS_MAX][REPS_MAX])
{
    pairs->npaths = npaths;
    memcpy(pairs->shares, shares, sizeof pairs->shares);
}

// Takes the proposed path that explains the mixes best. Returns false if none explains them better.
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

// Leaves out paths without a probe, and those whose loss makes the error of the mixes no larger.
static void pairs_keep_paths(struct pairs *pairs, const struct deciding *deciding)
{
    const struct chosen none = {.n = 0};
    double error = pairs_mixes_error(pairs, deciding, -1);
    bool keep[PORT_PATHS_MAX];
    int kept = 0;
    for (int k = 0; k < pairs->npaths; k++)
        keep[k] = path_probe(pairs, k, &none) >= 0 && pairs_mixes_error(pairs, deciding, k) > error;
    for (int k = 0; k < pairs->npaths; k++)
        if (keep[k])
            memmove(pairs->shares[kept++], pairs->shares[k], sizeof pairs->shares[k]);
    pairs->npaths = kept;
}

// Finds one path after another.
static int pairs_explain(struct pairs *pairs, const struct port_question *question,
                         const struct port_usage *all, const struct port_model *model,
                         struct err *err)
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
        while (pairs->npaths < PORT_PATHS_MAX && model->nunits + pairs->npaths < PORT_UNITS_MAX &&
               pairs_take_path(pairs, &deciding))
            ;
        pairs_join_paths(pairs);
        pairs_keep_paths(pairs, &deciding);
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
        struct chosen chosen = {.n = 0};
        *unit = (struct port_unit){.blocker = -1, .whole_blocker = -1};
        snprintf(unit->name, sizeof unit->name, PORT_PATH "%d", k + 1);
        for (int p = 0; p < PATH_PROBES; p++) {
            int rep = path_probe(pairs, k, &chosen);
            if (rep < 0)
                break;
            model_add_probe(model, pairs, rep);
            chosen_add(pairs, k, &chosen, rep);
            if (p > 0)
                continue;
            unit->blocker = pairs->rep[rep];
            unit->blocker_clk = pairs->shares[k][rep];
            unit->usage = *pairs->usages[rep];
        }
    }
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
