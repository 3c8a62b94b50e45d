// SPDX-License-Identifier: MIT
#include "option_store.h"

#include "cpuinfo/cpuinfo.h"
#include "report/report.h"
#include "store/store_cpu.h"
#include "store/store_run.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/strbuf.h"
#include "util/suggest.h"
#include "util/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The database of the runs in results/published/, which make builds.
static const char published[] = "published.db";

static const char of_others[] =
    "the published runs of other machines, since this one has none yet: `latput run` makes it";

// Opens the published runs in the place of this machine's own database, if that is missing or has
// no run. Returns what store_open() does of the one or the other.
static int open_own(int got, struct store **store, bool *others, struct err *err)
{
    int64_t run_id;
    struct err ignored;
    bool none = got == 0 ? store_run_newest(*store, NULL, &run_id, &ignored) == 0
                         : access(store_own_path(), F_OK) != 0;
    if (!none || access(path_library(published), R_OK) != 0)
        return got;
    store_close(*store);
    got = store_open(path_library(published), STORE_READ, store, err);
    *others = got == 0;
    return got;
}

// Opens a database; `apart`: with its machines apart.
static int option_open(const struct command *cmd, const char *db, enum store_mode mode, bool apart,
                       struct store **store, bool *others)
{
    struct err err = {0};
    const char *path = db ? db : store_default_path();
    int got = store_open(path, mode, store, &err);
    *others = false;
    if (!db && mode == STORE_READ && strcmp(path, store_own_path()) == 0)
        got = open_own(got, store, others, &err);
    if (got == 0 && apart && store_machines_apart(*store, &err) != 0) {
        store_close(*store);
        got = -1;
    }
    if (got == 0)
        return EXIT_DONE;
    return command_fail(cmd, got == STORE_FOREIGN ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s", err.text);
}

int store_option_open(const struct command *cmd, const char *db, enum store_mode mode,
                      struct store **store)
{
    bool others;
    int status = option_open(cmd, db, mode, mode == STORE_READ, store, &others);
    if (status == EXIT_DONE && others)
        command_note(cmd, "asks %s", of_others);
    return status;
}

int store_option_open_read(const struct command *cmd, const char *db, bool together,
                           struct store **store, bool *others)
{
    return option_open(cmd, db, STORE_READ, !together, store, others);
}

void store_option_say_others(const struct command *cmd, int width, struct strbuf *whose)
{
    char *text = xasprintf("These are %s", of_others);
    if (whose->len > 0)
        text_wrap(whose, text, 2, width ? width : INT_MAX);
    else
        command_note(cmd, "asks %s", of_others);
    free(text);
}

void store_option_end_others(const struct command *cmd, bool text, struct strbuf *out)
{
    enum { WIDTH = 80 }; // as these texts have
    struct strbuf none = {0};
    if (text)
        strbuf_puts(out, "\n");
    store_option_say_others(cmd, WIDTH, text ? out : &none);
}

int store_option_run(const struct command *cmd, const char *text, int64_t *run_id)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 1)
        return command_fail(cmd, EXIT_USAGE,
                            "'%s' is not the number of a run; latput query --runs lists them",
                            text);
    *run_id = value;
    return EXIT_DONE;
}

int option_take_run(const struct option_given *given, void *to)
{
    return store_option_run(given->cmd, given->argument, to);
}

int store_option_check(const struct command *cmd, struct store *store, int64_t run_id)
{
    struct err err = {0};
    int got = run_id ? store_has_run(store, run_id, &err) : 1;
    if (got < 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    return got ? EXIT_DONE
               : command_fail(cmd, EXIT_USAGE,
                              "%s: has no run %lld; latput query --runs lists them",
                              store_path(store), (long long)run_id);
}

// A CPU of a database: a machine, and the uarch that it is of.
struct one_called {
    const char *uarch, *machine;
};

// Gets the next of the texts of store_machines(). Returns false at the end.
static bool called_next(const char **at, struct one_called *one)
{
    if (!**at)
        return false;
    one->uarch = *at;
    one->machine = one->uarch + strlen(one->uarch) + 1;
    *at = one->machine + strlen(one->machine) + 1;
    return true;
}

// Names fit a CPU more or less well: a name is the machine, or the uarch, or that without the mark
// of an inferred one; or people call it so.
enum fit { FIT_NOT, FIT_CALLED, FIT_INFERRED, FIT_UARCH };

static bool is_inferred(const char *uarch, const char *name)
{
    size_t family = strcspn(uarch, "?");
    return uarch[family] && strncmp(uarch, name, family) == 0 &&
           strcmp(uarch + family + 1, name + family) == 0;
}

static enum fit called_fits(const struct one_called *one, const char *name)
{
    if (strcmp(one->uarch, name) == 0 || strcmp(one->machine, name) == 0)
        return FIT_UARCH;
    if (is_inferred(one->uarch, name) || is_inferred(one->machine, name))
        return FIT_INFERRED;
    return cpu_is_called(one->uarch, name) || cpu_is_called(one->machine, name) ? FIT_CALLED
                                                                                : FIT_NOT;
}

// Appends the machines that a name means, after commas: those that it fits best. *uarch: that of
// all of them; NULL: they have several. Returns their number.
static int called_put(const char *all, const char *name, struct strbuf *out, const char **uarch)
{
    struct one_called one;
    enum fit best = FIT_CALLED;
    int n = 0;
    for (const char *at = all; called_next(&at, &one);)
        best = called_fits(&one, name) > best ? called_fits(&one, name) : best;
    for (const char *at = all; called_next(&at, &one);)
        if (called_fits(&one, name) == best) {
            *uarch = n == 0 || (*uarch && strcmp(*uarch, one.uarch) == 0) ? one.uarch : NULL;
            strbuf_printf(out, "%s%s", out->len ? "," : "", one.machine);
            n++;
        }
    return n;
}

// Returns true if the published runs have the CPU that a name means and that this machine's own
// database has not.
static bool called_published(struct store *own, const char *name)
{
    const char *path = path_library(published), *uarch;
    struct store *store;
    struct err ignored;
    if (strcmp(store_path(own), store_own_path()) != 0 ||
        store_open(path, STORE_READ, &store, &ignored) != 0)
        return false;
    struct strbuf found = {0};
    char *all = store_machines(store, &ignored);
    bool has = all && called_put(all, name, &found, &uarch) > 0;
    strbuf_free(&found);
    free(all);
    store_close(store);
    return has;
}

static int called_none(const struct command *cmd, struct store *store, const char *all,
                       const char *name)
{
    struct suggestion near = suggest_start(name, strlen(name));
    struct strbuf has = {0};
    struct one_called one;
    char hint[96];
    for (const char *at = all; called_next(&at, &one);) {
        strbuf_printf(&has, "%s%s", has.len ? ", " : "", one.machine);
        suggest_offer(&near, one.uarch);
        suggest_offer(&near, one.machine);
    }
    bool elsewhere = called_published(store, name);
    int status =
        command_fail(cmd, EXIT_USAGE, "%s: has no results of the uarch '%s', only of %s%s%s",
                     store_path(store), name, has.len ? strbuf_text(&has) : "none",
                     elsewhere ? "; the published runs have some: --db "
                               : suggest_text(&near, hint, sizeof hint),
                     elsewhere ? path_library(published) : "");
    strbuf_free(&has);
    return status;
}

// Finds the machines that a name means. *uarch: that of all of them, owned by the caller; NULL:
// they have several.
static int called_find(const struct command *cmd, struct store *store, const char *name,
                       struct strbuf *found, char **uarch)
{
    struct err err = {0};
    const char *of = NULL;
    char *all = cpuinfo_load(&err) == 0 ? store_machines(store, &err) : NULL;
    if (!all)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    int n = called_put(all, name, found, &of);
    int status = n > 0 ? EXIT_DONE : called_none(cmd, store, all, name);
    if (uarch)
        *uarch = of ? xstrdup(of) : NULL;
    free(all);
    return status;
}

static struct arena called_kept; // as long as the program runs, as its arguments

int store_option_all_called(const struct command *cmd, struct store *store, const char **uarchs)
{
    struct strbuf found = {0};
    int status = EXIT_DONE;
    if (!*uarchs)
        return EXIT_DONE;
    char *words = xstrdup(*uarchs), *rest = words;
    for (char *word; status == EXIT_DONE && (word = strsep(&rest, ","));)
        status = called_find(cmd, store, word, &found, NULL);
    if (status == EXIT_DONE)
        *uarchs = arena_strdup(&called_kept, strbuf_text(&found));
    free(words);
    strbuf_free(&found);
    return status;
}

// Takes one of several machines, and says so: that of the newest run.
static int called_newest(const struct command *cmd, struct store *store, const char *machines,
                         const char *uarch, const char **one)
{
    struct err err = {0};
    char *newest = store_machine_newest(store, uarch, &err);
    if (!newest)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    command_note(cmd, "'%s' is several machines, %s: takes %s, of the newest run; name another one",
                 uarch, machines, newest);
    *one = arena_strdup(&called_kept, newest);
    free(newest);
    return EXIT_DONE;
}

int store_option_called(const struct command *cmd, struct store *store, const char **uarch)
{
    struct strbuf found = {0};
    const char *asked = *uarch;
    char *of = NULL;
    if (!asked)
        return EXIT_DONE;
    int status = called_find(cmd, store, asked, &found, &of);
    bool several = status == EXIT_DONE && strchr(strbuf_text(&found), ',') != NULL;
    if (several && of)
        status = called_newest(cmd, store, strbuf_text(&found), of, uarch);
    else if (several)
        status = command_fail(cmd, EXIT_USAGE, "'%s' means several uarchs, %s: name one of them",
                              asked, strbuf_text(&found));
    else if (status == EXIT_DONE)
        *uarch = arena_strdup(&called_kept, strbuf_text(&found));
    strbuf_free(&found);
    free(of);
    return status;
}

int store_note_merged(const struct command *cmd, struct store *store, int64_t run_id,
                      struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    bool said = strcmp(store_path(store), path_library(published)) == 0;
    int merged = said ? 0 : store_run_is_merged(store, run_id, err);
    if (merged <= 0)
        return merged;
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    int got = rows ? store_rows_next(rows, err) : -1;
    if (got == 1)
        command_note(cmd, "run %lld, of '%s' (%s), came by merge: no such run was measured here",
                     (long long)run_id, store_text_of(rows, "brand"), store_text_of(rows, "uarch"));
    store_rows_close(rows);
    return got < 0 ? -1 : 0;
}

int store_option_newest(const struct command *cmd, struct store *store, int64_t *run_id)
{
    struct err err = {0};
    if (*run_id)
        return store_option_check(cmd, store, *run_id);
    int got = store_run_newest(store, NULL, run_id, &err);
    if (got == 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s: has no runs; `latput run` measures one",
                            store_path(store));
    if (got < 0 || store_note_merged(cmd, store, *run_id, &err) != 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    return EXIT_DONE;
}

void store_note_time(const struct command *cmd, struct store *store, int64_t run_id)
{
    struct strbuf text = {0};
    struct err err = {0};
    if (report_time_text(store, run_id, &text, &err) == 0)
        for (char *rest = text.data; rest && *rest;)
            command_note(cmd, "%s", strsep(&rest, "\n"));
    strbuf_free(&text);
}

int store_option_ports(const struct command *cmd, struct store *store, struct store_ports_of *of,
                       struct stored_port_model *model, struct arena *arena)
{
    struct err err = {0};
    bool of_run = of->run_id != 0;
    int found = of_run ? 1 : store_newest_port_run(store, 0, of->uarch, &of->run_id, &err);
    if (found == 1)
        found = store_get_port_model(store, of->run_id, model, arena, &err);
    if (found == 1 && !of_run && !of->named && store_note_merged(cmd, store, of->run_id, &err) != 0)
        found = -1;
    if (found == 1)
        return EXIT_DONE;
    if (found < 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    if (of_run)
        return command_fail(cmd, EXIT_USAGE, "%s: run %lld has not found its ports",
                            store_path(store), (long long)of->run_id);
    return command_fail(cmd, of->named ? EXIT_USAGE : EXIT_ENVIRONMENT,
                        "%s: no run of '%s' has found its ports%s", store_path(store), of->uarch,
                        of->named ? ""
                                  : "; latput run finds them, latput ports --discover does so at "
                                    "once");
}

char *store_option_uarch(struct store *store, int64_t run_id, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    char *uarch = NULL;
    if (rows && store_rows_next(rows, err) == 1)
        uarch = xasprintf("%s", store_text_of(rows, "uarch"));
    store_rows_close(rows);
    return uarch;
}

char *store_option_uarch_here(struct store *store, int cpu, struct err *err)
{
    struct cpu_info *info = xcalloc(1, sizeof *info);
    bool known = cpuinfo_load(err) == 0 && cpu_identify(cpu < 0 ? CPU_LAST : cpu, info, err) == 0;
    char *uarch = known ? store_uarch_here(store, info, err) : NULL;
    free(info);
    return uarch;
}

int store_option_one_cpu(const struct command *cmd, struct store *store,
                         struct store_filter *filter, char **owned)
{
    struct err err = {0};
    int64_t run_id = filter->run_id;
    *owned = NULL;
    int status = store_option_check(cmd, store, run_id);
    if (status == EXIT_DONE)
        status = store_option_called(cmd, store, &filter->uarch);
    if (status != EXIT_DONE || filter->uarch)
        return status;
    status = store_option_newest(cmd, store, &run_id);
    if (status != EXIT_DONE)
        return status;
    filter->uarch = *owned = store_option_uarch(store, run_id, &err);
    return *owned ? EXIT_DONE : command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
}
