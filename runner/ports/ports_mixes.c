// SPDX-License-Identifier: MIT
// Mixes of several forms, for what pairs do not tell of a model: how early schedulers bind µops to
// ports, and whether a path that explains pairs is one. In pairs two forms may also disturb each
// other because they take turns.
#include "ports_internal.h"
#include "util/random.h"

#include <math.h>
#include <stdlib.h>

enum {
    MIXES = 1500,
    FORMS_MIN = 3, // in a mix
    FORMS_MOST = 6,
    COUNT_MOST = 3, // instances of a form
    SEED = 20,
};
static const double ERROR_MOST = 0.5; // of a mix: more is something else's doing

struct ports_mixes {
    const struct port_form *forms;
    int drawn[MIXES][FORMS_MOST]; // positions in which
    struct port_mix mixes[MIXES];
    struct port_timing timings[MIXES];
};

static void mixes_draw(struct ports_mixes *mixes, const int *which, int n)
{
    uint64_t state = SEED;
    for (int i = 0; i < MIXES; i++) {
        struct port_mix *mix = &mixes->mixes[i];
        int instances = 0;
        *mix = (struct port_mix){.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
        mix->nparts = FORMS_MIN + random_below(&state, FORMS_MOST - FORMS_MIN + 1);
        for (int p = 0; p < mix->nparts; p++) {
            mixes->drawn[i][p] = random_below(&state, n);
            mix->parts[p].form = which[mixes->drawn[i][p]];
            mix->parts[p].count = 1 + random_below(&state, COUNT_MOST);
            instances += mix->parts[p].count;
        }
        for (int p = 0; p < mix->nparts; p++)
            mix->parts[p].count *= PORT_MIX_BODY / instances;
    }
}

// What the model says of a mix, by usages of which[].
static double mixes_clk(const struct ports_mixes *mixes, const struct port_model *model,
                        const struct port_usage *usages, int without, int i)
{
    struct port_usage mixed[FORMS_MOST];
    for (int p = 0; p < mixes->mixes[i].nparts; p++) {
        int kept = 0;
        mixed[p] = usages[mixes->drawn[i][p]];
        for (int s = 0; s < mixed[p].nshares; s++)
            if (mixed[p].shares[s].unit != without)
                mixed[p].shares[kept++] = mixed[p].shares[s];
        mixed[p].nshares = kept;
    }
    return ports_mix_clk(model, mixes->forms, mixed, &mixes->mixes[i]);
}

int ports_mixes_time(const struct port_question *question, const struct port_model *model,
                     const struct port_usage *usages, struct ports_mixes **to, struct err *err)
{
    struct ports_mixes *mixes = *to = xcalloc(1, sizeof *mixes);
    double enough_clk[MIXES];
    mixes->forms = question->forms;
    mixes_draw(mixes, question->which, question->n);
    for (int i = 0; i < MIXES; i++)
        enough_clk[i] = mixes_clk(mixes, model, usages, -1, i);
    const struct port_series series = {"mixes", mixes->mixes, enough_clk, MIXES};
    return ports_time_enough(question->oracle, &series, mixes->timings, err);
}

double ports_mixes_error(const struct ports_mixes *mixes, const struct port_model *model,
                         const struct port_usage *usages, int without)
{
    double sum = 0;
    for (int i = 0; i < MIXES; i++) {
        if (mixes->timings[i].outcome != OUTCOME_OK)
            continue;
        double clk = mixes_clk(mixes, model, usages, without, i);
        sum += fmin(fabs(clk / mixes->timings[i].clk - 1), ERROR_MOST);
    }
    return sum;
}
