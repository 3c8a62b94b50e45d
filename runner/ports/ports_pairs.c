// SPDX-License-Identifier: MIT
// Pairs of forms: choice of the representatives, and their times together.
#include "ports_pairs.h"
#include "ports_fit.h"

#include <math.h>
#include <stdlib.h>

static const double REP_SLOTS_MAX = 2.6; // more slots would hide the waits of a form
static const double CLK_MIN = 0.25;      // throughput of a form in pairs, at least

// Returns a pair in several orders: the cost of a path is in the best of them, that of schedulers
// is not.
struct port_mix paths_pair(int a, double a_clk, int b, double b_clk)
{
    struct port_mix pair = ports_pair(a, a_clk, b, b_clk, PAIR_CLK);
    pair.orders |= MIX_ORDERS_FEW;
    return pair;
}

static bool usages_alike(const struct port_usage *a, const struct port_usage *b)
{
    return port_uses_same(&a->uses, &b->uses) && round(a->front.slots) == round(b->front.slots) &&
           fabs(port_usage_wait_clk(a) - port_usage_wait_clk(b)) < 0.1;
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
            fabs(form->rthroughput_clk - pairs->clk[r]) < 0.1 * pairs->clk[r])
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

// Adds the last form of another mnemonic to the first one of each kind, as long as there is room: a
// path that few kinds need shows little in one form of each.
static void pairs_choose_again(struct pairs *pairs, const int *which,
                               const struct port_usage *usages)
{
    bool again[REPS_MAX] = {false};
    int first = pairs->n;
    for (int i = pairs->nwhich - 1; i >= 0 && pairs->n < REPS_MAX; i--) {
        int rep = pairs->rep_of[i];
        if (rep < 0 || rep >= first || again[rep] ||
            pairs->forms[which[i]].family == pairs->forms[pairs->rep[rep]].family)
            continue;
        again[rep] = true;
        pairs->rep_of[i] = pairs->n;
        pairs_add(pairs, which[i], &usages[i]);
    }
}

static void pairs_choose(struct pairs *pairs, const int *which, const struct port_usage *usages)
{
    for (int i = 0; i < pairs->nwhich; i++) {
        const struct port_usage *usage = &usages[i];
        const struct port_form *form = &pairs->forms[which[i]];
        bool fits = usage->outcome == OUTCOME_OK && usage->front.slots <= REP_SLOTS_MAX &&
                    ports_waits_only(usage) && form->rthroughput_clk > CLK_MIN;
        int rep = fits ? pairs_twin(pairs, form, usage) : -1;
        pairs->rep_of[i] = rep < REPS_MAX ? rep : -1;
        if (rep == pairs->n && rep < REPS_MAX)
            pairs_add(pairs, which[i], usage);
    }
    pairs_choose_again(pairs, which, usages);
}

// Leaves out forms whose instances wait for each other in spite of the moves.
static int pairs_thin(struct pairs *pairs, const struct port_oracle *oracle, struct err *err)
{
    struct port_mix mixes[REPS_MAX];
    struct port_timing timings[REPS_MAX];
    for (int i = 0; i < pairs->n; i++) {
        mixes[i] = paths_pair(pairs->rep[i], pairs->clk[i], pairs->rep[i], pairs->clk[i]);
        mixes[i].nparts = 1;
    }
    int status = ports_time(oracle, "paths", mixes, pairs->n, timings, err), kept = 0;
    for (int i = 0; i < pairs->n && status == 0; i++) {
        double alone_clk = timings[i].clk / mixes[i].parts[0].count;
        bool fits =
            timings[i].outcome == OUTCOME_OK && alone_clk <= PATH_ALONE_MOST * pairs->clk[i];
        for (int w = 0; w < pairs->nwhich; w++)
            if (pairs->rep_of[w] == i)
                pairs->rep_of[w] = fits ? kept : -1;
        if (!fits)
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
        for (int j = 0; j < i; j++) {
            mixes[at] = paths_pair(pairs->rep[i], pairs->clk[i], pairs->rep[j], pairs->clk[j]);
            enough_clk[at] = ports_pair_clk(pairs->model, pairs->forms, pairs->usages[i],
                                            pairs->usages[j], &mixes[at]);
            pairs->cells[i][j].predicted = pairs->cells[j][i].predicted = enough_clk[at++];
        }
    const struct port_series series = {"paths", mixes, enough_clk, n};
    int status = ports_time_enough(oracle, &series, timings, err);
    at = 0;
    for (int i = 0; i < pairs->n && status == 0; i++) {
        pairs->cells[i][i].clk = NAN;
        for (int j = 0; j < i; j++, at++) {
            bool ok = timings[at].outcome == OUTCOME_OK;
            pairs->cells[i][j].clk = pairs->cells[j][i].clk = ok ? timings[at].clk : (double)NAN;
        }
    }
    free(mixes);
    free(timings);
    free(enough_clk);
    return status;
}

int pairs_measure(struct pairs *pairs, const struct port_question *question,
                  const struct port_usage *usages, const struct port_model *model, struct err *err)
{
    *pairs = (struct pairs){.model = model, .forms = question->forms, .nwhich = question->n};
    pairs->rep_of = xcalloc((size_t)question->n + 1, sizeof *pairs->rep_of);
    pairs_choose(pairs, question->which, usages);
    int status = pairs_thin(pairs, question->oracle, err);
    return status == 0 ? pairs_time(pairs, question->oracle, err) : status;
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->rep_of);
}
