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

// A structure while it grows: the sets of the clusters placed so far.
struct sketch {
    uint32_t sets[PORT_CLASSES_MAX]; // 0: not placed
    int nports;
    double misfit;
};

// ports_candidates.c: measures forms alone, with fillers, and beside each other, and so fills
// candidates, clusters and pairs (to be freed, whatever it returns). 0, or -1 with the oracle's
// message.
int discover_measure(struct discovery *d, int nforms, struct err *err);

// ports_search.c: the sets of the clusters that are not dropped which explain the pairs best.
struct sketch discover_sketch(const struct discovery *d);
// Cycles of x µops of set a with y of set b.
double discover_pair_clk(const struct discovery *d, uint32_t a, uint32_t b, int x, int y);

#endif
