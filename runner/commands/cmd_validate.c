// SPDX-License-Identifier: MIT
// latput validate: measures random mixes of forms and compares them with predictions from the port
// table of this CPU.
#include "cli/command.h"
#include "cli/option_backend.h"
#include "cli/option_format.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "port_table.h"
#include "report/report.h"
#include "store/store_validation.h"
#include "util/file_write.h"
#include "validate_blocks.h"
#include "validate_mca.h"
#include "validate_print.h"
#include "validate_stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIXES_MAX = 1000000, MIXES_DEFAULT = 5000 };

struct arguments {
    int mixes; // 0: not given
    int cpu;
    enum count_choice backend;
    uint64_t seed;
    int64_t run_id;
    const char *db, *forms, *all, *again, *blocks, *to;
    bool against, ratios, stored;
    unsigned without; // bits by enum port_concept
    enum report_format format;
};

// Reads a seed, which is as wide as the database keeps it.
static int take_seed(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    char *end;
    errno = 0;
    long long number = strtoll(given->argument, &end, 10);
    if (errno || !*given->argument || *end || number < 0)
        return command_fail(given->cmd, EXIT_USAGE, "--seed %s: not a number", given->argument);
    arguments->seed = (uint64_t)number;
    return EXIT_DONE;
}

static int take_without(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    for (const char *text = given->argument; *text;) {
        size_t length = strcspn(text, ",");
        int part = 0;
        while (part < PORT_CONCEPTS &&
               (strlen(port_concept_name((enum port_concept)part)) != length ||
                strncmp(port_concept_name((enum port_concept)part), text, length) != 0))
            part++;
        if (part == PORT_CONCEPTS)
            return command_fail(given->cmd, EXIT_USAGE,
                                "--without %s: '%.*s' is no concept; latput validate --help has "
                                "them all",
                                text, (int)length, text);
        arguments->without |= 1u << part;
        text += length + (text[length] == ',');
    }
    return EXIT_DONE;
}

static int take_against(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    arguments->against = true;
    if (strcmp(given->argument, "llvm-mca") != 0)
        return command_fail(given->cmd, EXIT_USAGE, "--against %s: not known; there is llvm-mca",
                            given->argument);
    return EXIT_DONE;
}

// clang-format off
static const struct command_option options[] = {
    {0, "mixes", "N", "how many mixes of 2 to 8 forms (default 5000)",
        OPTION_NUMBER(mixes, 2, MIXES_MAX)},
    {0, "ratios", NULL,
        "mixes of two forms with ports in common, one instance of one and 3 to 12 of the other",
        OPTION_SWITCH(ratios, true)},
    {0, "seed", "S", "seed of the mixes (default 1): the same seed draws the same mixes",
        OPTION_CALL(take_seed)},
    {0, "forms", "GLOB",
        "only forms whose mnemonic, or mnemonic and operands, match; then nothing is stored",
        OPTION_TEXT(forms)},
    {0, "all", "FILE",
        "write every mix with its measured and predicted cycles and their bounds, as CSV",
        OPTION_TEXT(all)},
    {0, "again", "FILE",
        "measure nothing: predict the mixes of FILE, which --all wrote, with this table",
        OPTION_TEXT(again), .beside = "db|run|forms|all|without|format"},
    {0, "stored", NULL,
        "measure nothing: predict the mixes that each run measured at its end, by its own ports; "
        "one row a run",
        OPTION_SWITCH(stored, true), .beside = "db|run|without|format"},
    {0, "blocks", "FILE",
        "blocks of code instead, one a line as latput explain reads them: measure and predict "
        "each, and sum up",
        OPTION_TEXT(blocks), .beside = "db|run|to|against|cpu|uarch|format"},
    {0, "to", "CSV", "with --blocks: keep the rows in this file, and go on with those that it has",
        OPTION_TEXT(to), .with = "blocks"},
    {0, "without", "CONCEPTS",
        "leave these out of the predictions, separated by commas, to see their worth",
        OPTION_CALL(take_without)},
    {0, "against", "llvm-mca", "compare with the predictions of llvm-mca's model of this CPU",
        OPTION_CALL(take_against)},
    {COMMON_DB(db)},
    {'r', "run", "N", "the port table of this run instead of the newest", OPTION_RUN(run_id)},
    {COMMON_CPU(cpu)},
    {COMMON_BACKEND(backend)},
    {COMMON_UARCH},
    {COMMON_FORMAT_JSON(format)},
    {0},
};
// clang-format on

static int validate_run(int argc, char **argv);

const struct command cmd_validate = {
    .name = "validate",
    .arguments = "",
    .summary = "measure random mixes and compare with what the ports predict",
    .description =
        "Draws mixes of 2 to 8 forms, with 1 to 3 instances each, over all classes of forms that "
        "have port usages in the database, measures their throughput and compares it with the "
        "bottleneck model's prediction from the table. Prints the mean absolute percentage error, "
        "Kendall's tau, the share of mixes within 10 %, the same by class of form, by the widths "
        "of the vectors in a mix and by whether the ports of all its forms are certain, and the "
        "worst mixes; the result is stored with the run.\n"
        "All forms that have ports are drawn, except those whose instances always wait for each "
        "other (the x87 stack, string instructions), or outweigh all others; their numbers are "
        "printed with the reasons.\n"
        "With --blocks nothing is drawn: it measures each block of a file as latput explain "
        "does, and prints the share within 10 %, mean and median error and Kendall's tau, by what "
        "limits the blocks, and by their weights where the file has some.\n"
        "With --again nothing is drawn, measured or stored: it compares the predictions of other "
        "versions and other runs for the same mixes. So does --stored, for the mixes that latput "
        "run measures at its end and that packs carry; runs of older versions have none. With "
        "--without nothing is stored; the concepts are front-end, delivery, ports, wide, dividers, "
        "microcode, paths, waits and norm.",
    .options = options,
    .run = validate_run,
};

static int validate_measure_table(const struct arguments *arguments, struct store *store,
                                  struct port_table *table, struct arena *arena,
                                  struct validate_mixes *mixes, struct err *err)
{
    struct session session;
    int status =
        port_table_session(&cmd_validate, store, arguments->cpu, arguments->backend, &session, err);
    if (status == 0) {
        struct portrun_mixes measure = port_table_measure(table, &session);
        const struct port_oracle oracle = portrun_mixes_oracle(&measure);
        const struct validate_trial trial = {
            .forms = &table->forms,
            .model = &table->model.model,
            .oracle = &oracle,
            .wanted = arguments->mixes ? arguments->mixes : MIXES_DEFAULT,
            .kind = arguments->ratios ? VALIDATE_RATIOS : VALIDATE_MIXES,
            .seed = arguments->seed};
        status = validate_measure(&trial, arena, mixes, err);
    }
    session_end(&session, false);
    return status;
}

static int validate_predict_again(const char *path, const struct port_table *table,
                                  struct arena *arena, struct validate_mixes *mixes,
                                  struct err *err)
{
    const struct validate_again again = {&table->forms, &table->model.model};
    return validate_again(path, &again, arena, mixes, err);
}

static int validate_write_all(const char *path, const struct port_table *table,
                              const struct validate_mixes *mixes, struct err *err)
{
    struct strbuf out = {0};
    validate_csv(&table->forms, &table->model.model, mixes, &out);
    int status = file_write(path, strbuf_text(&out), out.len, err);
    strbuf_free(&out);
    return status;
}

// Stores, writes and prints the results. Results on a selection of forms are not stored, since they
// do not describe the whole table.
static int validate_report(const struct arguments *arguments, struct store *store,
                           const struct port_table *table, const struct validate_mixes *mixes,
                           struct arena *arena, struct err *err)
{
    const struct validation result = validate_figures(&table->forms, mixes, arguments->seed, arena);
    struct validate_beside beside;
    int against = 0;
    if (arguments->against)
        against = validate_beside_mca(store, table, mixes, arena, &beside, err);
    const struct validate_beside *told = arguments->against && against == 0 ? &beside : NULL;
    if (arguments->format == REPORT_JSON)
        validate_print_json(&result, &table->forms, arguments->again, told);
    else
        validate_print_table(&result, &table->forms, arguments->again, arguments->ratios);
    if (told && arguments->format != REPORT_JSON)
        validate_print_beside(told);
    if (mixes->unknown)
        fprintf(stderr, "latput validate: %d mixes of %s have a form without ports here\n",
                mixes->unknown, arguments->again);
    bool keep = !arguments->forms && !arguments->again && !arguments->without && !arguments->ratios;
    int status = !keep ? 0 : store_put_validation(store, table->run_id, &result, err);
    if (status == 0 && arguments->all)
        status = validate_write_all(arguments->all, table, mixes, err);
    return status == 0 ? against : status;
}

static int validate_with(const struct arguments *arguments, struct store *store)
{
    static struct port_table table;
    struct arena arena = {0};
    struct validate_mixes mixes;
    struct err err = {0};
    table.anywhere = arguments->again != NULL;
    table.cpu = arguments->cpu;
    if (!table.anywhere)
        kind_say(&cmd_validate, arguments->cpu);
    int status =
        port_table_open(&cmd_validate, store, arguments->run_id, arguments->forms, &table, &arena);
    table.model.model.without = arguments->without;
    if (status == EXIT_DONE) {
        if (arguments->again &&
            validate_predict_again(arguments->again, &table, &arena, &mixes, &err) != 0)
            status = command_fail(&cmd_validate, EXIT_USAGE, "%s", err.text);
        else if ((!arguments->again &&
                  validate_measure_table(arguments, store, &table, &arena, &mixes, &err) != 0) ||
                 validate_report(arguments, store, &table, &mixes, &arena, &err) != 0)
            status = command_fail(&cmd_validate, EXIT_ENVIRONMENT, "%s", err.text);
        port_table_free(&table);
    }
    arena_free(&arena);
    return status;
}

static int validate_run_blocks(const struct arguments *arguments)
{
    struct explain_request request = {.spec = bench_defaults(),
                                      .blocks = arguments->blocks,
                                      .to = arguments->to,
                                      .db = arguments->db,
                                      .format = arguments->format};
    request.spec.cpu = arguments->cpu;
    session_stop_on_signals();
    return validate_blocks(&cmd_validate, &request, arguments->run_id, arguments->against);
}

static int validate_run(int argc, char **argv)
{
    struct arguments arguments = {.cpu = -1, .seed = 1};
    struct store *store;
    int status = command_read_alone(&cmd_validate, argc, argv, &arguments);
    if (status == EXIT_DONE && arguments.blocks)
        return validate_run_blocks(&arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_validate, arguments.db,
                                   arguments.stored || arguments.again ? STORE_READ : STORE_UPDATE,
                                   &store);
    if (status != EXIT_DONE)
        return status;
    session_stop_on_signals();
    status = store_option_check(&cmd_validate, store, arguments.run_id);
    const struct stored_request stored = {arguments.run_id, arguments.without, arguments.format};
    if (status == EXIT_DONE)
        status = arguments.stored ? validate_stored_runs(&cmd_validate, store, &stored)
                                  : validate_with(&arguments, store);
    store_close(store);
    return status;
}
