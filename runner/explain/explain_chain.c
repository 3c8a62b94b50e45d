// SPDX-License-Identifier: MIT
// Finds the chain that takes longest per copy of a block. A matrix holds the longest path through
// one copy from each value at its begin to each value at its end. The chain is the cycle with the
// largest mean in this graph: Karp's algorithm (R. M. Karp, 1978).
#include "explain_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEARLY = 1e-9;             // sums of the same numbers differ by less
static const double NEVER = -(double)INFINITY; // no path

// Last step of the longest path from the begin of a walk to a place.
struct reached {
    double clk;      // NEVER: not reached
    int instr, from; // the last step; instr -1: it is where the walk began
    int to;
};
struct paths {
    const struct block *block;
    const struct chain_latency *latency;
    int carried[PLACES_MAX]; // places that are read before they are written, and written
    int n;
    double *matrix;        // n * n: from the first value of a to the last of b
    struct reached *steps; // of the current walk, by instruction and touch
};

static void paths_find_carried(struct paths *paths)
{
    bool written[PLACES_MAX] = {false}, first_read[PLACES_MAX] = {false};
    for (int i = 0; i < paths->block->n; i++) {
        const struct block_instr *instr = &paths->block->instrs[i];
        for (int t = 0; t < instr->ntouches; t++) {
            const struct block_touch *touch = &instr->touches[t];
            if (!touch->write && touch->place >= 0 && !written[touch->place])
                first_read[touch->place] = true;
        }
        for (int t = 0; t < instr->ntouches; t++)
            if (instr->touches[t].write && instr->touches[t].place >= 0)
                written[instr->touches[t].place] = true;
    }
    for (int place = 0; place < PLACES_MAX; place++)
        if (written[place] && first_read[place])
            paths->carried[paths->n++] = place;
}

static struct reached step_longest(const struct paths *paths, int at, int to,
                                   const struct reached *places)
{
    const struct block_instr *instr = &paths->block->instrs[at];
    struct reached best = {NEVER, -1, -1, -1};
    for (int from = 0; from < instr->ntouches; from++) {
        const struct block_touch *touch = &instr->touches[from];
        if (touch->write || touch->place < 0 || places[touch->place].clk == NEVER)
            continue;
        double clk = paths->latency->clk(paths->latency->context, at, from, to);
        if (!isnan(clk) && places[touch->place].clk + clk > best.clk)
            best = (struct reached){places[touch->place].clk + clk, at, from, to};
    }
    return best;
}

// Finds the longest paths from the first value of one place through one copy. `steps` has the way
// back.
static void paths_walk(struct paths *paths, int start, struct reached *places)
{
    for (int place = 0; place < PLACES_MAX; place++)
        places[place] = (struct reached){NEVER, -1, -1, -1};
    places[start].clk = 0;
    for (int i = 0; i < paths->block->n; i++) {
        const struct block_instr *instr = &paths->block->instrs[i];
        struct reached written[BLOCK_TOUCHES_MAX];
        for (int t = 0; t < instr->ntouches; t++)
            if (instr->touches[t].write)
                written[t] = step_longest(paths, i, t, places);
        for (int t = 0; t < instr->ntouches; t++) {
            const struct block_touch *touch = &instr->touches[t];
            struct reached *step = &paths->steps[i * BLOCK_TOUCHES_MAX + t];
            // Remembers the step before this one, for the way back.
            step->instr = touch->place >= 0 ? places[touch->place].instr : -1;
            step->to = touch->place >= 0 ? places[touch->place].to : -1;
            step->clk = 0;
        }
        for (int t = 0; t < instr->ntouches; t++) {
            if (!instr->touches[t].write || instr->touches[t].place < 0)
                continue;
            places[instr->touches[t].place] = written[t];
            paths->steps[i * BLOCK_TOUCHES_MAX + t] = written[t];
        }
    }
}

static void paths_fill(struct paths *paths)
{
    struct reached places[PLACES_MAX];
    for (int a = 0; a < paths->n; a++) {
        paths_walk(paths, paths->carried[a], places);
        for (int b = 0; b < paths->n; b++)
            paths->matrix[a * paths->n + b] = places[paths->carried[b]].clk;
    }
}

// Walks of k steps that end at v, for all k up to n: the longest, and where it was a step before.
struct karp {
    int n;
    double *walk; // [k * n + v]
    int *back;
};

static void karp_walk(struct karp *karp, const double *matrix)
{
    int n = karp->n;
    for (int k = 1; k <= n; k++)
        for (int v = 0; v < n; v++) {
            double *longest = &karp->walk[k * n + v];
            *longest = NEVER;
            for (int u = 0; u < n; u++) {
                double clk = karp->walk[(k - 1) * n + u] + matrix[u * n + v];
                if (clk > *longest) {
                    *longest = clk;
                    karp->back[k * n + v] = u;
                }
            }
        }
}

// Returns the end of the walk of n steps that contains a cycle with the largest mean; -1: there is
// no cycle.
static int karp_end(const struct karp *karp, double *mean)
{
    int n = karp->n, best = -1;
    *mean = NEVER;
    for (int v = 0; v < n; v++) {
        double least = (double)INFINITY, whole = karp->walk[n * n + v];
        for (int k = 0; k < n && whole > NEVER; k++)
            if (karp->walk[k * n + v] > NEVER)
                least = fmin(least, (whole - karp->walk[k * n + v]) / (n - k));
        if (isfinite(least) && least > *mean) {
            *mean = least;
            best = v;
        }
    }
    return best;
}

// Finds the cycle in a walk of n steps, which passes some node twice; among several, the one with
// the largest mean.
static int karp_cycle(const struct karp *karp, int end, int cycle[PLACES_MAX])
{
    int n = karp->n, len = 0, nodes[PLACES_MAX + 1] = {0}, seen_at[PLACES_MAX];
    double best = NEVER;
    for (int v = 0; v < n; v++)
        seen_at[v] = -1;
    for (int k = n, v = end; k >= 0; k--) {
        nodes[k] = v;
        int again = seen_at[v];
        double clk =
            again >= 0 ? (karp->walk[again * n + v] - karp->walk[k * n + v]) / (again - k) : NEVER;
        if (clk > best + NEARLY) {
            best = clk;
            len = again - k;
            memcpy(cycle, nodes + k, (size_t)len * sizeof *cycle);
        }
        seen_at[v] = k;
        v = karp->back[k * n + v];
    }
    return len;
}

// Lists the places of the cycle with the largest mean, in its order. Returns their number; 0: there
// is none.
static int paths_cycle(const struct paths *paths, int cycle[PLACES_MAX], double *mean)
{
    size_t n = (size_t)paths->n;
    struct karp karp = {paths->n, xcalloc((n + 1) * n, sizeof *karp.walk),
                        xcalloc((n + 1) * n, sizeof *karp.back)};
    karp_walk(&karp, paths->matrix);
    int end = karp_end(&karp, mean), len = end >= 0 ? karp_cycle(&karp, end, cycle) : 0;
    free(karp.walk);
    free(karp.back);
    return len;
}

// Lists the steps of one copy, from the first value of a place to the last of another, in order.
static int paths_steps(struct paths *paths, int from, int to, struct chain_step *steps, int room)
{
    struct reached places[PLACES_MAX];
    paths_walk(paths, from, places);
    struct reached at = places[to];
    int n = 0;
    while (at.instr >= 0 && n < room) {
        steps[n] = (struct chain_step){at.instr, at.from, at.to, 0};
        steps[n++].clk = paths->latency->clk(paths->latency->context, at.instr, at.from, at.to);
        // The step that wrote the value that this one reads.
        struct reached *read = &paths->steps[at.instr * BLOCK_TOUCHES_MAX + at.from];
        if (read->instr < 0)
            break;
        at = paths->steps[read->instr * BLOCK_TOUCHES_MAX + read->to];
    }
    for (int i = 0; i < n / 2; i++) {
        struct chain_step swap = steps[i];
        steps[i] = steps[n - 1 - i];
        steps[n - 1 - i] = swap;
    }
    return n;
}

struct chain chain_longest(const struct block *block, const struct chain_latency *latency,
                           struct arena *arena)
{
    struct chain chain = {.clk = 0};
    struct paths paths = {.block = block, .latency = latency};
    int cycle[PLACES_MAX];
    paths_find_carried(&paths);
    if (paths.n == 0)
        return chain;
    paths.matrix = xmalloc((size_t)paths.n * (size_t)paths.n * sizeof *paths.matrix);
    paths.steps = xcalloc((size_t)block->n * BLOCK_TOUCHES_MAX, sizeof *paths.steps);
    paths_fill(&paths);
    int len = paths_cycle(&paths, cycle, &chain.clk);
    if (len == 0)
        chain.clk = 0;
    chain.copies = len;
    chain.length = chain.clk * len;
    chain.steps = arena_alloc(arena, (size_t)(len * block->n + 1) * sizeof *chain.steps);
    for (int i = 0; i < len; i++)
        chain.nsteps +=
            paths_steps(&paths, paths.carried[cycle[i]], paths.carried[cycle[(i + 1) % len]],
                        chain.steps + chain.nsteps, block->n);
    free(paths.matrix);
    free(paths.steps);
    return chain;
}
