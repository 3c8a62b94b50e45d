// SPDX-License-Identifier: MIT
// Loss of loading forms beside stores. If only stores show a set of ports, the loss may be in
// anything that they need: on Zen 5 the data of vector stores take a path that third operands and
// masks take, too, also where these come from memory. `vfmadd231ps x x m128` takes half a cycle
// from vector stores, as one of them does, and appears to have a µop on their ports. Beside the
// path's probe it shows less than its share, since data from memory does not always need the path.
#include "ports_internal.h"

#include <math.h>

// Returns true if only stores show the set: of loads one would be the blocker.
static bool class_is_of_stores(const struct port_form *forms, const struct port_class *class)
{
    return class->blocker >= 0 && forms[class->blocker].stores && !port_class_is_wide(class);
}

bool ports_shares_stores(const struct port_form *forms, const struct port_form *form,
                         const struct port_class *class)
{
    return class->demands.n > 0 && class_is_of_stores(forms, class) && form->memory &&
           !form->stores;
}

// Removes the µops on the set's ports. Returns how many there were.
static int uses_take(struct port_uses *uses, uint32_t set)
{
    int kept = 0, before = uses->uops;
    for (int u = 0; u < uses->n; u++) {
        if (uses->use[u].set & ~set)
            uses->use[kept++] = uses->use[u];
        else
            uses->uops -= uses->use[u].uops;
    }
    uses->n = kept;
    return before - uses->uops;
}

static void usage_share_stores(struct port_usage *usage, const struct port_class *class)
{
    int uops = uses_take(&usage->uses, class->set);
    uses_take(&usage->wide_uses, class->set);
    for (int d = 0; d < class->demands.n && uops > 0; d++) {
        const struct port_demand *store = &class->demands.of[d];
        struct port_demand *demand = ports_demand_put(&usage->demands, store->unit);
        demand->clk = fmax(demand->clk, uops * store->clk);
    }
}

void ports_share_stores(const struct port_question *question, const struct port_model *model,
                        struct port_usage *usages)
{
    for (int c = 0; c < model->nclasses; c++) {
        const struct port_class *class = &model->classes[c];
        for (int i = 0; i < question->n; i++) {
            const struct port_form *form = &question->forms[question->which[i]];
            if (usages[i].outcome == OUTCOME_OK &&
                ports_shares_stores(question->forms, form, class))
                usage_share_stores(&usages[i], class);
        }
    }
}
