// SPDX-License-Identifier: MIT
// How early schedulers bind µops to ports, as one number for a CPU and others for what writes some
// kinds of operand: those by which mixes are explained best. The fit goes through a grid; there are
// few bindings, and the loss is neither smooth nor has it one minimum only.
#include "ports_internal.h"

#include <math.h>
#include <string.h>

enum { ALL = PORT_WRITES_COUNT, STEPS = 20 };
static const double ERROR_MOST = 0.5;                    // of a mix: more is something else's doing
static const double ERROR_LARGE = 0.1, LARGE_COST = 0.3; // as validations count
static const double APART_SIGMAS = 2.5; // of a binding of its own: what is gained is no chance

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

static int mixes_telling(const struct port_bound_mix *mixes, int nmixes, unsigned tells)
{
    int n = 0;
    for (int i = 0; i < nmixes; i++)
        n += (mixes[i].tells & tells) != 0;
    return n;
}

// Of the mixes that tell of any of these bindings.
static double mixes_loss(const struct port_bound_mix *mixes, int nmixes, unsigned tells,
                         const double bindings[PORT_WRITES_COUNT + 1])
{
    double sum = 0;
    for (int i = 0; i < nmixes; i++)
        if (mixes[i].tells & tells)
            sum += mix_loss(&mixes[i], bindings);
    return sum;
}

// Finds binding `which` together with that of all others, by the mixes that tell of either;
// which == ALL: that one.
static void bindings_fit_one(const struct port_bound_mix *mixes, int nmixes, int which,
                             double bindings[PORT_WRITES_COUNT + 1])
{
    double least = INFINITY, best = bindings[which], best_all = bindings[ALL];
    for (int all = 0; all <= STEPS; all++)
        for (int own = which == ALL ? STEPS : 0; own <= STEPS; own++) {
            bindings[which] = (double)own / STEPS;
            bindings[ALL] = (double)all / STEPS;
            double loss = mixes_loss(mixes, nmixes, 1u << which | 1u << ALL, bindings);
            if (loss < least) {
                least = loss;
                best = bindings[which];
                best_all = bindings[ALL];
            }
        }
    bindings[which] = best;
    bindings[ALL] = best_all;
}

// By how much the loss is less with other bindings, in standard deviations of that if it were the
// sum of what mixes gain and lose by chance. What noise makes slow gains nothing and counts
// nothing.
static double bindings_sigmas(const struct port_bound_mix *mixes, int nmixes, unsigned tells,
                              const double before[PORT_WRITES_COUNT + 1],
                              const double after[PORT_WRITES_COUNT + 1])
{
    double sum = 0, squares = 0;
    for (int i = 0; i < nmixes; i++) {
        if (!(mixes[i].tells & tells))
            continue;
        double gain = mix_loss(&mixes[i], before) - mix_loss(&mixes[i], after);
        sum += gain;
        squares += gain * gain;
    }
    return squares > 0 ? sum / sqrt(squares) : 0;
}

// Gives that kind of operand a binding of its own which gains most by it, if any gains enough.
static bool bindings_part(const struct port_bound_mix *mixes, int nmixes,
                          double bindings[PORT_WRITES_COUNT + 1])
{
    double most = APART_SIGMAS, best[PORT_WRITES_COUNT + 1];
    bool apart = false;
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
        double tried[PORT_WRITES_COUNT + 1];
        if (!isnan(bindings[writes]) ||
            mixes_telling(mixes, nmixes, 1u << writes) < PORT_BOUND_MIXES_LEAST)
            continue;
        memcpy(tried, bindings, sizeof tried);
        bindings_fit_one(mixes, nmixes, writes, tried);
        double sigmas = bindings_sigmas(mixes, nmixes, 1u << writes | 1u << ALL, bindings, tried);
        if (!(sigmas > most))
            continue;
        most = sigmas;
        memcpy(best, tried, sizeof best);
        apart = true;
    }
    if (apart)
        memcpy(bindings, best, sizeof best);
    return apart;
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
