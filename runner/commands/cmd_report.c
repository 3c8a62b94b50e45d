// SPDX-License-Identifier: MIT
// latput report: writes the text tables of a run, from the database only.
#include "cli/command.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "report/report.h"
#include "store/store.h"

struct arguments {
    const char *db, *output, *kind;
    int64_t run_id;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'r', "run", "N", "this run alone; default: the newest finished run, and the answers of others",
        OPTION_RUN(run_id)},
    {COMMON_KIND(kind, "take the newest run of"), .without = "run"},
    {'o', "output", "DIR", "where to write; default: results", OPTION_TEXT(output)},
    {0},
};
// clang-format on

extern const struct command cmd_report;

static int report_of_run(struct store *store, const struct arguments *arguments)
{
    struct err err = {0};
    const char *output = arguments->output;
    int64_t run_id = arguments->run_id;
    bool best = run_id == 0;
    int status = kind_newest_run(&cmd_report, store, arguments->kind, &run_id);
    if (status == EXIT_DONE)
        status = store_option_newest(&cmd_report, store, &run_id);
    if (status != EXIT_DONE)
        return status;
    if ((best ? report_write_best : report_write)(store, run_id, output, &err) != 0)
        return command_fail(&cmd_report, EXIT_ENVIRONMENT, "%s", err.text);
    command_note(&cmd_report, "tables of run %lld%s are in %s", (long long)run_id,
                 best ? ", with the best answers of all runs on its CPU," : "", output);
    return EXIT_DONE;
}

static int report_run(int argc, char **argv)
{
    struct arguments arguments = {.output = "results"};
    struct store *store;
    int status = command_read_alone(&cmd_report, argc, argv, &arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_report, arguments.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = report_of_run(store, &arguments);
    store_close(store);
    return status;
}

const struct command cmd_report = {
    .name = "report",
    .arguments = "",
    .summary = "write the text tables of a run",
    .description =
        "Writes one table for each list that was ever measured on the CPU of the newest run, and "
        "info.txt with the machine, the provenance of the run, its warnings, its ports, the titles "
        "of its lists and the counts of outcomes; ports.svg is a diagram of the ports, and "
        "properties.txt the fact sheet of the core, where there are properties. The tables "
        "have every form of their list that was ever measured on that CPU, each with the best "
        "answer to each question (latency, throughput, ports); with --run they have that run "
        "alone. Everything is read from the database.",
    .options = options,
    .run = report_run,
};
