// SPDX-License-Identifier: MIT
// Pairs of forms, and the paths that explain what ports do not: shared by the files that find
// paths.
#ifndef LATPUT_PORTS_PAIRS_H
#define LATPUT_PORTS_PAIRS_H

#include "ports_internal.h"

enum {
    REPS_MAX = 112,   // forms in pairs, each of another usage or with other operands
    PAIR_CLK = 30,    // cycles that each of two forms takes alone
    PATH_MEMBERS = 3, // least number of forms that need a path
};
#define PATH_EXCESS 1.12 // of a pair's time by the ports: less shows no path
// Share of a form's throughput that its instances take with the moves between them in pairs. A form
// above it is left out: its instances wait for the moves, or still for each other.
#define PATH_ALONE_MOST 1.08
#define PATH_SHARE_MIN 0.3 // cycles that an instance needs a path: less is chance

// Time of a form beside another one.
struct cell {
    double clk;       // NaN: unknown
    double predicted; // by the model without paths
};
// Forms that represent others (rep), each beside each.
struct pairs {
    const struct port_model *model;
    const struct port_form *forms;
    int nwhich;  // forms in question
    int *rep_of; // by position in which: index of its representative, or -1
    int n;
    int rep[REPS_MAX]; // forms
    const struct port_usage *usages[REPS_MAX];
    double clk[REPS_MAX];
    int count[REPS_MAX];                   // instances in a pair
    struct cell cells[REPS_MAX][REPS_MAX]; // [i][j] and [j][i] are the same
    int npaths;
    double shares[PORT_PATHS_MAX][REPS_MAX]; // cycles of an instance
};

// Times of a form beside others whose shares are known.
struct row {
    int npaths, n;
    double cost; // added for each share
    double clk;  // throughput of the form alone
    struct {
        const struct cell *cell;
        int count, other_count;
        double others[PORT_PATHS_MAX];
    } cells[REPS_MAX];
};

struct port_mix paths_pair(int a, double a_clk, int b, double b_clk);
// Chooses one of the forms in question for each usage, throughput and kinds of operands, and times
// all pairs of them. pairs_free() in any case.
int pairs_measure(struct pairs *pairs, const struct port_question *question,
                  const struct port_usage *usages, const struct port_model *model, struct err *err);
void pairs_free(struct pairs *pairs);

// Returns the relative error of a pair's time by the model and the paths, 0 to 0.5. `mine` and
// `others` are the shares of both, by path.
double cell_error(const struct cell *cell, const double *mine, int count, const double *others,
                  int other_count, int npaths);
// Finds the shares of a form that explain its row best.
void row_fit(const struct row *row, double *shares);
// Proposed path, with the shares that all paths then have.
enum { PAIRS_PROPOSALS = 40 };
struct pairs_proposal {
    double error; // of all pairs
    double shares[PORT_PATHS_MAX][REPS_MAX];
};
// Proposes the paths that explain enough of the pairs, each once. Returns how many; pairs stays as
// it is.
int pairs_propose_paths(struct pairs *pairs, struct pairs_proposal *proposals);
// Joins any two paths that explain no more than one does.
void pairs_join_paths(struct pairs *pairs);

#endif
