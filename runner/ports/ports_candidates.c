// SPDX-License-Identifier: MIT
// What discovery measures: which forms could stand for a set of ports, which of them behave alike,
// and how slow each kind is beside each other; see ports_discover.c.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>

enum {
    SINGLE_COUNT = 8,
    ROUNDS_MAX = 24, // of clustering
};
static const double INTEGER_TOLERANCE = 0.03; // of 1/throughput
static const double SAME_TOLERANCE = 0.04;    // of the time of two that share all ports

static int candidate_compare(const void *va, const void *vb)
{
    const struct candidate *a = va, *b = vb;
    return a->size != b->size ? b->size - a->size : a->form - b->form;
}

// Whether counters saw several µops of the form, as of a store, whose address and data take a port
// each but no other time than one µop would.
static bool counted_several(const struct port_oracle *oracle, const struct port_timing *timing)
{
    double uops = 0;
    for (int g = 0; g < oracle->ngroups && timing->counted; g++)
        uops += timing->uops[g];
    return uops > 1.5 * SINGLE_COUNT;
}

// Times every form that can be a blocker alone; keeps those of 1/integer cycles.
static int discover_singles(struct discovery *d, int nforms, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)nforms, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)nforms, sizeof *timings);
    int n = 0;
    for (int i = 0; i < nforms; i++)
        if (d->forms[i].blocker_cost >= 0 && (d->forms[i].bits >= PORT_WIDE_BITS) == d->wide)
            mixes[n++] = (struct port_mix){{{i, SINGLE_COUNT}}, 1, 1u << MIX_INTERLEAVED};
    int status = ports_time(d->oracle, "forms alone", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        int form = mixes[i].parts[0].form;
        double clk = timings[i].clk / SINGLE_COUNT;
        if (timings[i].outcome != OUTCOME_OK || clk <= 0)
            continue;
        double share = 1 / (clk * d->width);
        d->fast += share > FRONT_END_SHARE && !d->forms[form].filler_only;
        if (share > FRONT_END_SHARE && share < 2 - FRONT_END_SHARE &&
            (d->filler < 0 || d->forms[form].blocker_cost < d->forms[d->filler].blocker_cost))
            d->filler = form;
        int size = (int)lround(1 / clk);
        if (d->forms[form].filler_only || share > FRONT_END_SHARE || size < 1 ||
            fabs(1 / (clk * size) - 1) > INTEGER_TOLERANCE ||
            counted_several(d->oracle, &timings[i]))
            continue;
        d->candidates[d->ncandidates++] = (struct candidate){form, clk, size, -1};
    }
    free(mixes);
    free(timings);
    return status;
}

// Leaves out what takes more than one slot: its µops may be of different kinds.
static int discover_slots(struct discovery *d, struct err *err)
{
    if (d->filler < 0)
        return 0;
    struct port_mix *mixes = xcalloc((size_t)d->ncandidates, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)d->ncandidates, sizeof *timings);
    const int fillers = 2 * SINGLE_COUNT * d->width;
    for (int i = 0; i < d->ncandidates; i++)
        mixes[i] = (struct port_mix){
            {{d->candidates[i].form, SINGLE_COUNT}, {d->filler, fillers}},
            2,
            1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS
        };
    int status = ports_time(d->oracle, "slots", mixes, d->ncandidates, timings, err);
    int kept = 0;
    for (int i = 0; i < d->ncandidates && status == 0; i++) {
        double slots = (timings[i].clk * d->width - fillers) / SINGLE_COUNT;
        if (timings[i].outcome == OUTCOME_OK && fabs(slots - 1) < 0.35)
            d->candidates[kept++] = d->candidates[i];
    }
    d->ncandidates = kept;
    free(mixes);
    free(timings);
    return status;
}

// The cheapest candidate of each size that belongs to no cluster yet becomes one.
static bool discover_new_clusters(struct discovery *d)
{
    bool found = false;
    for (int i = 0; i < d->ncandidates;) {
        int end = i, best = -1;
        for (; end < d->ncandidates && d->candidates[end].size == d->candidates[i].size; end++) {
            if (d->candidates[end].cluster >= 0)
                continue;
            if (best < 0 || d->forms[d->candidates[end].form].blocker_cost <
                                d->forms[d->candidates[best].form].blocker_cost)
                best = end;
        }
        if (best >= 0 && d->nclusters < PORT_CLASSES_MAX) {
            d->candidates[best].cluster = d->nclusters;
            d->clusters[d->nclusters++] =
                (struct cluster){.rep = best, .size = d->candidates[best].size, .members = 1};
            found = true;
        }
        i = end;
    }
    return found;
}

// One round: every candidate without a cluster beside the newest cluster of its size.
static int discover_round(struct discovery *d, int first, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)d->ncandidates, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)d->ncandidates, sizeof *timings);
    int *who = xcalloc((size_t)d->ncandidates, sizeof *who);
    int *with = xcalloc((size_t)d->ncandidates, sizeof *with);
    int n = 0;
    for (int i = 0; i < d->ncandidates; i++) {
        const struct candidate *candidate = &d->candidates[i];
        for (int c = first; c < d->nclusters && candidate->cluster < 0; c++) {
            if (d->clusters[c].size != candidate->size)
                continue;
            int count = candidate->size * PAIR_CYCLES;
            int rep = d->candidates[d->clusters[c].rep].form;
            mixes[n] = (struct port_mix){
                {{candidate->form, count}, {rep, count}},
                2,
                1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS
            };
            who[n] = i;
            with[n++] = c;
        }
    }
    int status = n ? ports_time(d->oracle, "classes", mixes, n, timings, err) : 0;
    for (int i = 0; i < n && status == 0; i++)
        if (timings[i].outcome == OUTCOME_OK &&
            timings[i].clk > 2 * PAIR_CYCLES * (1 - SAME_TOLERANCE)) {
            d->candidates[who[i]].cluster = with[i];
            d->clusters[with[i]].members++;
        }
    free(mixes);
    free(timings);
    free(who);
    free(with);
    return status;
}

static int discover_clusters(struct discovery *d, struct err *err)
{
    qsort(d->candidates, (size_t)d->ncandidates, sizeof *d->candidates, candidate_compare);
    for (int round = 0; round < ROUNDS_MAX; round++) {
        int first = d->nclusters;
        if (!discover_new_clusters(d))
            return 0;
        if (discover_round(d, first, err) != 0)
            return -1;
    }
    return 0;
}

static void discover_pair_add(struct discovery *d, int a, int b, int x, int y)
{
    if (x > 0 && y > 0 && !(d->clusters[a].fixed && d->clusters[b].fixed))
        d->pairs[d->npairs++] = (struct pair_timing){a, b, x, y, NAN};
}

// Mixtures of each pair: balanced, and each set kept busy with a few of the other beside it, and
// with as many as the front end lets pass.
static void discover_pair_mixes(struct discovery *d)
{
    const int budget = (int)(FRONT_END_SHARE * d->width * PAIR_CYCLES);
    for (int a = 0; a < d->nclusters; a++)
        for (int b = 0; b < a; b++) {
            int full_a = d->clusters[a].size * PAIR_CYCLES;
            int full_b = d->clusters[b].size * PAIR_CYCLES;
            discover_pair_add(d, a, b, full_a, full_b);
            if (full_b <= full_a)
                discover_pair_add(d, a, b, full_a, PAIR_CYCLES / 2);
            if (full_a <= full_b)
                discover_pair_add(d, a, b, PAIR_CYCLES / 2, full_b);
            if (full_a + full_b > budget) {
                discover_pair_add(d, a, b, full_a, budget - full_a);
                discover_pair_add(d, a, b, budget - full_b, full_b);
            }
        }
}

int discover_pairs(struct discovery *d, struct err *err)
{
    d->pairs =
        xcalloc(MIXTURES_MAX * (size_t)d->nclusters * (size_t)d->nclusters + 1, sizeof *d->pairs);
    discover_pair_mixes(d);
    struct port_mix *mixes = xcalloc((size_t)d->npairs + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)d->npairs + 1, sizeof *timings);
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int a = d->candidates[d->clusters[pair->a].rep].form;
        int b = d->candidates[d->clusters[pair->b].rep].form;
        mixes[i] = (struct port_mix){
            {{a, pair->x}, {b, pair->y}},
            2, MIX_ORDERS_FEW
        };
    }
    int status = ports_time(d->oracle, "pairs of classes", mixes, d->npairs, timings, err);
    for (int i = 0; i < d->npairs && status == 0; i++)
        if (timings[i].outcome == OUTCOME_OK)
            d->pairs[i].clk = timings[i].clk;
    free(mixes);
    free(timings);
    return status;
}

int discover_kinds(struct discovery *d, int nforms, struct err *err)
{
    d->candidates = xcalloc((size_t)nforms + PORT_CLASSES_MAX + 1, sizeof *d->candidates);
    if (discover_singles(d, nforms, err) != 0 || discover_slots(d, err) != 0)
        return -1;
    return discover_clusters(d, err);
}
