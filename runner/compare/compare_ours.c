// SPDX-License-Identifier: MIT
// Finds what is ours of a value of theirs. Code of one instruction repeated waits for the slowest
// way from its results back to its operands, which are the same registers: so its latency is the
// greatest mean weight of a circle in the graph of registers, whose edges are the pairs of
// operands.
#include "compare_tables_internal.h"

#include "llvm/llvm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 24, NODE_ADDRESS = -2, NODE_FLAGS = 100000, NODE_PART = 200000 };

// Weights of edges: the least for sure, the most, with upper bounds, and in a dense chain; NaN: no
// edge.
enum { WEIGHT_LEAST, WEIGHT_MOST, WEIGHT_BOUND, WEIGHT_DENSE, WEIGHTS };
struct chain_graph {
    int nodes[NODES_MAX], n;
    const char *names[NODES_MAX];
    double weights[WEIGHTS][NODES_MAX][NODES_MAX];
};

static const struct compare_ours ours_none = {
    .least = NAN, .most = NAN, .bound = NAN, .dense = NAN, .bound_from = NAN, .src = "", .dst = ""};

static double clk_max(double a, double b)
{
    return isnan(a) || b > a ? b : a;
}

// Returns the number of what a point is: registers as the row says, or a number for it alone.
static int point_number(const struct compare_match *match, const char *point, int alone)
{
    if (strncmp(point, "op", 2) == 0 && point[2] >= '1' && point[2] <= '9') {
        int op = point[2] - '1';
        if (strcmp(point + 3, ".base") == 0 || strcmp(point + 3, ".index") == 0)
            return NODE_ADDRESS;
        if (point[3] == '.' && strcmp(point + 3, ".rest") != 0)
            return NODE_PART + op * 8 + (strcmp(point + 3, ".data") == 0);
        return op < match->row->nops && match->row->ops[op].reg >= 0 ? match->row->ops[op].reg
                                                                     : NODE_PART + 1000 + op;
    }
    if (strncmp(point, "flags", 5) == 0 || strcmp(point, "cf") == 0)
        return NODE_FLAGS;
    return NODE_FLAGS + 1 + alone;
}

// Registers that only the instruction knows ("rax") have a number by their name.
static int implicit_number(struct chain_graph *graph, const char *point)
{
    for (int i = 0; i < graph->n; i++)
        if (strcmp(graph->names[i], point) == 0)
            return i;
    return graph->n;
}

static int graph_node(struct chain_graph *graph, const struct compare_match *match,
                      const char *point)
{
    int number = point_number(match, point, implicit_number(graph, point));
    if (number == NODE_ADDRESS)
        return NODE_ADDRESS;
    for (int i = 0; i < graph->n; i++)
        if (graph->nodes[i] == number)
            return i;
    if (graph->n == NODES_MAX)
        return -1;
    graph->nodes[graph->n] = number;
    graph->names[graph->n] = point;
    return graph->n++;
}

static void graph_edge(struct chain_graph *graph, int from, int to, const struct known_pair *pair)
{
    bool slow = strncmp(pair->variant, "slow", 4) == 0;
    bool old = strcmp(pair->variant, PLAN_FALSE) == 0; // it is waited for, whatever it is called
    bool bound = pair->upper && !old;
    double dense = isnan(pair->dense_clk) ? pair->clk : pair->dense_clk;
    double(*weights)[NODES_MAX][NODES_MAX] = graph->weights;
    if (!bound && !slow)
        weights[WEIGHT_LEAST][from][to] = clk_max(weights[WEIGHT_LEAST][from][to], pair->clk);
    if (!bound) {
        weights[WEIGHT_MOST][from][to] = clk_max(weights[WEIGHT_MOST][from][to], pair->clk);
        weights[WEIGHT_DENSE][from][to] = clk_max(weights[WEIGHT_DENSE][from][to], dense);
    }
    weights[WEIGHT_BOUND][from][to] = clk_max(weights[WEIGHT_BOUND][from][to], pair->clk);
}

// Adds the pairs. Addresses of loads are made of what was loaded, so they close a chain of general
// registers.
static void graph_make(struct chain_graph *graph, const struct compare_match *match,
                       const struct known_form *form)
{
    graph->n = 0;
    for (int w = 0; w < WEIGHTS; w++)
        for (int i = 0; i < NODES_MAX; i++)
            for (int j = 0; j < NODES_MAX; j++)
                graph->weights[w][i][j] = NAN;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        int from = graph_node(graph, match, pair->src), to = graph_node(graph, match, pair->dst);
        int op = pair->dst[0] == 'o' && pair->dst[1] == 'p' ? pair->dst[2] - '1' : -1;
        bool general = op >= 0 && op < match->row->nops && match->row->ops[op].class[0] == 'r' &&
                       !pair->dst[3];
        if (from == NODE_ADDRESS)
            from = general ? to : -1;
        if (from >= 0 && to >= 0 && !isnan(pair->clk))
            graph_edge(graph, from, to, pair);
    }
}

// Returns the greatest mean weight of a circle of one or two edges.
static double graph_circle(const struct chain_graph *graph, int weight)
{
    double most = NAN;
    for (int i = 0; i < graph->n; i++)
        for (int j = 0; j < graph->n; j++) {
            double there = graph->weights[weight][i][j], back = graph->weights[weight][j][i];
            double mean = i == j ? there : (there + back) / 2;
            if (!isnan(mean))
                most = clk_max(most, mean);
        }
    return most;
}

static struct compare_ours ours_chain(const struct compare_match *match,
                                      const struct known_form *form)
{
    struct chain_graph *graph = xmalloc(sizeof *graph);
    graph_make(graph, match, form);
    struct compare_ours ours = ours_none;
    ours.least = graph_circle(graph, WEIGHT_LEAST);
    ours.most = graph_circle(graph, WEIGHT_MOST);
    ours.bound = graph_circle(graph, WEIGHT_BOUND);
    ours.dense = graph_circle(graph, WEIGHT_DENSE);
    free(graph);
    // No code is faster than the throughput: idioms have no latency, and take that.
    if (!isnan(ours.bound) && !isnan(form->rthroughput_clk) && !form->rthroughput_upper) {
        ours.least = fmax(ours.least, form->rthroughput_clk);
        ours.most = isnan(ours.most) ? ours.most : fmax(ours.most, form->rthroughput_clk);
        ours.bound = fmax(ours.bound, form->rthroughput_clk);
        ours.dense = fmax(ours.dense, form->rthroughput_clk);
    }
    return ours;
}

// Adds a pair to what is ours.
static void ours_add(struct compare_ours *ours, const struct known_pair *pair)
{
    bool slow = strncmp(pair->variant, "slow", 4) == 0;
    if (isnan(pair->clk) || strcmp(pair->variant, PLAN_FALSE) == 0)
        return;
    if (!pair->upper) {
        if (!slow)
            ours->least = clk_max(ours->least, pair->clk);
        ours->most = clk_max(ours->most, pair->clk);
        ours->dense = clk_max(ours->dense, isnan(pair->dense_clk) ? pair->clk : pair->dense_clk);
    }
    ours->bound = clk_max(ours->bound, pair->clk);
    ours->src = pair->src;
    ours->dst = pair->dst;
}

// Collects the pairs of a source and a result (NULL: any), the slowest of which counts.
static struct compare_ours ours_pairs(const struct known_form *form, const char *src,
                                      const char *dst, const char *variant)
{
    struct compare_ours ours = ours_none;
    for (int i = 0; i < form->npairs; i++) {
        const struct known_pair *pair = &form->pairs[i];
        if ((!src || strcmp(pair->src, src) == 0) && (!dst || strcmp(pair->dst, dst) == 0) &&
            (!variant || strcmp(pair->variant, variant) == 0))
            ours_add(&ours, pair);
    }
    if (!src || !dst)
        ours.src = "", ours.dst = dst ? dst : "";
    return ours;
}

// Returns the latency that a scheduling model should have.
static struct compare_ours ours_result(const struct known_form *form)
{
    struct compare_ours ours = ours_none;
    struct llvm_latency latency;
    if (!llvm_latency(form, &latency))
        return ours;
    ours.least = latency.least;
    ours.most = fmax(latency.least, latency.slow);
    ours.bound = fmax(latency.most, latency.slow);
    for (int i = 0; i < form->npairs; i++)
        if (form->pairs[i].in_result && !form->pairs[i].upper && !isnan(form->pairs[i].dense_clk))
            ours.dense = clk_max(ours.dense, form->pairs[i].dense_clk);
    return ours;
}

// Returns both sides' ports as sets of our model's; NaN: ours are not sure, or not named alike.
static struct compare_ours ours_ports(const struct foreign_row *row, const struct known_form *form)
{
    struct compare_ours ours = ours_none;
    const struct port_usage *usage = form->usage;
    if (!usage || usage->ambiguous || !form->model || !form->ports)
        return ours;
    if (row->uses) {
        ours.uses = usage->uses;
        ours.theirs = *row->uses;
    } else if (!compare_sets_read(form->ports, form->model, &ours.uses) ||
               !compare_sets_read(row->ports, form->model, &ours.theirs)) {
        return ours;
    }
    ours.least = ours.most = ours.bound = ours.bound_from = ours.uses.uops;
    return ours;
}

struct compare_ours compare_ours_of(const struct compare_match *match,
                                    const struct known_form *form,
                                    const struct foreign_value *value)
{
    struct compare_ours ours = ours_none;
    if (value->quantity == FOREIGN_PORTS)
        return ours_ports(match->row, form);
    if (value->quantity == FOREIGN_UOPS) {
        double slots = form->uops < 0 ? (double)NAN : form->uops;
        double ports = form->usage ? form->usage->uses.uops : slots;
        ours.bound = fmax(slots, ports);
        ours.bound_from = fmin(slots, ports);
        if (!form->uops_upper) {
            ours.least = fmin(slots, ports);
            ours.most = fmax(slots, ports);
        }
        return ours;
    }
    if (value->quantity == FOREIGN_THROUGHPUT) {
        ours.bound = fmax(form->rthroughput_clk, form->rthroughput_slow_clk);
        ours.bound_from = form->rthroughput_clk;
        if (!form->rthroughput_upper) {
            ours.least = form->rthroughput_clk;
            ours.most = ours.bound;
        }
        return ours;
    }
    if (match->row->model)
        return ours_result(form);
    if (value->src)
        return ours_pairs(form, value->src, value->dst, value->variant);
    if (match->row->dst)
        return ours_pairs(form, NULL, match->row->dst, NULL);
    return match->row->chain ? ours_chain(match, form) : ours_pairs(form, NULL, NULL, NULL);
}
