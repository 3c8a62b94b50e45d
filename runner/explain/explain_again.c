// SPDX-License-Identifier: MIT
#include "explain_again.h"

#include "explain_step.h"

#include <math.h>
#include <string.h>

static const int again_distances[AGAIN_DISTANCES] = {1, 4, 8, 16};
static const double NOTHING_UOPS = 0.15; // repeated measurements of a group differ by less
static const double LATE_CLK = 1.5;      // a result that comes later is waited for in the queue
static const double SAME_FULL = 0.95;    // ports as full as that make their own µops wait

static double value_of(const struct property_value *values, int n, const char *variant)
{
    for (int i = 0; i < n; i++)
        if (strcmp(values[i].variant, variant) == 0)
            return values[i].y;
    return NAN;
}

void again_read(const struct property_value *values, int n, struct again *again)
{
    static const char *const after[AGAIN_DISTANCES] = {"after_1", "after_4", "after_8", "after_16"};
    double apart = value_of(values, n, "apart");
    for (int d = 0; d < AGAIN_DISTANCES; d++)
        again->after_clk[d] = value_of(values, n, after[d]) - apart;
    again->two_clk = value_of(values, n, "two") - value_of(values, n, "two_apart");
    again->chain_clk = value_of(values, n, "chain") - apart;
}

// Returns the cycles where the result is of the instruction `distance` before.
static double again_after_clk(const struct again *again, double distance)
{
    int d = 1;
    while (d < AGAIN_DISTANCES - 1 && distance > again_distances[d])
        d++;
    double from = again_distances[d - 1], to = again_distances[d];
    double part = fmin(fmax(distance - from, 0) / (to - from), 1);
    return fmax(0,
                again->after_clk[d - 1] + part * (again->after_clk[d] - again->after_clk[d - 1]));
}

// The instructions of a block with regard to a set of ports.
struct again_block {
    const struct explanation *explanation;
    uint32_t set;
    double *uops;  // on ports of the set
    bool *follows; // it uses the result of another µop of the set that came just before
};

static double uops_inside(const struct port_usage *usage, uint32_t set)
{
    double uops = 0;
    for (int u = 0; u < usage->uses.n; u++)
        uops += usage->uses.use[u].set & ~set ? 0 : usage->uses.use[u].uops;
    return usage->outcome == OUTCOME_OK ? uops : 0;
}

static bool touch_is_operand(const struct block_instr *code, const struct block_touch *touch)
{
    bool address = touch->part == PART_BASE || touch->part == PART_INDEX;
    bool general = touch->place >= 0 && (touch->place < PLACE_VEC || touch->part == PART_FLAGS);
    return !touch->write && general && touch->part != PART_DATA &&
           !block_is_stack_move(code, touch) &&
           (!address || code->in.mnemonic == ZYDIS_MNEMONIC_LEA);
}

// Returns how many µops of the set before the instruction the one was that made the operand, itself
// one of the set and done in a cycle; 0: none was.
static double operand_distance(const struct again_block *block, int at, int touch, int *producer)
{
    const struct explanation *explanation = block->explanation;
    const struct explain_instr *made = explain_step_producer(explanation, at, touch);
    int n = explanation->block.n;
    *producer = made ? (int)(made - explanation->instrs) : at;
    if (*producer == at || block->uops[*producer] <= 0 ||
        (made->row && made->row->form && made->row->form->latency_min_clk > LATE_CLK))
        return 0;
    double distance = 0;
    for (int i = *producer; i != at; i = (i + 1) % n)
        distance += block->uops[i];
    return distance;
}

// Returns the least distance of an operand, and the number of instructions that made one not much
// farther away.
static double nearest(const struct again_block *block, int at, int *producer, int *made)
{
    const struct block_instr *code = &block->explanation->block.instrs[at];
    double least = 0;
    *made = 0;
    *producer = at;
    for (int t = 0; t < code->ntouches; t++) {
        int from = at;
        double distance =
            touch_is_operand(code, &code->touches[t]) ? operand_distance(block, at, t, &from) : 0;
        if (distance <= 0)
            continue;
        *made += *made == 0 || from != *producer ? distance < again_distances[1] : 0;
        if (least <= 0 || distance < least) {
            least = distance;
            *producer = from;
        }
    }
    return least;
}

// Returns the turns that an instruction costs in vain.
static double instr_again(const struct again_block *block, const struct again *again, int at)
{
    int producer = at, made = 0, size = port_set_size(block->set);
    double distance = block->uops[at] > 0 ? nearest(block, at, &producer, &made) : 0;
    if (distance <= 0)
        return 0;
    double clk = again_after_clk(again, distance);
    if (block->follows[producer])
        clk = fmin(clk, fmax(0, again->chain_clk - again->after_clk[0]));
    else if (made > 1)
        clk = fmax(clk, again->two_clk);
    return clk * size > NOTHING_UOPS ? clk * size : 0;
}

// Returns true if the instruction waits for narrower ports than the set's that are as full.
static bool instr_waits(const struct again_block *block, int at, double uops)
{
    const struct explanation *explanation = block->explanation;
    const struct port_uses *uses = &explanation->instrs[at].usage.uses;
    bool waits = false;
    for (int u = 0; u < uses->n; u++) {
        uint32_t own = uses->use[u].set;
        double beside = 0;
        for (int i = 0; i < explanation->block.n; i++)
            beside += uops_inside(&explanation->instrs[i].usage, own);
        waits |= own != block->set && (own & ~block->set) == 0 &&
                 beside / port_set_size(own) >= SAME_FULL * uops / port_set_size(block->set);
    }
    return waits;
}

static struct again_limit set_limit(struct again_block *block, const struct again *again)
{
    int n = block->explanation->block.n, producer, made;
    struct again_limit limit = {.set = block->set};
    for (int i = 0; i < n; i++) {
        block->uops[i] = uops_inside(&block->explanation->instrs[i].usage, block->set);
        limit.uops += block->uops[i];
    }
    for (int i = 0; i < n; i++) {
        double distance = block->uops[i] > 0 ? nearest(block, i, &producer, &made) : 0;
        block->follows[i] = distance > 0 && distance <= again_distances[1];
    }
    for (int i = 0; i < n; i++)
        if (!instr_waits(block, i, limit.uops))
            limit.again_uops += instr_again(block, again, i);
    limit.clk = (limit.uops + limit.again_uops) / port_set_size(block->set);
    return limit;
}

// Returns true if no other class has all ports of the class.
static bool class_is_largest(const struct port_model *model, int class)
{
    uint32_t set = model->classes[class].set;
    for (int c = 0; c < model->nclasses; c++)
        if (c != class && (set & ~model->classes[c].set) == 0)
            return false;
    return true;
}

struct again_limit again_find(const struct explanation *explanation, const struct again *again,
                              struct arena *arena)
{
    const struct port_model *model = explanation->model;
    size_t n = (size_t)explanation->block.n;
    struct again_block block = {explanation, 0, arena_alloc(arena, n * sizeof *block.uops),
                                arena_alloc(arena, n * sizeof *block.follows)};
    struct again_limit most = {.set = 0};
    for (int c = 0; c < model->nclasses && !isnan(again->after_clk[0]); c++) {
        if (!class_is_largest(model, c))
            continue;
        block.set = model->classes[c].set;
        struct again_limit limit = set_limit(&block, again);
        if (limit.again_uops > 0 && limit.clk > most.clk)
            most = limit;
    }
    return most;
}
