// SPDX-License-Identifier: MIT
// Measuring a block, and small experiments with it; see explain_try.h. A shape of the block is its
// machine code with some instructions changed or left out.
#include "explain_try.h"

#include <math.h>
#include <string.h>

const double explain_tolerance = 0.10;

double explain_difference(const struct explanation *explanation,
                          const struct explain_measured *measured)
{
    return (explanation->predicted_clk - measured->clk) / measured->clk;
}

int explain_measure(const struct bench_spec *spec, struct explain_measured *measured,
                    struct arena *arena, struct err *err)
{
    struct bench_result result;
    *measured = (struct explain_measured){.clk = NAN, .spread_clk = NAN};
    if (bench_measure(spec, &result, arena, err) != 0)
        return -1;
    measured->cpu = result.cpu;
    measured->clk = result.summary.clk;
    measured->spread_clk = result.summary.spread_clk;
    measured->varies = result.outcome == OUTCOME_UNSTABLE;
    if (result.outcome != OUTCOME_OK || isnan(result.summary.clk))
        measured->failure = arena_printf(arena, "%s: %s", outcome_name(result.outcome),
                                         *result.detail ? result.detail : "no steady value");
    return 0;
}

// Measures and predicts a shape. NULL: it cannot be made (err is empty), or be measured.
static struct explain_try *try_shape(const struct shape *shape, struct explain_measured *measured,
                                     struct arena *arena, struct err *err)
{
    const struct explain_subject *subject = shape->subject;
    struct explanation other;
    struct explain_measured again;
    struct bench_spec spec;
    struct block block;
    int status = shape_make(shape, &spec, &block, arena, err);
    if (status != 0 || explain_measure(&spec, &again, arena, err) != 0)
        return NULL;
    explain_predict(subject->table, &block, &other, arena);
    struct explain_try *try = &measured->tries[measured->ntries++];
    *try = (struct explain_try){.measured_clk =
                                    again.clk * (subject->place ? subject->place->runs : 1),
                                .predicted_clk = other.predicted_clk,
                                .says = again.failure};
    if (shape->broken) {
        try->predicted_clk = 0;
        for (int i = 0; i < other.nlimits; i++)
            if (other.limits[i].kind != LIMIT_CHAIN)
                try->predicted_clk = fmax(try->predicted_clk, other.limits[i].clk);
    }
    return try;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= explain_tolerance * fmax(a, b);
}

static const char *broken_result(const struct explain_try *try,
                                 const struct explain_measured *measured, bool slower)
{
    if (near(try->measured_clk, measured->clk))
        return slower ? "as slow as before: it is no chain through registers that was missed"
                      : "as fast as before: the chain costs less than its parts alone";
    if (try->measured_clk < measured->clk)
        return slower ? "faster: a chain takes longer than its parts in the table"
                      : "faster: the chain is what takes the time";
    return "slower: the moves that break it cost more than it does; it says nothing";
}

// Returns the instruction of the chain that is left out to break it in a loop: the one with the
// longest latency that nothing else needs; -1: there is none.
static int chain_weakest(const struct shape *shape)
{
    const struct chain *chain = &shape->subject->explanation->chain;
    int found = -1;
    double longest = 0;
    for (int s = 0; s < chain->nsteps; s++)
        if (chain->steps[s].clk > longest && shape_may_change(shape, chain->steps[s].instr)) {
            longest = chain->steps[s].clk;
            found = chain->steps[s].instr;
        }
    return found;
}

static int try_broken(const struct explain_subject *subject, struct explain_measured *measured,
                      struct arena *arena, struct err *err)
{
    const struct explanation *explanation = subject->explanation;
    struct shape shape = shape_as_is(subject, arena);
    const char *what = "what a copy hands on through registers and flags is broken";
    if (subject->place && subject->place->object) {
        int weakest = chain_weakest(&shape);
        if (weakest < 0)
            return 0;
        shape_leave_out(&shape, weakest);
        what = arena_printf(arena, "the longest chain is broken: a nop for %s",
                            explanation->block.instrs[weakest].text);
    } else {
        shape.broken = true;
    }
    struct explain_try *try = try_shape(&shape, measured, arena, err);
    if (!try)
        return *err->text ? -1 : 0;
    try->what = what;
    try->explains = try->measured_clk < measured->clk && !near(try->measured_clk, measured->clk);
    if (!isnan(try->measured_clk))
        try->says = broken_result(try, measured, measured->clk > explanation->predicted_clk);
    return 0;
}

// Leaves out what needs the fullest ports. Returns how many instructions.
static int relieve(struct shape *shape, uint32_t set)
{
    const struct explanation *explanation = shape->subject->explanation;
    int removed = 0;
    for (int i = 0; i < explanation->block.n; i++) {
        const struct port_usage *usage = &explanation->instrs[i].usage;
        bool needs = false;
        for (int u = 0; u < usage->uses.n; u++)
            needs |= usage->uses.use[u].set && (usage->uses.use[u].set & ~set) == 0;
        if (!needs || !shape_may_change(shape, i))
            continue;
        shape_leave_out(shape, i);
        removed++;
    }
    return removed;
}

// Tries the block without the instructions that need the fullest ports.
static int try_relieved(const struct explain_subject *subject, struct explain_measured *measured,
                        struct arena *arena, struct err *err)
{
    const struct explanation *explanation = subject->explanation;
    struct shape shape = shape_as_is(subject, arena);
    uint32_t set = 0;
    for (int i = 0; i < explanation->nlimits && !set; i++)
        set = explanation->limits[i].set;
    int removed = relieve(&shape, set);
    if (!removed || removed == explanation->block.n)
        return 0;
    struct explain_try *try = try_shape(&shape, measured, arena, err);
    if (!try)
        return *err->text ? -1 : 0;
    struct strbuf name = {0};
    port_set_text(explanation->model, set, &name);
    bool nops = subject->place && subject->place->object;
    try->explains =
        !near(try->measured_clk, measured->clk) && near(try->measured_clk, try->predicted_clk);
    try->what =
        arena_printf(arena, "%s the %d instruction%s that need%s %s", nops ? "nops for" : "without",
                     removed, removed == 1 ? "" : "s", removed == 1 ? "s" : "", strbuf_text(&name));
    strbuf_free(&name);
    if (!isnan(try->measured_clk))
        try->says = near(try->measured_clk, measured->clk)
                        ? "as slow as before: these ports are not what takes the time"
                    : near(try->measured_clk, try->predicted_clk)
                        ? "as predicted: what differs lies in these instructions"
                        : "it changes, but not to what is predicted: there is more to it";
    return 0;
}

// Redirects the loads of an instruction to one place that nothing writes: in the data area, or in a
// function the bytes at its stack pointer.
static bool instr_one_line(const struct explain_subject *subject, const struct block_instr *instr,
                           uint8_t *bytes, ZyanUSize *len)
{
    ZydisEncoderRequest request;
    bool changed = false, wide = subject->explanation->block.bits == 64;
    bool function = subject->place && subject->place->object;
    *len = ZYDIS_MAX_INSTRUCTION_LENGTH;
    if (ZYAN_FAILED(ZydisEncoderDecodedInstructionToEncoderRequest(
            &instr->in, instr->ops, instr->in.operand_count_visible, &request)))
        return false;
    for (int i = 0; i < instr->in.operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
            (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        request.operands[i].mem.base = function ? wide ? ZYDIS_REGISTER_RSP : ZYDIS_REGISTER_ESP
                                       : wide   ? ZYDIS_REGISTER_R14
                                                : ZYDIS_REGISTER_EBP;
        request.operands[i].mem.index = ZYDIS_REGISTER_NONE;
        request.operands[i].mem.scale = 0;
        request.operands[i].mem.displacement = function ? 0 : 2048;
        changed = true;
    }
    return changed && ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, len));
}

static int try_one_line(const struct explain_subject *subject, struct explain_measured *measured,
                        struct arena *arena, struct err *err)
{
    const struct block *block = &subject->explanation->block;
    struct shape shape = shape_as_is(subject, arena);
    int changed = 0, loads = 0;
    for (int i = 0; i < block->n; i++) {
        uint8_t *bytes = arena_alloc(arena, ZYDIS_MAX_INSTRUCTION_LENGTH);
        ZyanUSize len;
        if (!instr_one_line(subject, &block->instrs[i], bytes, &len))
            continue;
        loads++;
        changed += shape_change(&shape, i, bytes, (int)len);
    }
    if (!changed)
        return 0;
    struct explain_try *try = try_shape(&shape, measured, arena, err);
    if (!try)
        return *err->text ? -1 : 0;
    try->what = changed == loads
                    ? "all loads from one line that nothing writes"
                    : arena_printf(arena, "%d of %d loads from one line that nothing writes",
                                   changed, loads);
    try->explains = try->measured_clk < measured->clk && !near(try->measured_clk, measured->clk);
    if (!isnan(try->measured_clk))
        try->says = near(try->measured_clk, measured->clk)
                        ? "as before: neither caches nor stores that loads wait for"
                        : "it changes: loads wait for the cache, or for what stores wrote";
    return 0;
}

const char *explain_doubt(const struct explanation *explanation,
                          const struct explain_measured *measured, struct arena *arena)
{
    if (near(explanation->meets_clk, measured->clk))
        return "it takes as long as if loads found what stores by other pointers wrote just "
               "before; whether they do was not tried";
    for (int i = 0; i < measured->ntries; i++)
        if (measured->tries[i].explains)
            return NULL;
    if (explanation->unknown > 0)
        return "instructions of which something is assumed may be the reason";
    const char *limit = explanation->nlimits ? explain_kind_name(explanation->limits[0].kind) : "";
    bool slower = measured->clk > explanation->predicted_clk;
    return arena_printf(arena,
                        "the model is wrong here: the %s %s %.2f clk, it takes %.2f, and no "
                        "experiment tells why",
                        limit, slower ? "would allow" : "should take", explanation->predicted_clk,
                        measured->clk);
}

int explain_experiment(const struct explain_subject *subject, struct explain_measured *measured,
                       struct arena *arena, struct err *err)
{
    static int (*const tries[])(const struct explain_subject *, struct explain_measured *,
                                struct arena *,
                                struct err *) = {try_broken, try_relieved, try_one_line};
    if (isnan(measured->clk) || isnan(subject->explanation->predicted_clk) ||
        fabs(explain_difference(subject->explanation, measured)) <= explain_tolerance)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++)
        if (tries[i](subject, measured, arena, err) != 0)
            return -1;
    measured->doubt = explain_doubt(subject->explanation, measured, arena);
    return 0;
}
