// SPDX-License-Identifier: MIT
// latput explain: explains the time of a block of code.
#include "bench/bench_input.h"
#include "cli/option_code.h"
#include "cli/option_store.h"
#include "cmd_bench.h"
#include "explain/explain_listing.h"
#include "explain/explain_many.h"
#include "explain_choose.h"
#include "measure/session.h"
#include "store/store.h"
#include "store/store_run.h"
#include "util/json.h"
#include "util/pager.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/text_table.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct explain_request request;
    const char *uarch;
    int64_t run_id;
};

static int take_loop(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    char *end;
    long number = strtol(given->argument, &end, 10);
    if (strcmp(given->argument, "all") == 0)
        number = EXPLAIN_LOOPS_ALL;
    else if (end == given->argument || *end || number < 1 || number > INT_MAX)
        return command_fail(given->cmd, EXIT_USAGE,
                            "--loop cannot be '%s': a number from 1, or all", given->argument);
    arguments->request.loop = (int)number;
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {CODE_ASM(request.spec)},
    {0, "file", "FILE", "the same as FILE", OPTION_TEXT(request.spec.file)},
    {0, "symbol", "NAME", "the function of a .c or .o file, one of whose loops is explained",
        OPTION_TEXT(request.spec.symbol)},
    {CODE_ARGS(request.spec)},
    {0, "loop", "N|all", "number of the loop, in the order of the code; of an executable or "
                         "library `all` has a row each (default: 1 of a function, else a list)",
        OPTION_CALL(take_loop)},
    {0, "path", "LIST", "the way through the loops of the function: addresses of the branches that "
                        "are taken, +N in the function, or none; others are not",
        OPTION_TEXT(request.path)},
    {0, "listing", NULL,
        "a report of the function: each loop in two lines, then its instructions with slots and "
        "ports, and whether they are on a loop's longest chain",
        OPTION_SWITCH(request.listing, true)},
    {CODE_HEX(request.spec)},
    {CODE_SYNTAX(request.spec)},
    {CODE_ADDRESS(request.spec)},
    {0, "instances", "N",
        "iterations of the loop per call, where they cannot be counted; a wrong number is refused",
        OPTION_NUMBER(request.spec.instances, 1, BENCH_UNROLL_MAX)},
    {0, "cflags", "FLAGS", "options for the compiler of a .c file, after -O2",
        OPTION_TEXT(request.spec.cflags)},
    {CODE_INIT(request.spec)},
    {CODE_BITS(request.spec)},
    {0, "blocks", "FILE", "a file with one block per line instead: a row each, predicted and "
                          "measured",
        OPTION_TEXT(request.blocks)},
    {0, "to", "CSV",
        "with --blocks: write the rows into this file; one that has rows of these blocks already, "
        "since latput was ended, is gone on with",
        OPTION_TEXT(request.to), .with = "blocks"},
    {0, "predict", NULL, "measure nothing: only predict from the tables",
        OPTION_SWITCH(request.predict, true)},
    {0, "measure", NULL,
        "first measure forms of the block that the tables lack into the database, as latput run "
        "does",
        OPTION_SWITCH(request.measure, true)},
    {0, "uarch", "NAME", "predict for this CPU of the database; measures nothing",
        OPTION_TEXT(uarch)},
    {'r', "run", "N", "the numbers of this run instead of the best", OPTION_RUN(run_id)},
    {COMMON_DB(request.db)},
    {COMMON_CPU(request.spec.cpu), .without = "uarch"},
    {0, "give-up", "SECONDS", "how long to wait for an undisturbed core (default 5)",
        OPTION_SECONDS(request.spec.give_up_ms, BENCH_GIVE_UP_MAX_S),
        .without = "uarch"},
    {'f', "format", "table|json|csv|html",
        "how it is printed; table if not given, csv for rows, html for a --listing",
        OPTION_FORMAT(request.format, FORMATS_TABLE_JSON | 1 << REPORT_CSV | 1 << REPORT_HTML),
        .without = "to"},
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
        "area, r15 is the loop's. --blocks reads one block per line, `code`, `init | code` or "
        "`hex`, of any number in the same measuring processes; a first line `hex,weight` names "
        "columns; the exit status is 1 if one is refused. "
        "CODE is in NASM's syntax, or in that of binutils' assembler; `;` separates instructions. "
        "FILE is one of those of latput bench: the block is `testcode` of a NASM file, or a loop "
        "of "
        "a function of a .c or .o file without other branches and calls; or what objdump -d or "
        "perf "
        "annotate printed; or an executable or library, whose loops are listed.\n"
        "The tables come from latput run; docs/EXPLAIN.md describes the model.",
    .options = options,
    .run = explain_run,
};

static int check_listing(const struct explain_request *request)
{
    const struct bench_spec *spec = &request->spec;
    if (request->format == REPORT_HTML && !request->listing)
        return command_fail(&cmd_explain, EXIT_USAGE, "--format html is for a --listing");
    if (request->listing && (!spec->file || !spec->symbol))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--listing is of a function: FILE --symbol NAME");
    if (request->listing && (request->loop || spec->instances || spec->address))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--listing has all loops and counts them: without --loop, --instances "
                            "and --address");
    return EXIT_DONE;
}

static int parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    struct err err;
    int operand = argc;
    int status = command_read_options(&cmd_explain, argc, argv, arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    const struct bench_spec *spec = &arguments->request.spec;
    if (bench_take_operands(&arguments->request.spec, argv + operand, argc - operand, &err) != 0)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s", err.text);
    int given = !!spec->body + !!spec->file + !!spec->hex + !!arguments->request.blocks;
    if (given != 1)
        return command_fail(
            &cmd_explain, EXIT_USAGE, "%s e.g. latput explain 'imul rax, rbx; add rax, rcx'",
            given ? "one of code, a file and --blocks, or --hex;" : "what is to be explained?");
    bool image = bench_input_is_elf(spec);
    bool rows = arguments->request.blocks || arguments->request.loop == EXPLAIN_LOOPS_ALL;
    if (arguments->request.format == REPORT_CSV && !rows)
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--format csv is for rows: --blocks, or --loop all");
    if (check_listing(&arguments->request) != EXIT_DONE)
        return EXIT_USAGE;
    if (!spec->symbol && ((arguments->request.loop && (!image || spec->address)) ||
                          arguments->request.path || spec->instances || spec->cflags || spec->args))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--loop, --path, --instances, --args and --cflags are for a function: "
                            "FILE --symbol NAME");
    if (image && (spec->args || spec->instances || spec->cflags))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--args, --instances and --cflags are for a function that is called, "
                            "and those of an executable or a library are not: that would need a "
                            "dynamic linker, and run their constructors. Give the .c or .o file "
                            "that it was made of; loops of '%s' are measured as blocks",
                            spec->file);
    if (arguments->request.loop == EXPLAIN_LOOPS_ALL && !image)
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--loop all is for an executable or a library");
    if (spec->address && (!spec->file || spec->symbol))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--address names code of a file, instead of --symbol");
    if (arguments->request.measure && (arguments->uarch || arguments->run_id))
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--measure is for this machine's tables, not for --uarch or --run");
    if (!spec->file && spec->symbol)
        return command_fail(&cmd_explain, EXIT_USAGE,
                            "--symbol names a function of a file: FILE --symbol NAME");
    return EXIT_DONE;
}

static void print_one(const struct explain_work *work, const struct explain_result *result)
{
    struct strbuf out = {0};
    struct json json = {.out = &out};
    const struct explain_measured *measured = result->has_measured ? &result->measured : NULL;
    if (work->request->format == REPORT_JSON) {
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

static int explain_one(struct explain_work *work)
{
    struct err err = {0};
    struct explain_result *result = arena_alloc(&work->arena, sizeof *result);
    const struct explain_job *job = &work->jobs[0];
    if (job->refused)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s%s",
                            job->body && strncmp(job->refused, "code:", 5) != 0 ? "code: " : "",
                            job->refused);
    int status = explain_work_load(work, &err);
    if (status == 0)
        status =
            explain_check_stopped(explain_job_explain(work, job, result, &work->arena, &err), &err);
    if (status != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    print_one(work, result);
    return result->has_measured && result->measured.failure ? EXIT_SOME_FAILED : EXIT_DONE;
}

// Destination of rows of many blocks.
struct rows_out {
    const struct explain_work *work;
    struct explain_file *file; // NULL: standard output
    struct strbuf text;
    struct output_page page;
    struct output_stream stream; // CSV and JSON
};

static void rows_flush(struct rows_out *out)
{
    fputs(strbuf_text(&out->text), stdout);
    strbuf_clear(&out->text);
    fflush(stdout);
}

static int rows_take(void *context, const struct explain_row *rows, int n, struct err *err)
{
    struct rows_out *out = context;
    if (out->file)
        return explain_file_put(out->file, rows, n, err);
    for (int i = 0; i < n; i++) {
        if (report_for_people(out->page.format))
            explain_row_print(&rows[i]);
        else
            output_row(&out->stream, &rows[i]);
    }
    rows_flush(out);
    return 0;
}

static void rows_begin(struct rows_out *out)
{
    bool colour = terminal_has_colour(STDOUT_FILENO);
    out->page.format = out->work->request->format;
    out->stream = (struct output_stream){
        .record = explain_row_kind.record, .page = &out->page, .out = &out->text};
    if (out->file)
        return;
    if (report_for_people(out->page.format))
        printf("%s  line  instrs  predicted   measured     diff %%  limit%s\n",
               text_style_begin(STYLE_HEADING, colour), text_style_end(STYLE_HEADING, colour));
    else
        output_begin(&out->stream, NULL);
}

static void rows_end(struct rows_out *out)
{
    if (!out->file && !report_for_people(out->page.format))
        output_end(&out->stream, NULL);
    rows_flush(out);
    strbuf_free(&out->text);
}

static int explain_blocks(struct explain_work *work)
{
    const struct explain_request *request = work->request;
    struct err err = {0};
    struct explain_file file;
    struct rows_out out = {.work = work, .file = request->to ? &file : NULL};
    // Missing forms are measured first: the settings of rows name the run.
    if (explain_work_load(work, &err) != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    if (request->to && explain_file_open(request->to, work, &work->arena, &file, &err) != 0)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s", err.text);
    const struct explain_taker taker = {rows_take, &out, !request->to && !isatty(STDERR_FILENO)};
    rows_begin(&out);
    int status =
        explain_check_stopped(explain_all(work, request->to ? file.nrows : 0, &taker, &err), &err);
    rows_end(&out);
    if (request->to && explain_file_close(&file, status == 0 ? &err : &(struct err){0}) != 0)
        status = -1;
    if (status != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    int refused = 0;
    for (int i = 0; i < work->njobs; i++)
        refused += request->to && i < file.nrows ? *file.rows[i].refused != '\0'
                                                 : work->jobs[i].refused != NULL;
    if (!refused)
        return EXIT_DONE;
    return command_fail(&cmd_explain, EXIT_SOME_FAILED, "%s: %d of %d blocks refused",
                        request->blocks ? request->blocks : request->spec.file, refused,
                        work->njobs);
}

// A loop of an executable or library in the list of them.
struct loop_row {
    int loop, instructions;
    char address[24];
    const char *function;
};
#define LOOP(...) OUTPUT_FIELD(struct loop_row, __VA_ARGS__)
OUTPUT_DEFINE(loop_record, struct loop_row, OUTPUT_LINE,
              LOOP(loop, .look = {.heading = "loop", .align = ALIGN_RIGHT}),
              LOOP(instructions, .look = {.heading = "instrs", .align = ALIGN_RIGHT}),
              LOOP(address, .look.heading = "address"),
              LOOP(function, .known = true, .look.heading = "function"));

static int explain_list(const struct explain_work *work)
{
    const struct output_page page = {work->request->format, 0, terminal_has_colour(STDOUT_FILENO)};
    struct strbuf out = {0};
    struct loop_row *rows = xcalloc((size_t)work->njobs + 1, sizeof *rows);
    for (int i = 0; i < work->njobs; i++) {
        const struct explain_job *job = &work->jobs[i];
        rows[i] = (struct loop_row){job->line, job->block.n, "", job->name};
        snprintf(rows[i].address, sizeof rows[i].address, "0x%llx",
                 (unsigned long long)job->bytes.address);
    }
    output_print(&loop_record, rows, work->njobs, &page, &out, NULL);
    pager_put(strbuf_text(&out));
    free(rows);
    strbuf_free(&out);
    command_note(&cmd_explain, "--loop N explains one of them, --loop all gives each a row");
    return EXIT_DONE;
}

static int explain_with(struct explain_work *work)
{
    struct err err = {0};
    if (explain_jobs_read(work, &err) != 0)
        return command_fail(&cmd_explain, EXIT_USAGE, "%s", err.text);
    if (work->listed)
        return explain_list(work);
    if (explain_jobs_assemble(work, &err) != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    if (!work->many && explain_job_prepare(work, &work->jobs[0], &work->arena, &err) != 0)
        return command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    // Faults of the block are reported before those of the database.
    if (!work->many && work->jobs[0].refused)
        return explain_one(work);
    int status = store_option_open(&cmd_explain, work->request->db, STORE_READ, &work->store);
    if (status == EXIT_DONE)
        status = explain_choose(&cmd_explain, work, &err);
    if (status == EXIT_DONE)
        status = work->many ? explain_blocks(work) : explain_one(work);
    store_close(work->store);
    return status;
}

static int explain_function(struct explain_work *work)
{
    struct err err = {0};
    struct explain_function function;
    struct explain_listing listing;
    struct strbuf out = {0};
    if (explain_function_read(work, &function, &err) != 0)
        return command_fail(&cmd_explain, function.refused ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s",
                            err.text);
    int status = store_option_open(&cmd_explain, work->request->db, STORE_READ, &work->store);
    if (status == EXIT_DONE)
        status = explain_choose(&cmd_explain, work, &err);
    if (status == EXIT_DONE &&
        (explain_work_load(work, &err) != 0 ||
         explain_check_stopped(explain_function_list(work, &function, &listing, &work->arena, &err),
                               &err) != 0))
        status = command_fail(&cmd_explain, EXIT_ENVIRONMENT, "%s", err.text);
    if (status == EXIT_DONE) {
        const struct output_page page = {work->request->format, terminal_columns(STDOUT_FILENO),
                                         terminal_has_colour(STDOUT_FILENO)};
        explain_listing_print(&listing, &page, &out);
        pager_put(strbuf_text(&out));
    }
    strbuf_free(&out);
    store_close(work->store);
    return status;
}

static int explain_work(const struct arguments *arguments)
{
    struct explain_work work = {
        .request = &arguments->request, .uarch = arguments->uarch, .run_id = arguments->run_id};
    int status = arguments->request.listing ? explain_function(&work) : explain_with(&work);
    explain_work_free(&work);
    return status;
}

int explain_bench(const struct bench_spec *spec)
{
    struct arguments arguments = {
        .request = {.spec = *spec, .db = spec->db}
    };
    arguments.request.spec.events = NULL;
    arguments.request.spec.ncolumns = 0;
    arguments.request.spec.store = arguments.request.spec.keep = false;
    return explain_work(&arguments);
}

static int explain_run(int argc, char **argv)
{
    struct arguments arguments = {.request = {.spec = bench_defaults()}};
    int status = parse_arguments(argc, argv, &arguments);
    if (status != EXIT_DONE)
        return status;
    arguments.request.predict |= arguments.uarch != NULL;
    session_stop_on_signals();
    return explain_work(&arguments);
}
