// SPDX-License-Identifier: MIT
// Matches ports of LLVM's model, which are some of its units, with ours. Makers, LLVM and the
// tables that name our ports number them differently, so the match is found from forms of one µop
// in both: two ports are the same if mostly the same forms use them.
#include "compare_internal.h"

#include <stdlib.h>

enum { MODEL_SETS_MAX = 128 };

// The model's name of a set of our ports.
struct model_set {
    const char *name;
    uint32_t set;
};

struct compare_ports {
    const struct port_model *model;
    uint64_t units;               // single units of LLVM, as ports are
    uint64_t voted;               // those of them that a form of one µop uses: no divider
    int ours_of[MODEL_UNITS_MAX]; // our port of LLVM's unit; -1: unknown
    struct model_set sets[MODEL_SETS_MAX];
    int nsets;
};

static const struct port_use *ports_single(const struct known_form *form)
{
    bool one = form->usage && !form->usage->ambiguous && form->usage->uses.n == 1 &&
               form->usage->uses.uops == 1;
    return one ? &form->usage->uses.use[0] : NULL;
}

struct ports_votes {
    int both[MODEL_UNITS_MAX][PORTS_MAX], model[MODEL_UNITS_MAX], ours[PORTS_MAX];
};

static void ports_vote(struct ports_votes *votes, uint64_t model, uint32_t ours)
{
    for (int a = 0; a < MODEL_UNITS_MAX; a++) {
        votes->model[a] += (model >> a & 1) != 0;
        for (int b = 0; b < PORTS_MAX; b++)
            votes->both[a][b] += (model >> a & 1) && (ours >> b & 1);
    }
    for (int b = 0; b < PORTS_MAX; b++)
        votes->ours[b] += (ours >> b & 1) != 0;
}

// Matches the pairs that agree most first, each port once.
static void ports_assign(const struct ports_votes *votes, struct compare_ports *ports)
{
    bool taken[PORTS_MAX] = {false};
    for (;;) {
        double best = 0.5; // least agreement of a match
        int from = -1, to = -1;
        for (int a = 0; a < MODEL_UNITS_MAX; a++)
            for (int b = 0; b < PORTS_MAX && ports->ours_of[a] < 0; b++) {
                double sum = votes->model[a] + votes->ours[b];
                if (!taken[b] && sum > 0 && 2 * votes->both[a][b] / sum > best) {
                    best = 2 * votes->both[a][b] / sum;
                    from = a;
                    to = b;
                }
            }
        if (from < 0)
            return;
        ports->ours_of[from] = to;
        taken[to] = true;
    }
}

// Translates the model's set into our ports; false if one of them has no match.
static bool ports_translate(const struct compare_ports *ports, uint64_t model, uint32_t *set)
{
    *set = 0;
    for (int a = 0; a < MODEL_UNITS_MAX; a++) {
        if (!(model >> a & 1))
            continue;
        if (ports->ours_of[a] < 0)
            return false;
        *set |= UINT32_C(1) << ports->ours_of[a];
    }
    return *set != 0;
}

static const char *ports_set_name(const struct compare_ports *ports, uint32_t set)
{
    for (int i = 0; i < ports->nsets; i++)
        if (ports->sets[i].set == set)
            return ports->sets[i].name;
    return NULL;
}

static void ports_name_sets(struct compare_ports *ports, const struct model_class *class)
{
    uint32_t set;
    for (int i = 0; i < class->nresources && ports->nsets < MODEL_SETS_MAX; i++)
        if (ports_translate(ports, class->resources[i].units, &set) && !ports_set_name(ports, set))
            ports->sets[ports->nsets++] = (struct model_set){class->resources[i].name, set};
}

struct compare_ports *compare_ports_new(const struct known_cpu *data, const struct model *model,
                                        const struct model_class *const *of)
{
    struct compare_ports *ports = xcalloc(1, sizeof *ports);
    struct ports_votes *votes = xcalloc(1, sizeof *votes);
    ports->model = data->model;
    for (int a = 0; a < MODEL_UNITS_MAX; a++)
        ports->ours_of[a] = -1;
    for (int u = 0; u < model->nunits; u++)
        ports->units |= model->units[u].parts == 1 ? UINT64_C(1) << u : 0;
    for (int i = 0; i < data->nforms; i++) {
        const struct port_use *use = ports_single(&data->forms[i]);
        if (use && of[i] && of[i]->uops == 1 && of[i]->nresources == 1 &&
            data->forms[i].model == data->model) {
            uint64_t units = of[i]->resources[0].units & ports->units;
            ports->voted |= units;
            if (units)
                ports_vote(votes, units, use->set);
        }
    }
    ports_assign(votes, ports);
    free(votes);
    for (int i = 0; i < data->nforms; i++)
        if (of[i])
            ports_name_sets(ports, of[i]);
    return ports;
}

bool compare_ports_uses(const struct compare_ports *ports, const struct known_form *form,
                        const struct model_class *class, struct port_uses *uses,
                        struct strbuf *text)
{
    *uses = (struct port_uses){.n = 0};
    if (form->model != ports->model)
        return false;
    for (int i = 0; i < class->nresources; i++) {
        uint32_t set;
        int count = (int)(class->resources[i].count + 0.5);
        if (!(class->resources[i].units & ports->voted))
            continue; // a divider or the like
        if (!ports_translate(ports, class->resources[i].units, &set) ||
            !port_uses_add(uses, (struct port_use){set, count}))
            return false;
    }
    if (uses->uops != form->usage->uses.uops)
        return false;
    const char *before = "";
    for (int i = 0; i < class->nresources; i++)
        if (class->resources[i].units & ports->voted) {
            strbuf_printf(text, "%s%g*%s", before, class->resources[i].count,
                          class->resources[i].name);
            before = "+";
        }
    return true;
}

bool compare_ports_names(const struct compare_ports *ports, const struct known_form *form,
                         struct strbuf *out)
{
    const struct port_usage *usage = form->usage;
    if (!usage || usage->ambiguous || usage->uses.n == 0 || form->model != ports->model)
        return false;
    for (int i = 0; i < usage->uses.n; i++)
        if (!ports_set_name(ports, usage->uses.use[i].set))
            return false;
    for (int i = 0; i < usage->uses.n; i++)
        strbuf_printf(out, "%s%d*%s", i ? "+" : "", usage->uses.use[i].uops,
                      ports_set_name(ports, usage->uses.use[i].set));
    return true;
}

void compare_ports_free(struct compare_ports *ports)
{
    free(ports);
}
