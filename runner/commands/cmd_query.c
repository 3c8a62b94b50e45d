// SPDX-License-Identifier: MIT
// latput query: prints the instruction table, the operand pairs, the ports with their evidence,
// the failures or the runs of a database. Only reads.
#include "cmd_format.h"
#include "command.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_read.h"
#include "store_options.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_DB,
    OPT_FORMAT,
    OPT_UARCH,
    OPT_RUN,
    OPT_LATENCY,
    OPT_PORTS,
    OPT_EVIDENCE,
    OPT_FAILURES,
    OPT_RUNS,
    OPT_WIDE,
    OPT_BENCH,
    OPT_REPETITIONS,
};

// clang-format off
static const struct command_option query_options[] = {
    [OPT_DB] = {0, "db", "FILE", "the database; default: db/latput.db"},
    [OPT_FORMAT] = {'f', "format", "FORMAT", "table (default), csv or json"},
    [OPT_UARCH] = {'u', "uarch", "NAME", "only this CPU family, e.g. zen5"},
    [OPT_RUN] = {'r',"run", "N", "this run instead of the best run of each form"},
    [OPT_LATENCY] = {'l', "latency", NULL, "the latency of each pair of operands"},
    [OPT_PORTS] = {'p', "ports", NULL, "the ports that each form uses"},
    [OPT_EVIDENCE] = {0, "evidence", NULL, "the timings that these ports follow from"},
    [OPT_FAILURES] = {0, "failures", NULL, "what could not be measured, and why"},
    [OPT_RUNS] = {0, "runs", NULL, "the runs in the database"},
    [OPT_WIDE] = {'w', "wide", NULL, "all columns, however narrow the terminal is"},
    [OPT_BENCH] = {'b', "bench", NULL, "pieces of code that latput bench has stored"},
    [OPT_REPETITIONS] = {0, "repetitions", NULL, "with --bench: each repetition of them"},
    {0},
};
// clang-format on

extern const struct command cmd_query;

struct query {
    const char *db;
    enum report_format format;
    enum store_view view;
    struct store_filter filter;
    bool wide;
};

// An option that refines another one may stand before or behind it.
static bool query_refines(enum store_view view, enum store_view of)
{
    return (view == STORE_VIEW_EVIDENCE && of == STORE_VIEW_PORT) ||
           (view == STORE_VIEW_REPETITION && of == STORE_VIEW_BENCH);
}

static int query_set_view(struct query *query, enum store_view view)
{
    if (query_refines(query->view, view))
        return EXIT_DONE;
    if (query->view != STORE_VIEW_INSTRUCTION && !query_refines(view, query->view))
        return command_fail(&cmd_query, EXIT_USAGE,
                            "--latency, --ports, --failures, --runs and --bench exclude each "
                            "other");
    query->view = view;
    return EXIT_DONE;
}

static int query_option(void *context, int option, const char *argument)
{
    struct query *query = context;
    switch (option) {
    case OPT_DB:
        query->db = argument;
        return EXIT_DONE;
    case OPT_FORMAT:
        return format_option_read(&cmd_query, argument, FORMATS_ALL, &query->format);
    case OPT_UARCH:
        query->filter.uarch = argument;
        return EXIT_DONE;
    case OPT_RUN:
        return store_option_run(&cmd_query, argument, &query->filter.run_id) == 0 ? EXIT_DONE
                                                                                  : EXIT_USAGE;
    case OPT_LATENCY:
        return query_set_view(query, STORE_VIEW_LATENCY);
    case OPT_PORTS:
        return query_set_view(query, STORE_VIEW_PORT);
    case OPT_EVIDENCE:
        return query_set_view(query, STORE_VIEW_EVIDENCE);
    case OPT_FAILURES:
        return query_set_view(query, STORE_VIEW_FAILURE);
    case OPT_WIDE:
        query->wide = true;
        return EXIT_DONE;
    case OPT_BENCH:
        return query_set_view(query, STORE_VIEW_BENCH);
    case OPT_REPETITIONS:
        return query_set_view(query, STORE_VIEW_REPETITION);
    default:
        return query_set_view(query, STORE_VIEW_RUN);
    }
}

static int query_parse(int argc, char **argv, struct query *query)
{
    int operand = argc;
    int status = command_each_option(&cmd_query, argc, argv, query_option, query, &operand);
    if (status != EXIT_DONE)
        return status;
    if (argc - operand > 1)
        return command_fail(&cmd_query, EXIT_USAGE,
                            "one GLOB at most; quote it: latput query 'add r64 r64'");
    if (operand < argc)
        query->filter.glob = argv[operand];
    return EXIT_DONE;
}

// Tables on a terminal are made to fit its lines; elsewhere nobody knows how long lines may be.
static int query_rows(struct store *store, const struct query *query, struct strbuf *out,
                      struct strbuf *note, int64_t *nrows, struct err *err)
{
    int width = query->format == REPORT_TABLE && !query->wide ? terminal_columns(STDOUT_FILENO) : 0;
    const struct report_query wanted = {query->view, &query->filter, query->format, width};
    return report_rows(store, &wanted, out, note, nrows, err);
}

static int query_print(struct store *store, const struct query *query)
{
    struct err err = {0};
    struct strbuf out = {0}, note = {0};
    int64_t nrows = 0;
    int status = store_option_check(&cmd_query, store, query->filter.run_id, query->filter.uarch);
    if (status != EXIT_DONE)
        return status;
    if (query_rows(store, query, &out, &note, &nrows, &err) != 0) {
        status = command_fail(&cmd_query, EXIT_ENVIRONMENT, "%s", err.text);
    } else {
        fputs(strbuf_text(&out), stdout);
        fflush(stdout);
        if (nrows == 0)
            fputs("latput query: no rows match\n", stderr);
        if (note.len)
            command_fail(&cmd_query, EXIT_DONE, TEXT_TABLE_FITTED, strbuf_text(&note));
    }
    strbuf_free(&out);
    strbuf_free(&note);
    return status;
}

static int query_run(int argc, char **argv)
{
    struct query query = {.view = STORE_VIEW_INSTRUCTION};
    struct store *store;
    int status = query_parse(argc, argv, &query);
    if (status != EXIT_DONE)
        return status;
    status = store_option_open(&cmd_query, query.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = query_print(store, &query);
    store_close(store);
    return status;
}

const struct command cmd_query = {
    .name = "query",
    .arguments = "[GLOB]",
    .summary = "print the instruction table as table, CSV or JSON",
    .description =
        "Prints what the database knows of the forms that match GLOB (all without one). GLOB is "
        "compared with the mnemonic, with mnemonic and operands, and with the form as the lists "
        "have it, without regard to case: 'add', 'add r64 *', '*z{k}*'.\n"
        "Numbers are core cycles: latency as minimum and maximum over the pairs of operands, "
        "1/tput (reciprocal throughput) as cycles an instruction, slow the same for slow data. A "
        "number behind ≤ is an upper bound, one behind ~ the mean of executions that differ, one "
        "in "
        "front of * the fastest of several steady states; least and most say how far they differ. "
        "A "
        "test that did not succeed has no number; its outcome "
        "stands in the last columns, which tables leave out where it is ok.\n"
        "Ports are sets that a µop can choose from: 2*A+1*B is two µops on ports of A and one on "
        "B; "
        "'none' needs no port, and behind ? other ports explain the timings about as well. uops "
        "are "
        "slots of dispatch in the instruction table; with --ports, µops that need a port. "
        "--evidence prints each mix that was timed: so many of the form beside so many of a "
        "blocker, the cycles of all, and how many µops of one instance that shows on the blocker's "
        "ports.\n"
        "On a terminal tables are made to fit its lines: columns that say the same in every row "
        "and the least important ones are left out, which a note on standard error tells, and long "
        "texts are folded. --wide prints all columns, as does any output that is not a terminal; "
        "CSV and JSON have more than any table.\n"
        "--bench prints what latput bench --store has kept; GLOB is then compared with the label "
        "and with the code in one line, e.g. '*imul*': core cycles an instance, and what was "
        "counted an instance; --repetitions each repetition of all passes.\n"
        "No matching row is no error: a note on standard error, an empty table, and status 0.",
    .options = query_options,
    .run = query_run,
};
