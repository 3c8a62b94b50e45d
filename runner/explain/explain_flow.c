// SPDX-License-Identifier: MIT
// A loop of code_loops_find() begins where a branch goes back to. A compiler may let rounds of
// another way begin elsewhere: all ways then meet in one instruction, the loop's header, which is
// on each way from the function's entry into the loop.
#include "explain_flow.h"

#include "explain_block.h"

#include <stdlib.h>
#include <string.h>

struct node {
    size_t at;
    int next, target;   // numbers of what may be executed after it; -1: none
    long target_at;     // before the numbers are known; -1
    bool padding;       // filled in between code
    bool repeats;       // a step of it is no execution
    bool root;          // the flow may begin here
    bool seen;          // by the last search
    bool header_before; // each way to it goes through the header
    bool inside;        // on a way from the header back to it
};
struct flow {
    struct node *nodes;
    int n;
    size_t room;
    bool jumps_anywhere; // by an address that is not in the instruction
    int *stack;
};

static void flow_add(struct flow *flow, const ZydisDecodedInstruction *in, size_t at)
{
    const ZyanU64 repeated = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    bool branch = in->meta.category == ZYDIS_CATEGORY_COND_BR;
    bool jump = in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    bool told = (branch || jump) && in->raw.imm[0].is_relative;
    bool ends = jump || in->meta.category == ZYDIS_CATEGORY_RET ||
                in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT;
    struct node node = {.at = at,
                        .next = ends ? -1 : flow->n + 1,
                        .target = -1,
                        .target_at =
                            told ? (long)(at + in->length) + (long)in->raw.imm[0].value.s : -1,
                        .padding = in->meta.category == ZYDIS_CATEGORY_NOP ||
                                   in->meta.category == ZYDIS_CATEGORY_WIDENOP ||
                                   in->mnemonic == ZYDIS_MNEMONIC_INT3 ||
                                   (in->mnemonic == ZYDIS_MNEMONIC_XCHG && in->opcode == 0x90),
                        .repeats = (in->attributes & repeated) != 0};
    flow->jumps_anywhere |= jump && !told;
    flow->nodes = xgrow(flow->nodes, &flow->room, (size_t)flow->n + 1, sizeof *flow->nodes);
    flow->nodes[flow->n++] = node;
}

static int node_compare(const void *key, const void *element)
{
    const long at = *(const long *)key, other = (long)((const struct node *)element)->at;
    return (at > other) - (at < other);
}

// Returns the number of the instruction at an offset; -1: there is none.
static int flow_at(const struct flow *flow, long at)
{
    const struct node *node =
        flow->n ? bsearch(&at, flow->nodes, (size_t)flow->n, sizeof *node, node_compare) : NULL;
    return node ? (int)(node - flow->nodes) : -1;
}

// Marks what may be executed after an instruction, not through `without`, as seen.
static void flow_follow(struct flow *flow, int from, int without)
{
    int depth = 0;
    flow->stack[depth++] = from;
    while (depth) {
        int which = flow->stack[--depth];
        struct node *node = &flow->nodes[which];
        if (which == without || node->seen)
            continue;
        node->seen = true;
        if (node->target >= 0)
            flow->stack[depth++] = node->target;
        if (node->next >= 0)
            flow->stack[depth++] = node->next;
    }
}

// Marks what may be executed in a call, not through `without` (-1: whole), as seen.
static void flow_search(struct flow *flow, int without)
{
    for (int i = 0; i < flow->n; i++)
        flow->nodes[i].seen = false;
    for (int i = 0; i < flow->n; i++)
        if (flow->nodes[i].root)
            flow_follow(flow, i, without);
}

static int flow_read(struct flow *flow, const struct code_function *function, struct err *err)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    if (block_decoder_begin(&decoder, function->bits, err) != 0)
        return -1;
    for (size_t at = 0; at < function->len; at += in.length) {
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, function->bytes + at,
                                                      function->len - at, &in))) {
            err_set(err, "the bytes at +0x%zx are no instruction in this mode", at);
            return -1;
        }
        flow_add(flow, &in, at);
    }
    flow->stack = xcalloc(2 * (size_t)flow->n + 1, sizeof *flow->stack);
    for (int i = 0; i < flow->n; i++) {
        struct node *node = &flow->nodes[i];
        node->target = node->target_at >= 0 ? flow_at(flow, node->target_at) : -1;
        node->next = node->next < flow->n ? node->next : -1;
        node->root = i == 0;
    }
    flow_search(flow, -1);
    // Jumps by addresses may lead to what nothing else does.
    for (int i = 0; i < flow->n && flow->jumps_anywhere; i++)
        if (!flow->nodes[i].seen && !flow->nodes[i].padding) {
            flow->nodes[i].root = true;
            flow_follow(flow, i, -1);
        }
    return 0;
}

// Returns true if each way from the entry to the loop goes through the instruction.
static bool is_header(struct flow *flow, const struct code_loop *loop, int which)
{
    flow_search(flow, which);
    for (int i = 0; i < loop->instrs; i++)
        if (flow->nodes[flow_at(flow, (long)loop->places[i])].seen)
            return false;
    return true;
}

// Returns the number of the loop's header; -1: there is none.
static int find_header(struct flow *flow, const struct code_loop *loop)
{
    for (int i = 0; i < loop->instrs; i++) {
        int which = flow_at(flow, (long)loop->places[i]);
        // Its predecessor on the way is also before the others, unless something else leads to it.
        bool follows = i > 0 && loop->places[i - 1] == flow->nodes[which - 1].at &&
                       flow->nodes[which - 1].target < 0;
        bool led_to = false;
        for (int n = 0; follows && n < flow->n && !led_to; n++)
            led_to = flow->nodes[n].target == which;
        if ((!follows || led_to) && is_header(flow, loop, which))
            return which;
    }
    return -1;
}

static bool leads_to(const struct node *node, int which)
{
    return node->next == which || node->target == which;
}

// Marks what is on ways from the header back to it. What is after the header was not seen by the
// last search, which went without it.
static void flow_mark_inside(struct flow *flow, const bool *reached, int header)
{
    for (int i = 0; i < flow->n; i++) {
        struct node *node = &flow->nodes[i];
        node->header_before = reached[i] && !node->seen;
        node->inside = i == header || (node->header_before && leads_to(node, header));
    }
    for (bool more = true; more;) {
        more = false;
        for (int i = flow->n - 1; i >= 0; i--) {
            struct node *node = &flow->nodes[i];
            bool leads = (node->next >= 0 && flow->nodes[node->next].inside) ||
                         (node->target >= 0 && flow->nodes[node->target].inside);
            if (node->inside || !node->header_before || !leads)
                continue;
            node->inside = more = true;
        }
    }
}

static int count_leading(const struct flow *flow, int which)
{
    int n = 0;
    for (int i = 0; i < flow->n; i++)
        n += leads_to(&flow->nodes[i], which);
    return n;
}

// Adds what tells how often the flow goes from `from` back to the header. Returns false if that is
// not to be told by executions.
static bool count_back(const struct flow *flow, int from, int header, struct code_loop *loop,
                       struct code_round *rounds)
{
    const struct node *node = &flow->nodes[from];
    int other = node->target < 0 || node->next < 0 ? -1
                : node->next == header             ? node->target
                                                   : node->next;
    bool stays = other >= 0 && other != header && flow->nodes[other].inside;
    if (from == header || node->repeats ||
        (stays && (flow->nodes[other].repeats || count_leading(flow, other) > 1)))
        return false;
    rounds[loop->nrounds++] = (struct code_round){node->at, 1};
    if (stays)
        rounds[loop->nrounds++] = (struct code_round){flow->nodes[other].at, -1};
    return true;
}

// Returns true if rounds of another way get into the way of the loop.
static bool has_other_ways(struct flow *flow, const struct code_loop *loop)
{
    for (int i = 0; i < flow->n; i++)
        flow->nodes[i].seen = false;
    flow_follow(flow, flow_at(flow, (long)loop->offset), -1);
    for (int i = 0; i < loop->instrs; i++) {
        size_t before = loop->places[i ? i - 1 : loop->instrs - 1];
        int which = flow_at(flow, (long)loop->places[i]);
        for (int p = 0; p < flow->n; p++)
            if (flow->nodes[p].seen && flow->nodes[p].at != before &&
                leads_to(&flow->nodes[p], which))
                return true;
    }
    return false;
}

static void loop_count(struct flow *flow, const bool *reached, struct code_loop *loop,
                       struct arena *arena)
{
    int header = find_header(flow, loop);
    loop->entered = header < 0 && has_other_ways(flow, loop);
    if (header < 0 || flow->nodes[header].at == loop->offset)
        return;
    flow_search(flow, header);
    flow_mark_inside(flow, reached, header);
    struct code_round *rounds =
        arena_alloc(arena, (2 * (size_t)count_leading(flow, header) + 1) * sizeof *rounds);
    bool told = true;
    for (int i = 0; i < flow->n && told; i++)
        if (flow->nodes[i].header_before && leads_to(&flow->nodes[i], header))
            told = count_back(flow, i, header, loop, rounds);
    if (!told) { // each round that begins, also one that leaves the loop at once
        rounds[0] = (struct code_round){flow->nodes[header].at, 1};
        loop->nrounds = 1;
    }
    loop->rounds = rounds;
}

int code_loops_flow(const struct code_function *function, struct code_loops *loops,
                    struct arena *arena, struct err *err)
{
    struct flow flow = {.n = 0};
    int status = flow_read(&flow, function, err);
    bool *reached = xcalloc((size_t)flow.n + 1, sizeof *reached);
    for (int i = 0; i < flow.n; i++)
        reached[i] = flow.nodes[i].seen;
    for (int i = 0; i < loops->n && status == 0 && flow.n > 0; i++)
        loop_count(&flow, reached, &loops->loops[i], arena);
    free(reached);
    free(flow.nodes);
    free(flow.stack);
    return status;
}
