// SPDX-License-Identifier: MIT
// Discovery of the port sets of a CPU. Forms of one µop that take 1/n of a cycle have n ports;
// those that are as slow together as one after the other have the same ports; the times of other
// pairs show how far their sets overlap (ports_candidates.c). A search over overlaps then finds
// sets that explain all pairs (ports_search.c). After Ritter and Hack, PMEvo (2020), and Derumigny
// et al., Palmed (2022), both of which work from throughput, with integers in place of their
// optimisers.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>

static void discover_model(const struct discovery *d, struct port_model *model)
{
    for (int size = 1; size < 64; size++)
        for (int c = 0; c < d->nclusters; c++) {
            const struct cluster *cluster = &d->clusters[c];
            const struct candidate *rep = &d->candidates[cluster->rep];
            if (cluster->size != size)
                continue;
            if (!cluster->set)
                model->unexplained += cluster->state == CLUSTER_UNPLACED ? cluster->members : 0;
            else
                model->classes[model->nclasses++] =
                    (struct port_class){.set = cluster->set,
                                        .blocker = rep->form,
                                        .blocker_clk = rep->clk,
                                        .members = cluster->members};
        }
}

int port_discover(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                  int width, struct port_model *model, struct err *err)
{
    struct discovery *d = xcalloc(1, sizeof *d);
    *d = (struct discovery){.oracle = oracle, .forms = forms, .width = width, .filler = -1};
    *model = (struct port_model){.width = width, .filler = -1, .teller = -1};
    int status = discover_kinds(d, nforms, err);
    if (status == 0)
        status = discover_pairs(d, err);
    if (status == 0)
        status = discover_sets(d, err);
    if (status == 0)
        status = discover_contradicts(d, err) ? -1 : 0;
    if (status == 0) {
        discover_model(d, model);
        model->nports = d->nports;
        model->residual = discover_residual(d);
        model->filler = d->filler;
        model->fast = d->fast;
        status = discover_wide(d, nforms, model, err);
    }
    if (status == 0) {
        ports_name(model);
        if (model->nclasses == 0)
            status = err_set(err, "no structure of ports can be seen: no instruction form takes a "
                                  "cycle divided by an integer");
    }
    free(d->pairs);
    free(d->candidates);
    free(d->eliminated);
    free(d);
    return status;
}
