// SPDX-License-Identifier: MIT
// Paths that several ports share, for results that leave the vector side, say. No form of one µop
// shows such a path alone, but forms that need it disturb each other more than their ports explain.
// A path is a unit: each form needs it for some part of a cycle or more.
#include "ports_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPS_MAX = 64, // forms that are timed in pairs, each with another usage
    MIX_CLK = 30,  // that each of two forms takes alone
    MEMBERS_MIN = 3,
};
static const double SLOTS_MAX = 4.5;     // more is microcode
static const double REP_SLOTS_MAX = 2.6; // and in pairs
static const double BLOCKER_CLK = 1.3;   // of a blocker: longer ones leave gaps
static const double EXCESS = 1.12;       // of a pair over what the ports explain
static const double SHARE_MIN = 0.35;    // cycles; less is chance
static const double ERROR_MOST = 0.5;    // of a pair: more is not the path's doing
static const double ERROR_GAIN = 0.9;    // of all pairs, with a path and without
static const double CLK_MIN = 0.25;      // of a form that is timed in pairs

struct pairs {
    const struct port_model *model;
    int n;
    int rep[REPS_MAX]; // forms
    const struct port_usage *usages[REPS_MAX];
    double clk[REPS_MAX];
    double measured[REPS_MAX][REPS_MAX], predicted[REPS_MAX][REPS_MAX]; // [i][j], i > j
};

// Instances of a form in a pair.
static int pairs_count(const struct pairs *pairs, int i)
{
    return (int)ceil(MIX_CLK / pairs->clk[i]);
}

static bool usages_alike(const struct port_usage *a, const struct port_usage *b)
{
    bool alike = a->nuses == b->nuses && round(a->slots) == round(b->slots) &&
                 fabs(a->busy_clk - b->busy_clk) < 0.1;
    for (int i = 0; i < a->nuses && alike; i++)
        alike = a->uses[i].set == b->uses[i].set && a->uses[i].uops == b->uses[i].uops;
    return alike;
}

// One form for each usage, which has no chains that moves would have to cut.
static void pairs_choose(struct pairs *pairs, const struct port_form *forms, const int *which,
                         int n, const struct port_usage *usages)
{
    for (int i = 0; i < n && pairs->n < REPS_MAX; i++) {
        const struct port_usage *usage = &usages[i];
        bool unfit = usage->outcome != OUTCOME_OK || !(usage->slots <= REP_SLOTS_MAX) ||
                     forms[which[i]].chains || usage->unit >= 0 ||
                     !(forms[which[i]].rthroughput_clk > CLK_MIN);
        for (int r = 0; r < pairs->n && !unfit; r++)
            unfit = usages_alike(usage, pairs->usages[r]);
        if (unfit)
            continue;
        pairs->rep[pairs->n] = which[i];
        pairs->usages[pairs->n] = usage;
        pairs->clk[pairs->n++] = forms[which[i]].rthroughput_clk;
    }
}

static int pairs_measure(struct pairs *pairs, const struct port_oracle *oracle, struct err *err)
{
    int n = pairs->n * (pairs->n - 1) / 2, at = 0;
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    for (int i = 0; i < pairs->n; i++)
        for (int j = 0; j < i; j++)
            mixes[at++] =
                ports_pair(pairs->rep[i], pairs->clk[i], pairs->rep[j], pairs->clk[j], MIX_CLK);
    int status = ports_time(oracle, "paths", mixes, n, timings, err);
    at = 0;
    for (int i = 0; i < pairs->n && status == 0; i++)
        for (int j = 0; j < i; j++, at++) {
            bool ok = timings[at].outcome == OUTCOME_OK;
            pairs->measured[i][j] = ok ? timings[at].clk : (double)NAN;
            pairs->predicted[i][j] =
                ports_pair_clk(pairs->model, pairs->usages[i], pairs->usages[j], &mixes[at]);
        }
    free(mixes);
    free(timings);
    return status;
}

// How long a form keeps the path busy if the other one of a pair is its blocker.
static double path_share(double measured, double predicted, double blockers_clk, int count,
                         double alone_clk)
{
    double share = (measured - blockers_clk) / count;
    bool shares = measured > EXCESS * predicted && share > SHARE_MIN;
    return shares ? fmin(share, alone_clk) : 0;
}

// Shares of all forms if form b is the path's blocker. Returns how many have one.
static int pairs_shares(const struct pairs *pairs, int b, double *shares)
{
    int members = 0;
    for (int i = 0; i < pairs->n; i++) {
        int high = i > b ? i : b, low = i > b ? b : i;
        if (i == b) {
            shares[i] = pairs->clk[b];
            continue;
        }
        shares[i] =
            path_share(pairs->measured[high][low], pairs->predicted[high][low],
                       pairs_count(pairs, b) * pairs->clk[b], pairs_count(pairs, i), pairs->clk[i]);
        members += shares[i] > 0;
    }
    return members;
}

// Sum of the errors of all pairs with these shares of a path.
static double pairs_error(const struct pairs *pairs, const double *shares)
{
    double sum = 0;
    for (int i = 0; i < pairs->n; i++)
        for (int j = 0; j < i; j++) {
            double both = shares[i] > 0 && shares[j] > 0 ? shares[i] * pairs_count(pairs, i) +
                                                               shares[j] * pairs_count(pairs, j)
                                                         : 0;
            double clk = fmax(pairs->predicted[i][j], both);
            if (!isnan(pairs->measured[i][j]))
                sum += fmin(fabs(clk / pairs->measured[i][j] - 1), ERROR_MOST);
        }
    return sum;
}

int port_find_path(const struct port_oracle *oracle, const struct port_form *forms,
                   const int *which, int n, struct port_model *model,
                   const struct port_usage *usages, struct err *err)
{
    struct pairs *pairs = xcalloc(1, sizeof *pairs);
    pairs->model = model;
    pairs_choose(pairs, forms, which, n, usages);
    int status = pairs_measure(pairs, oracle, err), best = -1;
    double shares[REPS_MAX] = {0}, least = ERROR_GAIN * pairs_error(pairs, shares);
    for (int b = 0; b < pairs->n && status == 0; b++) {
        if (pairs->clk[b] > BLOCKER_CLK || pairs_shares(pairs, b, shares) < MEMBERS_MIN)
            continue;
        double error = pairs_error(pairs, shares);
        if (error < least) {
            least = error;
            best = b;
        }
    }
    if (best >= 0 && model->nunits < PORT_UNITS_MAX) {
        struct port_unit *unit = &model->units[model->nunits++];
        *unit = (struct port_unit){.blocker = pairs->rep[best],
                                   .blocker_clk = pairs->clk[best],
                                   .usage = *pairs->usages[best],
                                   .whole_blocker = -1};
        snprintf(unit->name, sizeof unit->name, "%s", PORT_PATH);
    }
    free(pairs);
    return status;
}

int ports_assign_path(const struct port_oracle *oracle, const struct port_form *forms,
                      const int *which, int n, const struct port_model *model, int unit,
                      struct port_usage *usages, struct err *err)
{
    const struct port_unit *path = &model->units[unit];
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    int *position = xcalloc((size_t)n + 1, sizeof *position), nmixes = 0;
    for (int i = 0; i < n; i++) {
        double clk = forms[which[i]].rthroughput_clk;
        if (usages[i].outcome != OUTCOME_OK || usages[i].unit >= 0 ||
            !(usages[i].slots <= SLOTS_MAX) || !(clk > SHARE_MIN))
            continue;
        position[nmixes] = i;
        mixes[nmixes++] = ports_pair(which[i], clk, path->blocker, path->blocker_clk, MIX_CLK);
    }
    int status = ports_time(oracle, "paths", mixes, nmixes, timings, err);
    for (int k = 0; k < nmixes && status == 0; k++) {
        struct port_usage *usage = &usages[position[k]];
        double alone_clk = forms[which[position[k]]].rthroughput_clk;
        double share =
            timings[k].outcome != OUTCOME_OK
                ? 0
                : path_share(timings[k].clk, ports_pair_clk(model, usage, &path->usage, &mixes[k]),
                             mixes[k].parts[1].count * path->blocker_clk, mixes[k].parts[0].count,
                             alone_clk);
        if (which[position[k]] == path->blocker)
            share = path->blocker_clk;
        if (share <= 0)
            continue;
        usage->unit = unit;
        usage->busy_clk = fmax(share, usage->busy_clk);
    }
    free(mixes);
    free(timings);
    free(position);
    return status;
}
