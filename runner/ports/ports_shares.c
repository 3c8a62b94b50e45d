// SPDX-License-Identifier: MIT
// Shares of paths that explain the times of pairs best: for one form beside others whose shares are
// known (row_fit), and for all forms at once (pairs_propose_paths). Two forms that need a path take
// at least the sum of their shares, so each pair that a path delays gives a share if the other one
// is known. So the search is coordinate descent with few candidates: one share after the other
// becomes the candidate with the least error of its row, in three sweeps. Each of some forms in
// turn is taken to need a new path all the time, and paths that explain enough of the pairs are
// proposed. Shares cost something: else chance would make them.
#include "ports_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 3 };
static const double BLOCKER_CLK = 1.3; // throughput of these forms: slower ones leave gaps
static const double SHARE_COST = 0.15; // relative error of pairs that a share explains at least
static const double SLOWER_COST = 2;   // weight of a pair that is predicted too slow
static const double ERROR_MOST = 0.5;  // of a pair: more has another cause than the path
static const double ERROR_GAIN = 2.5;  // least gain of all pairs by a path
static const double ERROR_SAME = 1e-6; // of two proposals: they are the same

double cell_error(const struct cell *cell, const double *mine, int count, const double *others,
                  int other_count, int npaths)
{
    double clk = cell->predicted;
    if (isnan(cell->clk))
        return 0;
    for (int k = 0; k < npaths; k++)
        if (mine[k] > 0 && others[k] > 0)
            clk = fmax(clk, mine[k] * count + others[k] * other_count);
    double error = clk / cell->clk - 1;
    return fmin(error > 0 ? error * SLOWER_COST : -error, ERROR_MOST);
}

static double row_error(const struct row *row, const double *shares)
{
    double sum = 0;
    for (int i = 0; i < row->n; i++)
        sum += cell_error(row->cells[i].cell, shares, row->cells[i].count, row->cells[i].others,
                          row->cells[i].other_count, row->npaths);
    for (int k = 0; k < row->npaths; k++)
        sum += shares[k] > 0 ? row->cost : 0;
    return sum;
}

// Fits the share of path k to the row: none, or one that explains some cell.
static void row_fit_path(const struct row *row, int k, double *shares)
{
    double tried[PORT_PATHS_MAX], best = 0;
    memcpy(tried, shares, sizeof tried);
    tried[k] = 0;
    double least = row_error(row, tried);
    for (int i = 0; i < row->n; i++) {
        if (isnan(row->cells[i].cell->clk) || row->cells[i].others[k] <= 0)
            continue;
        tried[k] = (row->cells[i].cell->clk - row->cells[i].others[k] * row->cells[i].other_count) /
                   row->cells[i].count;
        if (tried[k] > row->clk)
            tried[k] = row->clk;
        double error = tried[k] > PATH_SHARE_MIN ? row_error(row, tried) : (double)INFINITY;
        if (error < least) {
            least = error;
            best = tried[k];
        }
    }
    shares[k] = best;
}

// Exchanges a share for one of another path, if that explains the row better. A first probe that
// needs several paths attracts shares of the others.
static void row_exchange(const struct row *row, double *shares)
{
    for (int from = 0; from < row->npaths; from++)
        for (int to = 0; to < row->npaths && shares[from] > 0; to++) {
            double tried[PORT_PATHS_MAX];
            if (shares[to] > 0)
                continue;
            memcpy(tried, shares, sizeof tried);
            tried[from] = 0;
            row_fit_path(row, to, tried);
            if (row_error(row, tried) < row_error(row, shares) - row->cost)
                memcpy(shares, tried, sizeof tried);
        }
}

void row_fit(const struct row *row, double *shares)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int k = 0; k < row->npaths; k++)
            row_fit_path(row, k, shares);
    row_exchange(row, shares);
}

static void pairs_row(const struct pairs *pairs, int i, struct row *row)
{
    *row = (struct row){.npaths = pairs->npaths, .clk = pairs->clk[i], .cost = SHARE_COST};
    for (int j = 0; j < pairs->n; j++) {
        if (j == i)
            continue;
        row->cells[row->n].cell = &pairs->cells[i][j];
        row->cells[row->n].count = pairs->count[i];
        row->cells[row->n].other_count = pairs->count[j];
        for (int k = 0; k < pairs->npaths; k++)
            row->cells[row->n].others[k] = pairs->shares[k][j];
        row->n++;
    }
}

static void pairs_refine(struct pairs *pairs)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < pairs->n; i++) {
            struct row row;
            double shares[PORT_PATHS_MAX] = {0};
            pairs_row(pairs, i, &row);
            for (int k = 0; k < pairs->npaths; k++)
                shares[k] = pairs->shares[k][i];
            row_fit(&row, shares);
            for (int k = 0; k < pairs->npaths; k++)
                pairs->shares[k][i] = shares[k];
        }
}

// Returns the error of all pairs, and the cost of the shares.
static double pairs_error(const struct pairs *pairs)
{
    double sum = 0;
    for (int i = 0; i < pairs->n; i++) {
        struct row row;
        double shares[PORT_PATHS_MAX] = {0};
        pairs_row(pairs, i, &row);
        for (int k = 0; k < pairs->npaths; k++) {
            shares[k] = pairs->shares[k][i];
            sum += shares[k] > 0 ? SHARE_COST : 0; // with row_error() twice, as pairs are
        }
        sum += row_error(&row, shares);
    }
    return sum / 2;
}

static int pairs_members(const struct pairs *pairs, int path)
{
    int members = 0;
    for (int i = 0; i < pairs->n; i++)
        members += pairs->shares[path][i] > 0;
    return members;
}

// Fills in the shares of a new path that form b keeps busy all the time, by the pairs with it
// alone.
static void pairs_begin_path(struct pairs *pairs, int b)
{
    double *shares = pairs->shares[pairs->npaths];
    for (int i = 0; i < pairs->n; i++) {
        const struct cell *cell = &pairs->cells[b][i];
        double share = (cell->clk - pairs->count[b] * pairs->clk[b]) / pairs->count[i];
        bool needs = cell->clk > PATH_EXCESS * cell->predicted && share > PATH_SHARE_MIN;
        shares[i] = i == b ? pairs->clk[b] : needs ? fmin(share, pairs->clk[i]) : 0;
    }
}

// Writes the forms that explain most as the first of a new path. Returns how many.
static int pairs_seeds(struct pairs *pairs, int seeds[PAIRS_PROPOSALS])
{
    double errors[PAIRS_PROPOSALS];
    int n = 0;
    for (int b = 0; b < pairs->n; b++) {
        if (pairs->clk[b] > BLOCKER_CLK)
            continue;
        pairs_begin_path(pairs, b);
        if (pairs_members(pairs, pairs->npaths++) >= PATH_MEMBERS) {
            double error = pairs_error(pairs);
            int at = n < PAIRS_PROPOSALS ? n++ : PAIRS_PROPOSALS;
            for (; at > 0 && errors[at - 1] > error; at--)
                if (at < PAIRS_PROPOSALS) {
                    errors[at] = errors[at - 1];
                    seeds[at] = seeds[at - 1];
                }
            if (at < PAIRS_PROPOSALS) {
                errors[at] = error;
                seeds[at] = b;
            }
        }
        pairs->npaths--;
    }
    return n;
}

// Adds the tried shares, unless they are there. Returns the number of proposals.
static int proposals_add(struct pairs_proposal *proposals, int n, const struct pairs *tried,
                         double error)
{
    for (int p = 0; p < n; p++)
        if (fabs(proposals[p].error - error) < ERROR_SAME)
            return n;
    proposals[n].error = error;
    memcpy(proposals[n].shares, tried->shares, sizeof tried->shares);
    return n + 1;
}

int pairs_propose_paths(struct pairs *pairs, struct pairs_proposal *proposals)
{
    struct pairs *tried = xcalloc(1, sizeof *tried);
    double enough = pairs_error(pairs) - ERROR_GAIN;
    int seeds[PAIRS_PROPOSALS], nseeds = pairs_seeds(pairs, seeds), n = 0;
    for (int s = 0; s < nseeds; s++) {
        *tried = *pairs;
        pairs_begin_path(tried, seeds[s]);
        tried->npaths++;
        pairs_refine(tried);
        double error = pairs_error(tried);
        bool small = false;
        for (int k = 0; k < tried->npaths; k++)
            small |= pairs_members(tried, k) < PATH_MEMBERS;
        if (error < enough && !small)
            n = proposals_add(proposals, n, tried, error);
    }
    free(tried);
    return n;
}

// Joins path b to a: its members are those of either.
static void pairs_join(struct pairs *pairs, int a, int b)
{
    for (int i = 0; i < pairs->n; i++)
        pairs->shares[a][i] = fmax(pairs->shares[a][i], pairs->shares[b][i]);
    pairs->npaths--;
    for (int k = b; k < pairs->npaths; k++)
        memcpy(pairs->shares[k], pairs->shares[k + 1], sizeof pairs->shares[k]);
    pairs_refine(pairs);
}

// A later path may be the same as an earlier one, found from another form's pairs: then some forms
// have a share of one, some of the other, and beside each other none.
void pairs_join_paths(struct pairs *pairs)
{
    struct pairs *tried = xcalloc(1, sizeof *tried);
    for (int a = 0; a < pairs->npaths; a++)
        for (int b = a + 1; b < pairs->npaths; b++) {
            *tried = *pairs;
            pairs_join(tried, a, b);
            if (pairs_error(tried) > pairs_error(pairs))
                continue;
            *pairs = *tried;
            b = a;
        }
    free(tried);
}
