// SPDX-License-Identifier: MIT
// Makes a report of a function: reads it, explains its loops, and asks the tables for each
// instruction outside of them alone. explain_listing_print.c prints it.
#include "explain_listing.h"

#include "bench/bench_code.h"
#include "bench/bench_elf.h"
#include "explain_rounds.h"
#include "explain_row.h"
#include "util/scratch.h"
#include "util/strbuf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double WORTH_SAYING = 0.05; // µops that are rounded to nothing

// --- Reading. ---

static int read_linked(struct explain_work *work, struct explain_function *function,
                       struct image_loops *loops, struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    bool wrong;
    struct code_path *path = explain_work_path(work, &wrong, err);
    if (wrong || explain_image_loops(spec->file, spec->symbol, path, loops, &work->arena, err) != 0)
        return -1;
    function->code = loops->function;
    function->others = loops->others;
    return 0;
}

static int read_called(struct explain_work *work, struct explain_function *function,
                       struct image_loops *loops, struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    struct bench_code code;
    struct code_loops *found = arena_alloc(&work->arena, sizeof *found);
    if (bench_file_code(spec, work->directory, &code, &work->arena, &function->refused, err) != 0)
        return -1;
    function->refused = true;
    if (!code.function)
        return err_set(err, "%s: is no file with functions", spec->file);
    function->called = true;
    function->code = (struct code_function){code.bytes, code.len, 0, code.bits};
    function->call = (struct explain_job){.init = spec->init, .function = true};
    if (explain_job_call(work, &code, &function->call.place, found, err) != 0)
        return -1;
    loops->n = (size_t)found->n;
    loops->loops = arena_alloc(&work->arena, (loops->n + 1) * sizeof *loops->loops);
    for (size_t i = 0; i < loops->n; i++)
        loops->loops[i] = (struct image_loop){spec->symbol, 0, found->loops[i]};
    function->others = found->others;
    return 0;
}

// Keeps for the table what stands outside of loops, too.
static void see_instructions(struct explain_work *work, const struct code_function *code)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    struct err ignored;
    if (block_decoder_begin(&decoder, code->bits, &ignored) != 0)
        return;
    for (size_t at = 0; at < code->len; at += in.length) {
        struct arena arena = {0};
        struct block block;
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code->bytes + at,
                                                      code->len - at, &in)))
            return;
        if (block_read(code->bytes + at, in.length, code->bits, &block, &arena, &ignored) == 0)
            explain_work_see(work, &block);
        arena_free(&arena);
    }
}

static int jobs_make(struct explain_work *work, const struct explain_function *function,
                     const struct image_loops *loops, struct err *err)
{
    work->jobs = xcalloc(loops->n + 1, sizeof *work->jobs);
    for (size_t i = 0; i < loops->n; i++) {
        struct explain_job *job = &work->jobs[work->njobs++];
        explain_job_loop(work, &loops->loops[i], function->code.bits, (int)i + 1, job);
        if (function->called) // what is set before the call is the function's
            job->init = NULL;
    }
    int status = explain_jobs_assemble(work, err);
    for (int i = 0; i < work->njobs && status == 0; i++)
        status = explain_job_prepare(work, &work->jobs[i], &work->arena, err);
    return status;
}

int explain_function_read(struct explain_work *work, struct explain_function *function,
                          struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    struct image_loops loops = {.n = 0};
    *function = (struct explain_function){.refused = true};
    work->directory = scratch_begin(err);
    function->refused = work->directory != NULL;
    int status = !function->refused                ? -1
                 : bench_elf_is_linked(spec->file) ? read_linked(work, function, &loops, err)
                                                   : read_called(work, function, &loops, err);
    if (status != 0)
        return -1;
    function->refused = false;
    see_instructions(work, &function->code);
    return jobs_make(work, function, &loops, err);
}

// --- The loops. ---

struct lister {
    struct explain_work *work;
    const struct explain_function *function;
    struct explain_listing *listing;
    struct explanation *explanations; // of the loops
    struct explain_row *rows;
    struct arena *arena;
};

static int loops_predict(struct lister *lister, struct err *err)
{
    const struct explain_work *work = lister->work;
    for (int i = 0; i < work->njobs; i++) {
        const struct explain_job *job = &work->jobs[i];
        struct explain_result result = {.has_measured = false};
        if (!job->refused && explain_job_predict(work, job, &result, lister->arena, err) != 0)
            return -1;
        lister->explanations[i] = result.explanation;
        lister->rows[i] = explain_row_make(job, &lister->explanations[i], lister->arena);
    }
    return 0;
}

// Returns true if an address of the loop is the linker's, whom the bytes of a function of an object
// have not met.
static bool loop_lacks_linker(const struct lister *lister, int which)
{
    const struct block *block = &lister->explanations[which].block;
    for (int i = 0; i < block->n && lister->function->called; i++)
        if ((block->instrs[i].in.attributes & ZYDIS_ATTRIB_IS_RELATIVE) &&
            block->instrs[i].in.raw.disp.size == 32)
            return true;
    return false;
}

static int loops_measure(struct lister *lister, struct err *err)
{
    const struct explain_work *work = lister->work;
    size_t most = (size_t)work->njobs + 1;
    struct bench_spec *specs = arena_alloc(lister->arena, most * sizeof *specs);
    struct bench_result *results = arena_alloc(lister->arena, most * sizeof *results);
    int *which = arena_alloc(lister->arena, most * sizeof *which), n = 0;
    for (int i = 0; i < work->njobs; i++)
        if (loop_lacks_linker(lister, i)) {
            lister->rows[i].failure = "its addresses are not known before it is linked";
        } else if (!work->jobs[i].refused) {
            specs[n] = explain_job_spec(work, &work->jobs[i]);
            which[n++] = i;
        }
    if (n == 0)
        return 0;
    if (bench_measure_many(specs, n, results, lister->arena, err) != 0)
        return -1;
    for (int i = 0; i < n; i++)
        explain_row_measured(&lister->rows[which[i]], &results[i], lister->arena);
    return 0;
}

static void loops_list(struct lister *lister)
{
    struct explain_listing *listing = lister->listing;
    const struct explain_work *work = lister->work;
    for (int i = 0; i < work->njobs; i++) {
        const struct explain_row *row = &lister->rows[i];
        const struct explanation *explanation = &lister->explanations[i];
        const struct code_loop *loop = &work->jobs[i].loop;
        unsigned long long base = lister->function->code.address;
        struct explain_listed_loop *to = &listing->loops[listing->nloops++];
        *to = (struct explain_listed_loop){.loop = i + 1,
                                           .instructions = loop->instrs,
                                           .predicted_clk = row->predicted_clk,
                                           .measured_clk = row->measured_clk,
                                           .spread_clk = row->spread_clk,
                                           .limit = row->limit,
                                           .by = explanation->nlimits ? explanation->limits[0].text
                                                                      : "",
                                           .way_rounds = -1,
                                           .uncounted = "",
                                           .failure = *row->refused ? row->refused : row->failure};
        const char *sign = lister->function->called ? "+" : "";
        snprintf(to->address, sizeof to->address, "%s0x%llx", sign, base + loop->offset);
        snprintf(to->end, sizeof to->end, "%s0x%llx", sign, base + loop->end);
    }
}

// --- The call. ---

// Adds up what the loops take in a call, as predicted. Loops that share instructions have no sum.
static void call_sum(struct lister *lister)
{
    struct explain_listing *listing = lister->listing;
    bool *counted = arena_alloc(lister->arena, lister->function->code.len * sizeof *counted);
    double sum = 0;
    memset(counted, 0, lister->function->code.len * sizeof *counted);
    for (int i = 0; i < listing->nloops; i++) {
        const struct explain_listed_loop *loop = &listing->loops[i];
        const struct code_loop *code = &lister->work->jobs[i].loop;
        for (int p = 0; p < code->instrs && loop->rounds; p++) {
            listing->shares |= counted[code->places[p]];
            counted[code->places[p]] = true;
        }
        sum += loop->rounds ? (double)loop->rounds * loop->predicted_clk : 0;
    }
    listing->loops_clk = sum > 0 && !listing->shares ? sum : (double)NAN;
}

// Counts the rounds of the loops in a call.
static int call_count(struct lister *lister, struct err *err)
{
    struct explain_listing *listing = lister->listing;
    struct explain_count counts[EXPLAIN_COUNTS_MAX];
    int first[CODE_LOOPS_MAX + 1], n = 0;
    for (int i = 0; i < listing->nloops; i++) {
        first[i] = n;
        if (!lister->work->jobs[i].refused)
            n += explain_job_places(&lister->work->jobs[i], &lister->explanations[i].block,
                                    counts + n, EXPLAIN_COUNTS_MAX - n);
    }
    first[listing->nloops] = n;
    if (n && explain_count_rounds(&lister->function->call.place, listing->bits, counts, n,
                                  lister->arena, err) != 0)
        return -1;
    for (int i = 0; i < listing->nloops; i++) {
        struct explain_listed_loop *loop = &listing->loops[i];
        const struct explain_rounds rounds = explain_rounds_of(
            &lister->work->jobs[i].loop, counts + first[i], first[i + 1] - first[i]);
        if (lister->work->jobs[i].refused) // and said so
            continue;
        loop->rounds = rounds.n;
        loop->way_rounds = rounds.this_way;
        loop->uncounted = rounds.why ? rounds.why : "";
    }
    call_sum(lister);
    return 0;
}

static int call_measure(struct lister *lister, struct err *err)
{
    struct bench_spec spec = explain_job_spec(lister->work, &lister->function->call);
    struct explain_measured measured = {.clk = NAN};
    spec.instances = 0;
    if (explain_measure(&spec, &measured, lister->arena, err) != 0)
        return -1;
    lister->listing->call_clk = measured.clk;
    lister->listing->failure = measured.failure ? measured.failure : "";
    return measured.failure ? 0 : call_count(lister, err); // a call must return
}

// --- The instructions. ---

static void listed_loads(struct lister *lister, const struct port_model *model,
                         const double load[PORTS_MAX], struct explain_listed *to)
{
    struct explain_load *loads = arena_alloc(lister->arena, PORTS_MAX * sizeof *loads);
    struct strbuf text = {0};
    to->ports = loads;
    for (int port = 0; port < PORTS_MAX && model; port++) {
        if (load[port] <= 0)
            continue;
        struct explain_load *last = &loads[to->nports++];
        port_label(model, port, last->port);
        last->clk = load[port];
        if (load[port] >= WORTH_SAYING)
            strbuf_printf(&text, "%s%s:%.1f", text.len ? " " : "", last->port, load[port]);
    }
    to->shown_ports = arena_strdup(lister->arena, strbuf_text(&text));
    strbuf_free(&text);
}

static void listed_take(struct lister *lister, const struct explanation *explanation, int which,
                        struct explain_listed *to)
{
    const struct explain_instr *instr = &explanation->instrs[which];
    to->slots = instr->fused ? 0 : instr->slots;
    listed_loads(lister, explanation->model, instr->load, to);
    for (int i = 0; i < explanation->chain.nsteps; i++)
        to->on_chain |= explanation->chain.steps[i].instr == which;
    to->shown_chain = to->on_chain ? "*" : "";
}

// Takes what a loop's explanation says of its instructions; `rows` by their offsets.
static void loop_take(struct lister *lister, int which, struct explain_listed *const *rows)
{
    const struct explanation *explanation = &lister->explanations[which];
    const struct explain_job *job = &lister->work->jobs[which];
    for (int i = 0; i < job->loop.instrs; i++) {
        struct explain_listed *to = rows[job->loop.places[i]];
        if (!to || to->loop)
            continue;
        to->loop = which + 1;
        to->shown_loop = arena_printf(lister->arena, "%d", to->loop);
        if (!job->refused && explanation->block.n == job->loop.instrs)
            listed_take(lister, explanation, i, to);
    }
}

// Takes what the tables say of an instruction alone.
static void alone_take(struct lister *lister, const uint8_t *bytes, size_t len,
                       struct explain_listed *to)
{
    struct arena arena = {0};
    struct block block;
    struct err ignored;
    if (block_read(bytes, len, lister->listing->bits, &block, &arena, &ignored) == 0) {
        struct explanation *explanation = arena_alloc(&arena, sizeof *explanation);
        explain_predict(&lister->work->table, &block, explanation, &arena);
        listed_take(lister, explanation, 0, to);
        to->on_chain = false; // of no loop
        to->shown_chain = "";
    }
    arena_free(&arena);
}

static const char *bytes_text(const uint8_t *bytes, size_t len, struct arena *arena)
{
    char text[2 * ZYDIS_MAX_INSTRUCTION_LENGTH + 1] = "";
    for (size_t i = 0; i < len; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return arena_strdup(arena, text);
}

static int instrs_list(struct lister *lister, struct err *err)
{
    const struct code_function *code = &lister->function->code;
    struct explain_listing *listing = lister->listing;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct explain_listed **rows = arena_alloc(lister->arena, code->len * sizeof(void *));
    if (block_decoder_begin(&decoder, code->bits, err) != 0)
        return -1;
    if (ZYAN_FAILED(ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
        return err_set(err, "the decoder cannot be used");
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    for (size_t at = 0; at < code->len; at += in.length) {
        char text[256];
        const uint8_t *bytes = code->bytes + at;
        struct explain_listed *to = &listing->instructions[listing->ninstructions];
        if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, code->len - at, &in, ops)) ||
            ZYAN_FAILED(ZydisFormatterFormatInstruction(&formatter, &in, ops,
                                                        in.operand_count_visible, text, sizeof text,
                                                        code->address + at, NULL)))
            return err_set(err, "the bytes at 0x%zx are no instruction", at);
        *to = (struct explain_listed){.bytes = bytes_text(bytes, in.length, lister->arena),
                                      .instruction = arena_strdup(lister->arena, text),
                                      .slots = NAN,
                                      .shown_ports = "",
                                      .shown_loop = "",
                                      .shown_chain = ""};
        snprintf(to->address, sizeof to->address, "%s0x%llx", lister->function->called ? "+" : "",
                 (unsigned long long)code->address + at);
        rows[at] = to;
        listing->ninstructions++;
    }
    for (int i = 0; i < lister->work->njobs; i++)
        loop_take(lister, i, rows);
    for (size_t at = 0; at < code->len; at += strlen(rows[at]->bytes) / 2)
        if (!rows[at]->loop)
            alone_take(lister, code->bytes + at, strlen(rows[at]->bytes) / 2, rows[at]);
    return 0;
}

int explain_function_list(struct explain_work *work, const struct explain_function *function,
                          struct explain_listing *listing, struct arena *arena, struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    size_t n = (size_t)work->njobs + 1;
    struct lister lister = {work,
                            function,
                            listing,
                            arena_alloc(arena, n * sizeof(struct explanation)),
                            arena_alloc(arena, n * sizeof(struct explain_row)),
                            arena};
    *listing = (struct explain_listing){
        .title = arena_printf(arena, "%s, %s", spec->file, spec->symbol),
        .uarch = work->table.data.uarch,
        .bits = function->code.bits,
        .call_clk = NAN,
        .loops_clk = NAN,
        .failure = "",
        .others = function->others,
        .loops = arena_alloc(arena, n * sizeof *listing->loops),
        .instructions = arena_alloc(arena, function->code.len * sizeof *listing->instructions)};
    bool measures = !work->request->predict;
    if (loops_predict(&lister, err) != 0 || (measures && loops_measure(&lister, err) != 0))
        return -1;
    loops_list(&lister);
    if (measures && function->called && call_measure(&lister, err) != 0)
        return -1;
    return instrs_list(&lister, err);
}
