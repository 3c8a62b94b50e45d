// SPDX-License-Identifier: MIT
// latput pack: one run as an archive fit for publication.
#include "command.h"
#include "report/pack.h"
#include "store/store.h"
#include "store_options.h"

#include "util/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct command_option pack_options[] = {
    {0,   "db",           "FILE", "the database; default: db/latput.db"                          },
    {'r', "run",          "N",
     "this run alone; default: the newest that is finished, and all that its tables are made of" },
    {0,   "with-samples", NULL,   "every timing that the results follow from: ten times as large"},
    {'o', "output",       "FILE",
     "the archive; default: a name that says what is in it, in results/. A "
     "directory gets a file of that name"                                                        },
    {0,   NULL,           NULL,   NULL                                                           },
};

extern const struct command cmd_pack;

// The path of the archive, to be freed: `output`, or the run's own name in a directory.
static char *pack_path(struct store *store, int64_t run_id, const char *output, struct err *err)
{
    struct stat st;
    if (!output && mkdir("results", 0777) != 0 && errno != EEXIST) {
        err_set(err, "results: cannot be made: %s; name a file with --output", strerror(errno));
        return NULL;
    }
    if (output && (stat(output, &st) != 0 || !S_ISDIR(st.st_mode)))
        return xstrdup(output);
    char *name = pack_name(store, run_id, err);
    char *path = name ? xasprintf("%s/%s", output ? output : "results", name) : NULL;
    free(name);
    return path;
}

static int pack_of_run(struct store *store, struct pack_what *what, const char *output)
{
    struct err err = {0};
    what->others = what->run_id == 0;
    int status = store_option_newest(&cmd_pack, store, &what->run_id);
    if (status != EXIT_DONE)
        return status;
    char *path = pack_path(store, what->run_id, output, &err);
    if (!path || pack_write(store, what, path, &err) != 0)
        status = command_fail(&cmd_pack, EXIT_ENVIRONMENT, "%s", err.text);
    else
        printf("%s\n", path);
    free(path);
    return status;
}

static int pack_run(int argc, char **argv)
{
    struct store_arguments arguments = {.db = NULL};
    struct store *store;
    int status = store_option_parse(&cmd_pack, argc, argv, &arguments);
    if (status == EXIT_DONE)
        status = store_option_open(&cmd_pack, arguments.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    struct pack_what what = {.run_id = arguments.run_id, .samples = arguments.samples};
    status = pack_of_run(store, &what, arguments.output);
    store_close(store);
    return status;
}

const struct command cmd_pack = {
    .name = "pack",
    .arguments = "",
    .summary = "archive a run for publication",
    .description =
        "Packs what was measured on a CPU into a zip file: a README in words, the tables as text "
        "and as one HTML page, the public views as CSV and JSON, the picture of the ports, and a "
        "database that holds nothing else. Without --run that is the newest finished run with all "
        "other runs that the tables of its CPU are made of. Samples are left out unless "
        "--with-samples asks for them: results are then taken on trust, which a warning of each "
        "run says. A MANIFEST has the sha256 of each member. Names of hosts, users and directories "
        "are not in it. The same content always gives the same bytes. Prints the name of the file.",
    .options = pack_options,
    .run = pack_run,
};
