// SPDX-License-Identifier: MIT
// latput explain: explains the time of a block of code.
#include "cmd_explain.h"
#include "bench/bench.h"
#include "bench/bench_break.h"
#include "bench/bench_code.h"
#include "bench/bench_text.h"
#include "cli/command.h"
#include "cli/option_format.h"
#include "cli/option_store.h"
#include "cmd_explain_missing.h"
#include "explain/explain.h"
#include "explain/explain_loop.h"
#include "explain/explain_print.h"
#include "explain/explain_try.h"
#include "measure/session.h"
#include "store/store.h"
#include "store/store_run.h"
#include "util/json.h"
#include "util/pager.h"
#include "util/scratch.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct bench_spec spec;
    const char *blocks, *uarch, *db;
    int loop; // number of the function's loop, from 1; 0: not given
    bool predict, measure;
    int64_t run_id;
    enum report_format format;
};

static int take_bits(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    if (strcmp(given->argument, "16") == 0)
        return command_fail(given->cmd, EXIT_USAGE,
                            "16-bit code cannot be measured here: only 64 and 32 are possible");
    if (strcmp(given->argument, "32") != 0 && strcmp(given->argument, "64") != 0)
        return command_fail(given->cmd, EXIT_USAGE, "--bits cannot be '%s': 64 or 32",
                            given->argument);
    arguments->spec.bits = atoi(given->argument);
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {0, "asm", "CODE", "the same as CODE, whatever it looks like", OPTION_TEXT(spec.body)},
    {0, "file", "FILE", "the same as FILE", OPTION_TEXT(spec.file)},
    {0, "symbol", "NAME", "the function of a .c or .o file, one of whose loops is explained",
        OPTION_TEXT(spec.symbol)},
    {0, "loop", "N", "number of the function's loop, in the order of its code (default 1)",
        OPTION_NUMBER(loop, 1, CODE_LOOPS_MAX)},
    {0, "instances", "N",
        "iterations of the loop per call: then it is measured beside the prediction; refused if "
        "the core would do more than its width",
        OPTION_NUMBER(spec.instances, 1, BENCH_UNROLL_MAX)},
    {0, "cflags", "FLAGS", "options for the compiler of a .c file, after -O2",
        OPTION_TEXT(spec.cflags)},
    {0, "init", "CODE", "run before the clock of every repetition", OPTION_TEXT(spec.init)},
    {0, "bits", "64|32", "mode of the processor (default 64)", OPTION_CALL(take_bits)},
    {0, "blocks", "FILE", "a file with one block per line instead: a row each, predicted and "
                          "measured",
        OPTION_TEXT(blocks)},
    {0, "predict", NULL, "measure nothing: only predict from the tables",
        OPTION_SWITCH(predict, true)},
    {0, "measure", NULL,
        "first measure forms of the block that the tables lack into the database, as latput run "
        "does",
        OPTION_SWITCH(measure, true)},
    {0, "uarch", "NAME", "predict for this CPU of the database; measures nothing",
        OPTION_TEXT(uarch)},
    {'r', "run", "N", "the numbers of this run instead of the best", OPTION_RUN(run_id)},
    {COMMON_DB(db)},
    {COMMON_CPU(spec.cpu)},
    {0, "give-up", "SECONDS", "how long to wait for an undisturbed core (default 5)",
        OPTION_SECONDS(spec.give_up_ms, BENCH_GIVE_UP_MAX_S)},
    {COMMON_FORMAT_JSON(format)},
    {0},
};
// clang-format on

static int explain_run(int argc, char **argv);

const struct command cmd_explain = {
    .name = "explain",
    .arguments = "CODE|FILE",
    .summary = "say why a block of code takes as long as it does",
    .description =
        "Predicts from the tables of this CPU how long a copy of the block takes when it runs "
        "again and again, and measures it as latput bench does. The longest of these bounds is the "
        "prediction: the front end's slots, the ports (the least time over all sets of them), "
        "units that are not pipelined, and the longest chain that one copy hands to the next "
        "through registers, flags and memory. Where prediction and measurement differ by more than "
        "10 %, the block is measured in other shapes that show the reason: chains broken, ports "
        "relieved, loads from one line. Instructions are found in the tables by their machine "
        "code; missing ones are named.\n"
        "The block may use the registers as with latput bench: r14 holds the address of the data "
        "area, r15 is the loop's. --blocks reads one block per line, `code` or `init | code`; the "
        "exit status is 1 if one is refused. "
        "CODE is in NASM's syntax; `;` separates instructions. FILE is one of those of latput "
        "bench: the block is `testcode` of a NASM file, or a loop of a function of a .c or .o file "
        "without other branches and calls.\n"
        "The tables come from latput run; docs/EXPLAIN.md describes the model.",
    .options = options,
    .run = explain_run,
};

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    struct err err;
    int operand = argc;
    int status = command_read_options(&cmd_explain, argc, argv, arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    const struct bench_spec *spec = &arguments->spec;
    if (bench_take_operands(&arguments->spec, argv + operand, argc - operand, &err) != 0)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s", err.text);
    int given = !!spec->body + !!spec->file + !!arguments->blocks;
    if (given != 1)
        return command_fail(
            &cmd_explain, EXIT_USAGE, "%s e.g. latput explain 'imul rax, rbx; add rax, rcx'",
            given ? "one of code, a file and --blocks;" : "what is to be explained?");
    if (!spec->symbol && (arguments->loop || spec->instances || spec->cflags))
        return command_fail(
            &cmd_explain, EXIT_USAGE,
            "--loop, --instances and --cflags are for a function: FILE --symbol NAME");
    if (arguments->measure && (arguments->uarch || arguments->run_id))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--measure is for this machine's tables, not for --uarch or --run");
    if (!spec->file && spec->symbol)
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--symbol names a function of a file: FILE --symbol NAME");
    return EXIT_DONE;
}

// One block of the user, with its results.
struct job {
    const char *body, *init;
    int line;                   // line in the file of blocks; 0: of no such file
    const char *title;          // with --file: the place of the block; else NULL
    bool function;              // the block is a loop of a function
    int instances;              // with --file: divisor of a measurement for one run of the block
    struct explain_place place; // with --file
    const uint8_t *code;
    size_t len;
    int bits;
    const char *refused; // reason if it cannot be explained; NULL
    struct block block;  // without its instructions, which are read again
};
struct work {
    const struct arguments *arguments;
    struct job *jobs;
    int njobs;
    struct block seen; // instructions of all jobs, without those that need the same rows of the
                       // tables
    size_t seen_room;
    struct store *store;
    const char *uarch;
    struct explain_table table;
    char *directory; // for files made on the way
    struct arena arena;
};

static int jobs_read_file(struct work *work)
{
    const char *path = work->arguments->blocks;
    FILE *file = fopen(path, "r");
    if (!file)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s: cannot be read: %s", path,
                            strerror(errno));
    char *line = NULL;
    size_t capacity = 0, room = 0;
    for (int number = 1; getline(&line, &capacity, file) >= 0; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (!line[strspn(line, " \t")] || *line == '#')
            continue;
        work->jobs = xgrow(work->jobs, &room, (size_t)work->njobs + 1, sizeof *work->jobs);
        char *bar = strchr(line, '|');
        if (bar)
            *bar = '\0';
        work->jobs[work->njobs++] =
            (struct job){.body = arena_strdup(&work->arena, bar ? bar + 1 : line),
                         .init = bar ? arena_strdup(&work->arena, line) : NULL,
                         .line = number};
    }
    free(line);
    fclose(file);
    return work->njobs
               ? EXIT_DONE
               : command_fail(&cmd_explain, EXIT_USAGE, "%s: there is no block in it", path);
}

static int jobs_read(struct work *work)
{
    if (work->arguments->blocks)
        return jobs_read_file(work);
    work->jobs = xcalloc(1, sizeof *work->jobs);
    work->jobs[0] =
        (struct job){.body = work->arguments->spec.body, .init = work->arguments->spec.init};
    work->njobs = 1;
    return EXIT_DONE;
}

// Finds the addresses that the code before the clock sets up.
static int job_initial(struct work *work, struct job *job, int bits, struct err *err)
{
    uint8_t *code = xmalloc(BENCH_CODE_MAX);
    const char *init = job->init ? job->init : "";
    long len = *init ? bench_assemble(work->directory, init, bits, code, err) : 0;
    if (len >= 0 && (len > 0 || !*init))
        block_hold_initial(&job->block, code, (size_t)len);
    free(code);
    return len < 0 ? -1 : 0;
}

// Returns true if the tables have the same rows for both instructions.
static bool same_rows(const struct work *work, const struct block_instr *a,
                      const struct block_instr *b)
{
    return a->in.mnemonic == b->in.mnemonic &&
           (!work->arguments->measure ||
            (a->in.length == b->in.length && memcmp(a->bytes, b->bytes, a->in.length) == 0));
}

static void work_see(struct work *work, const struct block *block)
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
static int job_read_block(struct work *work, struct job *job, int bits, struct err *err)
{
    struct arena arena = {0};
    int status = block_read(job->code, job->len, bits, &job->block, &arena, err);
    if (status == 0)
        work_see(work, &job->block);
    arena_free(&arena);
    job->block.instrs = NULL;
    return status;
}

static int job_assemble(struct work *work, struct job *job, struct err *err)
{
    int bits = work->arguments->spec.bits ? work->arguments->spec.bits : 64;
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
    return job->refused ? 0 : job_initial(work, job, bits, err);
}

// Chooses the requested loop of the function.
static int job_choose_loop(struct work *work, struct job *job, struct err *err)
{
    const struct arguments *arguments = work->arguments;
    struct code_loops loops;
    int number = arguments->loop ? arguments->loop : 1;
    if (code_loops_find(job->code, job->len, job->bits, &loops, err) != 0)
        return -1;
    if (loops.n == 0)
        return err_set(err, "'%s' has no loop that is one block%s: explain its parts as code",
                       arguments->spec.symbol,
                       loops.others ? ", only such with branches or calls inside" : "");
    if (number > loops.n)
        return err_set(err, "'%s' has %d loop%s that can be explained: there is no --loop %d",
                       arguments->spec.symbol, loops.n, loops.n == 1 ? "" : "s", number);
    const struct code_loop *loop = &loops.loops[number - 1];
    job->title =
        arena_printf(&work->arena, "%s, %s: loop %d of %d, at +0x%zx", arguments->spec.file,
                     arguments->spec.symbol, number, loops.n, loop->offset);
    job->code += loop->offset;
    job->place.offset = loop->offset;
    job->len = loop->len;
    return 0;
}

static int job_read_code(struct work *work, struct job *job, bool *refused, struct err *err)
{
    const struct bench_spec *spec = &work->arguments->spec;
    struct bench_code code;
    if (bench_file_code(spec, work->directory, &code, &work->arena, refused, err) != 0)
        return -1;
    *refused = true;
    job->code = code.bytes;
    job->len = code.len;
    job->bits = code.bits;
    job->function = code.function;
    job->instances = code.instances;
    job->place = (struct explain_place){.directory = work->directory,
                                        .testcode = code.testcode,
                                        .object = code.object,
                                        .runs = code.function ? 1 : code.instances};
    job->title = arena_printf(&work->arena, "%s: testcode", spec->file);
    if (code.function && job_choose_loop(work, job, err) != 0)
        return -1;
    return job_read_block(work, job, job->bits, err);
}

static int job_read(struct work *work, struct job *job, struct err *err)
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

static int jobs_assemble(struct work *work, struct err *err)
{
    bool file = work->arguments->spec.file != NULL;
    work->directory = scratch_begin(err);
    int status = work->directory ? 0 : -1;
    for (int i = 0; i < work->njobs && status == 0 && !session_stopped_by(); i++)
        status = (file ? job_read : job_assemble)(work, &work->jobs[i], err);
    return session_check_stopped(status, err);
}

// Measures missing forms. It writes through a connection of its own, since reading is restricted to
// the blocks.
static int work_measure(struct work *work, struct err *err)
{
    const char *path = work->arguments->db ? work->arguments->db : store_default_path();
    struct store *store;
    if (store_open(path, STORE_WRITE, &store, err) != 0)
        return -1;
    int status =
        explain_measure_missing(&work->table, store, &work->seen, 1, &work->arguments->spec, err);
    store_close(store);
    if (status != 1)
        return status;
    store_close(work->store);
    work->store = NULL;
    return store_open(path, STORE_READ, &work->store, err) == 0 ? 1 : -1;
}

static int work_load(struct work *work, struct err *err)
{
    struct explain_from from = {work->store, work->uarch, work->arguments->run_id};
    int n = work->seen.n > 0;
    int status = table_load(&from, &work->seen, n, &work->table, err);
    if (status == 0 && work->arguments->measure)
        status = work_measure(work, err);
    if (status == 1) {
        table_free(&work->table);
        from.store = work->store;
        status = table_load(&from, &work->seen, n, &work->table, err);
    }
    return session_check_stopped(status, err);
}

struct job_result {
    struct explanation explanation;
    struct explain_measured measured;
    bool has_measured;
    struct explain_source source;
};

// Refuses a number of rounds with which the core would do more in a cycle than its width: the loop
// has made fewer.
static void job_check_rounds(const struct job *job, struct job_result *result, struct arena *arena)
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
                                     job->instances, slots, width);
    measured->clk = measured->spread_clk = NAN;
}

// Converts bench's time to one run through the block. Only the user knows how often a function's
// loop runs per call: without that there is nothing to compare.
static void job_scale(const struct job *job, const struct bench_spec *spec,
                      struct job_result *result, struct arena *arena)
{
    struct explain_measured *measured = &result->measured;
    if (job->function) {
        result->source.call_clk = measured->clk * job->instances;
        result->has_measured = spec->instances || measured->failure;
        if (spec->instances && !measured->failure)
            job_check_rounds(job, result, arena);
        return;
    }
    measured->clk *= job->instances;
    measured->spread_clk *= job->instances;
}

static int job_predict(const struct work *work, const struct job *job,
                       struct explanation *explanation, struct arena *arena, struct err *err)
{
    struct block block;
    if (block_read(job->code, job->len, job->block.bits, &block, arena, err) != 0)
        return -1;
    memcpy(block.held, job->block.held, sizeof block.held);
    explain_predict(&work->table, &block, explanation, arena);
    return 0;
}

// Explains a block; the arena owns the result.
static int job_explain(const struct work *work, const struct job *job, struct job_result *result,
                       struct arena *arena, struct err *err)
{
    struct bench_spec spec = work->arguments->spec;
    spec.body = job->body;
    spec.init = job->init;
    spec.db = work->arguments->db ? work->arguments->db : store_default_path();
    spec.object = job->place.object;
    spec.db_optional = true;
    result->has_measured = false;
    result->source = (struct explain_source){job->title, NAN};
    if (job_predict(work, job, &result->explanation, arena, err) != 0)
        return -1;
    if (work->arguments->predict)
        return 0;
    result->has_measured = true;
    if (explain_measure(&spec, &result->measured, arena, err) != 0)
        return -1;
    if (spec.file)
        job_scale(job, &spec, result, arena);
    if (work->arguments->blocks || !result->has_measured || result->measured.failure)
        return 0;
    const struct explain_subject subject = {&result->explanation, &spec, &work->table,
                                            spec.file ? &job->place : NULL};
    return explain_experiment(&subject, &result->measured, arena, err);
}

static void print_one(const struct work *work, const struct job_result *result)
{
    struct strbuf out = {0};
    struct json json = {.out = &out};
    const struct explain_measured *measured = result->has_measured ? &result->measured : NULL;
    if (work->arguments->format == REPORT_JSON) {
        json_open(&json, '[');
        explain_print_json(&result->explanation, measured, &result->source, &json);
        json_close(&json, ']');
        strbuf_puts(&out, "\n");
    } else {
        const struct explain_look look = {terminal_columns(STDOUT_FILENO),
                                          terminal_has_colour(STDOUT_FILENO)};
        explain_print_text(&result->explanation, measured, &result->source, &look, &out);
    }
    pager_put(strbuf_text(&out));
    strbuf_free(&out);
}

// A tool that a signal ended has no say in why there is no answer.
static int explain_check_stopped(int status, struct err *err)
{
    const char *by = session_stopped_by();
    return by ? err_set(err, "stopped by %s before it was done", by) : status;
}

static int explain_one(struct work *work)
{
    struct err err = {0};
    struct job_result *result = arena_alloc(&work->arena, sizeof *result);
    const struct job *job = &work->jobs[0];
    if (job->refused)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s%s", job->body ? "code: " : "",
                            job->refused);
    int status = work_load(work, &err);
    if (status == 0)
        status = explain_check_stopped(job_explain(work, job, result, &work->arena, &err), &err);
    if (status != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    print_one(work, result);
    return result->has_measured && result->measured.failure ? EXIT_SOME_FAILED : EXIT_DONE;
}

// Prints a row of --blocks.
static void print_row(struct json *json, const struct job *job, const struct job_result *result)
{
    const struct explanation *known = job->refused ? NULL : &result->explanation;
    const struct explain_measured *measured =
        known && result->has_measured ? &result->measured : NULL;
    json_open(json_break(json, "\n  "), '{');
    json_int(json_name(json, "line"), job->line);
    json_text_known(json_name(json, "refused"), job->refused);
    if (known) {
        json_int(json_name(json, "instructions"), known->block.n);
        json_int(json_name(json, "assumed"), known->unknown);
    } else {
        json_null(json_name(json, "instructions"));
        json_null(json_name(json, "assumed"));
    }
    json_fixed(json_name(json, "predicted_clk"), known ? known->predicted_clk : (double)NAN, 3);
    json_text_known(json_name(json, "limit"),
                    known && known->nlimits ? explain_kind_name(known->limits[0].kind) : NULL);
    json_fixed(json_name(json, "measured_clk"), measured ? measured->clk : (double)NAN, 3);
    json_text_known(json_name(json, "failure"), measured ? measured->failure : NULL);
    json_close(json, '}');
}

// Prints a number, or blanks for NaN.
static void print_number(int width, double number)
{
    if (isfinite(number))
        printf("  %*.2f", width, number);
    else
        printf("  %*s", width, "");
}

static void print_line(const struct job *job, const struct job_result *result)
{
    const struct explanation *explanation = &result->explanation;
    bool measured = result->has_measured && isfinite(result->measured.clk);
    if (job->refused) {
        printf("%6d  refused: %s\n", job->line, job->refused);
        return;
    }
    printf("%6d  %6d", job->line, explanation->block.n);
    print_number(9, explanation->predicted_clk);
    print_number(9, measured ? result->measured.clk : (double)NAN);
    if (measured && isfinite(explanation->predicted_clk) && result->measured.clk > 0)
        printf("  %+8.1f", 100 * explain_difference(explanation, &result->measured));
    else
        printf("  %8s", "");
    printf("  %s%s\n", explanation->nlimits ? explain_kind_name(explanation->limits[0].kind) : "",
           explanation->unknown ? " (some assumed)" : "");
}

static int explain_row(const struct work *work, const struct job *job, struct json *json)
{
    struct arena arena = {0};
    struct err err = {0};
    struct job_result *result = arena_alloc(&arena, sizeof *result);
    int status = job->refused ? 0 : job_explain(work, job, result, &arena, &err);
    status = explain_check_stopped(status, &err);
    if (status == 0 && json)
        print_row(json, job, result);
    else if (status == 0)
        print_line(job, result);
    arena_free(&arena);
    return status == 0 ? EXIT_DONE : command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
}

static int explain_blocks(struct work *work)
{
    struct err err = {0};
    struct strbuf out = {0};
    struct json json = {.out = &out};
    bool as_json = work->arguments->format == REPORT_JSON;
    bool colour = terminal_has_colour(STDOUT_FILENO);
    int status = EXIT_DONE;
    if (work_load(work, &err) != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    if (as_json)
        json_open(&json, '[');
    else
        printf("%s  line  instrs  predicted   measured     diff %%  limit%s\n",
               text_style_begin(STYLE_HEADING, colour), text_style_end(STYLE_HEADING, colour));
    int refused = 0;
    for (int i = 0; i < work->njobs && status == EXIT_DONE; i++) {
        status = explain_row(work, &work->jobs[i], as_json ? &json : NULL);
        refused += work->jobs[i].refused != NULL;
    }
    if (as_json) {
        json_close(&json, ']');
        puts(strbuf_text(&out));
    }
    strbuf_free(&out);
    fflush(stdout);
    if (status == EXIT_DONE && refused)
        status = command_fail(&cmd_explain, EXIT_SOME_FAILED, "%s: %d of %d blocks refused",
                              work->arguments->blocks, refused, work->njobs);
    return status;
}

// Chooses the CPU for the numbers: that of --uarch, of --run, or this one.
static int work_choose(struct work *work, struct err *err)
{
    const struct arguments *arguments = work->arguments;
    int status = store_option_check(&cmd_explain, work->store, arguments->run_id);
    work->uarch = arguments->uarch;
    if (status == EXIT_DONE)
        status = store_option_called(&cmd_explain, work->store, &work->uarch);
    if (status != EXIT_DONE || work->uarch)
        return status;
    char *name = arguments->run_id ? store_option_uarch(work->store, arguments->run_id, err)
                                   : store_option_uarch_here(work->store, err);
    if (!name)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err->text);
    work->uarch = arena_strdup(&work->arena, name);
    free(name);
    int64_t run_id;
    int found = arguments->run_id ? 0 : store_run_newest(work->store, work->uarch, &run_id, err);
    if (found == 1)
        found = store_note_merged(&cmd_explain, work->store, run_id, err);
    return found < 0 ? command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err->text) : EXIT_DONE;
}

static int explain_with(struct work *work)
{
    struct err err = {0};
    int status = jobs_read(work);
    if (status != EXIT_DONE)
        return status;
    if (jobs_assemble(work, &err) != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    // Faults of the block are reported before those of the database.
    if (!work->arguments->blocks && work->jobs[0].refused)
        return explain_one(work);
    status = store_option_open(&cmd_explain, work->arguments->db, STORE_READ, &work->store);
    if (status == EXIT_DONE)
        status = work_choose(work, &err);
    if (status == EXIT_DONE)
        status = work->arguments->blocks ? explain_blocks(work) : explain_one(work);
    store_close(work->store);
    return status;
}

static int explain_work(const struct arguments *arguments)
{
    struct work work = {.arguments = arguments};
    int status = explain_with(&work);
    scratch_end(work.directory, false);
    table_free(&work.table);
    free(work.jobs);
    free(work.seen.instrs);
    arena_free(&work.arena);
    return status;
}

int explain_bench(const struct bench_spec *spec)
{
    struct arguments arguments = {.spec = *spec, .db = spec->db};
    arguments.spec.events = NULL;
    arguments.spec.ncolumns = 0;
    arguments.spec.store = arguments.spec.keep = false;
    return explain_work(&arguments);
}

static int explain_run(int argc, char **argv)
{
    struct arguments arguments = {.spec = bench_defaults()};
    int status = parse_arguments(argc, argv, &arguments);
    if (status != EXIT_DONE)
        return status;
    arguments.predict |= arguments.uarch != NULL;
    session_stop_on_signals();
    return explain_work(&arguments);
}
