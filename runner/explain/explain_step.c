// SPDX-License-Identifier: MIT
#include "explain_step.h"

#include <math.h>
#include <string.h>

static const double KEPT_TIMES = 1.1; // of what stores take, as noise makes it
static const double NEAR_CLK = 0.3; // a latency that is taken for that of a floating point addition
static const double HALF_SLOT = 0.5; // slots are measured: eight of them may be 7.98

static bool is_eliminated(const struct explain_instr *instr)
{
    const struct known_form *form = instr->row ? instr->row->form : NULL;
    return form && strcmp(form->at_rename, "eliminated") == 0;
}

// Returns the touch that reads the only register that an eliminated move has; -1: it has more than
// one.
static int move_source(const struct block_instr *code)
{
    int source = -1;
    for (int t = 0; t < code->ntouches; t++) {
        if (code->touches[t].write)
            continue;
        if (source >= 0 || code->touches[t].part != PART_REGISTER)
            return -1;
        source = t;
    }
    return source;
}

// Returns the producer of the value of a touch, across moves that are done at rename; NULL: the
// block has none.
const struct explain_instr *explain_step_producer(const struct explanation *explanation, int at,
                                                  int from)
{
    const struct block *block = &explanation->block;
    int place = block->instrs[at].touches[from].place;
    for (int moves = 0; place >= 0 && moves <= block->n; moves++) {
        at = block_writer_before(block, at, place);
        if (at < 0)
            return NULL;
        const struct explain_instr *producer = &explanation->instrs[at];
        bool sum = bypass_class(explanation->bypass, producer->code) == BYPASS_SUM;
        int source = is_eliminated(producer) && !sum ? move_source(producer->code) : -1;
        if (source < 0)
            return producer;
        place = producer->code->touches[source].place;
    }
    return NULL;
}

static bool is_sum_at_rename(const struct explanation *explanation,
                             const struct explain_instr *producer)
{
    return producer && producer->row && producer->row->form &&
           bypass_class(explanation->bypass, producer->code) == BYPASS_SUM &&
           table_is_at_rename(producer->row->form->latency_min_clk, explanation->model);
}

// Returns true if the producer is a floating-point addition with the latency of additions among
// themselves.
static bool is_short_fadd(const struct explain_instr *producer, const struct bypass *bypass)
{
    return producer && producer->row && producer->row->form &&
           bypass_class(bypass, producer->code) == BYPASS_FADD &&
           fabs(producer->row->form->latency_min_clk - bypass->fadd_clk) < NEAR_CLK;
}

static double known_or_nothing(double clk)
{
    return isnan(clk) ? 0 : clk;
}

// Returns true if the instruction reads flags only to keep them where it does not write them (a
// shift by a count of 0). They affect nothing but flags.
static bool keeps_flags(const struct block_instr *code, const struct block_touch *in)
{
    static const ZydisAccessedFlagsMask masks[] = {ZYDIS_CPUFLAG_CF, ZYDIS_CPUFLAG_OF,
                                                   ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |
                                                       ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF,
                                                   ZYDIS_CPUFLAG_DF};
    return in->part == PART_FLAGS &&
           !(code->in.cpu_flags->tested & masks[in->place - PLACE_FLAGS_C]);
}

// Returns the delay of a conditional instruction after the producer of its flags. It applies only
// directly after the producer, as the property measures it: with others between them it is shorter,
// and after four it is gone.
static double flags_delay_clk(const struct explanation *explanation, int at)
{
    const struct block_instr *code = explanation->instrs[at].code;
    const struct bypass *bypass = explanation->bypass;
    enum bypass_class class = bypass_class(bypass, code);
    if (class != BYPASS_SELECT && class != BYPASS_SET)
        return 0;
    double most = 0;
    for (int t = 0; t < code->ntouches; t++) {
        const struct block_touch *touch = &code->touches[t];
        int producer = touch->part == PART_FLAGS && !touch->write
                           ? block_writer_before(&explanation->block, at, touch->place)
                           : -1;
        if (producer < 0 || (producer + 1) % explanation->block.n != at)
            continue;
        double clk = bypass_flags_clk(bypass, explanation->instrs[producer].code, code);
        most = fmax(most, known_or_nothing(clk));
    }
    return most;
}

static bool moves_stack(const struct block_instr *code)
{
    for (int t = 0; t < code->ntouches; t++)
        if (code->touches[t].write && block_is_stack_move(code, &code->touches[t]))
            return true;
    return false;
}

// Returns what arithmetic with the stack pointer waits after push and pop, where the front end
// keeps it for these: until it is put together.
static double stack_delay_clk(const struct explanation *explanation, int at, int from)
{
    const struct block *block = &explanation->block;
    const struct block_touch *touch = &block->instrs[at].touches[from];
    int writer = touch->part == PART_REGISTER && touch->place == PLACE_GPR + 4 &&
                         !moves_stack(&block->instrs[at])
                     ? block_writer_before(block, at, touch->place)
                     : -1;
    bool needs = writer >= 0 && moves_stack(&block->instrs[writer]);
    return needs ? known_or_nothing(explanation->bypass->stack_sum_clk) : 0;
}

// Returns by how much longer a load takes from this register of its address than from an only one.
static double index_delay_clk(const struct explanation *explanation, const struct block_instr *code,
                              const struct block_touch *touch)
{
    if (touch->part != PART_INDEX || code->ops[touch->operand].mem.type != ZYDIS_MEMOP_TYPE_MEM)
        return 0;
    const ZydisDecodedOperandMem *mem = &code->ops[touch->operand].mem;
    double clk = mem->scale > 1 ? explanation->bypass->load_scaled_clk
                 : mem->base != ZYDIS_REGISTER_NONE && mem->disp.has_displacement
                     ? explanation->bypass->load_index_clk
                     : 0;
    return known_or_nothing(clk);
}

// Returns the bypass delay of a step: the latency that its producer adds.
static double step_delay_clk(const struct explanation *explanation, int at, int from)
{
    const struct explain_instr *instr = &explanation->instrs[at];
    const struct block_touch *touch = &instr->code->touches[from];
    if (touch->place < 0 || touch->place >= PLACE_MASK)
        return 0;
    double other =
        stack_delay_clk(explanation, at, from) + index_delay_clk(explanation, instr->code, touch);
    if (other > 0)
        return other;
    const struct bypass *bypass = explanation->bypass;
    const struct explain_instr *producer = explain_step_producer(explanation, at, from);
    bool address = touch->part == PART_BASE || touch->part == PART_INDEX;
    double flags = touch->place < PLACE_VEC && !address ? flags_delay_clk(explanation, at) : 0;
    if (flags > 0)
        return flags;
    if (touch->place < PLACE_VEC && !address && is_sum_at_rename(explanation, producer) &&
        !is_eliminated(instr))
        return known_or_nothing(bypass->sum_clk[bypass_class(bypass, instr->code)]);
    if (touch->place >= PLACE_VEC && is_short_fadd(producer, bypass) &&
        bypass_class(bypass, instr->code) != BYPASS_FADD && !is_eliminated(instr))
        return known_or_nothing(bypass->fadd_other_clk);
    return 0;
}

// Returns the longest latency in the table from any input of a store but its address to memory.
static double store_clk(const struct explain_instr *store)
{
    double longest = 0;
    const struct block_instr *code = store->code;
    for (int r = 0; r < code->ntouches; r++)
        for (int w = 0; w < code->ntouches; w++) {
            const struct block_touch *in = &code->touches[r], *out = &code->touches[w];
            enum latency_source source;
            if (in->write || !out->write || in->part != PART_REGISTER || out->part != PART_DATA)
                continue;
            double clk = table_latency(store->row, code, in, out, false, &source);
            if (source != LATENCY_ASSUMED && clk > longest)
                longest = clk;
        }
    return longest;
}

// Returns the least latency of a load from its address to the result; 0: not known.
static double address_clk(const struct explain_instr *load, const struct block_touch *data,
                          const struct block_touch *out)
{
    const struct block_instr *code = load->code;
    for (int t = 0; t < code->ntouches; t++) {
        const struct block_touch *touch = &code->touches[t];
        enum latency_source source;
        if (touch->write || touch->operand != data->operand || touch->part != PART_BASE)
            continue;
        double clk = table_latency(load->row, code, touch, out, false, &source);
        return source == LATENCY_ASSUMED || isnan(clk) ? 0 : clk;
    }
    return 0;
}

// Returns true if the way through memory took no longer than its stores take without any chain, so
// that it is none that anything waits for: the core keeps the value like a register.
static bool is_kept(const struct explain_instr *store, double clk)
{
    const struct known_form *form = store->row ? store->row->form : NULL;
    return form && clk < KEPT_TIMES * form->rthroughput_clk;
}

// Returns true if the block writes a register of the operand's address, so that the core cannot
// know by its name that it is the same place.
static bool address_changes(const struct block *block, const struct block_instr *code, int operand)
{
    for (int t = 0; t < code->ntouches; t++) {
        const struct block_touch *touch = &code->touches[t];
        int writer =
            touch->operand == operand && (touch->part == PART_BASE || touch->part == PART_INDEX)
                ? block_writer_before(block, (int)(code - block->instrs), touch->place)
                : -1;
        if (writer >= 0 && touch->place != PLACE_GPR + 4)
            return true;
    }
    return false;
}

// Returns the least latency through memory by the operand of a load: where that has no register, or
// another value each time, the core may not keep what is in memory.
static double named_clk(const struct explanation *explanation, const struct block_instr *code,
                        const struct block_touch *data)
{
    const ZydisDecodedOperandMem *mem = &code->ops[data->operand].mem;
    bool plain = (mem->base == ZYDIS_REGISTER_NONE || mem->base == ZYDIS_REGISTER_RIP) &&
                 mem->index == ZYDIS_REGISTER_NONE;
    if (plain)
        return known_or_nothing(explanation->bypass->forward_plain_clk);
    return address_changes(&explanation->block, code, data->operand)
               ? known_or_nothing(explanation->bypass->forward_other_clk)
               : 0;
}

// Returns the latency through memory. The latencies of the store and of the load in the table each
// contain the whole way. `clk`: the load's.
static double forward_clk(const struct explanation *explanation, const struct explain_instr *load,
                          const struct block_touch *data, const struct block_touch *out, double clk)
{
    const struct explain_instr *store = &explanation->instrs[data->writer];
    double named = named_clk(explanation, load->code, data);
    if (store == load)
        return fmax(clk, named); // measured as it is here, by one register
    clk = fmax(fmax(clk, store_clk(store)), named);
    // A value that is kept like a register serves only the operand that stored it.
    if (data->forward == FORWARD_SAME && is_kept(store, clk))
        clk = 0;
    else if (data->forward != FORWARD_SAME)
        clk = fmax(fmax(clk, address_clk(load, data, out)),
                   known_or_nothing(explanation->bypass->forward_other_clk));
    // A load that comes a while after its store is faster than one that waits for it.
    if (clk > explanation->bypass->forward_clk)
        clk = explanation->bypass->forward_clk;
    if (data->forward == FORWARD_NARROW || data->forward == FORWARD_BEFORE)
        clk = fmax(clk, known_or_nothing(explanation->bypass->narrow_clk));
    return clk;
}

static bool reads_memory(const struct block_instr *code, int operand)
{
    for (int t = 0; t < code->ntouches; t++)
        if (!code->touches[t].write && code->touches[t].part == PART_DATA &&
            code->touches[t].operand == operand)
            return true;
    return false;
}

// Returns true if as many slots as a cycle has, the producer's included, lie between the
// instruction and its producer, as in the filled chain of the table. The port model has the width.
static bool is_filled(const struct explanation *explanation, int at, int place)
{
    int writer = place >= 0 ? block_writer_before(&explanation->block, at, place) : -1;
    if (writer < 0 || !explanation->model || explanation->model->width <= 0)
        return false;
    double slots = 0;
    int i = writer;
    do
        slots += explanation->instrs[i].fused ? 0 : explanation->instrs[i].slots;
    while ((i = (i + 1) % explanation->block.n) != at);
    return slots > explanation->model->width - HALF_SLOT;
}

double explain_step_clk(const void *context, int at, int from, int to)
{
    const struct explanation *explanation = context;
    const struct explain_instr *instr = &explanation->instrs[at];
    const struct block_instr *code = instr->code;
    const struct block_touch *in = &code->touches[from], *out = &code->touches[to];
    enum latency_source source;
    // The stack pointer of push and pop may be kept by the front end.
    bool hidden = in->operand >= 0 && out->operand >= 0 && out->place == PLACE_GPR + 4 &&
                  code->ops[out->operand].visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (block_is_stack_move(code, out))
        return block_is_stack_move(code, in) ? explanation->bypass->stack_clk : (double)NAN;
    if (keeps_flags(code, in) && out->part != PART_FLAGS)
        return NAN;
    bool dense = in->part == PART_REGISTER && out->part == PART_REGISTER &&
                 !is_filled(explanation, at, in->place);
    double clk = table_latency(instr->row, code, in, out, dense, &source);
    if (isnan(clk) || (hidden && source == LATENCY_ASSUMED))
        return NAN;
    bool address = in->part == PART_BASE || in->part == PART_INDEX;
    if (source == LATENCY_ASSUMED && address && out->part == PART_REGISTER &&
        code->ops[in->operand].mem.type == ZYDIS_MEMOP_TYPE_MEM)
        clk = fmax(clk, known_or_nothing(explanation->bypass->load_clk));
    if (out->part == PART_DATA && in->part == PART_REGISTER && !reads_memory(code, out->operand))
        clk = 0; // the load that waits for it has all of the way
    if (in->part == PART_DATA && in->writer >= 0)
        return forward_clk(explanation, instr, in, out, clk);
    if (source == LATENCY_MEASURED && table_is_at_rename(clk, explanation->model))
        clk = 0; // a chain of such takes what their slots take
    return clk + step_delay_clk(explanation, at, from);
}

void explain_step_uops(struct explanation *explanation)
{
    const struct bypass *bypass = explanation->bypass;
    int uops = (int)bypass->sum_shift_uops;
    for (int i = 0; i < explanation->block.n && uops > 0; i++) {
        struct explain_instr *instr = &explanation->instrs[i];
        const struct block_instr *code = instr->code;
        bool sum = false;
        for (int t = 0; t < code->ntouches; t++)
            if (!code->touches[t].write && code->touches[t].part == PART_REGISTER &&
                code->touches[t].place >= 0 && code->touches[t].place < PLACE_VEC)
                sum |= is_sum_at_rename(explanation, explain_step_producer(explanation, i, t));
        if (!sum || bypass_class(bypass, code) != BYPASS_SHIFT || instr->usage.uses.n != 1)
            continue;
        instr->usage.uses.use[0].uops += uops;
        if (instr->usage.wide_uses.n == 1)
            instr->usage.wide_uses.use[0].uops += uops;
        instr->usage.uses.uops += uops;
        instr->usage.front.slots += uops;
        instr->usage.front.mixed += instr->usage.front.mixed > 0 ? uops : 0;
        instr->slots += uops;
    }
}
