// SPDX-License-Identifier: MIT
// Search for sets of ports. Clusters are placed one after the other, smallest first, in all ways
// that differ in the ports shared with those placed before; the best sketches go on. See
// ports_discover.c.
#include "ports_discover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMPOSITIONS_MAX = 4096,
    BEAM_WIDTH = 256,
};
// Misfit of a class that is left out, by the size of its set: 1, 2, more. A form of throughput 1 or
// 0.5 may wait for something other than ports, one of 0.25 hardly.
static const double LEFT_OUT_MISFIT[] = {0.55, 0.8, 1.05};
// Members from which on a class weighs MANY_WEIGHT times as much when left out. A few forms may be
// of two µops in one slot, such as a load and an operation; many hardly are. Without it two of the
// eight ports of LLVM's znver2 are not found.
enum { MEMBERS_MANY = 16 };
static const double MANY_WEIGHT = 2;
// Returns the larger number; fmax() is a call, which would take most of the search's time.
static double larger(double a, double b)
{
    return a > b ? a : b;
}

// Returns the time of a pair: the longest of each set by itself, both on all of their ports, and
// the front end.
static double pair_clk(const struct discovery *d, int a_size, int b_size, int together, int x,
                       int y)
{
    double most = larger((double)x / a_size, (double)y / b_size);
    return larger(most, (double)(x + y) / (together < d->width ? together : d->width));
}

double discover_pair_clk(const struct discovery *d, uint32_t a, uint32_t b, int x, int y)
{
    return pair_clk(d, port_set_size(a), port_set_size(b), port_set_size(a | b), x, y);
}

bool discover_pair_slow(const struct discovery *d, const struct pair_timing *pair, uint32_t a,
                        uint32_t b)
{
    double clk = discover_pair_clk(d, a, b, pair->x, pair->y);
    return !(pair->clk <= clk * (1 + PORT_SAME));
}

// Misfit of cluster c with each other one, by the number of ports that they share.
struct overlaps {
    double misfit[PORT_CLASSES_MAX][PORTS_MAX + 1];
};

// Returns the misfit of measured / predicted time. Slower may be the scheduler's fault; faster is
// impossible, and costs four times as much.
static double ratio_misfit(double ratio)
{
    if (fabs(ratio - 1) < PORT_SAME) // most are: saves the logarithm
        return 0;
    double misfit = fmax(fmin(fabs(log(ratio)) - PORT_SAME, 1), 0);
    return ratio < 1 ? PORT_IMPOSSIBLE * misfit : misfit;
}

// Fills in the overlaps of cluster c. Only the number of shared ports matters to a pair's time.
static void overlaps_make(const struct discovery *d, int c, struct overlaps *overlaps)
{
    *overlaps = (struct overlaps){0};
    int size = d->clusters[c].size;
    for (int i = 0; i < d->npairs; i++) {
        const struct pair_timing *pair = &d->pairs[i];
        int mine, others, other = pair_of(pair, c, &mine, &others);
        if (other < 0 || isnan(pair->clk))
            continue;
        const struct cluster *cluster = &d->clusters[other];
        int beside = cluster->set ? port_set_size(cluster->set) : cluster->size;
        for (int shared = 0; shared <= size && shared <= beside; shared++) {
            int together = size + beside - shared;
            double clk = pair_clk(d, size, beside, together, mine, others);
            overlaps->misfit[other][shared] += ratio_misfit(pair->clk / clk);
        }
    }
}

// Sets placed before, with which a set of the cluster is compared.
struct evidence {
    struct {
        uint32_t set;
        const double *misfit; // by the number of shared ports
    } others[PORT_CLASSES_MAX];
    int n;
};

static void evidence_make(const struct sketch *sketch, const struct overlaps *overlaps,
                          struct evidence *evidence)
{
    evidence->n = 0;
    for (int c = 0; c < PORT_CLASSES_MAX; c++)
        if (sketch->sets[c]) {
            evidence->others[evidence->n].set = sketch->sets[c];
            evidence->others[evidence->n++].misfit = overlaps->misfit[c];
        }
}

// Returns the misfit of a set with the sets placed before, or any value over `most`.
static double evidence_misfit(const struct evidence *evidence, uint32_t set, double most)
{
    double sum = 0;
    for (int i = 0; i < evidence->n && sum <= most; i++)
        sum += evidence->others[i].misfit[port_set_size(set & evidence->others[i].set)];
    return sum;
}

// Fills in atoms: the ports that are in the same sets so far. Returns how many there are.
static int atoms_make(const struct sketch *sketch, uint32_t *atoms)
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
            atoms[n++] = 0;
        }
        atoms[i] |= 1u << port;
    }
    return n;
}

// Takes the next way of up to `most` ports from the atoms, the lowest of each. Returns false if
// there is none.
static bool atoms_next(const uint32_t *atoms, int n, int most, uint32_t *set)
{
    for (int i = 0; i < n; i++) {
        uint32_t left = atoms[i] & ~*set;
        if (left && port_set_size(*set) < most) {
            *set |= left & -left;
            return true;
        }
        *set &= ~atoms[i];
    }
    return false;
}

// Puts a sketch into the beam, sorted by misfit; of equals that with more ports comes first, since
// ports that no timing identifies stay apart.
static void beam_put(struct sketch *beam, int *n, const struct sketch *sketch)
{
    int at = *n;
    while (at > 0 && (beam[at - 1].misfit > sketch->misfit + PORT_EQUAL ||
                      (fabs(beam[at - 1].misfit - sketch->misfit) <= PORT_EQUAL &&
                       beam[at - 1].nports < sketch->nports)))
        at--;
    if (at == BEAM_WIDTH)
        return;
    int last = *n < BEAM_WIDTH ? *n : BEAM_WIDTH - 1;
    memmove(beam + at + 1, beam + at, (size_t)(last - at) * sizeof *beam);
    beam[at] = *sketch;
    *n = last + 1;
}

static double left_out_misfit(const struct cluster *cluster)
{
    double misfit = LEFT_OUT_MISFIT[cluster->size > 2 ? 2 : cluster->size > 1 ? 1 : 0];
    return cluster->members >= MEMBERS_MANY ? MANY_WEIGHT * misfit : misfit;
}

// Adds all ways to place cluster c into the sketch, or to leave it out, to the beam.
static void sketch_extend(const struct discovery *d, const struct sketch *from, int c,
                          const struct overlaps *overlaps, struct sketch *beam, int *n)
{
    uint32_t atoms[PORTS_MAX], shared = 0;
    int natoms = atoms_make(from, atoms), size = d->clusters[c].size, tries = 0;
    struct evidence evidence;
    struct sketch sketch = *from;
    evidence_make(from, overlaps, &evidence);
    do {
        int fresh = size - port_set_size(shared);
        sketch.nports = from->nports + fresh;
        if (sketch.nports > PORTS_MAX)
            continue;
        sketch.sets[c] = shared | (uint32_t)(((UINT64_C(1) << fresh) - 1) << from->nports);
        double most = HUGE_VAL; // misfit that the beam still takes
        if (*n == BEAM_WIDTH)
            most = beam[BEAM_WIDTH - 1].misfit - from->misfit + 2 * PORT_EQUAL;
        sketch.misfit = from->misfit + evidence_misfit(&evidence, sketch.sets[c], most);
        beam_put(beam, n, &sketch);
    } while (++tries < COMPOSITIONS_MAX && atoms_next(atoms, natoms, size, &shared));
    sketch = *from;
    sketch.misfit += left_out_misfit(&d->clusters[c]);
    beam_put(beam, n, &sketch);
}

uint32_t discover_closest(const struct discovery *d, int c)
{
    struct sketch *beam = xcalloc(BEAM_WIDTH, sizeof *beam), from = {.nports = d->nports};
    struct overlaps overlaps;
    int n = 0;
    uint32_t set = 0;
    for (int other = 0; other < d->nclusters; other++)
        if (other != c && !cluster_is_out(&d->clusters[other]))
            from.sets[other] = d->clusters[other].set;
    overlaps_make(d, c, &overlaps);
    sketch_extend(d, &from, c, &overlaps, beam, &n);
    for (int i = 0; i < n && !set; i++) // the first with a set
        set = beam[i].sets[c];
    free(beam);
    return set;
}

struct sketch discover_sketch(const struct discovery *d)
{
    struct sketch *beam = xcalloc(BEAM_WIDTH, sizeof *beam);
    struct sketch *next = xcalloc(BEAM_WIDTH, sizeof *next);
    int nbeam = 1; // the sketch of the fixed clusters
    for (int c = 0; c < d->nclusters; c++)
        if (d->clusters[c].state == CLUSTER_FIXED) {
            beam[0].sets[c] = d->clusters[c].set;
            for (int port = 0; port < PORTS_MAX; port++)
                if (d->clusters[c].set & UINT32_C(1) << port && beam[0].nports <= port)
                    beam[0].nports = port + 1;
        }
    for (int size = 1; size < 64; size++)
        for (int c = 0; c < d->nclusters; c++) {
            if (d->clusters[c].size != size || d->clusters[c].state >= CLUSTER_FIXED)
                continue;
            struct overlaps overlaps;
            int nnext = 0;
            overlaps_make(d, c, &overlaps);
            for (int i = 0; i < nbeam; i++)
                sketch_extend(d, &beam[i], c, &overlaps, next, &nnext);
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
