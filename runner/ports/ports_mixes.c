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
    MIXES_WRITING = 250, // that tell of a binding, or as many as DRAWN_WRITING draws find
    MIXES_WRITING_LEAST = 100,
    DRAWN_WRITING = 20000,
    WRITERS_LEAST = 4, // forms that write it
    FORMS_MIN = 3,     // in a mix
    FORMS_MOST = 6,
    COUNT_MOST = 3, // instances of a form
    SEED = 20,
};
static const double ERROR_MOST = 0.5;                    // of a mix: more is something else's doing
static const double ERROR_LARGE = 0.1, LARGE_COST = 0.3; // as validations count
// A mix tells of a binding if it takes so much longer where that is more by so much.
static const double TELLING_MORE = 0.3, TELLING_CLK = 1.03;

struct ports_mixes {
    const struct port_form *forms;
    int n;
    int drawn[MIXES][FORMS_MOST]; // positions in which
    struct port_mix mixes[MIXES];
    struct port_timing timings[MIXES];
};

// The first part of each is one of writers[0..nwriters), if there are any. Returns the instances.
static int mix_draw(struct ports_mixes *mixes, int i, const struct port_question *question,
                    const int *writers, int nwriters, uint64_t *state)
{
    struct port_mix *mix = &mixes->mixes[i];
    int instances = 0;
    *mix = (struct port_mix){.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
    mix->nparts = FORMS_MIN + random_below(state, FORMS_MOST - FORMS_MIN + 1);
    int p = 0;
    do { // at least once: the caller divides by the instances
        mixes->drawn[i][p] = p == 0 && nwriters > 0 ? writers[random_below(state, nwriters)]
                                                    : random_below(state, question->n);
        mix->parts[p].form = question->which[mixes->drawn[i][p]];
        mix->parts[p].count = 1 + random_below(state, COUNT_MOST);
        instances += mix->parts[p].count;
    } while (++p < mix->nparts);
    return instances;
}

// What the model says of a mix, by usages of which[].
static double mixes_clk(const struct ports_mixes *mixes, const struct port_model *model,
                        const struct port_usage *usages, int without, int i)
{
    struct port_usage mixed[FORMS_MOST];
    for (int p = 0; p < mixes->mixes[i].nparts; p++) {
        int kept = 0;
        mixed[p] = usages[mixes->drawn[i][p]];
        mixed[p].binding_more =
            model->binding_more[mixes->forms[mixes->mixes[i].parts[p].form].writes];
        for (int s = 0; s < mixed[p].nshares; s++)
            if (mixed[p].shares[s].unit != without)
                mixed[p].shares[kept++] = mixed[p].shares[s];
        mixed[p].nshares = kept;
    }
    return ports_mix_clk(model, mixes->forms, mixed, &mixes->mixes[i]);
}

static int mixes_time(const struct port_question *question, const struct port_model *model,
                      const struct port_usage *usages, struct ports_mixes *mixes, struct err *err)
{
    double enough_clk[MIXES];
    for (int i = 0; i < mixes->n; i++)
        enough_clk[i] = mixes_clk(mixes, model, usages, -1, i);
    const struct port_series series = {"mixes", mixes->mixes, enough_clk, mixes->n};
    return ports_time_enough(question->oracle, &series, mixes->timings, err);
}

int ports_mixes_time(const struct port_question *question, const struct port_model *model,
                     const struct port_usage *usages, struct ports_mixes **to, struct err *err)
{
    struct ports_mixes *mixes = *to = xcalloc(1, sizeof *mixes);
    uint64_t state = SEED;
    mixes->forms = question->forms;
    mixes->n = MIXES;
    for (int i = 0; i < MIXES; i++) {
        int times = PORT_MIX_BODY / mix_draw(mixes, i, question, NULL, 0, &state);
        for (int p = 0; p < mixes->mixes[i].nparts; p++)
            mixes->mixes[i].parts[p].count *= times;
    }
    return mixes_time(question, model, usages, mixes, err);
}

int ports_mixes_time_writing(const struct port_question *question, const struct port_model *model,
                             const struct port_usage *usages, enum port_writes writes,
                             struct ports_mixes **to, struct err *err)
{
    struct ports_mixes *mixes = *to = xcalloc(1, sizeof *mixes);
    int *writers = xcalloc((size_t)question->n + 1, sizeof *writers), n = 0;
    uint64_t state = SEED + (uint64_t)writes;
    struct port_model more = *model;
    more.binding_more[writes] += TELLING_MORE;
    for (int i = 0; i < question->n; i++)
        if (question->forms[question->which[i]].writes == writes)
            writers[n++] = i;
    mixes->forms = question->forms;
    bool apart = n >= WRITERS_LEAST && n < question->n;
    for (int drawn = 0; apart && drawn < DRAWN_WRITING && mixes->n < MIXES_WRITING; drawn++) {
        mix_draw(mixes, mixes->n, question, writers, n, &state);
        mixes->n += mixes_clk(mixes, &more, usages, -1, mixes->n) >
                    TELLING_CLK * mixes_clk(mixes, model, usages, -1, mixes->n);
    }
    free(writers);
    if (mixes->n < MIXES_WRITING_LEAST)
        mixes->n = 0;
    return mixes_time(question, model, usages, mixes, err) == 0 ? mixes->n : -1;
}

// Relative, of what the model says of a mix; NaN: it was not timed.
static double mix_error(const struct ports_mixes *mixes, const struct port_model *model,
                        const struct port_usage *usages, int without, int i)
{
    if (mixes->timings[i].outcome != OUTCOME_OK)
        return NAN;
    double clk = mixes_clk(mixes, model, usages, without, i);
    return fmin(fabs(clk / mixes->timings[i].clk - 1), ERROR_MOST);
}

double ports_mixes_loss(const struct ports_mixes *mixes, const struct port_model *model,
                        const struct port_usage *usages)
{
    double sum = 0;
    for (int i = 0; i < mixes->n; i++) {
        double error = mix_error(mixes, model, usages, -1, i);
        sum += isnan(error) ? 0 : error + (error > ERROR_LARGE ? LARGE_COST : 0);
    }
    return sum;
}

double ports_mixes_error(const struct ports_mixes *mixes, const struct port_model *model,
                         const struct port_usage *usages, int without)
{
    double sum = 0;
    for (int i = 0; i < mixes->n; i++) {
        double error = mix_error(mixes, model, usages, without, i);
        sum += isnan(error) ? 0 : error;
    }
    return sum;
}
