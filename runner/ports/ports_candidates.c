// SPDX-License-Identifier: MIT
// Measurements of discovery: the forms that could stand for a set of ports, those that behave
// alike, and the times of each kind beside each other; see ports_discover.c.
#include "ports_discover.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

// Extra slots, against the same number of fillers, that a candidate of one slot shows, at least and
// at most. Long instructions take part of another slot, as does a form between fused nops (Zen 5:
// up to 0.8); two slots show 1.0 and more.
static const double SLOTS_LESS = PORT_NOISE, SLOTS_MORE = 1 - PORT_NOISE_ALONE;

struct port_mix ports_chain(int form)
{
    return (struct port_mix){{{form, PORT_ALONE}}, 1, 1u << MIX_INTERLEAVED | PORT_MIX_CHAINED};
}

bool ports_chain_eliminated(const struct port_timing *timing)
{
    return timing->outcome == OUTCOME_OK && timing->clk < PORT_ELIMINATED_CLK * PORT_ALONE;
}

static int candidate_compare(const void *va, const void *vb)
{
    const struct candidate *a = va, *b = vb;
    return a->size != b->size ? b->size - a->size : a->form - b->form;
}

// Returns true if counters saw several µops of the form, as of a store, whose address and data each
// take a port but no more time than one µop.
static bool counted_several(const struct port_oracle *oracle, const struct port_timing *timing)
{
    double uops = 0;
    for (int g = 0; g < oracle->ngroups && timing->counted; g++)
        uops += timing->uops[g];
    return lround(uops / PORT_ALONE) > 1;
}

// A form that is as fast as the front end.
struct fast_form {
    int form;
    bool slot; // an instance takes one slot
};

// Returns the unfitness of a form as the filler, which takes a slot and nothing else. 0: it has no
// operands, or passes on a value in less than a cycle, and so needs no port. 1: it cannot be
// chained, and may need a port. 2: it needs one, of at least as many as there are slots.
static int fast_rank(const struct discovery *d, int form, const struct port_timing *chained)
{
    if (d->forms[form].filler_only || ports_chain_eliminated(chained))
        return 0;
    return chained->outcome == OUTCOME_OK ? 2 : 1;
}

// Chooses the filler, and counts the forms whose ports may not show. A filler with a port would add
// slots to all forms that share it: Haswell has four slots and four ports of integers, where `mov
// r32 i32` does that.
static int discover_front(struct discovery *d, const struct fast_form *fasts, int n,
                          struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    int least = 0;
    for (int i = 0; i < n; i++)
        mixes[i] = ports_chain(fasts[i].form);
    int status = ports_time(d->oracle, "forms as fast as the front end", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        int form = fasts[i].form, rank = fast_rank(d, form, &timings[i]);
        d->fast += rank > 0;
        bool better =
            d->filler < 0 || rank < least ||
            (rank == least && d->forms[form].blocker_cost < d->forms[d->filler].blocker_cost);
        if (!fasts[i].slot || !better)
            continue;
        d->filler = form;
        least = rank;
    }
    free(mixes);
    free(timings);
    return status;
}

// Times every form that can be a blocker alone, and keeps the forms of 1/integer cycles.
static int discover_singles(struct discovery *d, int nforms, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)nforms, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)nforms, sizeof *timings);
    struct fast_form *fasts = xcalloc((size_t)nforms, sizeof *fasts);
    int n = 0, nfasts = 0;
    for (int i = 0; i < nforms; i++)
        if (d->forms[i].blocker_cost >= 0 && (d->forms[i].bits >= PORT_WIDE_BITS) == d->wide)
            mixes[n++] = (struct port_mix){{{i, PORT_ALONE}}, 1, 1u << MIX_INTERLEAVED};
    int status = ports_time(d->oracle, "forms alone", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        int form = mixes[i].parts[0].form;
        double clk = timings[i].clk / PORT_ALONE;
        if (timings[i].outcome != OUTCOME_OK || clk <= 0)
            continue;
        double share = 1 / (clk * d->width);
        if (share > FRONT_END_SHARE && !d->wide)
            fasts[nfasts++] = (struct fast_form){form, share < 2 - FRONT_END_SHARE};
        int size = (int)lround(1 / clk);
        if (d->forms[form].filler_only || share > PORT_RENAME_SHARE || size < 1 ||
            fabs(1 / (clk * size) - 1) > PORT_SAME || counted_several(d->oracle, &timings[i]))
            continue;
        d->candidates[d->ncandidates++] =
            (struct candidate){.form = form, .clk = clk, .size = size, .cluster = -1};
    }
    if (status == 0)
        status = discover_front(d, fasts, nfasts, err);
    free(fasts);
    free(mixes);
    free(timings);
    return status;
}

// Returns the number of fillers beside the instances of a candidate, by which the front end takes
// half as long again as its ports. More would only hide its slots.
static int slot_fillers(const struct discovery *d, const struct candidate *candidate)
{
    return 3 * PORT_ALONE * d->width / (2 * candidate->size);
}

// Adds controls of as many fillers as stand in the mixes of the candidates, by size. Returns how
// many.
static int slot_controls(const struct discovery *d, struct port_mix *mixes)
{
    int n = 0;
    for (int i = 0; i < d->ncandidates; i++) {
        if (i > 0 && d->candidates[i].size == d->candidates[i - 1].size)
            continue;
        ports_put_controls(d->filler, slot_fillers(d, &d->candidates[i]) + PORT_ALONE, mixes + n);
        n += PORT_CONTROLS;
    }
    return n;
}

static int chain_latency(const struct port_timing *chained)
{
    if (chained->outcome == OUTCOME_OK)
        return (int)fmax(1, round(chained->clk / PORT_ALONE));
    return chained->outcome == OUTCOME_UNSTABLE ? INT_MAX : 1; // else no chain
}

// Marks candidates that pass on a value in less than a cycle as eliminated at rename; those without
// a chain stay. The number of them that renaming allows per cycle is no set of ports. Zen 5 renames
// six vector moves per cycle, and as a set of six ports they would separate the stores of vectors
// from other stores.
static void chains_judge(struct discovery *d, const struct port_timing *chained)
{
    for (int i = 0; i < d->ncandidates; i++) {
        d->candidates[i].eliminated = ports_chain_eliminated(&chained[i]);
        d->candidates[i].latency_clk = chain_latency(&chained[i]);
    }
}

static void candidates_keep(struct discovery *d)
{
    int kept = 0;
    for (int i = 0; i < d->ncandidates; i++) {
        const struct candidate candidate = d->candidates[i];
        if (!candidate.refuted && !candidate.eliminated)
            d->candidates[kept++] = candidate;
        else if (!candidate.refuted && d->filler >= 0) // without a filler its slots are unknown
            d->eliminated[d->neliminated++] = candidate;
    }
    d->ncandidates = kept;
}

// Refutes candidates of more than one slot: their mixes take longer than as many fillers.
static void slots_judge(struct discovery *d, const struct port_timing *timings,
                        const struct port_timing *controls)
{
    int size = 0;
    double fillers_clk = NAN;
    for (int i = 0; i < d->ncandidates; i++) {
        struct candidate *candidate = &d->candidates[i];
        if (candidate->size != size) {
            fillers_clk = ports_controls_clk(controls);
            controls += PORT_CONTROLS;
            size = candidate->size;
        }
        double more_slots = (timings[i].clk - fillers_clk) * d->width / PORT_ALONE;
        candidate->refuted |= timings[i].outcome != OUTCOME_OK || !(more_slots > -SLOTS_LESS) ||
                              !(more_slots < SLOTS_MORE);
    }
}

// Leaves out candidates of more than one slot, since their µops may be of different kinds, and
// those that are eliminated.
static int discover_slots(struct discovery *d, struct err *err)
{
    int n = d->ncandidates, nslots = d->filler < 0 ? 0 : n;
    struct port_mix *mixes = xcalloc((2 + PORT_CONTROLS) * (size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((2 + PORT_CONTROLS) * (size_t)n + 1, sizeof *timings);
    qsort(d->candidates, (size_t)n, sizeof *d->candidates, candidate_compare);
    for (int i = 0; i < n; i++)
        mixes[i] = ports_chain(d->candidates[i].form);
    for (int i = 0; i < nslots; i++)
        mixes[n + i] = (struct port_mix){
            {{d->candidates[i].form, PORT_ALONE}, {d->filler, slot_fillers(d, &d->candidates[i])}},
            2,
            1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS
        };
    int ncontrols = nslots ? slot_controls(d, mixes + n + nslots) : 0;
    int status = ports_time(d->oracle, "slots", mixes, n + nslots + ncontrols, timings, err);
    if (status == 0) {
        chains_judge(d, timings);
        if (nslots)
            slots_judge(d, timings + n, timings + n + nslots);
        candidates_keep(d);
    }
    free(mixes);
    free(timings);
    return status;
}

// Returns true if a is the better representative of a cluster: it disturbs less. A port delivers
// one result per cycle, so longer operations delay later ones: on Zen 5 six `pdep`, of three
// cycles, and one `tzcnt`, of one, keep their three ports busy for 3.0 cycles, with `shlx` in place
// of `pdep` 2.34.
static bool candidate_before(const struct discovery *d, int a, int b)
{
    const struct candidate *of_a = &d->candidates[a], *of_b = &d->candidates[b];
    int cost_a = d->forms[of_a->form].blocker_cost, cost_b = d->forms[of_b->form].blocker_cost;
    if (cost_a != cost_b)
        return cost_a < cost_b;
    return of_a->latency_clk != of_b->latency_clk ? of_a->latency_clk < of_b->latency_clk : a < b;
}

// Candidate without a cluster beside one that may found a cluster.
struct meeting {
    int who, with; // candidates
};

// Writes the `most` best candidates of each size without a cluster to reps[], best first within a
// size. Returns how many.
static int discover_reps(const struct discovery *d, int most, int *reps)
{
    int n = 0, first = 0; // first rep of this size
    for (int i = 0; i < d->ncandidates; i++) {
        if (i > 0 && d->candidates[i].size != d->candidates[i - 1].size)
            first = n;
        if (d->candidates[i].cluster >= 0)
            continue;
        int at = n - first < most ? n++ : n;
        for (; at > first && candidate_before(d, i, reps[at - 1]); at--)
            if (at < n)
                reps[at] = reps[at - 1];
        if (at < n)
            reps[at] = i;
    }
    return n;
}

// Adds mixes of every candidate without a cluster beside the forms of its size among reps[].
// Returns how many.
static int discover_meetings(const struct discovery *d, const int *reps, int nreps,
                             struct meeting *meetings, struct port_mix *mixes)
{
    int n = 0;
    for (int r = 0; r < nreps; r++)
        for (int i = 0; i < d->ncandidates; i++) {
            const struct candidate *who = &d->candidates[i], *with = &d->candidates[reps[r]];
            if (who->cluster >= 0 || who->size != with->size || i == reps[r])
                continue;
            int count = who->size * PORT_BUSY_CLK;
            meetings[n] = (struct meeting){i, reps[r]};
            mixes[n++] = (struct port_mix){
                {{who->form, count}, {with->form, count}},
                2,
                1u << MIX_INTERLEAVED | 1u << MIX_BLOCKS
            };
        }
    return n;
}

// Takes one round: each rep that is still in no cluster founds one, with all candidates that are as
// slow beside it as beside themselves.
static int discover_round(struct discovery *d, const int *reps, int nreps, struct err *err)
{
    size_t most = (size_t)nreps * (size_t)d->ncandidates;
    struct meeting *meetings = xcalloc(most, sizeof *meetings);
    struct port_mix *mixes = xcalloc(most, sizeof *mixes);
    int n = discover_meetings(d, reps, nreps, meetings, mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    int status = n ? ports_time(d->oracle, "classes", mixes, n, timings, err) : 0;
    for (int r = 0, i = 0; r < nreps && status == 0; r++) {
        struct candidate *rep = &d->candidates[reps[r]];
        bool founds = rep->cluster < 0 && d->nclusters < PORT_CLASSES_MAX;
        if (founds) {
            rep->cluster = d->nclusters;
            d->clusters[d->nclusters++] =
                (struct cluster){.rep = reps[r], .size = rep->size, .members = 1};
        }
        for (; i < n && meetings[i].with == reps[r]; i++) {
            struct candidate *who = &d->candidates[meetings[i].who];
            if (!founds || who->cluster >= 0 || timings[i].outcome != OUTCOME_OK ||
                timings[i].clk <= 2 * PORT_BUSY_CLK * (1 - PORT_SAME))
                continue;
            who->cluster = rep->cluster;
            d->clusters[rep->cluster].members++;
        }
    }
    free(meetings);
    free(mixes);
    free(timings);
    return status;
}

// Finds the clusters in rounds. The first reps of a size meet hundreds of candidates, most of which
// they take; later reps meet few, so more of them are met at a time, in fewer rounds.
static int discover_clusters(struct discovery *d, struct err *err)
{
    int *reps = xcalloc((size_t)d->ncandidates + 1, sizeof *reps), status = 0;
    qsort(d->candidates, (size_t)d->ncandidates, sizeof *d->candidates, candidate_compare);
    for (int at_once = 1; status == 0 && d->nclusters < PORT_CLASSES_MAX; at_once *= 2) {
        int nreps = discover_reps(d, at_once, reps);
        if (nreps == 0)
            break;
        status = discover_round(d, reps, nreps, err);
    }
    free(reps);
    return status;
}

// Marks a representative, and all of its mnemonic in the cluster, as tried.
static void rep_stood(struct discovery *d, int rep)
{
    uint64_t family = d->forms[d->candidates[rep].form].family;
    for (int i = 0; i < d->ncandidates; i++)
        if (i == rep || (family && d->candidates[i].cluster == d->candidates[rep].cluster &&
                         d->forms[d->candidates[i].form].family == family))
            d->candidates[i].stood = true;
}

int discover_next_rep(struct discovery *d, int c)
{
    int best = -1;
    rep_stood(d, d->clusters[c].rep);
    for (int i = 0; i < d->ncandidates; i++)
        if (d->candidates[i].cluster == c && !d->candidates[i].stood &&
            (best < 0 || candidate_before(d, i, best)))
            best = i;
    if (best >= 0)
        rep_stood(d, best);
    return best;
}

static void discover_pair_add(struct discovery *d, int a, int b, int x, int y)
{
    bool fixed = d->clusters[a].state == CLUSTER_FIXED && d->clusters[b].state == CLUSTER_FIXED;
    if (x > 0 && y > 0 && !fixed)
        d->pairs[d->npairs++] = (struct pair_timing){a, b, x, y, NAN};
}

// Adds the mixtures of each pair: balanced, and each set kept busy with a few of the other beside
// it, and with as many as the front end lets pass.
static void discover_pair_mixes(struct discovery *d)
{
    const int budget = (int)(FRONT_END_SHARE * d->width * PORT_BUSY_CLK);
    for (int a = 0; a < d->nclusters; a++)
        for (int b = 0; b < a; b++) {
            int full_a = d->clusters[a].size * PORT_BUSY_CLK;
            int full_b = d->clusters[b].size * PORT_BUSY_CLK;
            discover_pair_add(d, a, b, full_a, full_b);
            if (full_b <= full_a)
                discover_pair_add(d, a, b, full_a, PORT_BUSY_CLK / 2);
            if (full_a <= full_b)
                discover_pair_add(d, a, b, PORT_BUSY_CLK / 2, full_b);
            if (full_a + full_b > budget) {
                discover_pair_add(d, a, b, full_a, budget - full_a);
                discover_pair_add(d, a, b, budget - full_b, full_b);
            }
        }
}

static struct port_mix discover_pair_mix(const struct discovery *d, const struct pair_timing *pair)
{
    int a = d->candidates[d->clusters[pair->a].rep].form;
    int b = d->candidates[d->clusters[pair->b].rep].form;
    return (struct port_mix){
        {{a, pair->x}, {b, pair->y}},
        2, MIX_ORDERS_FEW
    };
}

int discover_pairs_time(struct discovery *d, const int *which, int n, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)n + 1, sizeof *timings);
    for (int i = 0; i < n; i++)
        mixes[i] = discover_pair_mix(d, &d->pairs[which[i]]);
    int status = ports_time(d->oracle, "pairs of classes", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        struct pair_timing *pair = &d->pairs[which[i]];
        if (timings[i].outcome == OUTCOME_OK)
            pair->clk = fmin(pair->clk, timings[i].clk); // of NaN and a number the number
    }
    free(mixes);
    free(timings);
    return status;
}

int discover_pairs(struct discovery *d, struct err *err)
{
    d->pairs =
        xcalloc(MIXTURES_MAX * (size_t)d->nclusters * (size_t)d->nclusters + 1, sizeof *d->pairs);
    discover_pair_mixes(d);
    int *which = xcalloc((size_t)d->npairs + 1, sizeof *which);
    for (int i = 0; i < d->npairs; i++)
        which[i] = i;
    int status = discover_pairs_time(d, which, d->npairs, err);
    free(which);
    return status;
}

int discover_kinds(struct discovery *d, int nforms, struct err *err)
{
    d->candidates = xcalloc((size_t)nforms + PORT_CLASSES_MAX + 1, sizeof *d->candidates);
    d->eliminated = xcalloc((size_t)nforms + 1, sizeof *d->eliminated);
    if (discover_singles(d, nforms, err) != 0 || discover_slots(d, err) != 0)
        return -1;
    return discover_clusters(d, err);
}
