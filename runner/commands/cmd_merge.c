// SPDX-License-Identifier: MIT
// latput merge: merges the runs of packs, also of other machines and other people, into one
// database.
#include "cli/command.h"
#include "cli/option_store.h"
#include "pack/libarchive.h"
#include "pack/pack.h"
#include "store/store.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <stdio.h>
#include <stdlib.h>

struct arguments {
    const char *db;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB_MADE(db)},
    {0},
};
// clang-format on

extern const struct command cmd_merge;

struct merge_count {
    int runs, added;
};

// Writes the lines about one pack.
static void merge_report(const char *path, const struct store_merged *merged, struct strbuf *lines,
                         struct merge_count *count)
{
    for (int i = 0; i < merged->nruns; i++) {
        strbuf_printf(lines, "%s: %s run %lld\n", path,
                      merged->runs[i].added ? "added as" : "is there already as",
                      (long long)merged->runs[i].run_id);
        count->runs++;
        count->added += merged->runs[i].added;
    }
}

// Merges all packs or none; writes `lines` about each.
static int merge_packs(struct store *store, char **paths, int npaths, struct strbuf *lines)
{
    struct err err = {0};
    struct merge_count count = {0};
    struct store_merged *merged = xcalloc((size_t)npaths, sizeof *merged);
    struct progress *progress = progress_start(0, false);
    int added = pack_merge_all(store, paths, npaths, progress, merged, &err);
    progress_end(progress);
    for (int i = 0; i < npaths && added >= 0; i++)
        merge_report(paths[i], &merged[i], lines, &count);
    free(merged);
    if (added < 0)
        return command_fail(&cmd_merge, store_is_unable(store) ? EXIT_ENVIRONMENT : EXIT_USAGE,
                            "%s", err.text);
    command_note(&cmd_merge, "%d of %d runs added to %s", count.added, count.runs,
                 store_path(store));
    return EXIT_DONE;
}

// Keeps the files that are meant as packs, in their order, and names the others: `DIR/*` means the
// packs of DIR, not the README beside them. Returns the number kept; says so if that is none.
static int merge_choose(char **paths, int npaths)
{
    enum { NAMED = 5 };
    struct strbuf others = {0};
    int npacks = 0;
    for (int i = 0; i < npaths; i++) {
        int nothers = i - npacks;
        if (pack_is_meant(paths[i]))
            paths[npacks++] = paths[i];
        else if (nothers < NAMED)
            strbuf_printf(&others, "%s%s", nothers ? ", " : "", paths[i]);
        else if (nothers == NAMED)
            strbuf_puts(&others, ", ...");
    }
    if (npacks == 0)
        command_fail(&cmd_merge, EXIT_USAGE, "there is no pack (zip, tar.xz) to merge among %s",
                     strbuf_text(&others));
    else if (npacks < npaths)
        command_note(&cmd_merge, "no packs (zip, tar.xz), left out: %s", strbuf_text(&others));
    strbuf_free(&others);
    return npacks;
}

// Looks at the packs before the database, whose schema is brought up to date when it is opened.
static int merge_probe(char **paths, int npaths)
{
    struct err err = {0};
    if (libarchive_load(&err) != 0)
        return command_fail(&cmd_merge, EXIT_ENVIRONMENT, "%s", err.text);
    for (int i = 0; i < npaths; i++)
        if (pack_probe(paths[i], &err) != 0)
            return command_fail(&cmd_merge, EXIT_USAGE, "%s", err.text);
    return EXIT_DONE;
}

static int merge_run(int argc, char **argv)
{
    struct arguments arguments = {.db = NULL};
    int operand = argc;
    int status = command_read_options(&cmd_merge, argc, argv, &arguments, &operand);
    if (status == EXIT_DONE && operand == argc)
        status = command_fail(&cmd_merge, EXIT_USAGE, "name the packs to merge");
    int npacks = status == EXIT_DONE ? merge_choose(argv + operand, argc - operand) : 0;
    if (status == EXIT_DONE && npacks == 0)
        status = EXIT_USAGE;
    struct store *store;
    if (status == EXIT_DONE)
        status = merge_probe(argv + operand, npacks);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_merge, arguments.db, STORE_WRITE, &store);
    if (status != EXIT_DONE)
        return status;
    struct strbuf lines = {0};
    status = merge_packs(store, argv + operand, npacks, &lines);
    if (status == EXIT_DONE) {
        fputs(strbuf_text(&lines), stdout);
        store_close(store);
    } else {
        store_close_unused(store); // a bad pack makes no database
    }
    strbuf_free(&lines);
    return status;
}

const struct command cmd_merge = {
    .name = "merge",
    .arguments = "FILE...",
    .summary = "add packs of other machines to a database",
    .description =
        "Adds the runs of packs to the database, all or none. A run that the database has already "
        "is left out if its content is the same; directories and files that are no packs are left "
        "out, too, and named. Packs are not trusted: names, sizes, hashes, schema and values are "
        "checked, and anything that latput would not write is refused. Results are derived again "
        "from the samples of a pack that has them; one without is merged as it is, and its runs "
        "have a warning. Merged runs are never taken for this machine's own, as long as it has "
        "any.",
    .options = options,
    .run = merge_run,
};
