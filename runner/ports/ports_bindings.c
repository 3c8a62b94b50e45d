// SPDX-License-Identifier: MIT
// How early schedulers bind µops to ports, as one number for a CPU and others for what writes some
// kinds of operand: those by which mixes are explained best. The fit goes through a grid; there are
// few bindings, and the loss is neither smooth nor has it one minimum only.
#include "ports_internal.h"

#include <math.h>

enum { ALL = PORT_WRITES_COUNT, STEPS = 20 };
static const double ERROR_MOST = 0.5;                    // of a mix: more is something else's doing
static const double ERROR_LARGE = 0.1, LARGE_COST = 0.3; // as validations count
static const double APART_GAIN = 1.04;                   // of the loss, by a binding of its own

double port_mix_error(double predicted_clk, double measured_clk)
{
    return fmin(fabs(predicted_clk / measured_clk - 1), ERROR_MOST);
}

// Schedulers do well in most mixes and badly in some, which the mean error alone would leave out.
static double mix_loss(const struct port_bound_mix *mix,
                       const double bindings[PORT_WRITES_COUNT + 1])
{
    double clk = mix->other_clk;
    for (int c = 0; c < mix->ncomponents; c++) {
        const struct port_bound_component *component = &mix->components[c];
        double uops = 0, bound = 0;
        for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
            uops += component->uops[writes];
            bound += component->uops[writes] *
                     (isnan(bindings[writes]) ? bindings[ALL] : bindings[writes]);
        }
        double more = component->even_clk - component->best_clk;
        clk = fmax(clk, component->best_clk + (uops > 0 ? bound / uops * more : 0));
    }
    double error = port_mix_error(clk, mix->measured_clk);
    return error + (error > ERROR_LARGE ? LARGE_COST : 0);
}

// Of the mixes that tell of any of these bindings; *n: how many.
static double mixes_loss(const struct port_bound_mix *mixes, int nmixes, unsigned tells,
                         const double bindings[PORT_WRITES_COUNT + 1], int *n)
{
    double sum = 0;
    *n = 0;
    for (int i = 0; i < nmixes; i++) {
        if (!(mixes[i].tells & tells))
            continue;
        sum += mix_loss(&mixes[i], bindings);
        ++*n;
    }
    return sum;
}

// Finds binding `which` together with that of all others; which == ALL: that one. Returns the loss
// of the mixes that tell of either.
static double bindings_fit_one(const struct port_bound_mix *mixes, int nmixes, int which,
                               double bindings[PORT_WRITES_COUNT + 1])
{
    double least = INFINITY, best = bindings[which], best_all = bindings[ALL];
    int n;
    for (int all = 0; all <= STEPS; all++)
        for (int own = which == ALL ? STEPS : 0; own <= STEPS; own++) {
            bindings[which] = (double)own / STEPS;
            bindings[ALL] = (double)all / STEPS;
            double loss = mixes_loss(mixes, nmixes, 1u << which | 1u << ALL, bindings, &n);
            if (loss < least) {
                least = loss;
                best = bindings[which];
                best_all = bindings[ALL];
            }
        }
    bindings[which] = best;
    bindings[ALL] = best_all;
    return least;
}

// Gives that kind of operand a binding of its own by which the loss becomes less by most, if any
// gains enough in the mixes that tell of it.
static bool bindings_part(const struct port_bound_mix *mixes, int nmixes,
                          double bindings[PORT_WRITES_COUNT + 1])
{
    int apart = -1, n;
    double most = 0, best[2] = {NAN, NAN}, all = bindings[ALL];
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
        unsigned own = 1u << writes;
        if (!isnan(bindings[writes]))
            continue;
        double together = mixes_loss(mixes, nmixes, own | 1u << ALL, bindings, &n);
        double as_others = mixes_loss(mixes, nmixes, own, bindings, &n);
        if (n < PORT_BOUND_MIXES_LEAST)
            continue;
        double gain = together - bindings_fit_one(mixes, nmixes, writes, bindings);
        if (gain > most && as_others > APART_GAIN * mixes_loss(mixes, nmixes, own, bindings, &n)) {
            most = gain;
            best[0] = bindings[writes];
            best[1] = bindings[ALL];
            apart = writes;
        }
        bindings[writes] = NAN;
        bindings[ALL] = all;
    }
    if (apart >= 0) {
        bindings[apart] = best[0];
        bindings[ALL] = best[1];
    }
    return apart >= 0;
}

void port_bindings_fit(const struct port_bound_mix *mixes, int n, struct port_model *model)
{
    double bindings[PORT_WRITES_COUNT + 1];
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++)
        bindings[writes] = NAN;
    bindings_fit_one(mixes, n, ALL, bindings);
    while (bindings_part(mixes, n, bindings))
        ;
    model->binding = bindings[ALL];
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++)
        model->binding_more[writes] =
            isnan(bindings[writes]) ? 0 : bindings[writes] - bindings[ALL];
}
