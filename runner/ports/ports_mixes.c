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
    MIXES_WRITING_LEAST = PORT_BOUND_MIXES_LEAST,
    MIXES_ALL = MIXES + PORT_WRITES_COUNT * MIXES_WRITING,
    DRAWN_WRITING = 20000,
    WRITERS_LEAST = 4, // forms that write it
    FORMS_MIN = 3,     // in a mix
    FORMS_MOST = 6,
    COUNT_MOST = 3, // instances of a form
    SEED = 20,
};
// A mix tells of a binding if it takes so much longer where that is more by so much.
static const double TELLING_MORE = 0.3, TELLING_CLK = 1.03;

struct ports_mixes {
    const struct port_form *forms;
    int first[PORT_WRITES_COUNT + 1], n; // the first that tells of each; general ones before all
    int drawn[MIXES_ALL][FORMS_MOST];    // positions in which
    struct port_mix mixes[MIXES_ALL];
    struct port_timing timings[MIXES_ALL];
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
        for (int s = 0; s < mixed[p].nshares; s++)
            if (mixed[p].shares[s].unit != without)
                mixed[p].shares[kept++] = mixed[p].shares[s];
        mixed[p].nshares = kept;
    }
    return ports_mix_clk(model, mixes->forms, mixed, &mixes->mixes[i]);
}

// Adds short mixes, each with a form that writes this, that tell how early its µops are bound.
static void mixes_add_telling(struct ports_mixes *mixes, const struct port_question *question,
                              const struct port_model *model, const struct port_usage *usages,
                              enum port_writes writes)
{
    int *writers = xcalloc((size_t)question->n + 1, sizeof *writers), n = 0, first = mixes->n;
    uint64_t state = SEED + (uint64_t)writes;
    struct port_model more = *model;
    more.binding_more[writes] += TELLING_MORE;
    for (int i = 0; i < question->n; i++)
        if (question->forms[question->which[i]].writes == writes)
            writers[n++] = i;
    bool apart = n >= WRITERS_LEAST && n < question->n;
    for (int i = 0; apart && i < DRAWN_WRITING && mixes->n < first + MIXES_WRITING; i++) {
        mix_draw(mixes, mixes->n, question, writers, n, &state);
        mixes->n += mixes_clk(mixes, &more, usages, -1, mixes->n) >
                    TELLING_CLK * mixes_clk(mixes, model, usages, -1, mixes->n);
    }
    free(writers);
    if (mixes->n < first + MIXES_WRITING_LEAST)
        mixes->n = first;
}

int ports_mixes_time(const struct port_question *question, const struct port_model *model,
                     const struct port_usage *usages, struct ports_mixes **to, struct err *err)
{
    struct ports_mixes *mixes = *to = xcalloc(1, sizeof *mixes);
    double *enough_clk = xcalloc(MIXES_ALL, sizeof *enough_clk);
    uint64_t state = SEED;
    mixes->forms = question->forms;
    for (; mixes->n < MIXES; mixes->n++) {
        int times = PORT_MIX_BODY / mix_draw(mixes, mixes->n, question, NULL, 0, &state);
        for (int p = 0; p < mixes->mixes[mixes->n].nparts; p++)
            mixes->mixes[mixes->n].parts[p].count *= times;
    }
    for (int writes = 0; writes < PORT_WRITES_COUNT; writes++) {
        mixes->first[writes] = mixes->n;
        mixes_add_telling(mixes, question, model, usages, (enum port_writes)writes);
    }
    mixes->first[PORT_WRITES_COUNT] = mixes->n;
    for (int i = 0; i < mixes->n; i++)
        enough_clk[i] = mixes_clk(mixes, model, usages, -1, i);
    const struct port_series series = {"mixes", mixes->mixes, enough_clk, mixes->n};
    int status = ports_time_enough(question->oracle, &series, mixes->timings, err);
    free(enough_clk);
    return status;
}

void ports_mixes_bind(const struct ports_mixes *mixes, const struct port_usage *usages,
                      struct port_model *model)
{
    struct port_bound_mix *bound = xcalloc((size_t)mixes->n + 1, sizeof *bound);
    int n = 0;
    for (int i = 0, writes = -1; i < mixes->n; i++) {
        while (writes + 1 < PORT_WRITES_COUNT && i >= mixes->first[writes + 1])
            writes++;
        if (mixes->timings[i].outcome != OUTCOME_OK)
            continue;
        struct port_usage mixed[FORMS_MOST];
        for (int p = 0; p < mixes->mixes[i].nparts; p++)
            mixed[p] = usages[mixes->drawn[i][p]];
        ports_mix_bound(model, mixes->forms, mixed, &mixes->mixes[i], &bound[n]);
        bound[n].measured_clk = mixes->timings[i].clk;
        bound[n++].tells = 1u << (writes < 0 ? PORT_WRITES_COUNT : writes);
    }
    port_bindings_fit(bound, n, model);
    free(bound);
}

double ports_mixes_error(const struct ports_mixes *mixes, const struct port_model *model,
                         const struct port_usage *usages, int without)
{
    double sum = 0;
    for (int i = 0; i < MIXES; i++)
        if (mixes->timings[i].outcome == OUTCOME_OK)
            sum +=
                port_mix_error(mixes_clk(mixes, model, usages, without, i), mixes->timings[i].clk);
    return sum;
}
