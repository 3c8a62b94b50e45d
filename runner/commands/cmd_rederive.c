// SPDX-License-Identifier: MIT
// latput rederive: derives results from the stored samples again, after the method has changed. It
// also brings a database of an older latput up to date.
#include "cli/command.h"
#include "cli/option_store.h"
#include "rederive/rederive.h"
#include "store/store.h"

#include <stdio.h>

struct arguments {
    const char *db;
    int64_t run_id;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'r', "run", "N", "only this run", OPTION_RUN(run_id)},
    {0},
};
// clang-format on

extern const struct command cmd_rederive;

static int rederive_store_results(struct store *store, int64_t run_id)
{
    struct err err = {0};
    int64_t results = 0, changed = 0, bare = 0;
    int status = store_option_check(&cmd_rederive, store, run_id);
    if (status != EXIT_DONE)
        return status;
    struct progress *progress = progress_start(0, false);
    int result = rederive_shown(store, run_id, progress, &results, &changed, &err);
    progress_end(progress);
    if (result != 0 || rederive_count_bare(store, run_id, &bare, &err) != 0)
        return command_fail(&cmd_rederive, EXIT_ENVIRONMENT, "%s", err.text);
    printf("%lld results made from stored samples, %lld of them differ from before\n",
           (long long)results, (long long)changed);
    if (bare)
        command_note(&cmd_rederive, "%lld runs have no samples; their results stay",
                     (long long)bare);
    return EXIT_DONE;
}

static int rederive_run(int argc, char **argv)
{
    struct arguments arguments = {.db = NULL};
    struct store *store;
    int status = command_read_alone(&cmd_rederive, argc, argv, &arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_rederive, arguments.db, STORE_UPDATE, &store);
    if (status != EXIT_DONE)
        return status;
    status = rederive_store_results(store, arguments.run_id);
    store_close(store);
    return status;
}

const struct command cmd_rederive = {
    .name = "rederive",
    .arguments = "",
    .summary = "make results again from stored samples",
    .description =
        "Samples are facts and stay; results follow from them by a method that may improve. This "
        "derives the results of all runs again, or those of one, all or nothing; runs kept without "
        "samples stay unchanged. It also brings a database of an older latput up to date.",
    .options = options,
    .run = rederive_run,
};
