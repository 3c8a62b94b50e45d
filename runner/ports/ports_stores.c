// SPDX-License-Identifier: MIT
// Loss of loading forms beside stores. If only stores show a set of ports, the loss may be in
// anything that they need: on Zen 5 the data of vector stores take a path that third operands and
// masks take, too, also where these come from memory. `vfmadd231ps x x m128` takes half a cycle
// from vector stores, as one of them does, and appears to have a µop on their ports. Beside the
// path's probes it shows less than its share, since data from memory does not always need the path.
#include "ports_internal.h"

// Returns true if only stores show the set: of loads one would be the blocker.
static bool class_is_of_stores(const struct port_form *forms, const struct port_class *class)
{
    return class->blocker >= 0 && forms[class->blocker].stores && !port_class_is_wide(class);
}

// Removes the µops on the set's ports from `uses`. Returns how many there were.
static int uses_take(struct port_use *uses, int *n, uint32_t set)
{
    int kept = 0, taken = 0;
    for (int u = 0; u < *n; u++) {
        if (uses[u].set & ~set)
            uses[kept++] = uses[u];
        else
            taken += uses[u].uops;
    }
    *n = kept;
    return taken;
}

// Raises the share of a path to at least `clk`. Returns false if there is no room for it.
static bool usage_raise_share(struct port_usage *usage, int unit, double clk)
{
    int s = 0;
    while (s < usage->nshares && usage->shares[s].unit != unit)
        s++;
    if (s == PORT_PATHS_MAX)
        return false;
    if (s == usage->nshares)
        usage->shares[usage->nshares++] = (struct port_share){unit, 0};
    usage->shares[s].clk = usage->shares[s].clk > clk ? usage->shares[s].clk : clk;
    return true;
}

static void usage_share_stores(struct port_usage *usage, const struct port_class *class)
{
    struct port_usage shared = *usage;
    int uops = uses_take(shared.uses, &shared.nuses, class->set);
    uses_take(shared.wide_uses, &shared.nwide, class->set);
    shared.uops -= uops;
    bool room = uops > 0;
    for (int s = 0; s < class->nshares && room; s++)
        room = usage_raise_share(&shared, class->shares[s].unit, uops * class->shares[s].clk);
    if (room)
        *usage = shared;
}

void ports_share_stores(const struct port_question *question, const struct port_model *model,
                        struct port_usage *usages)
{
    for (int c = 0; c < model->nclasses; c++) {
        const struct port_class *class = &model->classes[c];
        if (class->nshares == 0 || !class_is_of_stores(question->forms, class))
            continue;
        for (int i = 0; i < question->n; i++) {
            const struct port_form *form = &question->forms[question->which[i]];
            if (usages[i].outcome == OUTCOME_OK && form->memory && !form->stores)
                usage_share_stores(&usages[i], class);
        }
    }
}
