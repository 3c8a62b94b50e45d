// SPDX-License-Identifier: MIT
// Slots of forms together with the moves that cut what their instances wait for, as mixes have
// them. Some cores fuse a move with what stands behind it into one slot (Zen 5: `mov r64, r64` and
// `add r64, r64`, but nothing narrower), so that the slots of both by themselves are too many. A
// form is timed among blockers of all ports, so many that dispatch is what they wait for: among
// fillers of a byte or three it would take up to half as long again, since those have other places
// in the cache of decoded instructions. Forms are many, cores that fuse few: some forms of each
// kind are timed, and all others only where one of these is fused.
#include "ports_trials.h"

#include <math.h>
#include <stdlib.h>

enum {
    INSTANCES = 12, // of the form in a mix
    SAMPLED = 6,    // one form of so many
};
static const double CYCLES = 1.5;       // of dispatch, times what an instance takes alone
static const double PORTS_SHARE = 0.75; // of these, for which blockers may keep ports busy
static const double FUSED_SLOTS = 0.5;  // fewer than both take by themselves: they are fused

// What the form and its moves take by themselves.
static double moved_sum(const struct inference *inference, int i, const struct port_usage *usage)
{
    const struct port_form *form = &inference->question->forms[inference->question->which[i]];
    return usage->slots + form->moves - form->resets;
}

// Whether it is a form with moves whose slots could be seen.
static bool moved_fits(const struct inference *inference, int i, const struct port_usage *usage)
{
    const struct port_form *form = &inference->question->forms[inference->question->which[i]];
    return usage->outcome == OUTCOME_OK && form->moves > form->resets && usage->unit < 0 &&
           usage->slots > 0 && usage->slots <= PORT_GROUP_SLOTS;
}

// The form with its moves among blockers, which are as many for each port. false: no blockers may
// stand beside it, or there are too few ports for so many.
static bool moved_mix(const struct inference *inference, int i, const struct port_usage *usage,
                      struct port_mix *mix, int *blockers)
{
    const struct port_model *model = inference->model;
    const struct port_form *forms = inference->question->forms;
    int form = inference->question->which[i], nports = 0;
    double clk = fmax(1, ceil(CYCLES * trials_best_clk(inference, i)));
    double wanted = model->width * clk - moved_sum(inference, i, usage); // an instance
    *mix = (struct port_mix){.parts = {{form, INSTANCES}},
                             .nparts = 1,
                             .orders = 1u << MIX_SHUFFLED | PORT_MIX_INDEPENDENT};
    for (int c = 0; c < model->nclasses && mix->nparts < PORT_MIX_PARTS_MAX; c++) {
        if (!trials_class_maximal(model, c) ||
            !port_forms_mix(&forms[form], &forms[model->classes[c].blocker]))
            continue;
        int size = port_set_size(model->classes[c].set);
        mix->parts[mix->nparts++] = (struct port_part){model->classes[c].blocker, size};
        nports += size;
    }
    *blockers = 0;
    for (int p = 1; p < mix->nparts; p++) {
        int *count = &mix->parts[p].count;
        *count = (int)ceil(INSTANCES * wanted * *count / nports);
        *blockers += *count;
    }
    return wanted > 0 && wanted <= PORTS_SHARE * nports * clk;
}

// Times some of the forms. Nothing makes a mix faster than its slots, so what seems to be fused is.
// Returns how many are, or -1.
static int moved_time(const struct inference *inference, const int *some, int n,
                      struct port_usage *usages, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    int *at = xcalloc((size_t)n + 1, sizeof *at), *blockers = xcalloc((size_t)n + 1, sizeof(int));
    int kept = 0, fused = 0;
    for (int k = 0; k < n; k++)
        if (moved_mix(inference, some[k], &usages[some[k]], &mixes[kept], &blockers[kept]))
            at[kept++] = some[k];
    int status = ports_time(inference->question->oracle, "moves", mixes, kept, timings, err);
    for (int k = 0; k < kept && status == 0; k++) {
        struct port_usage *usage = &usages[at[k]];
        double slots = (timings[k].clk / inference->filler_clk - blockers[k]) / INSTANCES;
        if (timings[k].outcome == OUTCOME_OK &&
            slots <= moved_sum(inference, at[k], usage) - FUSED_SLOTS) {
            usage->slots_moved = fmax(slots, usage->slots);
            fused++;
        }
    }
    free(mixes);
    free(timings);
    free(at);
    free(blockers);
    return status == 0 ? fused : -1;
}

// Of the forms of a kind one of so many, or all others.
static int moved_some(const struct inference *inference, enum port_writes writes,
                      const struct port_usage *usages, bool others, int *some)
{
    const struct port_question *question = inference->question;
    int n = 0, seen = 0;
    for (int i = 0; i < question->n; i++) {
        if (question->forms[question->which[i]].writes != writes ||
            !moved_fits(inference, i, &usages[i]))
            continue;
        if ((seen++ % SAMPLED == 0) != others)
            some[n++] = i;
    }
    return n;
}

int trials_moved(const struct inference *inference, struct port_usage *usages, struct err *err)
{
    if (inference->narrow)
        return 0;
    int *some = xcalloc((size_t)inference->question->n + 1, sizeof *some), fused = 0;
    for (int i = 0; i < inference->question->n; i++)
        usages[i].slots_moved = (double)NAN;
    for (int writes = 0; writes < PORT_WRITES_COUNT && fused >= 0; writes++) {
        int n = moved_some(inference, (enum port_writes)writes, usages, false, some);
        fused = moved_time(inference, some, n, usages, err);
        if (fused <= 0)
            continue;
        n = moved_some(inference, (enum port_writes)writes, usages, true, some);
        fused = moved_time(inference, some, n, usages, err);
    }
    free(some);
    return fused < 0 ? -1 : 0;
}
