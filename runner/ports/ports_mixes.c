// SPDX-License-Identifier: MIT
// Mixes of several forms, which tell whether a path that explains pairs is one. In pairs two forms
// may also disturb each other because they take turns.
#include "ports_internal.h"
#include "util/random.h"

#include <math.h>
#include <stdlib.h>

enum {
    MIXES = 1500,
    FORMS_MIN = 3, // forms in a mix
    FORMS_MOST = 6,
    COUNT_MOST = 3, // instances of a form
    SEED = 20,
};
static const double ERROR_MOST = 0.5; // of a mix: more has another cause

struct ports_mixes {
    const struct port_form *forms;
    int drawn[MIXES][FORMS_MOST]; // positions in which
    struct port_mix mixes[MIXES];
    struct port_timing timings[MIXES];
};

// Draws mix i. Returns its instances.
static int mix_draw(struct ports_mixes *mixes, int i, const struct port_question *question,
                    uint64_t *state)
{
    struct port_mix *mix = &mixes->mixes[i];
    int instances = 0;
    *mix = (struct port_mix){.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
    mix->nparts = FORMS_MIN + random_below(state, FORMS_MOST - FORMS_MIN + 1);
    int p = 0;
    do { // at least once: the caller divides by the instances
        mixes->drawn[i][p] = random_below(state, question->n);
        mix->parts[p].form = question->which[mixes->drawn[i][p]];
        mix->parts[p].count = 1 + random_below(state, COUNT_MOST);
        instances += mix->parts[p].count;
    } while (++p < mix->nparts);
    return instances;
}

// Returns the predicted time of a mix, with usages[] of which[], without the shares of the unit
// `without`.
static double mixes_clk(const struct ports_mixes *mixes, const struct port_model *model,
                        const struct port_usage *usages, int without, int i)
{
    struct port_usage mixed[FORMS_MOST];
    for (int p = 0; p < mixes->mixes[i].nparts; p++) {
        mixed[p] = usages[mixes->drawn[i][p]];
        if (without >= 0)
            ports_demand_drop(&mixed[p].demands, without);
    }
    return ports_mix_clk(model, mixes->forms, mixed, &mixes->mixes[i]);
}

int ports_mixes_time(const struct port_question *question, const struct port_model *model,
                     const struct port_usage *usages, struct ports_mixes **to, struct err *err)
{
    struct ports_mixes *mixes = *to = xcalloc(1, sizeof *mixes);
    double *enough_clk = xcalloc(MIXES, sizeof *enough_clk);
    uint64_t state = SEED;
    mixes->forms = question->forms;
    for (int i = 0; i < MIXES; i++) {
        int times = PORT_MIX_BODY / mix_draw(mixes, i, question, &state);
        for (int p = 0; p < mixes->mixes[i].nparts; p++)
            mixes->mixes[i].parts[p].count *= times;
        enough_clk[i] = mixes_clk(mixes, model, usages, -1, i);
    }
    const struct port_series series = {"mixes", mixes->mixes, enough_clk, MIXES};
    int status = ports_time_enough(question->oracle, &series, mixes->timings, err);
    free(enough_clk);
    return status;
}

double ports_mixes_error(const struct ports_mixes *mixes, const struct port_model *model,
                         const struct port_usage *usages, int without)
{
    double sum = 0;
    for (int i = 0; i < MIXES; i++)
        if (mixes->timings[i].outcome == OUTCOME_OK)
            sum +=
                fmin(fabs(mixes_clk(mixes, model, usages, without, i) / mixes->timings[i].clk - 1),
                     ERROR_MOST);
    return sum;
}
