// SPDX-License-Identifier: MIT
// latput site: writes the web page of a database.
#include "cli/command.h"
#include "cli/option_beside.h"
#include "cli/option_store.h"
#include "site/site.h"
#include "store/store.h"

#include <stdio.h>

struct arguments {
    const char *db;
    struct site_options options;
    struct beside_option beside;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'o', "output", "DIR", "where to write; default: results/site", OPTION_TEXT(options.directory)},
    {'u', "uarch", "NAME", "only this CPU family, e.g. zen5, or these: zen4,zen5",
        OPTION_TEXT(options.uarchs)},
    {0, "title", "TEXT", "the title of the page; default: latput", OPTION_TEXT(options.title)},
    {0, "no-samples", NULL,
        "without the single samples of each value, which take more than half of the space",
        OPTION_SWITCH(options.samples, false)},
    {0, "no-database", NULL,
        "without a database of the runs (slim, as in a pack) for download",
        OPTION_SWITCH(options.database, false)},
    {COMMON_BESIDE(beside)},
    {0},
};
// clang-format on

extern const struct command cmd_site;

static int site_of_store(struct store *store, const struct site_options *site)
{
    struct err err = {0};
    struct site_counts counts;
    if (site_write(store, site, &counts, &err) != 0)
        return command_fail(&cmd_site, EXIT_ENVIRONMENT, "%s", err.text);
    if (counts.uncoded)
        command_note(&cmd_site, "without the bytes of instructions: %s", err.text);
    command_note(&cmd_site, "%d form%s of %d CPU%s, %d files, %.1f MB", counts.forms,
                 counts.forms == 1 ? "" : "s", counts.cpus, counts.cpus == 1 ? "" : "s",
                 counts.files, (double)counts.bytes / 1e6);
    printf("%s/index.html\n", site->directory);
    return EXIT_DONE;
}

static int site_run(int argc, char **argv)
{
    struct arguments arguments = {
        .options = {.directory = "results/site",
                    .title = "latput",
                    .samples = true,
                    .database = true},
    };
    struct store *store;
    int status = command_read_alone(&cmd_site, argc, argv, &arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_site, arguments.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = store_option_all_called(&cmd_site, store, &arguments.options.uarchs);
    if (status == EXIT_DONE)
        status = beside_option_apply(&cmd_site, store, &arguments.beside, arguments.options.uarchs);
    if (status == EXIT_DONE)
        status = site_of_store(store, &arguments.options);
    store_close(store);
    return status;
}

const struct command cmd_site = {
    .name = "site",
    .arguments = "",
    .summary = "write a web page of the database",
    .description =
        "Writes a page with everything in the database about all its CPUs: a table of the forms to "
        "search and sort, CPUs side by side, and for each form its operand pairs, kernels, samples "
        "and the evidence for its ports; the structure of the ports; properties with their curves; "
        "the provenance of the runs. It is a directory of files that any web server can serve, or "
        "a browser can open from the disk; it loads nothing else. Prints the name of the file to "
        "open. docs/SITE.md describes it.",
    .options = options,
    .run = site_run,
};
