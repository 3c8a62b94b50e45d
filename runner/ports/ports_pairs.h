// SPDX-License-Identifier: MIT
// Pairs of forms, and the paths that explain what ports do not: shared by the files that find
// paths.
#ifndef LATPUT_PORTS_PAIRS_H
#define LATPUT_PORTS_PAIRS_H

#include "ports_internal.h"

enum {
    REPS_MAX = 112,   // forms that are timed in pairs, each with another usage or other operands
    PAIR_CLK = 30,    // that each of two forms takes alone
    PATH_MEMBERS = 3, // at least
};
#define PATH_EXCESS 1.12 // of a pair over what the ports explain: less shows no path
// Of a form's throughput, by its instances with the moves that stand between them in pairs: more is
// what the moves need, or the instances wait for each other even so.
#define PATH_ALONE_MOST 1.08
#define PATH_SHARE_MIN 0.3 // cycles that a form needs a path; less is chance

// A form beside another one.
struct cell {
    double clk;       // NaN: unknown
    double predicted; // without paths
};
// Forms that stand for others (rep, "representatives"), each beside each.
struct pairs {
    const struct port_model *model;
    const struct port_form *forms;
    int nwhich;  // forms in question
    int *rep_of; // by position in which: the one that stands for it in pairs, or -1
    int n;
    int rep[REPS_MAX]; // forms
    const struct port_usage *usages[REPS_MAX];
    double clk[REPS_MAX];
    int count[REPS_MAX];                   // of instances in a pair
    struct cell cells[REPS_MAX][REPS_MAX]; // [i][j] and [j][i] are the same
    int npaths;
    double shares[PORT_PATHS_MAX][REPS_MAX]; // cycles of an instance
};

// A form beside others whose shares are known.
struct row {
    int npaths, n;
    double cost; // of a share
    double clk;  // of the form alone
    struct {
        const struct cell *cell;
        int count, other_count;
        double others[PORT_PATHS_MAX];
    } cells[REPS_MAX];
};

struct port_mix paths_pair(int a, double a_clk, int b, double b_clk);
// Chooses from the forms in question, one for each usage, throughput and kinds of operands, and
// times all pairs of them. pairs_free() in any case.
int pairs_measure(struct pairs *pairs, const struct port_question *question,
                  const struct port_usage *usages, const struct port_model *model, struct err *err);
void pairs_free(struct pairs *pairs);

// How far a pair is from what the model and the paths say, 0 to 0.5: `mine` and `others` are the
// shares of both, by path.
double cell_error(const struct cell *cell, const double *mine, int count, const double *others,
                  int other_count, int npaths);
// The shares of a form that explain its row best.
void row_fit(const struct row *row, double *shares);
// What the shares of all paths become with one more.
enum { PAIRS_PROPOSALS = 40 };
struct pairs_proposal {
    double error; // of all pairs
    double shares[PORT_PATHS_MAX][REPS_MAX];
};
// Those that explain enough of the pairs, each once. Returns how many; pairs stays as it is.
int pairs_propose_paths(struct pairs *pairs, struct pairs_proposal *proposals);
// Makes one path of any two that explain no more than one.
void pairs_join_paths(struct pairs *pairs);

#endif
