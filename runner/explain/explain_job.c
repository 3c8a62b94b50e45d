// SPDX-License-Identifier: MIT
#include "explain_job.h"

#include "bench/bench_break.h"
#include "bench/bench_code.h"
#include "bench/bench_input.h"
#include "bench/bench_source.h"
#include "bench/bench_text.h"
#include "explain_flow.h"
#include "explain_lines.h"
#include "explain_missing.h"
#include "measure/session.h"
#include "store/store.h"
#include "store/store_machines.h"
#include "util/scratch.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void explain_job_loop(struct explain_work *work, const struct image_loop *loop, int bits,
                      int number, struct explain_job *job)
{
    const struct explain_request *request = work->request;
    const struct code_loop *code = &loop->loop;
    *job = (struct explain_job){
        .init = request->spec.init,
        .name = loop->function,
        .bytes = {code->code, code->len, loop->address + code->offset, bits, true, 0},
        .loop = *code,
        .line = number,
        .weight = 1
    };
    job->block.n = code->instrs;
    job->title = arena_printf(&work->arena, "%s, %s: loop %d, 0x%llx..0x%llx", request->spec.file,
                              loop->function ? loop->function : "no symbol", number,
                              (unsigned long long)loop->address + code->offset,
                              (unsigned long long)loop->address + code->end);
}

struct code_path *explain_work_path(struct explain_work *work, bool *wrong, struct err *err)
{
    const char *text = work->request->path;
    *wrong = text && code_path_parse(text, &work->path, err) != 0;
    return text ? &work->path : NULL;
}

// Returns what is to be done about loops that are none.
static const char *others_advice(const struct explain_work *work, int others)
{
    if (!others)
        return "";
    return work->request->path ? ", only such with calls inside or another way"
                               : ", only such with branches or calls inside: --path names the "
                                 "branches that are taken";
}

// Makes jobs of the loops of an executable or library.
static int jobs_read_image(struct explain_work *work, struct err *err)
{
    const struct explain_request *request = work->request;
    const char *file = request->spec.file;
    struct image_loops loops;
    bool wrong;
    struct code_path *path = explain_work_path(work, &wrong, err);
    if (wrong || explain_image_loops(file, request->spec.symbol, path, &loops, &work->arena, err))
        return -1;
    if (loops.n == 0)
        return err_set(err,
                       "%s: there is no loop in it that is one block%s; --address explains parts "
                       "of it",
                       file, others_advice(work, loops.others));
    if (request->loop > 0 && (size_t)request->loop > loops.n)
        return err_set(err, "%s: %zu loops can be explained: there is no --loop %d", file, loops.n,
                       request->loop);
    work->many = request->loop == EXPLAIN_LOOPS_ALL;
    work->listed = request->loop == 0;
    size_t from = request->loop > 0 ? (size_t)request->loop - 1 : 0;
    size_t end = request->loop > 0 ? from + 1 : loops.n;
    work->jobs = xcalloc(end - from, sizeof *work->jobs);
    for (size_t i = from; i < end; i++)
        explain_job_loop(work, &loops.loops[i], loops.bits, (int)i + 1, &work->jobs[work->njobs++]);
    return 0;
}

int explain_jobs_read(struct explain_work *work, struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    if (work->request->blocks)
        return explain_lines_read(work, err);
    if (!spec->address && bench_input_is_elf(spec))
        return jobs_read_image(work, err);
    work->jobs = xcalloc(1, sizeof *work->jobs);
    work->jobs[0] = (struct explain_job){.body = spec->body, .init = spec->init, .hex = spec->hex};
    work->njobs = 1;
    return 0;
}

// Finds the addresses that the code before the clock sets up.
static int job_initial(struct explain_work *work, struct explain_job *job, const char *text,
                       int bits, struct err *err)
{
    uint8_t *code = xmalloc(BENCH_CODE_MAX);
    const char *init = text ? text : "";
    long len = *init ? bench_assemble(work->directory, init, bits, code, err) : 0;
    if (len >= 0 && (len > 0 || !*init))
        block_hold_initial(&job->block, code, (size_t)len);
    free(code);
    return len < 0 ? -1 : 0;
}

// Returns true if the tables have the same rows for both instructions.
static bool same_rows(const struct explain_work *work, const struct block_instr *a,
                      const struct block_instr *b)
{
    return a->in.mnemonic == b->in.mnemonic &&
           (!work->request->measure ||
            (a->in.length == b->in.length && memcmp(a->bytes, b->bytes, a->in.length) == 0));
}

void explain_work_see(struct explain_work *work, const struct block *block)
{
    struct block *seen = &work->seen;
    seen->bits = block->bits;
    for (int i = 0; i < block->n; i++) {
        int at = 0;
        while (at < seen->n && !same_rows(work, &seen->instrs[at], &block->instrs[i]))
            at++;
        if (at < seen->n)
            continue;
        seen->instrs = xgrow(seen->instrs, &work->seen_room, (size_t)at + 1, sizeof *seen->instrs);
        seen->instrs[at] = block->instrs[i];
        seen->instrs[at].text = arena_strdup(&work->arena, block->instrs[i].text);
        seen->n++;
    }
}

// Reads the instructions of a block. A file may have any number of blocks, so they are only kept
// while needed.
static int job_read_block(struct explain_work *work, struct explain_job *job, int bits,
                          struct err *err)
{
    struct arena arena = {0};
    int status = block_read(job->code, job->len, bits, &job->block, &arena, err);
    if (status == 0)
        explain_work_see(work, &job->block);
    arena_free(&arena);
    job->block.instrs = NULL;
    return status;
}

static int job_assemble(struct explain_work *work, struct explain_job *job, struct err *err)
{
    int bits = work->request->spec.bits ? work->request->spec.bits : 64;
    uint8_t *code = xmalloc(BENCH_CODE_MAX);
    const char *body = job->body ? job->body : "";
    struct err why = {0};
    long len = bench_assemble(work->directory, body, bits, code, &why);
    if (len > 0) {
        uint8_t *copy = arena_alloc(&work->arena, (size_t)len);
        memcpy(copy, code, (size_t)len);
        job->code = copy;
        job->len = (size_t)len;
    }
    free(code);
    if (len < 0)
        return err_set(err, "%s", why.text);
    if (*why.text || bench_text_check_mode(body, bits, &why) != 0 ||
        bench_text_check_mode(job->init, bits, &why) != 0 ||
        job_read_block(work, job, bits, &why) != 0)
        job->refused = arena_strdup(&work->arena, why.text);
    return job->refused ? 0 : job_initial(work, job, job->init, bits, err);
}

// Takes a block of machine code from outside.
static void job_take_bytes(struct explain_work *work, struct explain_job *job,
                           const struct bench_bytes *bytes)
{
    struct err why = {0};
    job->bytes = *bytes;
    job->bytes.number = (int)(job - work->jobs) + 1;
    job->code = bytes->bytes;
    job->len = bytes->len;
    job->bits = bytes->bits;
    if (job_read_block(work, job, bytes->bits, &why) != 0)
        job->refused = arena_strdup(&work->arena, why.text);
}

int explain_job_prepare(struct explain_work *work, struct explain_job *job, struct arena *arena,
                        struct err *err)
{
    struct bench_bytes_text text;
    struct err why = {0};
    const char *init = job->init;
    if (!job->bytes.len || job->refused)
        return 0;
    if (bench_bytes_text(&job->bytes, init, &text, arena, &why) != 0) {
        job->refused = arena_strdup(&work->arena, why.text);
        return 0;
    }
    job->body = text.body;
    job->init = text.init;
    job->copies = text.copies;
    job->looped = text.looped;
    job->linked = text.linked;
    job->foreign = job->bytes.own;
    if (init || !job->bytes.own)
        return job_initial(work, job, text.registers, job->bits, err);
    block_hold_initial(&job->block, NULL, 0);
    for (int i = 0; i < BENCH_REGISTERS; i++)
        if (text.first[i].kind != BENCH_REGISTER_AS_TEXT)
            job->block.held[i] = (struct block_held){
                text.first[i].kind == BENCH_REGISTER_DATA ? HELD_DATA : HELD_CONSTANT,
                text.first[i].value};
    return 0;
}

// Reads a block from outside. Returns 1, 0 if it is none, or -1.
static int job_foreign(struct explain_work *work, struct explain_job *job, struct err *err)
{
    struct bench_spec spec = work->request->spec;
    struct bench_bytes bytes = job->bytes;
    struct err why = {0};
    struct bench_reading reading = {work->directory, &work->arena, false};
    if (job->refused)
        return 1;
    spec.body = job->body;
    spec.hex = job->hex;
    int found = bytes.len ? 1 : bench_input_read(&spec, &reading, &bytes, &why);
    if (found > 0 && !job->title && spec.file)
        job->title = arena_strdup(&work->arena, spec.file);
    if (found > 0) {
        job_take_bytes(work, job, &bytes);
        return 1;
    }
    if (found == 0)
        return 0;
    if (!reading.refused)
        return err_set(err, "%s", why.text);
    job->refused = arena_strdup(&work->arena, why.text);
    return 1;
}

int explain_job_call(struct explain_work *work, const struct bench_code *code,
                     struct explain_place *place, struct code_loops *loops, struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    const struct code_function function = {code->bytes, code->len, 0, code->bits};
    struct bench_call *call = arena_alloc(&work->arena, sizeof *call);
    bool wrong;
    *place = (struct explain_place){.directory = work->directory,
                                    .object = code->object,
                                    .call = call,
                                    .function_len = code->len,
                                    .runs = 1};
    struct code_path *path = explain_work_path(work, &wrong, err);
    if (wrong || bench_call_make(spec, code->bits, work->directory, call, &work->arena, err) != 0 ||
        code_loops_find(&function, path, loops, &work->arena, err) != 0 ||
        code_loops_flow(&function, loops, &work->arena, err) != 0)
        return -1;
    return path ? code_path_check(path, err) : 0;
}

// Chooses the requested loop of the function.
static int job_choose_loop(struct explain_work *work, const struct code_loops *loops,
                           struct explain_job *job, struct err *err)
{
    const struct explain_request *request = work->request;
    const char *symbol = request->spec.symbol;
    int number = request->loop ? request->loop : 1;
    if (loops->n == 0)
        return err_set(err, "'%s' has no loop that is one block%s; or explain its parts as code",
                       symbol, others_advice(work, loops->others));
    if (number > loops->n)
        return err_set(err, "'%s' has %d loop%s that can be explained: there is no --loop %d",
                       symbol, loops->n, loops->n == 1 ? "" : "s", number);
    job->loop = loops->loops[number - 1];
    job->title = arena_printf(&work->arena, "%s, %s: loop %d of %d, at +0x%zx", request->spec.file,
                              symbol, number, loops->n, job->loop.offset);
    job->code = job->loop.code;
    job->len = job->loop.len;
    job->place.offset = job->loop.offset;
    return 0;
}

static int job_read_code(struct explain_work *work, struct explain_job *job, bool *refused,
                         struct err *err)
{
    const struct bench_spec *spec = &work->request->spec;
    struct bench_code code;
    struct code_loops loops;
    if (bench_file_code(spec, work->directory, &code, &work->arena, refused, err) != 0)
        return -1;
    *refused = true;
    job->code = code.bytes;
    job->len = code.len;
    job->bits = code.bits;
    job->function = code.function;
    job->instances = code.instances;
    job->place = (struct explain_place){
        .directory = work->directory, .testcode = code.testcode, .runs = code.instances};
    job->title = arena_printf(&work->arena, "%s: testcode", spec->file);
    if (code.function && (explain_job_call(work, &code, &job->place, &loops, err) != 0 ||
                          job_choose_loop(work, &loops, job, err) != 0))
        return -1;
    return job_read_block(work, job, job->bits, err);
}

static int job_read(struct explain_work *work, struct explain_job *job, struct err *err)
{
    struct err why = {0};
    bool refused = false;
    if (job_read_code(work, job, &refused, &why) == 0)
        return 0;
    if (!refused)
        return err_set(err, "%s", why.text);
    job->refused = arena_strdup(&work->arena, why.text);
    return 0;
}

int explain_jobs_assemble(struct explain_work *work, struct err *err)
{
    bool file = work->request->spec.file != NULL;
    if (!work->directory)
        work->directory = scratch_begin(err);
    int status = work->directory ? 0 : -1;
    for (int i = 0; i < work->njobs && status == 0 && !session_stopped_by(); i++) {
        int foreign = job_foreign(work, &work->jobs[i], err);
        status = foreign < 0   ? -1
                 : foreign > 0 ? 0
                 : file        ? job_read(work, &work->jobs[i], err)
                               : job_assemble(work, &work->jobs[i], err);
    }
    return session_check_stopped(status, err);
}

// Measures missing forms. It writes through a connection of its own, since reading is restricted to
// the blocks.
static int work_measure(struct explain_work *work, struct err *err)
{
    const char *path = work->request->db ? work->request->db : store_default_path();
    struct store *store;
    if (store_open(path, STORE_WRITE, &store, err) != 0)
        return -1;
    int status =
        explain_measure_missing(&work->table, store, &work->seen, 1, &work->request->spec, err);
    store_close(store);
    if (status != 1)
        return status;
    store_close(work->store);
    work->store = NULL;
    bool open = store_open(path, STORE_READ, &work->store, err) == 0;
    return open && store_machines_apart(work->store, err) == 0 ? 1 : -1;
}

int explain_work_load(struct explain_work *work, struct err *err)
{
    struct explain_from from = {work->store, work->uarch, work->run_id};
    int n = work->seen.n > 0;
    int status = table_load(&from, &work->seen, n, &work->table, err);
    if (status == 0 && work->request->measure)
        status = work_measure(work, err);
    if (status == 1) {
        table_free(&work->table);
        from.store = work->store;
        status = table_load(&from, &work->seen, n, &work->table, err);
    }
    return session_check_stopped(status, err);
}

// Refuses a number of rounds with which the core would do more in a cycle than its width: the loop
// has made fewer.
static void job_check_rounds(int instances, struct explain_result *result, struct arena *arena)
{
    const struct explanation *explanation = &result->explanation;
    struct explain_measured *measured = &result->measured;
    double width = explanation->model ? explanation->model->width : (double)INFINITY;
    double slots = explanation->slots / measured->clk;
    if (slots <= width * (1 + explain_tolerance))
        return;
    measured->failure = arena_printf(arena,
                                     "--instances %d would be %.1f slots per cycle, of which there "
                                     "are %.0f: the loop makes fewer rounds in a call",
                                     instances, slots, width);
    measured->clk = measured->spread_clk = NAN;
}

// Converts bench's time to one run through the block: of a function's loop, if its rounds are
// known.
static void job_scale(const struct explain_job *job, const struct bench_spec *spec,
                      struct explain_result *result, struct arena *arena)
{
    struct explain_measured *measured = &result->measured;
    if (job->function) {
        result->source.call_clk = measured->clk;
        result->has_measured = spec->instances || measured->failure;
        measured->clk /= spec->instances ? spec->instances : 1;
        measured->spread_clk /= spec->instances ? spec->instances : 1;
        if (spec->instances && !result->source.rounds && !measured->failure)
            job_check_rounds(spec->instances, result, arena);
        return;
    }
    measured->clk *= job->instances;
    measured->spread_clk *= job->instances;
}

int explain_job_places(const struct explain_job *job, const struct block *block,
                       struct explain_count *counts, int most)
{
    // A step through a string instruction is a part of it.
    const ZyanU64 again = ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE;
    const struct code_loop *loop = &job->loop;
    int n = 0;
    if (loop->entered || loop->nrounds >= most)
        return 0;
    for (int i = 0; i < loop->nrounds; i++)
        counts[n++] = (struct explain_count){.offset = loop->rounds[i].offset,
                                             .rounds = loop->rounds[i].sign};
    for (int i = 0; i < block->n && n < most; i++) {
        bool steps = block->instrs[i].in.attributes & again;
        if (i == 0 && steps)
            return 0;
        if (!steps && (i == 0 || block_refuses(&block->instrs[i - 1].in, false)))
            counts[n++] = (struct explain_count){
                .offset = loop->places[i], .rounds = i == 0 && loop->nrounds == 0, .on_way = true};
    }
    return n;
}

// Counts the rounds of a function's loop for the spec. Another number of the user's is a failure.
static int job_count(const struct explain_job *job, struct bench_spec *spec,
                     struct explain_result *result, struct arena *arena, struct err *err)
{
    struct explain_source *source = &result->source;
    struct explain_count counts[EXPLAIN_COUNTS_MAX];
    int n = explain_job_places(job, &result->explanation.block, counts, EXPLAIN_COUNTS_MAX);
    if (n && explain_count_rounds(&job->place, job->bits, counts, n, arena, err) != 0)
        return -1;
    const struct explain_rounds rounds = explain_rounds_of(&job->loop, counts, n);
    source->rounds = rounds.n;
    source->way_rounds = rounds.this_way;
    source->uncounted = rounds.why;
    if (source->rounds && spec->instances && spec->instances != source->rounds)
        result->measured = (struct explain_measured){
            .clk = NAN,
            .spread_clk = NAN,
            .failure = arena_printf(arena, "--instances %d is wrong: a call makes %ld rounds",
                                    spec->instances, source->rounds)};
    if (source->rounds)
        spec->instances = (int)source->rounds;
    return 0;
}

static int job_predict(const struct explain_work *work, const struct explain_job *job,
                       struct explanation *explanation, struct arena *arena, struct err *err)
{
    struct block block;
    if (block_read(job->code, job->len, job->block.bits, &block, arena, err) != 0)
        return -1;
    memcpy(block.held, job->block.held, sizeof block.held);
    explain_predict(&work->table, &block, explanation, arena);
    return 0;
}

// The code is text by now.
static void job_set_bytes(const struct explain_job *job, struct bench_spec *spec)
{
    spec->file = spec->hex = spec->address = spec->symbol = NULL;
    spec->syntax = BENCH_NASM;
    spec->foreign = job->foreign;
    spec->instances = job->copies;
    spec->unroll = job->looped ? 1 : 0;
    spec->looped = job->looped;
    spec->bits = job->bits;
}

struct bench_spec explain_job_spec(const struct explain_work *work, const struct explain_job *job)
{
    struct bench_spec spec = work->request->spec;
    spec.body = job->body;
    spec.init = job->init;
    spec.db = work->request->db ? work->request->db : store_default_path();
    spec.object = job->place.object;
    if (job->copies)
        job_set_bytes(job, &spec);
    spec.db_optional = true;
    return spec;
}

int explain_job_predict(const struct explain_work *work, const struct explain_job *job,
                        struct explain_result *result, struct arena *arena, struct err *err)
{
    result->has_measured = false;
    result->source = (struct explain_source){
        .title = job->title, .call_clk = NAN, .way_rounds = -1, .mispredicted = NAN};
    result->measured = (struct explain_measured){.clk = NAN, .spread_clk = NAN};
    return job_predict(work, job, &result->explanation, arena, err);
}

// Says how many mispredicted branches would explain that a loop takes longer, where its branches do
// not go the same way in all rounds.
static void job_mispredicts(const struct explain_work *work, struct explain_result *result)
{
    struct explain_source *source = &result->source;
    double more_clk = result->measured.clk - result->explanation.predicted_clk;
    source->mispredicts = explain_strays(source->rounds, source->way_rounds) &&
                          more_clk > explain_tolerance * result->measured.clk;
    if (source->mispredicts)
        source->mispredicted = more_clk / work->table.mispredicted_clk;
}

// Measures the block; of a function a call, which must return before its rounds are counted.
static int job_measure(const struct explain_job *job, struct bench_spec *spec,
                       struct explain_result *result, struct arena *arena, struct err *err)
{
    int instances = spec->instances;
    spec->instances = job->function ? 0 : instances;
    if (explain_measure(spec, &result->measured, arena, err) != 0)
        return -1;
    spec->instances = instances;
    bool returns = !result->measured.failure || result->measured.varies;
    return job->function && returns ? job_count(job, spec, result, arena, err) : 0;
}

int explain_job_explain(const struct explain_work *work, const struct explain_job *job,
                        struct explain_result *result, struct arena *arena, struct err *err)
{
    struct bench_spec spec = explain_job_spec(work, job);
    if (explain_job_predict(work, job, result, arena, err) != 0)
        return -1;
    if (work->request->predict)
        return 0;
    result->has_measured = true;
    if (job_measure(job, &spec, result, arena, err) != 0)
        return -1;
    if (result->measured.failure)
        return 0;
    if (spec.file)
        job_scale(job, &spec, result, arena);
    job_mispredicts(work, result);
    bool apart =
        job->function && !job->loop.whole; // an experiment changes code that stands together
    if (apart || job->linked || job->looped || !result->has_measured || result->measured.failure)
        return 0;
    const struct explain_subject subject = {&result->explanation, &spec, &work->table,
                                            spec.file ? &job->place : NULL};
    return explain_experiment(&subject, &result->measured, arena, err);
}

void explain_work_free(struct explain_work *work)
{
    scratch_end(work->directory, false);
    table_free(&work->table);
    free(work->jobs);
    free(work->seen.instrs);
    arena_free(&work->arena);
}
