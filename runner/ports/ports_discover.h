// SPDX-License-Identifier: MIT
// Interface between the files of the discovery: the measured times, and a structure that explains
// them.
#pragma once

#include "ports_internal.h"

enum {
    MIXTURES_MAX = 5, // mixtures of a pair of classes
};
static const double FRONT_END_SHARE = 1 - PORT_SAME; // of the width: limited by it above

struct candidate {
    int form;
    double clk;
    int size;        // of its port set
    int cluster;     // -1: none yet
    bool refuted;    // its slots rule out that it shows a port set
    bool eliminated; // done at rename, without a port
    int latency_clk; // of a link of its chain; 1 also without a chain
    bool stood;      // it or a form of its family has been the representative
};

// The way of a cluster to a set. A doubtful one gets other representatives, once.
enum cluster_state {
    CLUSTER_OPEN,
    CLUSTER_DOUBTFUL, // to be dropped unless another representative helps
    CLUSTER_TRIED,    // open, and other representatives were tried
    CLUSTER_FIXED,    // its set is known and stays
    CLUSTER_DROPPED,  // its members are of several µops; from here on it has no set
    CLUSTER_UNPLACED, // no set explains its pairs
};

// Candidates of one size that behave alike, and their representative.
struct cluster {
    int rep; // index of a candidate
    int size, members;
    enum cluster_state state;
    uint32_t set;
};

static inline bool cluster_is_out(const struct cluster *cluster)
{
    return cluster->state >= CLUSTER_DROPPED;
}

// Time of x instances of cluster a with y of cluster b.
struct pair_timing {
    int a, b, x, y;
    double clk;
};

// Returns the other cluster of a pair, and the instances of both; -1: c is not of the pair.
static inline int pair_of(const struct pair_timing *pair, int c, int *mine, int *others)
{
    *mine = pair->a == c ? pair->x : pair->y;
    *others = pair->a == c ? pair->y : pair->x;
    return pair->a == c ? pair->b : pair->b == c ? pair->a : -1;
}

struct discovery {
    const struct port_oracle *oracle;
    const struct port_form *forms;
    int width;
    struct candidate *candidates;
    int ncandidates;
    struct candidate *eliminated; // forms of one slot that are eliminated at rename
    int neliminated;
    struct cluster clusters[PORT_CLASSES_MAX];
    int nclusters;
    bool wide; // the candidates are the forms of PORT_WIDE_BITS; else the others
    int filler, fast;
    struct pair_timing *pairs;
    int npairs;
    int nports; // ports in the sets that were found
};

// A structure while it grows: the sets of the clusters placed so far.
struct sketch {
    uint32_t sets[PORT_CLASSES_MAX]; // 0: not placed
    int nports;
    double misfit;
};

// ports_candidates.c. discover_kinds() times forms alone, with fillers and beside each other, and
// fills candidates and clusters. discover_pairs() times pairs of clusters with at least one that is
// not fixed. The caller frees candidates and pairs, also on failure. Both return 0, or -1 with the
// oracle's message.
int discover_kinds(struct discovery *d, int nforms, struct err *err);
int discover_pairs(struct discovery *d, struct err *err);

// Returns the next representative of cluster c, of a mnemonic that has not been one yet; -1: there
// is none.
int discover_next_rep(struct discovery *d, int c);

// Times the n pairs with indices which[] once more; the least of all times stays.
int discover_pairs_time(struct discovery *d, const int *which, int n, struct err *err);

// ports_sets.c. Drops clusters of several µops, and finds sets for the others. Returns 0, or -1
// with the oracle's message.
int discover_sets(struct discovery *d, struct err *err);
// Returns the largest relative error of the pairs' times by these sets.
double discover_residual(const struct discovery *d);

// ports_wide.c. Adds the classes that 512-bit forms have, and that the narrow discovery d does not
// show, to the model.
int discover_wide(const struct discovery *narrow, int nforms, struct port_model *model,
                  struct err *err);

// Returns true if more forms contradict the sets than have one; then *err names the contradiction.
bool discover_contradicts(const struct discovery *d, struct err *err);

// ports_search.c. Returns the sets, of clusters that are not dropped, that explain the pairs best.
struct sketch discover_sketch(const struct discovery *d);
// Returns the set for cluster c that explains its pairs with the others' sets best.
uint32_t discover_closest(const struct discovery *d, int c);
// Returns the cycles of x µops of set a with y of set b.
double discover_pair_clk(const struct discovery *d, uint32_t a, uint32_t b, int x, int y);
// Returns true if a pair takes longer than these sets explain, or has no time.
bool discover_pair_slow(const struct discovery *d, const struct pair_timing *pair, uint32_t a,
                        uint32_t b);
