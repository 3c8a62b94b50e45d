// SPDX-License-Identifier: MIT
// latput property: measures sweeps that answer questions about the pipeline, and prints the
// answers.
#include "cli/command.h"
#include "cli/option_format.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "measure/session.h"
#include "property/property.h"
#include "property/property_run.h"
#include "report/report_property.h"
#include "store/store.h"
#include "store/store_property.h"
#include "store/store_whose.h"
#include "util/pager.h"
#include "util/scratch.h"
#include "util/suggest.h"
#include "util/terminal.h"
#include "util/text.h"
#include "util/text_table.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct property_run_options run;
    const char *db;
    enum report_format format;
    int64_t run_id, diff_id;
    const char *uarch;   // taken for this CPU's; with --show, the family that is shown
    const char *results; // NULL or "none": nothing is written
    bool list, show, quick, plot, points;
    bool others; // the published runs are asked
    char **names;
    int nnames;
    const struct properties *properties;
};

// clang-format off
static const struct command_option options[] = {
    {'l', "list", NULL, "name the properties and their questions; measures nothing",
        OPTION_SWITCH(list, true), .beside = "quick"},
    {'s', "show", NULL, "print those in the database; measures nothing",
        OPTION_SWITCH(show, true),
        .beside = "plot|results|points|format|run|diff|db|uarch"},
    {0, "quick", NULL, "a few quick ones instead of all", OPTION_SWITCH(quick, true)},
    {0, "plot", NULL, "draw the curves in lines of text, too", OPTION_SWITCH(plot, true)},
    {0, "results", "DIR",
        "write DIR/properties.txt, a data sheet, and DIR/plots/*.svg (where gnuplot is installed); "
        "`none` (default): write none", OPTION_TEXT(results)},
    {0, "points", NULL,
        "with --format csv, markdown, html or latex: the points of the curves instead of the "
        "conclusions",
        OPTION_SWITCH(points, true)},
    {0, "resume", NULL,
        "continue the last unfinished run of the same properties and version on this CPU",
        OPTION_SWITCH(run.resume, true)},
    {COMMON_FORMAT(format)},
    {'r', "run", "N",
        "with --show: this run instead of this machine's newest that has properties (of another "
        "machine's, where it has none)",
        OPTION_RUN(run_id), .with = "show"},
    {0, "diff", "N", "with --show: compare with run N, which comes first",
        OPTION_RUN(diff_id), .with = "show", .beside = "show|format|run|db|uarch"},
    {COMMON_CPU(run.cpu)},
    {COMMON_KIND(run.kind, "measure")},
    {COMMON_NEW_FLOOR(run.new_floor)},
    {COMMON_KEEP(run.keep)},
    {COMMON_DB_MADE(db)},
    {0, "uarch", "NAME",
        "take this CPU for one of that family (column uarch of cpus.csv), or `unknown`; with "
        "--show: a run on that family", OPTION_TEXT(uarch)},
    {COMMON_LABEL(run.label)},
    {'q', "quiet", NULL, "no progress bar", OPTION_SWITCH(run.quiet, true)},
    {0},
};
// clang-format on

static int property_command(int argc, char **argv);

const struct command cmd_property = {
    .name = "property",
    .arguments = "[NAME|GLOB...]",
    .summary = "measure the pipeline: sizes, widths, latencies, penalties",
    .description =
        "Answers questions about the pipeline (reorder buffer, predictors, caches, forwarding, "
        "...) by sweeping a variable and reading the curve, by the clock alone. The questions are "
        "rows of lists/properties/; without a name all of them are measured. Results are stored in "
        "the database with all samples, and printed with their confidence; that there is no knee "
        "is a result. Each is measured five times, a minute apart if there are many; a result that "
        "holds only once is unstable.\n"
        "A signal that stops it loses properties that were not yet measured five times; the same "
        "command with --resume continues.",
    .options = options,
    .run = property_command,
};

// Returns true if the glob of the command line names the property, also by its older name.
static bool glob_names(const char *glob, const char *name)
{
    static const struct {
        const char *name, *was;
    } renamed[] = {
        {"bypass_delay", "handover"}
    };
    for (size_t i = 0; i < ARRAY_LEN(renamed); i++)
        if (strcmp(name, renamed[i].name) == 0 && strcmp(glob, renamed[i].was) == 0)
            return true;
    return fnmatch(glob, name, 0) == 0;
}

static bool is_named(const struct arguments *arguments, const char *name)
{
    for (int i = 0; i < arguments->nnames; i++)
        if (glob_names(arguments->names[i], name))
            return true;
    return arguments->nnames == 0;
}

static int check_names(const struct arguments *arguments, const struct properties *properties)
{
    for (int i = 0; i < arguments->nnames; i++) {
        const char *name = arguments->names[i];
        struct suggestion suggestion = suggest_start(name, strlen(name));
        bool found = false;
        for (int p = 0; p < properties->n && !found; p++) {
            found = glob_names(name, properties->rows[p].name);
            suggest_offer(&suggestion, properties->rows[p].name);
        }
        char text[128];
        if (!found)
            return command_fail(&cmd_property, EXIT_USAGE,
                                "there is no property '%s'; latput property --list names them%s",
                                name, suggest_text(&suggestion, text, sizeof text));
    }
    return EXIT_DONE;
}

// Keeps the selected rows, in their order.
static void choose(const struct arguments *arguments, struct properties *properties)
{
    int n = 0;
    for (int i = 0; i < properties->n; i++)
        if (is_named(arguments, properties->rows[i].name) &&
            (!arguments->quick || properties->rows[i].quick))
            properties->rows[n++] = properties->rows[i];
    properties->n = n;
}

static void print_list(const struct properties *properties)
{
    struct strbuf out = {0};
    bool colour = terminal_has_colour(STDOUT_FILENO);
    const char *grp = "";
    for (int i = 0; i < properties->n; i++) {
        const struct property *property = &properties->rows[i];
        if (strcmp(grp, property->grp) != 0)
            strbuf_printf(&out, "%s%s%s%s\n", *grp ? "\n" : "",
                          text_style_begin(STYLE_HEADING, colour), property->grp,
                          text_style_end(STYLE_HEADING, colour));
        grp = property->grp;
        strbuf_printf(&out, "  %-26s %s\n", property->name, property->title);
        strbuf_printf(&out, "%29s", "");
        text_wrap(&out, property->question, 29, 80);
    }
    pager_put(strbuf_text(&out));
    strbuf_free(&out);
}

// Reads the selected properties of a run. Returns their number; -1 after a message.
static int read_run(const struct arguments *arguments, struct store *store, int64_t run_id,
                    struct arena *arena, struct swept_property **all)
{
    struct err err = {0};
    int n, chosen = 0;
    if (store_get_properties(store, run_id, all, &n, arena, &err) != 0) {
        command_fail(&cmd_property, EXIT_ENVIRONMENT, "%s", err.text);
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (is_named(arguments, (*all)[i].name))
            (*all)[chosen++] = (*all)[i];
    return chosen;
}

// Appends whose the run is to a table; `than`: whose is compared with it first, 0: none.
static int put_whose(const struct arguments *arguments, struct store *store, int64_t than,
                     int64_t run_id, struct strbuf *out)
{
    struct err err = {0};
    struct strbuf text = {0};
    if (arguments->format != REPORT_TABLE)
        return EXIT_DONE;
    strbuf_puts(&text, than ? "first: " : "");
    int status = than ? store_whose_run(store, than, &text, &err) : 0;
    strbuf_puts(&text, than ? "\nsecond: " : "");
    if (status == 0)
        status = store_whose_run(store, run_id, &text, &err);
    text_wrap(out, strbuf_text(&text), 0, 80);
    strbuf_puts(out, "\n");
    strbuf_free(&text);
    return status == 0 ? EXIT_DONE : command_fail(&cmd_property, EXIT_ENVIRONMENT, "%s", err.text);
}

static void say_others(const struct arguments *arguments, struct strbuf *out)
{
    if (arguments->others)
        store_option_end_others(&cmd_property, arguments->format == REPORT_TABLE, out);
}

static int print_diff(const struct arguments *arguments, struct store *store, int64_t run_id)
{
    struct arena arena = {0};
    struct swept_property *rows[2];
    struct strbuf out = {0};
    int n[2] = {read_run(arguments, store, arguments->diff_id, &arena, &rows[0]),
                read_run(arguments, store, run_id, &arena, &rows[1])};
    int status = n[0] >= 0 && n[1] >= 0 ? EXIT_DONE : EXIT_ENVIRONMENT;
    if (status == EXIT_DONE)
        status = put_whose(arguments, store, arguments->diff_id, run_id, &out);
    if (status == EXIT_DONE)
        report_property_diff(rows[0], n[0], rows[1], n[1], arguments->format, &out);
    say_others(arguments, &out);
    pager_put(strbuf_text(&out));
    strbuf_free(&out);
    arena_free(&arena);
    return status;
}

static bool writes_results(const struct arguments *arguments)
{
    return arguments->results && strcmp(arguments->results, "none") != 0;
}

// Prints the selected properties of a run.
static int print_run(const struct arguments *arguments, struct store *store, int64_t run_id)
{
    struct arena arena = {0};
    struct err err = {0};
    struct swept_property *all;
    int chosen = read_run(arguments, store, run_id, &arena, &all);
    if (chosen < 0) {
        arena_free(&arena);
        return EXIT_ENVIRONMENT;
    }
    struct strbuf out = {0};
    int status = put_whose(arguments, store, 0, run_id, &out);
    if (arguments->format == REPORT_JSON)
        report_property_json(all, chosen, &out);
    else if (arguments->format != REPORT_TABLE)
        (arguments->points ? report_property_points
                           : report_property_table)(all, chosen, arguments->format, &out);
    else
        report_property_text(all, chosen, terminal_has_colour(STDOUT_FILENO), &out);
    if (arguments->plot && arguments->format == REPORT_TABLE) {
        int columns = terminal_columns(STDOUT_FILENO);
        strbuf_puts(&out, "\n");
        report_property_draw(all, chosen, columns ? columns : 80, &out);
    }
    say_others(arguments, &out);
    pager_put(strbuf_text(&out));
    strbuf_free(&out);
    arena_free(&arena);
    int written = writes_results(arguments)
                      ? report_property_write(store, run_id, arguments->results, &err)
                      : 0;
    if (written < 0)
        return command_fail(&cmd_property, EXIT_ENVIRONMENT, "%s", err.text);
    if (written > 0)
        command_note(&cmd_property, "no pictures, since gnuplot is not installed");
    return status;
}

static int find_shown(const struct arguments *arguments, struct store *store, int64_t *run_id)
{
    struct err err = {0};
    const char *uarch = arguments->uarch;
    int status = store_option_called(&cmd_property, store, &uarch);
    if (status == EXIT_DONE)
        status = store_option_check(&cmd_property, store, arguments->run_id);
    *run_id = arguments->run_id;
    if (status != EXIT_DONE || *run_id)
        return status;
    const char *named = arguments->nnames > 0 ? arguments->names[0] : NULL;
    int found = store_newest_properties(store, uarch, named, run_id, &err);
    if (found > 0 && !uarch && store_note_merged(&cmd_property, store, *run_id, &err) != 0)
        found = -1;
    if (found < 0)
        return command_fail(&cmd_property, EXIT_ENVIRONMENT, "%s", err.text);
    return found > 0 ? EXIT_DONE
                     : command_fail(&cmd_property, EXIT_ENVIRONMENT,
                                    "the database has no properties%s%s; latput property measures "
                                    "them",
                                    uarch ? " of " : "", uarch ? uarch : "");
}

static int show(struct arguments *arguments)
{
    struct store *store;
    int64_t run_id;
    int status =
        store_option_open_read(&cmd_property, arguments->db, false, &store, &arguments->others);
    if (status != EXIT_DONE)
        return status;
    status = find_shown(arguments, store, &run_id);
    if (status == EXIT_DONE && arguments->diff_id)
        status = store_option_check(&cmd_property, store, arguments->diff_id);
    if (status == EXIT_DONE)
        status = (arguments->diff_id ? print_diff : print_run)(arguments, store, run_id);
    store_close(store);
    return status;
}

static int property_verdict(struct store *store, const struct property_run_summary *summary)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%d measured", summary->measured);
    if (summary->had)
        strbuf_printf(&text, " (%d from before)", summary->had);
    command_note(&cmd_property, "%s, run %" PRId64 ", %.1f s, %" PRId64 " points",
                 strbuf_text(&text), summary->run_id, summary->seconds, summary->kernels);
    strbuf_free(&text);
    store_note_time(&cmd_property, store, summary->run_id);
    if (summary->stopped)
        command_note(&cmd_property, "stopped by %s; the same command with --resume continues",
                     session_stopped_by() ? session_stopped_by() : "a signal");
    if (summary->floor_guessed)
        command_note(&cmd_property, "the core was never seen undisturbed, so nothing has a value");
    return summary->stopped || summary->floor_guessed ? EXIT_SOME_FAILED : EXIT_DONE;
}

// Measures one kind of core.
static int measure(const char *kind, const char *results, void *data)
{
    struct arguments own = *(const struct arguments *)data, *arguments = &own;
    struct store *store;
    struct err err = {0};
    struct property_run_summary summary;
    own.run.kind = kind;
    own.results = results;
    int status = store_option_open(&cmd_property, arguments->db, STORE_WRITE, &store);
    if (status != EXIT_DONE)
        return status;
    // The directory is made before measuring: an unwritable sheet would only be noticed at the end.
    if (writes_results(arguments) && scratch_keep_directory(arguments->results, &err) != 0) {
        store_close_unused(store);
        return command_fail(&cmd_property, EXIT_ENVIRONMENT, "--results: %s", err.text);
    }
    session_stop_on_signals();
    if (property_run(store, arguments->properties, &arguments->run, &summary, &err) != 0) {
        status = command_fail(&cmd_property, summary.claimed ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s",
                              err.text);
        store_close_unused(store);
        return status;
    }
    pager_forbid(); // nobody may be there to end it, and files are written after it
    status = print_run(arguments, store, summary.run_id);
    int verdict = property_verdict(store, &summary);
    store_close(store);
    return status == EXIT_DONE ? verdict : status;
}

static int property_on(struct arguments *arguments, struct properties *properties)
{
    int status = check_names(arguments, properties);
    if (status != EXIT_DONE)
        return status;
    choose(arguments, properties);
    if (arguments->list) {
        print_list(properties);
        return EXIT_DONE;
    }
    if (arguments->show)
        return show(arguments);
    if (arguments->uarch)
        status = uarch_option_read(&cmd_property, arguments->uarch);
    if (status != EXIT_DONE)
        return status;
    if (properties->n == 0)
        return command_fail(&cmd_property, EXIT_USAGE, "none of these is quick");
    struct strbuf text = {0};
    for (int i = 0; i < arguments->nnames; i++)
        strbuf_printf(&text, "%s ", arguments->names[i]);
    if (arguments->quick)
        strbuf_puts(&text, "quick");
    arguments->run.selection = strbuf_text(&text);
    arguments->properties = properties;
    const struct kind_work work = {.cmd = &cmd_property,
                                   .cpu = arguments->run.cpu,
                                   .kind = arguments->run.kind,
                                   .results = arguments->results,
                                   .measure = measure,
                                   .data = arguments,
                                   .one = arguments->format != REPORT_TABLE};
    status = kinds_measure(&work);
    strbuf_free(&text);
    return status;
}

static int property_command(int argc, char **argv)
{
    struct arguments arguments = {.run = {.cpu = -1}};
    int operand = argc;
    int status = command_read_options(&cmd_property, argc, argv, &arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    struct properties properties;
    struct err err = {0};
    arguments.names = argv + operand;
    arguments.nnames = argc - operand;
    if (arguments.points && (arguments.format == REPORT_TABLE || arguments.format == REPORT_JSON))
        return command_fail(&cmd_property, EXIT_USAGE,
                            "--points wants --format csv, markdown, html or latex");
    if (arguments.diff_id && arguments.format == REPORT_JSON)
        return command_fail(&cmd_property, EXIT_USAGE, "--diff has no JSON");
    if (properties_load(&properties, &err) != 0)
        status = command_fail(&cmd_property, EXIT_USAGE, "%s", err.text);
    else
        status = property_on(&arguments, &properties);
    properties_free(&properties);
    return status;
}
