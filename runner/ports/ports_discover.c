// SPDX-License-Identifier: MIT
// Discovery: which port sets a CPU has. Forms of one µop that take a cycle divided by an integer
// have that many ports; those that are as slow together as either alone have the same ports; how
// slow others are together tells how far their sets overlap (ports_candidates.c). A search over
// overlaps then finds sets that explain all pairs (ports_search.c). After Ritter and Hack, PMEvo
// (2020), and Derumigny et al., Palmed (2022), both of which work from throughput, with integers in
// place of their optimisers.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>

static const double MULTI_USE = 1.45;    // uses of a larger set by one instance
static const double ELSEWHERE_USE = 0.6; // uses of ports outside its own by one instance

static void discover_model(struct discovery *d, const struct sketch *sketch,
                           struct port_model *model)
{
    model->nports = sketch->nports;
    for (int size = 1; size < 64; size++)
        for (int c = 0; c < d->nclusters; c++) {
            struct cluster *cluster = &d->clusters[c];
            const struct candidate *rep = &d->candidates[cluster->rep];
            if (cluster->size != size || cluster->dropped)
                continue;
            cluster->set = sketch->sets[c];
            cluster->dropped = !cluster->set;
            if (cluster->dropped)
                model->unexplained += cluster->members;
            else
                model->classes[model->nclasses++] =
                    (struct port_class){.set = cluster->set,
                                        .blocker = rep->form,
                                        .blocker_clk = rep->clk,
                                        .members = cluster->members};
        }
}

// Uses of a larger set by one instance of c, the least over their mixtures: schedulers waste some
// of it. NaN: no mixture shows it.
static double cluster_uses(const struct discovery *d, int c, int s)
{
    const struct cluster *large = &d->clusters[s];
    double least = (double)NAN;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        bool is_a = pair->a == c && pair->b == s, is_b = pair->b == c && pair->a == s;
        int mine = is_a ? pair->x : pair->y, others = is_a ? pair->y : pair->x;
        if ((is_a || is_b) && !isnan(pair->clk) && others >= large->size * PAIR_CYCLES &&
            mine + others < FRONT_END_SHARE * d->width * pair->clk &&
            !(least <= (pair->clk * large->size - others) / mine))
            least = (pair->clk * large->size - others) / mine;
    }
    return least;
}

// Whether members of c use a larger set more than once each.
static bool cluster_multi(const struct discovery *d, int c)
{
    for (int s = 0; s < d->nclusters; s++)
        if (d->clusters[s].size > d->clusters[c].size && !d->clusters[s].dropped &&
            cluster_uses(d, c, s) > MULTI_USE)
            return true;
    return false;
}

// Whether members of c, which have a place among some ports, use others too.
static bool cluster_elsewhere(const struct discovery *d, const struct sketch *sketch, int c)
{
    for (int s = 0; s < d->nclusters; s++)
        if (sketch->sets[s] && (sketch->sets[s] & sketch->sets[c]) == 0 &&
            d->clusters[s].size > d->clusters[c].size && cluster_uses(d, c, s) > ELSEWHERE_USE)
            return true;
    return false;
}

static void discover_structure(struct discovery *d, struct port_model *model)
{
    // Larger sets first: what uses them more than once is no class of its own.
    for (int size = 64; size > 0; size--)
        for (int c = 0; c < d->nclusters; c++)
            if (d->clusters[c].size == size && cluster_multi(d, c))
                d->clusters[c].dropped = true;
    for (;;) {
        struct sketch sketch = discover_sketch(d);
        int dropped = 0;
        for (int c = 0; c < d->nclusters; c++)
            if (sketch.sets[c] && cluster_elsewhere(d, &sketch, c)) {
                d->clusters[c].dropped = true;
                dropped++;
            }
        if (dropped)
            continue;
        discover_model(d, &sketch, model);
        return;
    }
}

static void discover_residual(const struct discovery *d, struct port_model *model)
{
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        const struct cluster *a = &d->clusters[pair->a], *b = &d->clusters[pair->b];
        if (a->dropped || b->dropped || isnan(pair->clk))
            continue;
        double clk = discover_pair_clk(d, a->set, b->set, pair->x, pair->y);
        model->residual = fmax(model->residual, fabs(pair->clk - clk) / clk);
    }
}

int port_discover(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                  int width, struct port_model *model, struct err *err)
{
    struct discovery *d = xcalloc(1, sizeof *d);
    *d = (struct discovery){.oracle = oracle, .forms = forms, .width = width, .filler = -1};
    *model = (struct port_model){.width = width, .filler = -1};
    int status = discover_measure(d, nforms, err);
    if (status == 0) {
        discover_structure(d, model);
        discover_residual(d, model);
        ports_name(model);
        model->filler = d->filler;
        model->wide = d->wide;
        if (model->nclasses == 0)
            status = err_set(err, "no structure of ports can be seen: no instruction form takes a "
                                  "cycle divided by an integer");
    }
    free(d->pairs);
    free(d->candidates);
    free(d);
    return status;
}
