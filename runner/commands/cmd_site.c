// SPDX-License-Identifier: MIT
// latput site: the web page of a database.
#include "command.h"
#include "option_place.h"
#include "site/site.h"
#include "store/store.h"
#include "store_options.h"

#include <stdio.h>

enum { OPT_DB, OPT_OUTPUT, OPT_TITLE, OPT_NO_SAMPLES, OPT_NO_DATABASE };

// clang-format off
static const struct command_option site_command_options[] = {
    [OPT_DB] = {0, "db", "FILE", "the database"},
    [OPT_OUTPUT] = {'o', "output", "DIR", "where to write; default: results/site"},
    [OPT_TITLE] = {0, "title", "TEXT", "the title of the page; default: latput"},
    [OPT_NO_SAMPLES] = {0, "no-samples", NULL,
        "without the single samples behind each value, which take more than half of the space"},
    [OPT_NO_DATABASE] = {0, "no-database", NULL,
        "without a database of the runs (slim, as in a pack) for download"},
    {0},
};
// clang-format on

extern const struct command cmd_site;

struct site_arguments {
    const char *db;
    struct site_options options;
};

static int site_take(void *context, int option, const char *argument)
{
    struct site_arguments *arguments = context;
    const struct option_place places[] = {
        [OPT_DB] = place_text(&arguments->db),
        [OPT_OUTPUT] = place_text(&arguments->options.directory),
        [OPT_TITLE] = place_text(&arguments->options.title),
        [OPT_NO_SAMPLES] = place_switch(&arguments->options.samples, false),
        [OPT_NO_DATABASE] = place_switch(&arguments->options.database, false),
    };
    return option_put(&cmd_site, places, ARRAY_LEN(places), option, argument);
}

static int site_of_store(struct store *store, const struct site_options *options)
{
    struct err err = {0};
    struct site_counts counts;
    if (site_write(store, options, &counts, &err) != 0)
        return command_fail(&cmd_site, EXIT_ENVIRONMENT, "%s", err.text);
    command_note(&cmd_site, "%d form%s of %d CPU%s, %d files, %.1f MB", counts.forms,
                 counts.forms == 1 ? "" : "s", counts.cpus, counts.cpus == 1 ? "" : "s",
                 counts.files, (double)counts.bytes / 1e6);
    printf("%s/index.html\n", options->directory);
    return EXIT_DONE;
}

static int site_run(int argc, char **argv)
{
    struct site_arguments arguments = {
        .options = {.directory = "results/site",
                    .title = "latput",
                    .samples = true,
                    .database = true},
    };
    struct store *store;
    int operands;
    int status = command_each_option(&cmd_site, argc, argv, site_take, &arguments, &operands);
    if (status == EXIT_DONE)
        status = command_no_operands(&cmd_site, argc, argv, operands);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_site, arguments.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = site_of_store(store, &arguments.options);
    store_close(store);
    return status;
}

const struct command cmd_site = {
    .name = "site",
    .arguments = "",
    .summary = "write a web page of the database",
    .description =
        "Writes a page with everything that the database knows of all its CPUs: a table of the "
        "forms that is searched and sorted, CPUs side by side, and for each form its operand "
        "pairs, kernels, samples and the evidence for its ports; the structure of the ports; "
        "properties with their curves; the provenance of the runs. It is a directory of files "
        "that any web server can serve, or a browser can open from the disk; it asks nobody for "
        "anything else. Prints the name of the file to open. docs/SITE.md describes it.",
    .options = site_command_options,
    .run = site_run,
};
