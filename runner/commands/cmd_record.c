// SPDX-License-Identifier: MIT
// latput record: records the timings of this CPU's core, so that changes to the program can be
// judged on it from elsewhere.
#include "cli/command.h"
#include "cli/option_backend.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "execute/exec.h"
#include "measure/floor.h"
#include "pack/pack.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "validate/port_table.h"

#include <stdio.h>
#include <stdlib.h>

enum { MIXES_MAX = 100000, SEED = 1 };

struct arguments {
    const char *output, *db;
    int mixes, pairs, cpu;
    enum count_choice backend;
    int64_t run_id;
};

// clang-format off
static const struct command_option options[] = {
    {'o', "output", "DIR", "where the files go; made if missing", OPTION_TEXT(output)},
    {0, "mixes", "N", "how many mixes of 2 to 8 forms (default 2000)",
        OPTION_NUMBER(mixes, 2, MIXES_MAX)},
    {0, "pairs", "N", "how many pairs of forms (default 5000)", OPTION_NUMBER(pairs, 2, MIXES_MAX)},
    {COMMON_DB(db)},
    {'r', "run", "N", "the port table of this run instead of the newest", OPTION_RUN(run_id)},
    {COMMON_CPU(cpu)},
    {COMMON_BACKEND(backend)},
    {COMMON_UARCH},
    {0},
};
// clang-format on

static int record_run(int argc, char **argv);

const struct command cmd_record = {
    .name = "record",
    .arguments = "",
    .summary = "record what this CPU says, to judge the method by it elsewhere",
    .description =
        "Writes into a directory: the run that has the ports, as an archive without samples "
        "(run.zip); random pairs and mixes of its forms with their measured and predicted cycles "
        "(pairs.csv, mixes.csv, as `latput validate --all` writes them); how often each canary "
        "took how long (canary.csv), and the floor that followed from it (floor.csv); the CPUID "
        "dump (cpu.txt). The inference of ports, predictions and the choice of the floor are "
        "tested against recordings in tests/fixtures/recorded/, on any machine. Takes two minutes "
        "after `latput run`.",
    .options = options,
    .run = record_run,
};

static int record_parse(int argc, char **argv, struct arguments *arguments)
{
    int status = command_read_alone(&cmd_record, argc, argv, arguments);
    if (status == EXIT_DONE && !arguments->output)
        status = command_fail(&cmd_record, EXIT_USAGE, "--output DIR is missing");
    return status;
}

static int record_file(const char *directory, const char *name, const struct strbuf *text,
                       struct err *err)
{
    char *path = xasprintf("%s/%s", directory, name);
    int status = file_write(path, text->len ? text->data : "", text->len, err);
    free(path);
    return status;
}

static int record_mixes(const struct arguments *arguments, struct session *session,
                        struct port_table *table, bool pairs, struct err *err)
{
    struct arena arena = {0};
    struct strbuf out = {0};
    struct validate_mixes mixes;
    struct measure_mixes measure = port_table_measure(table, session);
    const struct port_oracle oracle = measure_mixes_oracle(&measure);
    const struct validate_trial trial = {.forms = &table->forms,
                                         .model = &table->model.model,
                                         .oracle = &oracle,
                                         .wanted = pairs ? arguments->pairs : arguments->mixes,
                                         .seed = SEED,
                                         .kind = pairs ? VALIDATE_PAIRS : VALIDATE_MIXES};
    int status = validate_measure(&trial, &arena, &mixes, err);
    if (status == 0) {
        validate_csv(&table->forms, &table->model.model, &mixes, &out);
        status = record_file(arguments->output, pairs ? "pairs.csv" : "mixes.csv", &out, err);
    }
    strbuf_free(&out);
    arena_free(&arena);
    return status;
}

static void put_canaries(const struct exec_floor *windows, struct strbuf *out)
{
    strbuf_puts(out, "window,canary,bin,samples\n");
    for (int window = 0; window < FLOOR_WINDOWS; window++)
        for (int canary = 0; canary < CORE_CANARIES; canary++)
            for (int bin = 0; bin < CORE_FLOOR_BINS; bin++)
                if (windows[window].counts[canary][bin])
                    strbuf_printf(out, "%d,%d,%d,%u\n", window, canary, bin,
                                  (unsigned)windows[window].counts[canary][bin]);
}

static int record_canaries(const char *directory, const struct session *session, struct err *err)
{
    struct arena arena = {0};
    struct program program = {0};
    struct strbuf out = {0};
    struct exec_floor *windows = xcalloc(FLOOR_WINDOWS, sizeof *windows);
    const struct exec_params params = session_params(session, 64);
    int status = session_build_nop(session, "canaries", 64, &arena, &program, err);
    if (status == 0)
        status = floor_look(program.path, &params, 0, FLOOR_QUICK_ROUNDS, windows, err);
    status = session_check_stopped(status, err);
    if (status == 0) {
        put_canaries(windows, &out);
        status = record_file(directory, "canary.csv", &out, err);
    }
    strbuf_free(&out);
    strbuf_printf(&out, "canary,clk_per_instr,issue_width\n%u,%.6f,%d\n",
                  (unsigned)session->params.config.canary,
                  session->params.config.floor_clk_per_instr, session->issue_width);
    if (status == 0)
        status = record_file(directory, "floor.csv", &out, err);
    strbuf_free(&out);
    free(windows);
    arena_free(&arena);
    return status;
}

// Records facts that need no measurement.
static int record_known(const struct arguments *arguments, struct store *store,
                        struct session *session, int64_t run_id, struct err *err)
{
    const struct pack_what what = {.run_id = run_id, .keep = MERGE_KEEP_KERNELS};
    char *cpu = xasprintf("%s/cpu.txt", arguments->output);
    char *run = xasprintf("%s/run.zip", arguments->output);
    int status = cpu_save(session->cpu, cpu, err) < 0 ? -1 : 0;
    if (status == 0)
        status = pack_write(store, &what, run, err);
    free(cpu);
    free(run);
    return status;
}

static int record_table(const struct arguments *arguments, struct store *store,
                        struct port_table *table, struct err *err)
{
    struct session session;
    int status =
        port_table_session(&cmd_record, store, arguments->cpu, arguments->backend, &session, err);
    if (status == 0)
        status = record_canaries(arguments->output, &session, err);
    if (status == 0)
        status = record_mixes(arguments, &session, table, true, err);
    if (status == 0)
        status = record_mixes(arguments, &session, table, false, err);
    if (status == 0)
        status = record_known(arguments, store, &session, table->run_id, err);
    session_end(&session, false);
    return status;
}

static int record_with(const struct arguments *arguments, struct store *store)
{
    static struct port_table table;
    struct arena arena = {0};
    struct err err = {0};
    int status = port_table_open(&cmd_record, store, arguments->run_id, NULL, &table, &arena);
    if (status == EXIT_DONE) {
        if (scratch_keep_directory(arguments->output, &err) != 0 ||
            record_table(arguments, store, &table, &err) != 0)
            status = command_fail(&cmd_record, EXIT_ENVIRONMENT, "%s", err.text);
        port_table_free(&table);
    }
    arena_free(&arena);
    return status;
}

static int record_run(int argc, char **argv)
{
    struct arguments arguments = {.mixes = 2000, .pairs = 5000, .cpu = -1};
    struct store *store;
    int status = record_parse(argc, argv, &arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_record, arguments.db, STORE_UPDATE, &store);
    if (status != EXIT_DONE)
        return status;
    session_stop_on_signals();
    status = store_option_check(&cmd_record, store, arguments.run_id);
    if (status == EXIT_DONE)
        status = record_with(&arguments, store);
    store_close(store);
    return status;
}
