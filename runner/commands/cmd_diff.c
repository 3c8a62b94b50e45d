// SPDX-License-Identifier: MIT
// latput diff: prints the differences of two CPU families or two runs.
#include "cli/command.h"
#include "cli/option_beside.h"
#include "cli/option_format.h"
#include "cli/option_store.h"
#include "compare/compare_diff.h"
#include "diff/diff.h"
#include "store/store.h"

#include "util/pager.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct command cmd_diff;

struct arguments {
    const char *db, *filter;
    char **globs;
    int nglobs;
    bool wide, together;
    bool others; // the runs are the published ones of other machines
    enum diff_order order;
    struct beside_option beside;
    struct diff diff;
    struct diff_view view;
};

static void command_counts(const struct diff *diff)
{
    const struct diff_class *all = &diff->classes[0];
    if (diff->npairs == 0) {
        command_note(&cmd_diff, "neither %s nor %s has a form that matches", diff->sides[0].name,
                     diff->sides[1].name);
        return;
    }
    command_note(
        &cmd_diff,
        "%zu of %zu common forms differ by more than %.3g %%, %zu of them in doubt; %zu only in "
        "%s, %zu only in %s",
        all->common - all->counts[DIFF_SAME], all->common, diff->tolerance * 100, all->doubtful,
        all->counts[DIFF_ONLY_A], diff->sides[0].name, all->counts[DIFF_ONLY_B],
        diff->sides[1].name);
    for (int i = 0; i < 2; i++) {
        const size_t *unasked = diff->unasked[i];
        if (unasked[0] || unasked[1] || unasked[2])
            command_note(&cmd_diff,
                         "not measured in %s, and not compared: latency of %zu forms, throughput "
                         "of %zu, ports of %zu",
                         diff->sides[i].name, unasked[0], unasked[1], unasked[2]);
    }
}

// Appends whose the two sides are, where there is a table for people.
static int command_whose(struct store *store, struct arguments *arguments, bool table,
                         struct strbuf *out)
{
    struct err err = {0};
    int width = terminal_columns(STDOUT_FILENO);
    for (int i = 0; table && i < 2; i++)
        if (store_runs_put(store, &arguments->diff.sides[i].runs, i ? "B: " : "A: ", width, out,
                           &err) != 0)
            return command_fail(&cmd_diff, EXIT_ENVIRONMENT, "%s", err.text);
    if (arguments->others)
        store_option_say_others(&cmd_diff, width, out);
    return EXIT_DONE;
}

// Finds what explains the differences, unless only classes are printed.
static int command_explain(struct store *store, struct arguments *arguments)
{
    struct diff *diff = &arguments->diff;
    struct err err = {0};
    const char *uarchs[2] = {NULL, NULL};
    char *owned[2] = {NULL, NULL};
    int status = arguments->view.summary && arguments->view.page.format == REPORT_CSV ? 1 : 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        const struct store_filter *filter = &diff->sides[i].filter;
        if (!filter->uarch)
            owned[i] = store_option_uarch(store, filter->run_id, &err);
        uarchs[i] = filter->uarch ? filter->uarch : owned[i];
        status = uarchs[i] ? 0 : -1;
    }
    if (status == 0)
        status = compare_diff(store, uarchs, diff, &err);
    free(owned[0]);
    free(owned[1]);
    return status < 0 ? command_fail(&cmd_diff, EXIT_ENVIRONMENT, "%s", err.text) : EXIT_DONE;
}

static int command_print(struct store *store, struct arguments *arguments)
{
    struct strbuf out = {0}, note = {0}, whose = {0};
    struct diff_view *view = &arguments->view;
    struct output_page *page = &view->page;
    view->forms = !view->summary;
    view->summary |= page->format != REPORT_CSV; // a file for programs has one table only
    bool table = page->format == REPORT_TABLE;
    page->width = table && !arguments->wide ? terminal_columns(STDOUT_FILENO) : 0;
    page->colour = table && terminal_has_colour(STDOUT_FILENO);
    diff_sort(&arguments->diff, arguments->order);
    size_t found = diff_print(&arguments->diff, view, &out, &note);
    int status = command_whose(store, arguments, table && out.len, &whose);
    strbuf_printf(&whose, "%s%s", whose.len ? "\n" : "", strbuf_text(&out));
    pager_put(strbuf_text(&whose));
    if (note.len)
        command_note(&cmd_diff, TEXT_TABLE_FITTED, strbuf_text(&note));
    if (view->limit && found > (size_t)view->limit)
        command_note(&cmd_diff, "--limit: %d of %zu forms", view->limit, found);
    command_counts(&arguments->diff);
    strbuf_free(&out);
    strbuf_free(&note);
    strbuf_free(&whose);
    return status;
}

// Finds which CPU or run each side is, and puts tables of others beside them.
static int command_sides(struct store *store, struct arguments *arguments)
{
    int status = EXIT_DONE;
    for (int i = 0; i < 2 && status == EXIT_DONE; i++) {
        struct diff_side *side = &arguments->diff.sides[i];
        side->filter.globs = (const char *const *)arguments->globs;
        side->filter.nglobs = arguments->nglobs;
        status = store_option_check(&cmd_diff, store, side->filter.run_id);
        if (status == EXIT_DONE)
            status = store_option_called(&cmd_diff, store, &side->filter.uarch);
        side->name = side->filter.uarch ? side->filter.uarch : side->name;
    }
    return status == EXIT_DONE ? beside_option_apply(&cmd_diff, store, &arguments->beside, NULL)
                               : status;
}

static int command_databases(struct store *store, struct arguments *arguments)
{
    struct err err = {0};
    int status = command_sides(store, arguments);
    if (status != EXIT_DONE)
        return status;
    diff_begin(&arguments->diff);
    for (int i = 0; i < 2; i++) {
        if (diff_read(store, &arguments->diff, i, &err) != 0)
            return command_fail(&cmd_diff, EXIT_ENVIRONMENT, "%s", err.text);
    }
    diff_make(&arguments->diff);
    status = command_explain(store, arguments);
    return status == EXIT_DONE ? command_print(store, arguments) : status;
}

static int take_only(const struct option_given *given, void *to)
{
    static const char only[] = "only_"; // `--only a` are the forms of only_a
    struct arguments *arguments = to;
    for (int i = DIFF_SAME + 1; i < DIFF_CHANGES; i++) {
        const char *name = diff_change_names[i];
        if (strcmp(given->argument, name + (i > DIFF_OUTCOME ? strlen(only) : 0)) == 0) {
            arguments->view.change = (enum diff_change)i;
            return EXIT_DONE;
        }
    }
    return command_fail(given->cmd, EXIT_USAGE,
                        "'%s' is no kind of difference; there are faster, slower, mixed, ports, "
                        "new, gone, kept, outcome, a and b",
                        given->argument);
}

static int take_sort(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    int i = 0;
    while (i < DIFF_ORDERS && strcmp(given->argument, diff_order_names[i]) != 0)
        i++;
    arguments->order = (enum diff_order)i;
    return i < DIFF_ORDERS ? EXIT_DONE
                           : command_fail(given->cmd, EXIT_USAGE,
                                          "forms are sorted by ratio, abs or form, not by '%s'",
                                          given->argument);
}

static int take_by(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    arguments->diff.by_isa = strcmp(given->argument, "isa") == 0;
    return arguments->diff.by_isa || strcmp(given->argument, "list") == 0
               ? EXIT_DONE
               : command_fail(given->cmd, EXIT_USAGE, "classes are by list or isa, not by '%s'",
                              given->argument);
}

static int take_tolerance(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    char *end;
    double tolerance = strtod(given->argument, &end) / 100;
    arguments->diff.tolerance = tolerance;
    return end != given->argument && !*end && tolerance >= 0 && tolerance < 10
               ? EXIT_DONE
               : command_fail(given->cmd, EXIT_USAGE, "'%s' is no tolerance in percent",
                              given->argument);
}

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {COMMON_FORMAT(view.page.format)},
    {'s', "summary", NULL, "only how many forms of each class differ",
        OPTION_SWITCH(view.summary, true)},
    {0, "by", "WHAT", "classes are by list (default) or isa, the extensions", OPTION_CALL(take_by)},
    {0, "only", "CHANGE",
        "only the forms that are faster, slower, mixed, new, gone, kept, or differ in ports or "
        "outcome; a, b: those that only the runs of A or of B have", OPTION_CALL(take_only),
        .without = "summary"},
    {0, "sort", "ORDER",
        "by ratio or abs, the largest change first (by its factor, in cycles), or by form "
        "(default)", OPTION_CALL(take_sort), .without = "summary"},
    {'n', "limit", "N", "at most N forms", OPTION_NUMBER(view.limit, 1, INT_MAX),
        .without = "summary"},
    {0, "sure", NULL, "doubtful differences count as the same",
        OPTION_SWITCH(diff.sure_only, true)},
    {'t', "tolerance", "PERCENT", "ignore differences up to this; default: 2",
        OPTION_CALL(take_tolerance)},
    {0, "filter", "GLOB", "the same as a GLOB", OPTION_TEXT(filter)},
    {COMMON_BESIDE(beside)},
    {COMMON_TOGETHER(together)},
    {COMMON_WIDE(wide)},
    {0},
};
// clang-format on

// Reads A, B and what follows them. A filter takes B's place among the operands as one more glob.
static int diff_operands(struct arguments *arguments, char **operands, int n)
{
    if (n < 2)
        return command_fail(&cmd_diff, EXIT_USAGE,
                            "name two CPU families (uarch) or two runs; latput query --runs lists "
                            "them");
    for (int i = 0; i < 2; i++) {
        struct diff_side *side = &arguments->diff.sides[i];
        side->name = operands[i];
        if (operands[i][strspn(operands[i], "0123456789")])
            side->filter.uarch = operands[i];
        else if (store_option_run(&cmd_diff, operands[i], &side->filter.run_id) != EXIT_DONE)
            return EXIT_USAGE;
    }
    int first = arguments->filter ? 1 : 2;
    if (arguments->filter)
        operands[1] = (char *)arguments->filter;
    arguments->globs = operands + first;
    arguments->nglobs = n - first;
    return EXIT_DONE;
}

static int diff_run(int argc, char **argv)
{
    struct arguments arguments = {.diff.tolerance = COLUMN_TOLERANCE};
    int operand = argc;
    int status = command_read_options(&cmd_diff, argc, argv, &arguments, &operand);
    if (status == EXIT_DONE)
        status = diff_operands(&arguments, argv + operand, argc - operand);
    struct store *store;
    if (status == EXIT_DONE)
        status = store_option_open_read(&cmd_diff, arguments.db, arguments.together, &store,
                                        &arguments.others);
    if (status != EXIT_DONE)
        return status;
    status = command_databases(store, &arguments);
    store_close(store);
    diff_free(&arguments.diff);
    return status;
}

const struct command cmd_diff = {
    .name = "diff",
    .arguments = "A B [GLOB]...",
    .summary = "show what differs between two CPUs or two runs",
    .description =
        "A and B are CPU families (uarch, such as zen5) or numbers of runs. For the forms that "
        "both have, and that match one of the GLOBs as in latput query if there are any, it first "
        "prints by class how many are faster and slower on B, how many "
        "instructions are new and gone, how many only one side's runs have, and the medians of the "
        "ratios of B's latencies and throughputs to "
        "A's; then the forms whose latency, throughput or outcome differ by more than the "
        "tolerance, or whose µops or ports differ if both are known and not ambiguous; names of "
        "ports are compared within one CPU family only. A ? after faster, slower and mixed means "
        "doubt: the difference rests on upper bounds, on means, on one of several steady states, "
        "or lies within the spread of the samples. ratio is B to A of the value that changes by "
        "the largest factor among those that count; ratio_of in CSV and JSON names it. CSV has the "
        "forms, with --summary the classes; "
        "JSON has both. kept are those that the system of one side keeps from programs, or, with a "
        "?, maybe its hypervisor, as another CPU of the family has them. explained is what "
        "explains "
        "ratio_of, or other µops or ports, by the groups of latput compare (docs/COMPARISON.md), "
        "with the evidence: small is what compare calls the same. --beside has the values "
        "of a table of others as columns, which count for nothing. Standard error has the numbers "
        "of forms that only one of them has, or of "
        "which only one has measured the latency, throughput or ports. On a terminal the table is "
        "made to fit its lines, as that of latput query is.",
    .options = options,
    .run = diff_run,
};
