// SPDX-License-Identifier: MIT
// latput record: records the timings of this CPU's core, so that changes to the program can be
// judged on it from elsewhere.
#include "cli/command.h"
#include "cli/option_backend.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "record.h"
#include "util/scratch.h"

enum { MIXES_MAX = 100000 };

struct arguments {
    struct record_request request;
    const char *db;
    int cpu;
    enum count_choice backend;
    int64_t run_id;
};

// clang-format off
static const struct command_option options[] = {
    {'o', "output", "DIR", "where the files go; made if missing", OPTION_TEXT(request.output)},
    {0, "mixes", "N", "how many mixes of 2 to 8 forms (default 2000)",
        OPTION_NUMBER(request.mixes, 2, MIXES_MAX)},
    {0, "pairs", "N", "how many pairs of forms (default 5000)",
        OPTION_NUMBER(request.pairs, 2, MIXES_MAX)},
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
    if (status == EXIT_DONE && !arguments->request.output)
        status = command_fail(&cmd_record, EXIT_USAGE, "--output DIR is missing");
    return status;
}

static int record_table(const struct arguments *arguments, struct store *store,
                        struct port_table *table, struct err *err)
{
    struct session session;
    int status =
        port_table_session(&cmd_record, store, arguments->cpu, arguments->backend, &session, err);
    if (status == 0)
        status = record_write(&arguments->request, store, &session, table, err);
    session_end(&session, false);
    return status;
}

static int record_with(const struct arguments *arguments, struct store *store)
{
    static struct port_table table;
    struct arena arena = {0};
    struct err err = {0};
    table.cpu = arguments->cpu;
    kind_say(&cmd_record, arguments->cpu);
    int status = port_table_open(&cmd_record, store, arguments->run_id, NULL, &table, &arena);
    if (status == EXIT_DONE) {
        if (scratch_keep_directory(arguments->request.output, &err) != 0 ||
            record_table(arguments, store, &table, &err) != 0)
            status = command_fail(&cmd_record, EXIT_ENVIRONMENT, "%s", err.text);
        port_table_free(&table);
    }
    arena_free(&arena);
    return status;
}

static int record_run(int argc, char **argv)
{
    struct arguments arguments = {
        .request = {.mixes = 2000, .pairs = 5000},
          .cpu = -1
    };
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
