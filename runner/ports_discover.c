// SPDX-License-Identifier: MIT
// Discovery: which port sets a CPU has. Forms of one µop that take a cycle divided by an integer
// have that many ports; those that are as slow together as either alone have the same ports; how
// slow others are together tells how far their sets overlap. A search over overlaps then finds sets
// that explain all pairs. After Ritter and Hack, PMEvo (2020), and Derumigny et al., Palmed (2022),
// both of which work from throughput, with integers in place of their optimisers.
#include "ports_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SINGLE_COUNT = 8,
    PAIR_CYCLES = 6, // that a saturated set is kept busy
    ROUNDS_MAX = 24, // of clustering
    COMPOSITIONS_MAX = 4096,
    BEAM_WIDTH = 256,
    MIXTURES_MAX = 5, // of a pair of classes
};
static const double INTEGER_TOLERANCE = 0.03; // of 1/throughput
static const double SAME_TOLERANCE = 0.04;    // of the time of two that share all ports
static const double PAIR_TOLERANCE = 0.035;   // of measured against predicted pairs
static const double LEFT_OUT_MISFIT = 0.8;    // of a class without a place
static const double MULTI_USE = 1.45;         // uses of a larger set by one instance
static const double ELSEWHERE_USE = 0.6;      // uses of ports outside its own by one instance
static const double FRONT_END_SHARE = 0.96;   // of the width: more cannot be told from a full one

struct candidate {
    int form;
    double clk;
    int size;    // of its port set
    int cluster; // -1: none yet
};

// Candidates of one size that behave alike; `rep` stands for them.
struct cluster {
    int rep; // index of a candidate
    int size, members;
    bool dropped;
    uint32_t set;
};

// Time of x instances of cluster a with y of cluster b.
struct pair_timing {
    int a, b, x, y;
    double clk;
};

struct discovery {
    const struct port_oracle *oracle;
    const struct port_form *forms;
    int width;
    struct candidate *candidates;
    int ncandidates;
    struct cluster clusters[PORT_CLASSES_MAX];
    int nclusters;
    int filler, wide;
    struct pair_timing *pairs;
    int npairs;
};

static int candidate_compare(const void *va, const void *vb)
{
    const struct candidate *a = va, *b = vb;
    return a->size != b->size ? b->size - a->size : a->form - b->form;
}

// Times every form that can be a blocker alone; keeps those of 1/integer cycles.
static int discover_singles(struct discovery *d, int nforms, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)nforms, sizeof *mixes);
    struct port_timing *timings = xcalloc((size_t)nforms, sizeof *timings);
    int n = 0;
    for (int i = 0; i < nforms; i++)
        if (d->forms[i].blocker_cost >= 0)
            mixes[n++] = (struct port_mix){{{i, SINGLE_COUNT}}, 1, 1u << MIX_INTERLEAVED};
    int status = ports_time(d->oracle, "forms alone", mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        int form = mixes[i].parts[0].form;
        double clk = timings[i].clk / SINGLE_COUNT;
        if (timings[i].outcome != OUTCOME_OK || clk <= 0)
            continue;
        double wide = 1 / (clk * d->width);
        d->wide += wide > FRONT_END_SHARE && !d->forms[form].filler_only;
        if (wide > FRONT_END_SHARE && wide < 2 - FRONT_END_SHARE &&
            (d->filler < 0 || d->forms[form].blocker_cost < d->forms[d->filler].blocker_cost))
            d->filler = form;
        int size = (int)lround(1 / clk);
        if (d->forms[form].filler_only || wide > FRONT_END_SHARE || size < 1 ||
            fabs(1 / (clk * size) - 1) > INTEGER_TOLERANCE)
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
                (struct cluster){best, d->candidates[best].size, 1, false, 0};
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
    if (x > 0 && y > 0)
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

static int discover_pairs(struct discovery *d, struct err *err)
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

// x µops of set a and y of set b.
static double pair_clk(const struct discovery *d, uint32_t a, uint32_t b, int x, int y)
{
    double most = fmax((double)x / port_set_size(a), (double)y / port_set_size(b));
    if ((a & ~b) == 0)
        most = fmax(most, (double)(x + y) / port_set_size(b));
    if ((b & ~a) == 0)
        most = fmax(most, (double)(x + y) / port_set_size(a));
    most = fmax(most, (double)(x + y) / port_set_size(a | b));
    return fmax(most, (double)(x + y) / d->width);
}

// A structure while it grows: the sets of the clusters placed so far.
struct sketch {
    uint32_t sets[PORT_CLASSES_MAX]; // 0: not placed
    int nports;
    double misfit;
};

// Ports that are in the same sets, so far.
struct atom {
    uint32_t ports;
    int take; // how many of them the set that is being placed gets
};

// The timings of cluster c beside those that are placed.
struct evidence {
    const struct pair_timing *pairs[MIXTURES_MAX * PORT_CLASSES_MAX];
    int n;
};

static void evidence_make(const struct discovery *d, const struct sketch *sketch, int c,
                          struct evidence *evidence)
{
    evidence->n = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int other = pair->a == c ? pair->b : pair->b == c ? pair->a : -1;
        if (other >= 0 && sketch->sets[other] && !isnan(pair->clk))
            evidence->pairs[evidence->n++] = pair;
    }
}

// How badly a set fits to the sets placed before. Slower than predicted may be the scheduler's
// fault; faster is impossible.
static double evidence_misfit(const struct discovery *d, const struct evidence *evidence,
                              const uint32_t *sets)
{
    double sum = 0;
    for (int i = 0; i < evidence->n; i++) {
        const struct pair_timing *pair = evidence->pairs[i];
        double clk = pair_clk(d, sets[pair->a], sets[pair->b], pair->x, pair->y);
        double ratio = pair->clk / clk;
        if (fabs(ratio - 1) < PAIR_TOLERANCE) // most are; it saves the logarithm
            continue;
        double misfit = fmax(fmin(fabs(log(ratio)) - PAIR_TOLERANCE, 1), 0);
        sum += ratio < 1 ? 4 * misfit : misfit;
    }
    return sum;
}

static int atoms_make(const struct sketch *sketch, struct atom *atoms)
{
    int n = 0;
    uint32_t seen[PORTS_MAX];
    for (int port = 0; port < sketch->nports; port++) {
        uint32_t member = 0;
        for (int c = 0; c < PORT_CLASSES_MAX; c++)
            if (sketch->sets[c] & 1u << port)
                member |= 1u << c;
        int i = 0;
        while (i < n && seen[i] != member)
            i++;
        if (i == n) {
            seen[n] = member;
            atoms[n++] = (struct atom){0, 0};
        }
        atoms[i].ports |= 1u << port;
    }
    return n;
}

static uint32_t atoms_set(const struct atom *atoms, int n, int fresh, int nports)
{
    uint32_t set = 0;
    for (int i = 0; i < n; i++) {
        uint32_t ports = atoms[i].ports;
        for (int j = 0; j < atoms[i].take; j++) {
            set |= ports & -ports;
            ports &= ports - 1;
        }
    }
    for (int j = 0; j < fresh; j++)
        set |= 1u << (nports + j);
    return set;
}

// The next way to take up to `most` ports from the atoms. false: there is none.
static bool atoms_next(struct atom *atoms, int n, int most)
{
    for (;;) {
        int i = 0;
        while (i < n && atoms[i].take == port_set_size(atoms[i].ports))
            atoms[i++].take = 0;
        if (i == n)
            return false;
        atoms[i].take++;
        int sum = 0;
        for (int j = 0; j < n; j++)
            sum += atoms[j].take;
        if (sum <= most)
            return true;
    }
}

// Keeps the best sketches, by misfit; among equals those with more ports, since what the timings do
// not force together stays apart.
static void beam_put(struct sketch *beam, int *n, const struct sketch *sketch)
{
    int at = *n;
    while (at > 0 && (beam[at - 1].misfit > sketch->misfit + 1e-9 ||
                      (fabs(beam[at - 1].misfit - sketch->misfit) <= 1e-9 &&
                       beam[at - 1].nports < sketch->nports)))
        at--;
    if (at == BEAM_WIDTH)
        return;
    int last = *n < BEAM_WIDTH ? *n : BEAM_WIDTH - 1;
    memmove(beam + at + 1, beam + at, (size_t)(last - at) * sizeof *beam);
    beam[at] = *sketch;
    *n = last + 1;
}

// All ways to place cluster c into the sketch, or to leave it out.
static void sketch_extend(const struct discovery *d, const struct sketch *from, int c,
                          struct sketch *beam, int *n)
{
    struct atom atoms[PORTS_MAX];
    int natoms = atoms_make(from, atoms), size = d->clusters[c].size, tries = 0;
    struct evidence evidence;
    struct sketch sketch;
    evidence_make(d, from, c, &evidence);
    do {
        int taken = 0;
        for (int i = 0; i < natoms; i++)
            taken += atoms[i].take;
        sketch = *from;
        sketch.nports = from->nports + size - taken;
        if (sketch.nports > PORTS_MAX)
            continue;
        sketch.sets[c] = atoms_set(atoms, natoms, size - taken, from->nports);
        sketch.misfit = from->misfit + evidence_misfit(d, &evidence, sketch.sets);
        beam_put(beam, n, &sketch);
    } while (++tries < COMPOSITIONS_MAX && atoms_next(atoms, natoms, size));
    sketch = *from;
    sketch.misfit += LEFT_OUT_MISFIT;
    beam_put(beam, n, &sketch);
}

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

static struct sketch discover_sketch(const struct discovery *d)
{
    struct sketch *beam = xcalloc(BEAM_WIDTH, sizeof *beam);
    struct sketch *next = xcalloc(BEAM_WIDTH, sizeof *next);
    int nbeam = 1; // the empty sketch
    for (int size = 1; size < 64; size++)
        for (int c = 0; c < d->nclusters; c++) {
            if (d->clusters[c].size != size || d->clusters[c].dropped)
                continue;
            int nnext = 0;
            for (int i = 0; i < nbeam; i++)
                sketch_extend(d, &beam[i], c, next, &nnext);
            struct sketch *swap = beam;
            beam = next;
            next = swap;
            nbeam = nnext;
        }
    struct sketch best = beam[0];
    free(beam);
    free(next);
    return best;
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
        double clk = pair_clk(d, a->set, b->set, pair->x, pair->y);
        model->residual = fmax(model->residual, fabs(pair->clk - clk) / clk);
    }
}

int port_discover(const struct port_oracle *oracle, const struct port_form *forms, int nforms,
                  int width, struct port_model *model, struct err *err)
{
    struct discovery *d = xcalloc(1, sizeof *d);
    *d = (struct discovery){.oracle = oracle, .forms = forms, .width = width, .filler = -1};
    d->candidates = xcalloc((size_t)nforms + 1, sizeof *d->candidates);
    *model = (struct port_model){.width = width, .filler = -1};
    int status = discover_singles(d, nforms, err);
    if (status == 0)
        status = discover_slots(d, err);
    if (status == 0)
        status = discover_clusters(d, err);
    if (status == 0)
        status = discover_pairs(d, err);
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
