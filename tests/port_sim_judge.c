// SPDX-License-Identifier: MIT
// Compares what was inferred with what the simulated CPU has. Ports have no names that throughput
// could tell, so a model is the same if its ports can be renamed; and usages (or models) are
// equivalent if no mix with blockers distinguishes them.
#include "port_sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIXES_TRIED = 400, CLASSES_IN_MIX = 4 };
static const double SLOTS_TOLERANCE = 0.25;
static const double BUSY_TOLERANCE = 0.05;

// Which classes a port is in, as a bit mask.
static uint32_t port_member(const uint32_t *sets, int n, int port)
{
    uint32_t member = 0;
    for (int i = 0; i < n; i++)
        if (sets[i] & 1u << port)
            member |= 1u << i;
    return member;
}

bool sim_same_model(const struct sim_cpu *cpu, const struct port_model *model, int map[PORTS_MAX])
{
    struct port_model truth;
    sim_model(cpu, &truth);
    uint32_t found[PORT_CLASSES_MAX], is[PORT_CLASSES_MAX], taken = 0;
    if (model->nclasses != truth.nclasses || model->nports != truth.nports)
        return false;
    for (int c = 0; c < model->nclasses; c++) {
        const struct sim_form *blocker = &cpu->forms[model->classes[c].blocker];
        found[c] = model->classes[c].set;
        is[c] = blocker->uses[0].set;
        if (blocker->nuses != 1 || blocker->uses[0].uops != 1)
            return false;
        for (int other = 0; other < c; other++)
            if (is[other] == is[c])
                return false;
    }
    for (int port = 0; port < PORTS_MAX; port++) {
        uint32_t member = port_member(found, model->nclasses, port);
        map[port] = -1;
        for (int to = 0; to < PORTS_MAX && member && map[port] < 0; to++)
            if (!(taken & 1u << to) && port_member(is, model->nclasses, to) == member)
                map[port] = to;
        if (member && map[port] < 0)
            return false;
        if (member)
            taken |= 1u << map[port];
    }
    return true;
}

// A few classes, a few of each.
static int draw_blockers(const struct port_model *model, uint64_t *state, int *classes, int *counts)
{
    int n = 1 + random_below(state, CLASSES_IN_MIX);
    for (int i = 0; i < n; i++) {
        classes[i] = random_below(state, model->nclasses);
        counts[i] = random_below(state, 1 + 4 * port_set_size(model->classes[classes[i]].set));
    }
    return n;
}

bool sim_equal_model(const struct sim_cpu *cpu, const struct port_model *model, uint64_t seed)
{
    uint64_t state = seed;
    for (int i = 0; i < MIXES_TRIED; i++) {
        int classes[CLASSES_IN_MIX], counts[CLASSES_IN_MIX];
        int n = draw_blockers(model, &state, classes, counts);
        const struct sim_form *forms[CLASSES_IN_MIX];
        struct port_usage uses[CLASSES_IN_MIX];
        const struct port_usage *usages[CLASSES_IN_MIX];
        for (int j = 0; j < n; j++) {
            const struct port_class *class = &model->classes[classes[j]];
            forms[j] = &cpu->forms[class->blocker];
            uses[j] = (struct port_usage){
                .nuses = 1, .uses = {{class->set, 1}}, .uops = 1, .slots = 1, .unit = -1};
            usages[j] = &uses[j];
        }
        double is = sim_clk(cpu, forms, counts, n), said = port_predict(model, usages, counts, n);
        if (fabs(is - said) > 1e-6 * is)
            return false;
    }
    return true;
}

static bool usage_exact(const struct sim_form *a, const struct sim_form *b)
{
    for (int i = 0; i < a->nuses; i++) {
        int uops = 0;
        for (int j = 0; j < a->nuses; j++)
            uops += a->uses[j].set == a->uses[i].set ? a->uses[j].uops : 0;
        for (int j = 0; j < b->nuses; j++)
            uops -= b->uses[j].set == a->uses[i].set ? b->uses[j].uops : 0;
        if (uops)
            return false;
    }
    return true;
}

// What one instance takes that the usage's ports do not explain waits for itself alone.
static double clk_with(const struct sim_cpu *cpu, const struct sim_form *const *forms,
                       const int *counts, int n, double busy_clk)
{
    return fmax(sim_clk(cpu, forms, counts, n), busy_clk * counts[n - 1]);
}

static bool usage_equivalent(const struct sim_cpu *cpu, const struct sim_form *truth,
                             const struct sim_form *found, double busy_clk, uint64_t seed)
{
    struct port_model model;
    sim_model(cpu, &model);
    uint64_t state = seed;
    for (int i = 0; i < MIXES_TRIED; i++) {
        int classes[CLASSES_IN_MIX], counts[CLASSES_IN_MIX + 1];
        const struct sim_form *forms[CLASSES_IN_MIX + 1];
        int n = i ? draw_blockers(&model, &state, classes, counts) : 0;
        for (int j = 0; j < n; j++)
            forms[j] = &cpu->forms[model.classes[classes[j]].blocker];
        counts[n] = 1 + random_below(&state, 4);
        forms[n] = truth;
        double clk = sim_clk(cpu, forms, counts, n + 1);
        forms[n] = found;
        if (fabs(clk - clk_with(cpu, forms, counts, n + 1, busy_clk)) > 1e-6 * clk)
            return false;
    }
    return true;
}

static bool is_class(const struct sim_cpu *cpu, uint32_t set)
{
    struct port_model model;
    sim_model(cpu, &model);
    for (int c = 0; c < model.nclasses; c++)
        if (model.classes[c].set == set)
            return true;
    return false;
}

// Whether only sets that have blockers were found, and as many µops, where the truth has others
// too.
static bool usage_coarser(const struct sim_cpu *cpu, const struct sim_form *truth,
                          const struct sim_form *found)
{
    int uops = 0, hidden = 0, guessed = 0;
    for (int u = 0; u < truth->nuses; u++) {
        uops += truth->uses[u].uops;
        hidden += !is_class(cpu, truth->uses[u].set);
    }
    for (int u = 0; u < found->nuses; u++) {
        uops -= found->uses[u].uops;
        guessed += !is_class(cpu, found->uses[u].set);
    }
    return uops == 0 && hidden > guessed;
}

static struct sim_form usage_form(const struct port_usage *usage, const int map[PORTS_MAX])
{
    struct sim_form form = {.nuses = usage->nuses, .slots = usage->slots, .unit = -1};
    for (int u = 0; u < usage->nuses; u++) {
        form.uses[u].uops = usage->uses[u].uops;
        for (int port = 0; port < PORTS_MAX; port++)
            if (usage->uses[u].set & 1u << port)
                form.uses[u].set |= 1u << map[port];
    }
    return form;
}

enum sim_verdict sim_judge(const struct sim_cpu *cpu, int form, const struct port_usage *usage,
                           const int map[PORTS_MAX], uint64_t seed)
{
    const struct sim_form *truth = &cpu->forms[form];
    if (usage->outcome != OUTCOME_OK)
        return SIM_AMBIGUOUS;
    struct sim_form found = usage_form(usage, map);
    if (isnan(found.slots) || fabs(found.slots - truth->slots) < SLOTS_TOLERANCE)
        found.slots = truth->slots;
    const int one = 1;
    double alone_clk = sim_clk(cpu, &truth, &one, 1), busy_clk = usage->busy_clk;
    if (fabs(busy_clk / alone_clk - 1) < BUSY_TOLERANCE)
        busy_clk = alone_clk;
    if (usage_equivalent(cpu, truth, &found, busy_clk, seed))
        return usage_exact(truth, &found) && usage_exact(&found, truth) ? SIM_EXACT
                                                                        : SIM_EQUIVALENT;
    if (usage->ambiguous)
        return SIM_AMBIGUOUS;
    return found.slots == truth->slots && usage_coarser(cpu, truth, &found) ? SIM_COARSER // NOLINT
                                                                            : SIM_WRONG;
}

static void print_form(const struct sim_form *form)
{
    for (int u = 0; u < form->nuses; u++) {
        printf("%s%d*", u ? "+" : "", form->uses[u].uops);
        for (int port = 0; port < PORTS_MAX; port++)
            if (form->uses[u].set & 1u << port)
                printf("%x", (unsigned)port);
    }
    printf("|%.2f", form->slots);
}

void sim_explain(const struct sim_cpu *cpu, int form, const struct port_usage *usage,
                 const int map[PORTS_MAX], enum sim_verdict verdict)
{
    static const char *const names[SIM_VERDICTS] = {"exact", "equivalent", "ambiguous", "coarser",
                                                    "WRONG"};
    struct sim_form said = usage_form(usage, map);
    printf("  %-26s %-10s ", cpu->forms[form].name, names[verdict]);
    print_form(&cpu->forms[form]);
    printf(" -> ");
    print_form(&said);
    printf(" busy %.2f residual %.2f%s %s\n", usage->busy_clk, usage->residual,
           usage->ambiguous ? " ambiguous" : "", usage->detail ? usage->detail : "");
}

void sim_print_verdicts(const char *what, const int verdicts[SIM_VERDICTS])
{
    printf("%s: %d exact, %d equivalent, %d ambiguous, %d coarser, %d wrong\n", what,
           verdicts[SIM_EXACT], verdicts[SIM_EQUIVALENT], verdicts[SIM_AMBIGUOUS],
           verdicts[SIM_COARSER], verdicts[SIM_WRONG]);
}
