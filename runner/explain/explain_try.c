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
    if (result.outcome != OUTCOME_OK || isnan(result.summary.clk))
        measured->failure = arena_printf(arena, "%s: %s", outcome_name(result.outcome),
                                         *result.detail ? result.detail : "no steady value");
    return 0;
}

// What makes bench fill vector registers and memory as it would for the text.
static const char *shape_init(const struct explanation *explanation, const struct bench_spec *spec,
                              struct arena *arena)
{
    static const struct {
        ZydisRegisterClass class;
        const char *text;
    } moves[] = {
        {ZYDIS_REGCLASS_ZMM, "vmovapd zmm0, zmm0"},
        {ZYDIS_REGCLASS_YMM, "vmovapd ymm0, ymm0"},
        {ZYDIS_REGCLASS_XMM, "movapd xmm0, xmm0" },
        {ZYDIS_REGCLASS_MMX, "movq mm0, mm0"     },
    };
    const char *given = spec->init ? spec->init : "";
    for (size_t m = 0; m < ARRAY_LEN(moves); m++)
        for (int i = 0; i < explanation->block.n; i++) {
            const struct block_instr *instr = &explanation->block.instrs[i];
            for (int o = 0; o < instr->in.operand_count_visible; o++)
                if (instr->ops[o].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                    ZydisRegisterGetClass(instr->ops[o].reg.value) == moves[m].class)
                    return arena_printf(arena, "%s\n%s", moves[m].text, given);
        }
    return given;
}

static void shape_put(struct strbuf *out, const uint8_t *bytes, int n)
{
    for (int i = 0; i < n; i++)
        strbuf_printf(out, "%s0x%02x", i ? ", " : "db ", bytes[i]);
    strbuf_puts(out, "\n");
}

// One shape under measurement.
struct shape {
    const struct explanation *explanation;
    const struct bench_spec *spec;
    const struct explain_table *table;
    struct strbuf text;
    uint8_t code[BLOCK_INSTRS_MAX * ZYDIS_MAX_INSTRUCTION_LENGTH];
    size_t len;
};

static void shape_add(struct shape *shape, const uint8_t *bytes, int n)
{
    shape_put(&shape->text, bytes, n);
    memcpy(shape->code + shape->len, bytes, (size_t)n);
    shape->len += (size_t)n;
}

// Measures and predicts it. NULL: it is no block any more.
static struct explain_try *shape_try(struct shape *shape, enum bench_mode mode,
                                     struct explain_measured *measured, struct arena *arena,
                                     struct err *err)
{
    struct explanation other;
    struct explain_measured again;
    struct bench_spec spec = *shape->spec;
    struct block block;
    if (block_read(shape->code, shape->len, shape->explanation->block.bits, &block, arena, err))
        return NULL;
    explain_predict(shape->table, &block, &other, arena);
    spec.body = strbuf_text(&shape->text);
    spec.file = NULL;
    spec.init = shape_init(shape->explanation, shape->spec, arena);
    spec.mode = mode;
    spec.events = NULL;
    spec.ncolumns = 0;
    spec.store = spec.keep = false;
    if (explain_measure(&spec, &again, arena, err) != 0)
        return NULL;
    struct explain_try *try = &measured->tries[measured->ntries++];
    *try = (struct explain_try){
        .measured_clk = again.clk, .predicted_clk = other.predicted_clk, .says = again.failure};
    if (mode == BENCH_THROUGHPUT) {
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

static int try_broken(struct shape *shape, struct explain_measured *measured, struct arena *arena,
                      struct err *err)
{
    for (int i = 0; i < shape->explanation->block.n; i++)
        shape_add(shape, shape->explanation->block.instrs[i].bytes,
                  shape->explanation->block.instrs[i].in.length);
    struct explain_try *try = shape_try(shape, BENCH_THROUGHPUT, measured, arena, err);
    if (!try)
        return -1;
    try->what = "what a copy hands on through registers and flags is broken";
    if (isnan(try->measured_clk))
        return 0;
    bool slower = measured->clk > shape->explanation->predicted_clk;
    if (near(try->measured_clk, measured->clk))
        try->says = slower ? "as slow as before: it is no chain through registers that was missed"
                           : "as fast as before: the chain costs less than its parts alone";
    else if (try->measured_clk < measured->clk)
        try->says = slower ? "faster: a chain takes longer than its parts in the table"
                           : "faster: the chain is what takes the time";
    else
        try->says = "slower: the moves that break it cost more than it does; it says nothing";
    return 0;
}

// Without the instructions that need the fullest ports.
static int try_relieved(struct shape *shape, struct explain_measured *measured, struct arena *arena,
                        struct err *err)
{
    const struct explanation *explanation = shape->explanation;
    uint32_t set = 0;
    int removed = 0;
    for (int i = 0; i < explanation->nlimits && !set; i++)
        set = explanation->limits[i].set;
    for (int i = 0; i < explanation->block.n; i++) {
        const struct port_usage *usage = &explanation->instrs[i].usage;
        bool needs = false;
        for (int u = 0; u < usage->nuses; u++)
            needs |= usage->uses[u].set && (usage->uses[u].set & ~set) == 0;
        removed += needs;
        if (!needs)
            shape_add(shape, explanation->block.instrs[i].bytes,
                      explanation->block.instrs[i].in.length);
    }
    if (!removed || removed == explanation->block.n)
        return 0;
    struct explain_try *try = shape_try(shape, BENCH_LATENCY, measured, arena, err);
    if (!try)
        return -1;
    struct strbuf name = {0};
    port_set_text(explanation->model, set, &name);
    try->what = arena_printf(arena, "without the %d instruction%s that need %s", removed,
                             removed == 1 ? "" : "s", strbuf_text(&name));
    strbuf_free(&name);
    if (!isnan(try->measured_clk))
        try->says = near(try->measured_clk, measured->clk)
                        ? "as slow as before: these ports are not what takes the time"
                    : near(try->measured_clk, try->predicted_clk)
                        ? "as predicted: what differs lies in these instructions"
                        : "it changes, but not to what is predicted: there is more to it";
    return 0;
}

// The instruction with its loads made to read one place that nothing writes: [r14] or [ebp].
static bool instr_one_line(const struct explanation *explanation, const struct block_instr *instr,
                           uint8_t *bytes, ZyanUSize *len)
{
    ZydisEncoderRequest request;
    bool changed = false, wide = explanation->block.bits == 64;
    *len = ZYDIS_MAX_INSTRUCTION_LENGTH;
    if (ZYAN_FAILED(ZydisEncoderDecodedInstructionToEncoderRequest(
            &instr->in, instr->ops, instr->in.operand_count_visible, &request)))
        return false;
    for (int i = 0; i < instr->in.operand_count_visible; i++) {
        const ZydisDecodedOperand *op = &instr->ops[i];
        if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || op->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
            (op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            continue;
        request.operands[i].mem.base = wide ? ZYDIS_REGISTER_R14 : ZYDIS_REGISTER_EBP;
        request.operands[i].mem.index = ZYDIS_REGISTER_NONE;
        request.operands[i].mem.scale = 0;
        request.operands[i].mem.displacement = 2048;
        changed = true;
    }
    return changed && ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(&request, bytes, len));
}

static int try_one_line(struct shape *shape, struct explain_measured *measured, struct arena *arena,
                        struct err *err)
{
    const struct explanation *explanation = shape->explanation;
    int changed = 0;
    for (int i = 0; i < explanation->block.n; i++) {
        const struct block_instr *instr = &explanation->block.instrs[i];
        uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];
        ZyanUSize len;
        bool other = instr_one_line(explanation, instr, bytes, &len);
        changed += other;
        shape_add(shape, other ? bytes : instr->bytes, other ? (int)len : instr->in.length);
    }
    if (!changed)
        return 0;
    struct explain_try *try = shape_try(shape, BENCH_LATENCY, measured, arena, err);
    if (!try)
        return -1;
    try->what = "all loads from one line that nothing writes";
    if (!isnan(try->measured_clk))
        try->says = near(try->measured_clk, measured->clk)
                        ? "as before: neither caches nor stores that loads wait for"
                        : "it changes: loads wait for the cache, or for what stores wrote";
    return 0;
}

int explain_experiment(const struct explanation *explanation, const struct bench_spec *spec,
                       const struct explain_table *table, struct explain_measured *measured,
                       struct arena *arena, struct err *err)
{
    static int (*const tries[])(struct shape *, struct explain_measured *, struct arena *,
                                struct err *) = {try_broken, try_relieved, try_one_line};
    if (isnan(measured->clk) || isnan(explanation->predicted_clk) ||
        fabs(explain_difference(explanation, measured)) <= explain_tolerance)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(tries); i++) {
        struct shape *shape = arena_alloc(arena, sizeof *shape);
        shape->explanation = explanation;
        shape->spec = spec;
        shape->table = table;
        int status = tries[i](shape, measured, arena, err);
        strbuf_free(&shape->text);
        if (status != 0)
            return -1;
    }
    return 0;
}
