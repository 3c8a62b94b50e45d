// SPDX-License-Identifier: MIT
// How early schedulers bind µops to ports, as one number for a CPU and others for what writes some
// kinds of operand, and the norm of what the front end and the ports take: those by which mixes are
// explained best. The fit goes through a grid; there are few numbers, and the loss is neither
// smooth nor has it one minimum only.
#include "ports_internal.h"

#include <math.h>

enum { ALL = PORT_WRITES_COUNT, STEPS = 20 };
static const double ERROR_MOST = 0.5;                    // of a mix: more is something else's doing
static const double ERROR_LARGE = 0.1, LARGE_COST = 0.3; // as validations count
static const double APART_SIGMAS = 2.5; // of a number of its own: what is gained is no chance
// Orders of the norm that are tried: three per cent more where two take as long, to an eighth. What
// is less than that noise does as well.
static const double NORMS[] = {24, 20, 16, 14, 12, 10, 8, 6};

// The numbers that are found.
struct bound_by {
    double bindings[PORT_WRITES_COUNT + 1]; // NaN: that of all
    double norm;
};

double port_mix_error(double predicted_clk, double measured_clk)
{
    return fmin(fabs(predicted_clk / measured_clk - 1), ERROR_MOST);
}

// The binding of each kind of operand, its own one or that of all.
static struct bound_by bound_by_each(const struct bound_by *by)
{
    struct bound_by each = *by;
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++)
        if (isnan(by->bindings[writes]))
            each.bindings[writes] = by->bindings[ALL];
    return each;
}

// Schedulers do well in most mixes and badly in some, which the mean error alone would leave out.
// by: bound_by_each().
static double mix_loss(const struct port_bound_mix *mix, const struct bound_by *by)
{
    double ports_clk = 0;
    for (int c = 0; c < mix->ncomponents; c++) {
        const struct port_bound_component *component = &mix->components[c];
        double uops = 0, bound = 0;
        for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
            uops += component->uops[writes];
            bound += component->uops[writes] * by->bindings[writes];
        }
        double more = component->even_clk - component->best_clk;
        double clk = component->best_clk + (uops > 0 ? bound / uops * more : 0);
        ports_clk = clk > ports_clk ? clk : ports_clk; // fmax() is a call, here one of millions
    }
    double clk =
        fmax(mix->other_clk, ports_beside_clk(by->norm, ports_clk, mix->front_clk, mix->side_clk));
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
                         const struct bound_by *by)
{
    double sum = 0;
    const struct bound_by each = bound_by_each(by);
    for (int i = 0; i < nmixes; i++)
        if (mixes[i].tells & tells)
            sum += mix_loss(&mixes[i], &each);
    return sum;
}

// Finds binding `which` together with that of all others, by the mixes that tell of either;
// which == ALL: that one.
static void bindings_fit_one(const struct port_bound_mix *mixes, int nmixes, int which,
                             struct bound_by *by)
{
    double *bindings = by->bindings;
    double least = INFINITY, best = bindings[which], best_all = bindings[ALL];
    for (int all = 0; all <= STEPS; all++)
        for (int own = which == ALL ? STEPS : 0; own <= STEPS; own++) {
            bindings[which] = (double)own / STEPS;
            bindings[ALL] = (double)all / STEPS;
            double loss = mixes_loss(mixes, nmixes, 1u << which | 1u << ALL, by);
            if (loss < least) {
                least = loss;
                best = bindings[which];
                best_all = bindings[ALL];
            }
        }
    bindings[which] = best;
    bindings[ALL] = best_all;
}

// By how much the loss is less with other numbers, in standard deviations of that if it were the
// sum of what mixes gain and lose by chance. What noise makes slow gains nothing and counts
// nothing.
static double gain_sigmas(const struct port_bound_mix *mixes, int nmixes, unsigned tells,
                          const struct bound_by *before, const struct bound_by *after)
{
    double sum = 0, squares = 0;
    const struct bound_by was = bound_by_each(before), is = bound_by_each(after);
    for (int i = 0; i < nmixes; i++) {
        if (!(mixes[i].tells & tells))
            continue;
        double gain = mix_loss(&mixes[i], &was) - mix_loss(&mixes[i], &is);
        sum += gain;
        squares += gain * gain;
    }
    return squares > 0 ? sum / sqrt(squares) : 0;
}

// Gives that kind of operand a binding of its own which gains most by it, if any gains enough.
static bool bindings_part(const struct port_bound_mix *mixes, int nmixes, struct bound_by *by)
{
    double most = APART_SIGMAS;
    struct bound_by best = *by;
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
        struct bound_by tried = *by;
        if (!isnan(by->bindings[writes]) ||
            mixes_telling(mixes, nmixes, 1u << writes) < PORT_BOUND_MIXES_LEAST)
            continue;
        bindings_fit_one(mixes, nmixes, writes, &tried);
        double sigmas = gain_sigmas(mixes, nmixes, 1u << writes | 1u << ALL, by, &tried);
        if (!(sigmas > most))
            continue;
        most = sigmas;
        best = tried;
    }
    *by = best;
    return most > APART_SIGMAS;
}

static struct bound_by bound_by_all(const struct port_bound_mix *mixes, int n, double norm)
{
    struct bound_by by = {.norm = norm};
    for (int writes = 0; writes <= PORT_WRITES_COUNT; writes++)
        by.bindings[writes] = NAN;
    bindings_fit_one(mixes, n, ALL, &by);
    return by;
}

static struct bound_by bound_by_kinds(const struct port_bound_mix *mixes, int n, double norm)
{
    struct bound_by by = bound_by_all(mixes, n, norm);
    while (bindings_part(mixes, n, &by))
        ;
    return by;
}

static void bound_by_put(const struct bound_by *by, struct port_model *model)
{
    model->norm = by->norm;
    model->binding = by->bindings[ALL];
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++)
        model->binding_more[writes] =
            isnan(by->bindings[writes]) ? 0 : by->bindings[writes] - by->bindings[ALL];
}

void port_bindings_fit(const struct port_bound_mix *mixes, int n, struct port_model *model)
{
    const struct bound_by by = bound_by_kinds(mixes, n, model->norm);
    bound_by_put(&by, model);
}

void port_norm_fit(const struct port_bound_mix *mixes, int n, struct port_model *model)
{
    double least = INFINITY, best = 0;
    for (size_t k = 0; k < ARRAY_LEN(NORMS); k++) {
        const struct bound_by tried = bound_by_all(mixes, n, NORMS[k]);
        double loss = mixes_loss(mixes, n, 1u << ALL, &tried);
        if (loss < least) {
            least = loss;
            best = NORMS[k];
        }
    }
    // What one binding for all leaves over may be some kinds' own ones instead.
    const struct bound_by longest = bound_by_kinds(mixes, n, 0);
    const struct bound_by together = bound_by_kinds(mixes, n, best);
    bool clear = gain_sigmas(mixes, n, 1u << ALL, &longest, &together) > APART_SIGMAS;
    bound_by_put(clear ? &together : &longest, model);
}
