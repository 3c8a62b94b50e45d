// SPDX-License-Identifier: MIT
// Copies of a block on their way through the core; see explain_flow.h. Events in the order of time:
// an instruction has all that it waits for, an instruction enters, a port picks.
#include "explain_flow.h"
#include "explain_step.h"

#include <math.h>
#include <stdlib.h>

enum {
    FLOW_WINDOW = 256,      // instructions under way: more than others than a chain keep waiting
    FLOW_STEPS = 4096,      // instructions in all, but at least so many copies:
    FLOW_COPIES_LEAST = 40, // copies; the first half is not counted
    FLOW_BLOCK_MAX = 200,   // instructions
    FLOW_EDGES_MAX = 64,    // per instruction
    FLOW_UOPS_MAX = 16,     // per instruction; other limits apply to microcode
};
// Latencies so near to a whole number are that: what is measured has some noise, which would let a
// port be free a moment too late.
static const double WHOLE_CLK = 0.15;
static const double NEARLY_CLK = 1e-9;

// From a value that is read to one that is written.
struct flow_edge {
    int from, to;
    double clk;
};
struct flow_code {
    struct flow_edge edges[FLOW_EDGES_MAX];
    int nedges;
    double least_clk[BLOCK_TOUCHES_MAX]; // least of the edges to each written touch
    const struct port_uses *uses;
    double slots, own_clk; // own_clk: that its µops wait for each other
};
// A value that is read, and who makes it.
struct flow_read {
    double clk;        // when it is there
    int producer, out; // an instruction under way and its touch
    int next;          // waiter for the same: item * BLOCK_TOUCHES_MAX + touch; -1: none
};
struct flow_item {
    bool finished;
    int pending; // values, and its entry
    double enter_clk, ready_clk, late_clk, done_clk;
    int ports[FLOW_UOPS_MAX], nports, left; // left: not picked
    struct flow_read reads[BLOCK_TOUCHES_MAX];
    double out[BLOCK_TOUCHES_MAX];
    int first_waiter;
};
struct flow_event {
    double clk;
    int what; // item: ready; + nitems: enters; port + 2 * nitems: picks
};
struct flow_port {
    double free_clk;
    int bound, nready;
    int ready[FLOW_WINDOW * FLOW_UOPS_MAX];
};
struct flow {
    const struct explanation *explanation;
    struct flow_code *codes;
    struct flow_item *items;
    int n, nitems, entered, retired;
    double enter_clk, retired_clk; // of the next, of the last
    double slot_clk;
    int writer[PLACES_MAX], writer_touch[PLACES_MAX];
    struct flow_port ports[PORTS_MAX];
    struct flow_event *heap;
    size_t nheap, heap_room;
};

// --- Events. ---

static bool event_before(const struct flow_event *a, const struct flow_event *b)
{
    return a->clk < b->clk || (a->clk == b->clk && a->what < b->what);
}

static void event_push(struct flow *flow, double clk, int what)
{
    const struct flow_event event = {clk, what};
    flow->heap = xgrow(flow->heap, &flow->heap_room, flow->nheap + 1, sizeof *flow->heap);
    size_t at = flow->nheap++;
    for (; at > 0 && event_before(&event, &flow->heap[(at - 1) / 2]); at = (at - 1) / 2)
        flow->heap[at] = flow->heap[(at - 1) / 2];
    flow->heap[at] = event;
}

static struct flow_event event_pop(struct flow *flow)
{
    struct flow_event first = flow->heap[0], last = flow->heap[--flow->nheap];
    size_t at = 0;
    for (size_t down = 1; down < flow->nheap; down = 2 * at + 1) {
        if (down + 1 < flow->nheap && event_before(&flow->heap[down + 1], &flow->heap[down]))
            down++;
        if (event_before(&last, &flow->heap[down]))
            break;
        flow->heap[at] = flow->heap[down];
        at = down;
    }
    flow->heap[at] = last;
    return first;
}

// --- What is known of each instruction of the block. ---

static void code_describe_edges(const struct flow *flow, int at, struct flow_code *code)
{
    const struct block_instr *instr = &flow->explanation->block.instrs[at];
    for (int to = 0; to < instr->ntouches; to++) {
        code->least_clk[to] = (double)INFINITY;
        for (int from = 0; from < instr->ntouches && instr->touches[to].write; from++) {
            if (instr->touches[from].write || code->nedges == FLOW_EDGES_MAX)
                continue;
            double clk = explain_step_clk(flow->explanation, at, from, to);
            if (isnan(clk))
                continue;
            if (fabs(clk - rint(clk)) < WHOLE_CLK)
                clk = rint(clk);
            code->edges[code->nedges++] = (struct flow_edge){from, to, clk};
            code->least_clk[to] = fmin(code->least_clk[to], clk);
        }
    }
}

static void code_describe(struct flow *flow, int at, bool wide)
{
    const struct explain_instr *known = &flow->explanation->instrs[at];
    struct flow_code *code = &flow->codes[at];
    code_describe_edges(flow, at, code);
    code->uses = port_uses_beside(&known->usage, wide);
    code->slots = known->fused ? 0 : known->slots;
    for (int u = 0; u < code->uses->n; u++) {
        int size = port_set_size(code->uses->use[u].set);
        code->own_clk = fmax(code->own_clk, size > 0 ? (code->uses->use[u].uops - 1) / size : 0);
    }
}

static const struct block_instr *flow_instr(const struct flow *flow, int at)
{
    return &flow->explanation->block.instrs[at % flow->n];
}

// --- An instruction's way. ---

// Sets the cycle at which the instruction may begin. Its last µop waits for the input with the
// longest way to the result; of several results the earliest counts.
static void item_ready(struct flow *flow, int at)
{
    struct flow_item *item = &flow->items[at];
    const struct flow_code *code = &flow->codes[at % flow->n];
    double ready[BLOCK_TOUCHES_MAX] = {0}, first = (double)INFINITY;
    for (int e = 0; e < code->nedges; e++) {
        const struct flow_edge *edge = &code->edges[e];
        double clk = item->reads[edge->from].clk + edge->clk - code->least_clk[edge->to];
        ready[edge->to] = fmax(ready[edge->to], clk);
    }
    for (int e = 0; e < code->nedges; e++)
        first = fmin(first, ready[code->edges[e].to]);
    item->ready_clk = fmax(item->enter_clk, isfinite(first) ? first : 0);
    event_push(flow, item->ready_clk, at);
}

static void item_read(struct flow *flow, int at, int t)
{
    struct flow_read *read = &flow->items[at].reads[t];
    int place = flow_instr(flow, at)->touches[t].place, producer = flow->writer[place];
    if (producer < 0)
        return;
    *read = (struct flow_read){0, producer, flow->writer_touch[place], -1};
    if (flow->items[producer].finished) {
        read->clk = flow->items[producer].out[read->out];
        return;
    }
    read->next = flow->items[producer].first_waiter;
    flow->items[producer].first_waiter = at * BLOCK_TOUCHES_MAX + t;
    flow->items[at].pending++;
}

// Lets instructions enter, in order since registers are renamed in order, as far as the window has
// room.
static void flow_admit(struct flow *flow)
{
    while (flow->entered < flow->nitems && flow->entered < flow->retired + FLOW_WINDOW) {
        int at = flow->entered++;
        struct flow_item *item = &flow->items[at];
        const struct block_instr *instr = flow_instr(flow, at);
        if (at >= FLOW_WINDOW)
            flow->enter_clk = fmax(flow->enter_clk, flow->items[at - FLOW_WINDOW].done_clk);
        item->enter_clk = floor(flow->enter_clk + NEARLY_CLK);
        flow->enter_clk += flow->codes[at % flow->n].slots * flow->slot_clk;
        item->pending = 1;
        item->first_waiter = -1;
        for (int t = 0; t < instr->ntouches; t++)
            if (!instr->touches[t].write && instr->touches[t].place >= 0)
                item_read(flow, at, t);
        for (int t = 0; t < instr->ntouches; t++)
            if (instr->touches[t].write && instr->touches[t].place >= 0) {
                flow->writer[instr->touches[t].place] = at;
                flow->writer_touch[instr->touches[t].place] = t;
            }
        event_push(flow, item->enter_clk, at + flow->nitems);
    }
}

// Returns the port of a set that has least to do.
static int port_choose(const struct flow *flow, uint32_t set, double now)
{
    int best = -1;
    double least = (double)INFINITY;
    for (int p = 0; p < PORTS_MAX; p++) {
        double load = flow->ports[p].bound + fmax(0, flow->ports[p].free_clk - now);
        if ((set >> p & 1) && load < least) {
            least = load;
            best = p;
        }
    }
    return best;
}

static void item_enter(struct flow *flow, int at)
{
    struct flow_item *item = &flow->items[at];
    const struct flow_code *code = &flow->codes[at % flow->n];
    for (int u = 0; u < code->uses->n; u++)
        for (int i = 0; i < code->uses->use[u].uops && item->nports < FLOW_UOPS_MAX; i++) {
            int port = port_choose(flow, code->uses->use[u].set, item->enter_clk);
            if (port < 0)
                continue;
            item->ports[item->nports++] = port;
            flow->ports[port].bound++;
        }
    item->left = item->nports;
    if (--item->pending == 0)
        item_ready(flow, at);
}

static void item_finish(struct flow *flow, int at)
{
    struct flow_item *item = &flow->items[at];
    const struct flow_code *code = &flow->codes[at % flow->n];
    item->finished = true;
    item->done_clk = item->ready_clk + item->late_clk;
    for (int t = 0; t < BLOCK_TOUCHES_MAX; t++)
        item->out[t] = item->done_clk;
    for (int e = 0; e < code->nedges; e++) {
        const struct flow_edge *edge = &code->edges[e];
        double in = fmax(item->reads[edge->from].clk, item->enter_clk);
        item->out[edge->to] = fmax(item->out[edge->to], in + edge->clk + item->late_clk);
        item->done_clk = fmax(item->done_clk, item->out[edge->to]);
    }
    for (int waiter = item->first_waiter; waiter >= 0;) {
        int who = waiter / BLOCK_TOUCHES_MAX;
        struct flow_read *read = &flow->items[who].reads[waiter % BLOCK_TOUCHES_MAX];
        waiter = read->next;
        read->clk = item->out[read->out];
        if (--flow->items[who].pending == 0)
            item_ready(flow, who);
    }
    while (flow->retired < flow->entered && flow->items[flow->retired].finished) {
        struct flow_item *oldest = &flow->items[flow->retired++];
        flow->retired_clk = oldest->done_clk = fmax(flow->retired_clk, oldest->done_clk);
    }
    flow_admit(flow);
}

static void item_queue(struct flow *flow, int at)
{
    struct flow_item *item = &flow->items[at];
    for (int i = 0; i < item->nports; i++) {
        struct flow_port *port = &flow->ports[item->ports[i]];
        port->ready[port->nready++] = at;
        event_push(flow, fmax(item->ready_clk, port->free_clk), item->ports[i] + 2 * flow->nitems);
    }
    if (item->nports == 0)
        item_finish(flow, at);
}

// Lets the port serve the oldest ready µop.
static void port_pick(struct flow *flow, int p, double now)
{
    struct flow_port *port = &flow->ports[p];
    if (port->free_clk > now + NEARLY_CLK) {
        event_push(flow, port->free_clk, p + 2 * flow->nitems);
        return;
    }
    int oldest = 0;
    for (int i = 1; i < port->nready; i++)
        if (port->ready[i] < port->ready[oldest])
            oldest = i;
    int at = port->ready[oldest];
    port->ready[oldest] = port->ready[--port->nready];
    port->free_clk = now + 1;
    port->bound--;
    struct flow_item *item = &flow->items[at];
    double late = now - item->ready_clk - flow->codes[at % flow->n].own_clk;
    item->late_clk = fmax(item->late_clk, late);
    if (--item->left == 0)
        item_finish(flow, at);
}

static void flow_run(struct flow *flow)
{
    flow_admit(flow);
    while (flow->nheap > 0) {
        struct flow_event event = event_pop(flow);
        if (event.what < flow->nitems)
            item_queue(flow, event.what);
        else if (event.what < 2 * flow->nitems)
            item_enter(flow, event.what - flow->nitems);
        else
            port_pick(flow, event.what - 2 * flow->nitems, event.clk);
    }
}

double flow_clk(const struct explanation *explanation, double front_clk, bool wide)
{
    int n = explanation->block.n, copies = FLOW_STEPS / n;
    copies = copies > FLOW_COPIES_LEAST ? copies : FLOW_COPIES_LEAST;
    if (n > FLOW_BLOCK_MAX)
        return NAN;
    struct flow *flow = xcalloc(1, sizeof *flow);
    *flow = (struct flow){.explanation = explanation, .n = n, .nitems = copies * n};
    flow->codes = xcalloc((size_t)n, sizeof *flow->codes);
    flow->items = xcalloc((size_t)flow->nitems, sizeof *flow->items);
    double slots = 0;
    for (int i = 0; i < n; i++) {
        code_describe(flow, i, wide);
        slots += flow->codes[i].slots;
    }
    flow->slot_clk = slots > 0 ? front_clk / slots : 0;
    for (int place = 0; place < PLACES_MAX; place++)
        flow->writer[place] = -1;
    flow_run(flow);
    int half = copies / 2;
    double begin = flow->items[half * n - 1].done_clk;
    double clk = (flow->items[flow->nitems - 1].done_clk - begin) / (copies - half);
    free(flow->heap);
    free(flow->items);
    free(flow->codes);
    free(flow);
    return clk;
}
