// SPDX-License-Identifier: MIT
// What the files of the discovery share: what was measured, and a structure that explains it.
#ifndef LATPUT_PORTS_DISCOVER_H
#define LATPUT_PORTS_DISCOVER_H

#include "ports_internal.h"

enum {
    PAIR_CYCLES = 6,  // that a saturated set is kept busy
    MIXTURES_MAX = 5, // of a pair of classes
};
static const double FRONT_END_SHARE = 0.96; // of the width: more cannot be told from a full one

struct candidate {
    int form;
    double clk;
    int size;        // of its port set
    int cluster;     // -1: none yet
    bool refuted;    // it shows no port set after all
    bool eliminated; // at rename
    int latency_clk; // of a link of its chain; 1, too, where it has none
    bool stood;      // it or a relative of it has stood for the cluster
};

// Candidates of one size that behave alike; `rep` stands for them.
struct cluster {
    int rep; // index of a candidate
    int size, members;
    bool dropped, unplaced; // unplaced: no set explains its pairs
    bool doubtful;          // it would be left out, and other forms may stand for it
    bool others;            // they have
    bool fixed;             // its set is known: others find their place beside it
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
    struct candidate *eliminated; // forms of one slot that renaming does
    int neliminated;
    struct cluster clusters[PORT_CLASSES_MAX];
    int nclusters;
    bool wide; // of the forms of PORT_WIDE_BITS; else of the others
    int filler, fast;
    struct pair_timing *pairs;
    int npairs;
    int nports; // of the sets that were found
};

// A structure while it grows: the sets of the clusters placed so far.
struct sketch {
    uint32_t sets[PORT_CLASSES_MAX]; // 0: not placed
    int nports;
    double misfit;
};

// ports_candidates.c: measures forms alone, with fillers, and beside each other, and so fills
// candidates and clusters, then pairs of clusters, of which one at least is not fixed (both to be
// freed, whatever is returned). 0, or -1 with the oracle's message.
int discover_kinds(struct discovery *d, int nforms, struct err *err);
int discover_pairs(struct discovery *d, struct err *err);

// The candidate that is to stand for cluster c after the present one, of a mnemonic that has not
// stood for it yet; -1: there is none.
int discover_next_rep(struct discovery *d, int c);

// What times a pair, of the forms that stand for its clusters.
struct port_mix discover_pair_mix(const struct discovery *d, const struct pair_timing *pair);

// Times n pairs, of which it gets the indices, once more; the least of all times stays.
int discover_pairs_time(struct discovery *d, const int *which, int n, struct err *err);

// ports_sets.c: drops what is not of one µop and finds sets for the other clusters. 0, or -1 with
// the oracle's message.
int discover_sets(struct discovery *d, struct err *err);
// How far the pairs are from these sets, in shares; the most.
double discover_residual(const struct discovery *d);

// ports_wide.c: adds to the model what 512-bit forms do that the narrow discovery d does not show.
int discover_wide(const struct discovery *narrow, int nforms, struct port_model *model,
                  struct err *err);

// Whether more forms contradict the sets than have one; then *err names what contradicts what.
bool discover_contradicts(const struct discovery *d, struct err *err);

// ports_search.c: the sets of the clusters that are not dropped which explain the pairs best.
struct sketch discover_sketch(const struct discovery *d);
// The set for cluster c that comes closest to explaining its pairs with the others' sets.
uint32_t discover_closest(const struct discovery *d, int c);
// Cycles of x µops of set a with y of set b.
double discover_pair_clk(const struct discovery *d, uint32_t a, uint32_t b, int x, int y);
// Whether a pair takes longer than it would at these sets, or has no time.
bool discover_pair_slow(const struct discovery *d, const struct pair_timing *pair, uint32_t a,
                        uint32_t b);

#endif
