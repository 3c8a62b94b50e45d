// SPDX-License-Identifier: MIT
// Sets of clusters. Clusters of several µops are dropped; the search (ports_search.c) places the
// others until none uses ports outside its place.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOW_ROUNDS = 2,
    OTHERS_MOST = 6,  // other representatives of a cluster that are tried
    MEMBERS_LEAST = 4 // of a cluster that is worth that
};

// Returns the µops per instance of c on a larger set, the least over their mixtures: schedulers
// waste some of its ports. NaN: no mixture shows it.
static double cluster_uses(const struct discovery *d, int c, int s)
{
    const struct cluster *large = &d->clusters[s];
    double least = (double)NAN;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int mine, others, other = pair_of(pair, c, &mine, &others);
        if (other == s && !isnan(pair->clk) && others >= large->size * PORT_BUSY_CLK &&
            mine + others < FRONT_END_SHARE * d->width * pair->clk &&
            !(least <= (pair->clk * large->size - others) / mine))
            least = (pair->clk * large->size - others) / mine;
    }
    return least;
}

// Returns true if a third cluster on the ports of s has more of them beside c than two µops of c
// there would leave.
static bool cluster_leaves_room(const struct discovery *d, int c, int s)
{
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int mine, others, third = pair_of(pair, c, &mine, &others);
        if (third < 0 || isnan(pair->clk) || d->clusters[third].size >= d->clusters[s].size)
            continue;
        double room = pair->clk * d->clusters[s].size, uses = cluster_uses(d, third, s);
        if (uses > 1 - PORT_EXCESS && room < (1 - PORT_SAME) * (2 * mine + fmin(uses, 1) * others))
            return true;
    }
    return false;
}

// Returns true if members of c use a larger set more than once each. A form on half of its ports
// looks alike beside the set, to which a scheduler binds µops as if all its ports were busy. Beside
// the other half the form shows the difference. (Zen 5: 12 and 24 vector loads and loads take 11.0
// cycles, where two µops each would take 12; but beside stores, on the other half, 6.9, and two
// µops would take 9.)
static bool cluster_multi(const struct discovery *d, int c)
{
    for (int s = 0; s < d->nclusters; s++)
        if (d->clusters[s].size > d->clusters[c].size && !cluster_is_out(&d->clusters[s]) &&
            round(cluster_uses(d, c, s)) > 1 && !cluster_leaves_room(d, c, s))
            return true;
    return false;
}

// Returns true if members of c use ports outside their set, too.
static bool cluster_elsewhere(const struct discovery *d, const struct sketch *sketch, int c)
{
    for (int s = 0; s < d->nclusters; s++)
        if (sketch->sets[s] && (sketch->sets[s] & sketch->sets[c]) == 0 &&
            d->clusters[s].size > d->clusters[c].size && round(cluster_uses(d, c, s)) > 0)
            return true;
    return false;
}

// Times pairs again that are slower than the sets of the first sketch, and all pairs of a cluster
// without a set there. They may have been disturbed, or have more than one time: 24 `mov r32 i32`
// and 12 `mov m8 r8`, which fill both sets on Zen 3, take 6.0 or 9.0 cycles.
static int sets_time_slow(struct discovery *d, struct err *err)
{
    struct sketch sketch = discover_sketch(d);
    int *which = xcalloc((size_t)d->npairs + 1, sizeof *which), n = 0, status = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        uint32_t a = sketch.sets[pair->a], b = sketch.sets[pair->b];
        bool out = cluster_is_out(&d->clusters[pair->a]) || cluster_is_out(&d->clusters[pair->b]);
        if (!out && (!a || !b || discover_pair_slow(d, pair, a, b)))
            which[n++] = i;
    }
    for (int round = 0; round < SLOW_ROUNDS && n > 0 && status == 0; round++)
        status = discover_pairs_time(d, which, n, err);
    free(which);
    return status;
}

// Returns true if a cluster that would be left out may get another representative.
static bool cluster_has_others(const struct cluster *cluster)
{
    return cluster->state < CLUSTER_TRIED && cluster->members >= MEMBERS_LEAST;
}

// Marks a cluster as doubtful if it may get another representative; else drops it.
static void cluster_drop(struct cluster *cluster)
{
    cluster->state = cluster_has_others(cluster) ? CLUSTER_DOUBTFUL : CLUSTER_DROPPED;
}

static void sets_drop_multi(struct discovery *d)
{
    // Larger sets first: a cluster that uses them more than once is no class.
    for (int size = 64; size > 0; size--)
        for (int c = 0; c < d->nclusters; c++)
            if (d->clusters[c].size == size && d->clusters[c].state != CLUSTER_FIXED &&
                cluster_multi(d, c))
                cluster_drop(&d->clusters[c]);
}

// Returns true if the pair is of the cluster and one that is not out.
static bool pair_matters(const struct discovery *d, const struct pair_timing *pair, int c)
{
    int mine, others, other = pair_of(pair, c, &mine, &others);
    return other >= 0 && !cluster_is_out(&d->clusters[other]);
}

// Returns the time of all pairs of a cluster. If one is unknown, its highest: one µop per cycle.
static double cluster_clk(const struct discovery *d, int c)
{
    double sum = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        if (pair_matters(d, pair, c))
            sum += isnan(pair->clk) ? pair->x + pair->y : pair->clk;
    }
    return sum;
}

// Tries other representatives of a cluster: that whose pairs take the least time stays.
static int cluster_try_others(struct discovery *d, int c, struct err *err)
{
    size_t bytes = (size_t)d->npairs * sizeof *d->pairs;
    struct pair_timing *best = xcalloc((size_t)d->npairs + 1, sizeof *best);
    int *which = xcalloc((size_t)d->npairs + 1, sizeof *which), n = 0, status = 0, rep;
    for (int i = 0; i < d->npairs; i++)
        if (pair_matters(d, &d->pairs[i], c))
            which[n++] = i;
    for (int k = 0; k < OTHERS_MOST && status == 0 && (rep = discover_next_rep(d, c)) >= 0; k++) {
        int before = d->clusters[c].rep;
        double least = cluster_clk(d, c);
        memcpy(best, d->pairs, bytes);
        d->clusters[c].rep = rep;
        for (int i = 0; i < n; i++)
            d->pairs[which[i]].clk = (double)NAN;
        for (int round = 0; round < SLOW_ROUNDS && status == 0; round++)
            status = discover_pairs_time(d, which, n, err);
        if (status == 0 && cluster_clk(d, c) < least)
            continue;
        d->clusters[c].rep = before;
        memcpy(d->pairs, best, bytes);
    }
    free(best);
    free(which);
    return status;
}

// Tries other representatives of the doubtful clusters. A form of one slot may still have two µops
// (a load and an operation), and a class of such forms and others finds a place only by the others.
static int sets_try_others(struct discovery *d, struct err *err)
{
    int status = 0;
    for (int c = 0; c < d->nclusters && status == 0; c++) {
        if (d->clusters[c].state != CLUSTER_DOUBTFUL)
            continue;
        d->clusters[c].state = CLUSTER_TRIED;
        status = cluster_try_others(d, c, err);
    }
    return status;
}

static bool sets_doubtful(const struct discovery *d)
{
    bool doubtful = false;
    for (int c = 0; c < d->nclusters; c++)
        doubtful |= d->clusters[c].state == CLUSTER_DOUBTFUL;
    return doubtful;
}

// Drops clusters that use ports elsewhere, and finds those without a place. Returns true if other
// representatives are to be tried, or the search is to be done again without the dropped ones.
static bool sets_go_on(struct discovery *d, const struct sketch *sketch)
{
    bool go_on = false;
    for (int c = 0; c < d->nclusters; c++) {
        struct cluster *cluster = &d->clusters[c];
        if (sketch->sets[c] && cluster->state != CLUSTER_FIXED && cluster_elsewhere(d, sketch, c)) {
            cluster_drop(cluster);
            go_on = true;
        }
    }
    for (int c = 0; c < d->nclusters && !go_on; c++)
        if (!sketch->sets[c] && cluster_has_others(&d->clusters[c]))
            d->clusters[c].state = CLUSTER_DOUBTFUL;
    return go_on || sets_doubtful(d);
}

int discover_sets(struct discovery *d, struct err *err)
{
    if (sets_time_slow(d, err) != 0)
        return -1;
    for (;;) {
        sets_drop_multi(d);
        if (sets_doubtful(d)) {
            if (sets_try_others(d, err) != 0)
                return -1;
            continue;
        }
        struct sketch sketch = discover_sketch(d);
        if (sets_go_on(d, &sketch))
            continue;
        d->nports = sketch.nports;
        for (int c = 0; c < d->nclusters; c++) {
            struct cluster *cluster = &d->clusters[c];
            cluster->set = sketch.sets[c];
            if (!cluster->set && !cluster_is_out(cluster))
                cluster->state = CLUSTER_UNPLACED;
        }
        return 0;
    }
}

double discover_residual(const struct discovery *d)
{
    double most = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        const struct cluster *a = &d->clusters[pair->a], *b = &d->clusters[pair->b];
        if (cluster_is_out(a) || cluster_is_out(b) || isnan(pair->clk))
            continue;
        double clk = discover_pair_clk(d, a->set, b->set, pair->x, pair->y);
        most = fmax(most, fabs(pair->clk - clk) / clk);
    }
    return most;
}

// --- contradictions ---

// Returns the pair of cluster c that is farthest from this set.
static const struct pair_timing *cluster_worst(const struct discovery *d, int c, uint32_t set,
                                               double *clk)
{
    const struct pair_timing *worst = NULL;
    double most = 0;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int mine, others, other = pair_of(pair, c, &mine, &others);
        if (other < 0 || cluster_is_out(&d->clusters[other]) || isnan(pair->clk))
            continue;
        double is =
            discover_pair_clk(d, pair->a == c ? set : d->clusters[pair->a].set,
                              pair->b == c ? set : d->clusters[pair->b].set, pair->x, pair->y);
        if (fabs(pair->clk / is - 1) <= most)
            continue;
        most = fabs(pair->clk / is - 1);
        worst = pair;
        *clk = is;
    }
    return worst;
}

// Appends "12 `a` (2 ports) beside 6 `b` (3) take 9.10 cycles, and at their closest sets 6.00".
static bool cluster_contradiction(const struct discovery *d, int c, struct strbuf *out)
{
    double clk = 0;
    uint32_t set = discover_closest(d, c);
    const struct pair_timing *pair = set ? cluster_worst(d, c, set, &clk) : NULL;
    if (!pair)
        return false;
    const struct cluster *a = &d->clusters[pair->a], *b = &d->clusters[pair->b];
    strbuf_printf(out,
                  "%s%d `%s` (%d ports) beside %d `%s` (%d) take %.2f cycles, %.2f at the "
                  "sets that come closest",
                  out->len ? "; " : "", pair->x, d->forms[d->candidates[a->rep].form].name, a->size,
                  pair->y, d->forms[d->candidates[b->rep].form].name, b->size, pair->clk, clk);
    return true;
}

bool discover_contradicts(const struct discovery *d, struct err *err)
{
    enum { TOLD = 3 };
    int placed = 0, unplaced = 0, told = 0;
    struct strbuf text = {0};
    for (int c = 0; c < d->nclusters; c++) {
        placed += cluster_is_out(&d->clusters[c]) ? 0 : d->clusters[c].members;
        unplaced += d->clusters[c].state == CLUSTER_UNPLACED ? d->clusters[c].members : 0;
    }
    if (unplaced <= placed)
        return false;
    for (int c = 0; c < d->nclusters && told < TOLD; c++)
        told += d->clusters[c].state == CLUSTER_UNPLACED && cluster_contradiction(d, c, &text);
    err_set(err,
            "no structure explains the timings: of %d forms that look like one µop, %d fit "
            "into no set of ports: %s",
            placed + unplaced, unplaced, strbuf_text(&text));
    strbuf_free(&text);
    return true;
}
