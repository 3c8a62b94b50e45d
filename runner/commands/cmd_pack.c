// SPDX-License-Identifier: MIT
// latput pack: writes one run as an archive fit for publication.
#include "cli/command.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "pack/pack.h"
#include "store/store.h"

#include "store/store_read.h"
#include "util/mem.h"
#include "util/scratch.h"
#include "util/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
    const char *db, *output, *kind;
    int64_t run_id;
    bool tables, full, slim;
};

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {'r', "run", "N",
        "this run alone; default: the newest finished run, and all runs of its tables",
        OPTION_RUN(run_id)},
    {COMMON_KIND(kind, "take the newest run of"), .without = "run"},
    {'s', "slim", NULL, "the default: only the results, about 2 MB for a full run",
        OPTION_SWITCH(slim, true)},
    {0, "tables", NULL,
        "with the kernels, and the tables as text, CSV, JSON and a page, for readers without "
        "latput: a zip file, about 25 MB", OPTION_SWITCH(tables, true)},
    {0, "full", NULL,
        "with these and all samples, from which others can derive the results again: about 250 MB",
        OPTION_SWITCH(full, true)},
    {0, "with-samples", NULL, "an older word for --full", OPTION_SWITCH(full, true)},
    {'o', "output", "FILE",
        "the archive; default: a descriptive name in results/; in a directory, that name. One that "
        "ends in .zip means --tables",
        OPTION_TEXT(output)},
    {0},
};
// clang-format on

enum { PACK_INDENT = 2, PACK_WIDTH = 80 }; // layout of the description of a pack

extern const struct command cmd_pack;

static bool pack_is_taken(const char *taken, const char *path)
{
    char *line = xasprintf("%s\n", path);
    bool found = strstr(taken, line) != NULL;
    free(line);
    return found;
}

// Returns the path of the archive, to be freed: `output`, or the run's own name in a directory.
// `taken` has a line per path that another kind of core has. What kinds are filed under may be the
// same name, where none is believed: the later ones have a number.
static char *pack_path(struct store *store, const struct pack_what *what, const char *output,
                       const char *taken, struct err *err)
{
    struct stat st;
    if (!output && scratch_keep_directory("results", err) != 0)
        return NULL;
    if (output && (stat(output, &st) != 0 || !S_ISDIR(st.st_mode)))
        return xstrdup(output);
    char *name = pack_name(store, what->run_id, what->keep, err);
    const char *in = output ? output : "results";
    char *path = name ? xasprintf("%s/%s", in, name) : NULL;
    for (int i = 2; path && pack_is_taken(taken, path); i++) {
        free(path);
        path = xasprintf("%s/kind%d-%s", in, i, name);
    }
    free(name);
    return path;
}

// Describes what the pack gives away; `others`: it may have more runs than this one.
static void pack_say_run(struct store_rows *rows, const struct pack_what *what, const char *path,
                         struct strbuf *out)
{
    static const char *const kept[] = {
        [MERGE_KEEP_RESULTS] = "without samples, kernels and the timings behind its ports",
        [MERGE_KEEP_KERNELS] = "without samples",
        [MERGE_KEEP_SAMPLES] = "with all samples",
    };
    struct stat st;
    struct strbuf text = {0};
    strbuf_printf(&text, "Results of the CPU '%s', ", store_text_of(rows, "brand"));
    strbuf_printf(&text, "which claims to be %s ", store_text_of(rows, "claimed_uarch"));
    strbuf_printf(&text, "and is filed under %s: ", store_text_of(rows, "uarch"));
    strbuf_printf(&text, "the run of %s by latput ", store_text_of(rows, "started_utc"));
    strbuf_printf(&text, "%s%s, %s", store_text_of(rows, "version"),
                  what->others ? " and those that its tables need besides" : "", kept[what->keep]);
    if (stat(path, &st) == 0)
        strbuf_printf(&text, "; %.2f MB", (double)st.st_size / 1e6);
    strbuf_printf(&text, ".\nOf this machine it tells CPUID, microcode, hypervisor ('%s'), ",
                  store_text_of(rows, "hypervisor"));
    strbuf_printf(&text, "kernel (%s), versions of tools, times and clocks; ",
                  store_text_of(rows, "os_kernel"));
    if (*store_text_of(rows, "label"))
        strbuf_printf(&text, "the label that you gave it ('%s'); ", store_text_of(rows, "label"));
    strbuf_puts(&text, "no names of hosts, users or directories. README.txt and MANIFEST in it say "
                       "more.");
    strbuf_printf(out, "%*s", PACK_INDENT, "");
    text_wrap(out, strbuf_text(&text), PACK_INDENT, PACK_WIDTH);
    strbuf_free(&text);
}

static int pack_say(struct store *store, const struct pack_what *what, const char *path,
                    struct err *err)
{
    struct store_filter filter = {.run_id = what->run_id};
    struct strbuf text = {0};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got > 0) {
        pack_say_run(rows, what, path, &text);
        command_note(&cmd_pack, "what is in it:\n%s", strbuf_text(&text));
    }
    store_rows_close(rows);
    strbuf_free(&text);
    return got < 0 ? -1 : 0;
}

// Adds a line with the path to `taken`.
static int pack_of_run(struct store *store, const struct pack_what *what, const char *output,
                       struct strbuf *taken)
{
    struct err err = {0};
    int status = EXIT_DONE;
    char *path = pack_path(store, what, output, strbuf_text(taken), &err);
    if (!path || pack_write(store, what, path, &err) != 0 || pack_say(store, what, path, &err) != 0)
        status = command_fail(&cmd_pack, EXIT_ENVIRONMENT, "%s", err.text);
    else
        printf("%s\n", path);
    strbuf_printf(taken, "%s\n", path ? path : "");
    free(path);
    return status;
}

// Writes a pack for each kind of core of this machine that has runs, into a directory. Sets *done
// if there are several; a file has room for one kind, which is said.
static int pack_kinds(struct store *store, struct pack_what what, const char *output, bool *done)
{
    struct err err = {0};
    struct stat st;
    struct strbuf taken = {0};
    int64_t *runs = NULL;
    int n = kinds_runs(store, &runs, &err), status = EXIT_DONE;
    bool one = output && (stat(output, &st) != 0 || !S_ISDIR(st.st_mode));
    *done = n > 1 && !one;
    if (n < 0)
        status = command_fail(&cmd_pack, EXIT_ENVIRONMENT, "%s", err.text);
    if (n > 1 && one)
        command_note(&cmd_pack,
                     "%s has one of %d kinds of cores of this machine, that of the newest run; "
                     "--kind NAME makes the pack of another, a directory as --output has all",
                     output, n);
    for (int i = 0; i < n && *done && status == EXIT_DONE; i++) {
        what.run_id = runs[i];
        status = pack_of_run(store, &what, output, &taken);
    }
    strbuf_free(&taken);
    free(runs);
    return status;
}

static int pack_newest(struct store *store, struct pack_what *what,
                       const struct arguments *arguments)
{
    bool done = false;
    int status = EXIT_DONE;
    what->others = what->run_id == 0;
    if (what->others && !arguments->kind)
        status = pack_kinds(store, *what, arguments->output, &done);
    if (status != EXIT_DONE || done)
        return status;
    status = kind_newest_run(&cmd_pack, store, arguments->kind, &what->run_id);
    if (status == EXIT_DONE)
        status = store_option_newest(&cmd_pack, store, &what->run_id);
    struct strbuf taken = {0};
    if (status == EXIT_DONE)
        status = pack_of_run(store, what, arguments->output, &taken);
    strbuf_free(&taken);
    return status;
}

static int pack_run(int argc, char **argv)
{
    struct arguments arguments = {.db = NULL};
    struct store *store;
    bool others;
    int status = command_read_alone(&cmd_pack, argc, argv, &arguments);
    if (status == EXIT_DONE && arguments.slim && (arguments.full || arguments.tables))
        status = command_fail(&cmd_pack, EXIT_USAGE,
                              "--slim leaves out what --full and --tables ask for; give one of "
                              "them");
    if (status == EXIT_DONE)
        status =
            store_option_open_read(&cmd_pack, arguments.db ? arguments.db : store_default_path(),
                                   true, &store, &others); // names are of one machine there
    if (status != EXIT_DONE)
        return status;
    const char *ending = arguments.output ? strrchr(arguments.output, '.') : NULL;
    bool zip = ending && strcmp(ending, ".zip") == 0 && !arguments.slim;
    struct pack_what what = {.run_id = arguments.run_id,
                             .keep = arguments.full            ? MERGE_KEEP_SAMPLES
                                     : arguments.tables || zip ? MERGE_KEEP_KERNELS
                                                               : MERGE_KEEP_RESULTS};
    status = pack_newest(store, &what, &arguments);
    store_close(store);
    return status;
}

const struct command cmd_pack = {
    .name = "pack",
    .arguments = "",
    .summary = "archive a run for publication",
    .description =
        "Packs the measurements of a CPU into one file to give away: the newest finished run that "
        "was measured here (without one, the newest merged run, with a note), and all other such "
        "runs that the tables of its CPU are made of; --run: that run alone. It is a tar.xz file "
        "of a README in words, the picture of the ports, and a database that holds the results, "
        "rounded to thousandths of a cycle, and nothing else: about 2 MB for a full run. Without "
        "samples results are taken on trust, which a warning of each run says. --tables and --full "
        "make a zip file that has more. Of a machine with several kinds of cores each kind that "
        "was measured has a pack (latput cpu --kinds). A MANIFEST has the sha256 of each member. "
        "Names of hosts, users and directories are not in it; the machine's label is, if you gave "
        "it one. The same content always gives the same bytes. Prints the name of the file, and on "
        "standard error its content, its size, and what it reveals about this machine.",
    .options = options,
    .run = pack_run,
};
