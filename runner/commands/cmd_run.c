// SPDX-License-Identifier: MIT
// latput run: measures lists into the database, then writes the text tables. Signals end it at the
// next record; measured results are kept, and --resume continues from there.
#include "assemble/assemble.h"
#include "check/check.h"
#include "cli/command.h"
#include "cli/option_backend.h"
#include "cli/option_kind.h"
#include "cli/option_store.h"
#include "cli/option_uarch.h"
#include "execute/exec_ring0.h"
#include "measure/session.h"
#include "report/report.h"
#include "run/run.h"
#include "run/run_again.h"
#include "run/run_verdict.h"
#include "store/store.h"
#include "store/store_read.h"
#include "util/pager.h"
#include "util/paths.h"
#include "util/scratch.h"
#include "util/strbuf.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS_MAX = 2, GIVE_UP_MAX_S = 24 * 60 * 60 };

struct arguments {
    struct run_options run;
    const char *filter, *db, *results, *tests_text;
    int jobs;
    bool quick, list, again;
    const char *const *names; // of lists
    int nnames;
};

static int take_tests(const struct option_given *given, void *to)
{
    struct arguments *arguments = to;
    const char *letter;
    arguments->tests_text = given->argument;
    if (tests_parse(given->argument, &arguments->run.tests, &letter) == 0 && arguments->run.tests)
        return EXIT_DONE;
    return command_fail(
        given->cmd, EXIT_USAGE,
        "--tests cannot be '%s'; it takes letters of LTP: latency, throughput, ports",
        given->argument);
}

// clang-format off
static const struct command_option options[] = {
    {0, "filter", "GLOB", "only forms whose mnemonic, or mnemonic and operands, match",
        OPTION_TEXT(filter)},
    {0, "tests", "LTP", "only latency (L), throughput (T) or port (P) tests; default: all",
        OPTION_CALL(take_tests)},
    {0, "quick", NULL, "the small selection lists/selection/quick.csv instead of all lists",
        OPTION_SWITCH(quick, true)},
    {0, "list", NULL, "name the lists with their titles and numbers of forms; measures nothing",
        OPTION_SWITCH(list, true), .beside = "filter|quick"},
    {0, "resume", NULL,
        "continue the last unfinished run of the same lists, selection and version on this CPU",
        OPTION_SWITCH(run.resume, true)},
    {0, "again", NULL,
        "measure what the newest finished run here has no value for, in a run that completes it",
        OPTION_SWITCH(again, true)},
    {COMMON_BACKEND(run.counters.choice)},
    {0, "kernel", NULL,
        "interrupts are off while latput's own lists are timed; takes root and the kernel module "
        "(kernel/README.md)",
        OPTION_SWITCH(run.kernel, true)},
    {COMMON_CPU(run.cpu)},
    {COMMON_KIND(run.kind, "measure")},
    {0, "jobs", "N", "1: assemble and measure in turn; 2: at the same time (default: 2)",
        OPTION_NUMBER(jobs, 1, JOBS_MAX)},
    {0, "parallel", "N",
        "measure on N cores at once; a share is measured alone, too, and where that comes out "
        "otherwise the run goes on with one core (default: 1)",
        OPTION_NUMBER(run.parallel, 1, EXEC_PARALLEL_MAX)},
    {0, "give-up", "SECONDS",
        "how long to wait for an undisturbed core before tests become unstable (default 30); the "
        "search for the structure of the ports ends after 30 times as long",
        OPTION_NUMBER(run.give_up_s, 1, GIVE_UP_MAX_S)},
    {COMMON_NEW_FLOOR(run.new_floor)},
    {COMMON_KEEP(run.keep)},
    {0, "results", "DIR", "where the text tables go (default results); `none`: write none",
        OPTION_TEXT(results)},
    {COMMON_DB_MADE(db)},
    {COMMON_UARCH},
    {COMMON_LABEL(run.label)},
    {'q', "quiet", NULL, "no progress: only warnings and the result",
        OPTION_SWITCH(run.quiet, true)},
    {0},
};
// clang-format on

static int run_command(int argc, char **argv);

const struct command cmd_run = {
    .name = "run",
    .arguments = "[LIST[:LINE]...]",
    .summary = "measure the forms of lists: latency, throughput, ports",
    .description =
        "Measures latency, throughput and ports of the forms of the lists (names below lists/, or "
        "paths; all of them if none is given) on this machine, stores the results in the database "
        "and writes text tables. It needs no privileges. A list that `latput check` refuses ends "
        "it with status 2 before anything is measured; lists found to be good are remembered in "
        "$XDG_CACHE_HOME/latput or ~/.cache/latput. The last lines on standard error are forms, "
        "results by outcome, seconds, kernels per second, and how the time was spent.\n"
        "The status is 0 if all that can be measured was; a few tests without a steady value are a "
        "warning. It is 1 if the run was stopped, if tests failed that should not have, or if the "
        "results as a whole are in doubt: more than 2 % of the tests are unstable, the calibration "
        "contradicts what is known of the CPU, the core was never seen undisturbed, or ports were "
        "not found. A line says why; `latput run --again` then measures what has no value, and no "
        "more. Its status is that of the run as it is completed.\n"
        "Where the machine has several kinds of cores (latput cpu --kinds), each is measured after "
        "the other in a run of its own, with its tables in a directory of its name below "
        "--results; --kind and --cpu choose one.\n"
        "A run that was interrupted, by a signal or a crash, loses at most the batch that was "
        "being measured and forms that were to be retried; run again with --resume, which measures "
        "nothing where the newest run of the kind is finished.",
    .options = options,
    .run = run_command,
};

static void print_retried(const struct run_retried *retried)
{
    if (retried->kernels)
        command_note(&cmd_run,
                     "retried: %" PRId64 " kernels without a value, of which %" PRId64
                     " have one now",
                     retried->kernels, retried->gained);
    if (retried->forms)
        command_note(&cmd_run,
                     "retried: the ports of %" PRId64 " forms, of which %" PRId64 " are known now",
                     retried->forms, retried->forms_gained);
}

static void print_summary(const struct run_summary *summary)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%" PRId64 " forms", summary->forms);
    if (summary->forms_had)
        strbuf_printf(&text, " (%" PRId64 " from before)", summary->forms_had);
    strbuf_puts(&text, ", results:");
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (summary->counts[i])
            strbuf_printf(&text, " %" PRId64 " %s", summary->counts[i],
                          outcome_name((enum outcome)i));
    // A timed kernel has its accepted repeats; each is timed again in every pass.
    strbuf_printf(&text, ", %.1f s, %.0f kernels/s", summary->seconds,
                  summary->seconds > 0 ? (double)summary->passes / summary->seconds : 0);
    if (summary->kernels)
        strbuf_printf(&text, " (%" PRId64 " kernels in %.1f passes)", summary->kernels,
                      (double)summary->passes / (double)summary->kernels);
    command_note(&cmd_run, "%s", strbuf_text(&text));
    strbuf_free(&text);
    if (summary->doubts.repeated)
        command_note(&cmd_run,
                     "asked again in another arrangement: %" PRId64 " tests, %" PRId64 " differ",
                     summary->doubts.repeated, summary->doubts.differing);
    print_retried(&summary->retried);
    if (summary->port_seed) {
        port_ways_text(summary->port_ways, summary->port_seed, &text);
        command_note(&cmd_run, "%s", strbuf_text(&text));
        strbuf_free(&text);
    }
    if (summary->mixes)
        command_note(&cmd_run,
                     "%" PRId64 " random mixes: the ports predict %.1f %% of them within 10 %%, "
                     "mean error %.1f %%",
                     summary->mixes, summary->mixes_within_10_percent, summary->mixes_mape_percent);
}

// Prints the verdict; returns the exit status.
static int say_verdict(const struct run_summary *summary)
{
    struct strbuf why = {0};
    int status = run_verdict(summary, &why);
    if (why.len)
        command_note(&cmd_run, "ends with status %d: %s", status, strbuf_text(&why));
    strbuf_free(&why);
    return status;
}

static void print_warnings(struct store *store, int64_t run_id)
{
    struct err err = {0};
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_WARNING, &filter, &err);
    while (rows && store_rows_next(rows, &err) == 1)
        command_note(&cmd_run, "warning: %s\n  %s", store_text_of(rows, "text"),
                     store_text_of(rows, "remedy"));
    store_rows_close(rows);
}

// Says that --resume has nothing to go on with.
static int say_done(struct store *store, struct run_summary *summary)
{
    struct err err = {0};
    const struct store_filter filter = {.run_id = summary->run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, &err);
    const char *when =
        rows && store_rows_next(rows, &err) == 1 ? store_text_of(rows, "finished_utc") : "";
    command_note(&cmd_run,
                 "run %" PRId64
                 " of these lists is finished (%s), so nothing was measured; `latput "
                 "run --again` measures what it has no value for, `latput run` without --resume "
                 "all anew",
                 summary->run_id, when);
    store_rows_close(rows);
    if (store_completed_summary(store, summary->run_id, summary->counts, &summary->scattered,
                                &err) != 0)
        return command_fail(&cmd_run, EXIT_ENVIRONMENT, "%s", err.text);
    return say_verdict(summary);
}

static int64_t count_lacking(const struct run_again *again)
{
    int64_t n = 0;
    for (int i = 0; i < again->n; i++)
        n += again->lacks[i].values || again->lacks[i].ports;
    return n;
}

// Says what the run that completes another has brought, and puts the counts of the whole into the
// summary, by which it is judged.
static int say_completed(struct store *store, const struct run_again *before,
                         struct run_summary *summary)
{
    struct err err = {0};
    struct run_again now = {.base = before->base};
    int status = store_get_lacks(store, now.base.run_id, &now.lacks, &now.n, &now.arena, &err);
    if (status == 0)
        status = run_again_summary(store, before, summary, &err);
    if (status == 0)
        command_note(&cmd_run,
                     "completes run %" PRId64 ": %" PRId64 " forms had no value for something, "
                     "%" PRId64 " still have none",
                     now.base.run_id, count_lacking(before), count_lacking(&now));
    run_again_free(&now);
    return status == 0 ? EXIT_DONE : command_fail(&cmd_run, EXIT_ENVIRONMENT, "%s", err.text);
}

// Measures the selection into the database and writes reports; prints a summary at the end.
// `again`: the run that is completed; NULL: none.
static int run_measured(struct store *store, const struct selection *selection,
                        const struct arguments *arguments, const struct run_again *again)
{
    struct err err = {0};
    struct run_summary summary;
    bool writes = strcmp(arguments->results, "none") != 0;
    // The directory is made before measuring: unwritable tables would only be noticed at the end.
    if (writes && scratch_keep_directory(arguments->results, &err) != 0)
        return command_fail(&cmd_run, EXIT_ENVIRONMENT, "--results: %s", err.text);
    int status = run_rows(store, selection, &arguments->run, &summary, &err);
    if (status == 0 && writes)
        status = report_write_best(store, summary.run_id, arguments->results, &err);
    if (status != 0)
        return command_fail(&cmd_run, summary.claimed ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s",
                            err.text);
    if (summary.done)
        return say_done(store, &summary);
    print_warnings(store, summary.run_id);
    print_summary(&summary);
    store_note_time(&cmd_run, store, summary.run_id);
    if (summary.stopped)
        command_note(&cmd_run, "stopped by %s; the same command with --resume continues%s",
                     session_stopped_by() ? session_stopped_by() : "a signal",
                     summary.search_lost ? ", with the search for the structure of the ports "
                                           "from its begin"
                                         : "");
    if (again)
        status = say_completed(store, again, &summary);
    return status == EXIT_DONE ? say_verdict(&summary) : status;
}

// Refuses rows that `latput check` would refuse: a wrong description of an instruction makes wrong
// numbers, for itself or its neighbours.
static int check_before(const struct selection *selection)
{
    char nasm[128];
    struct err err = {0};
    struct check check;
    if (select_check_once(selection, &err) != 0)
        return command_fail(&cmd_run, EXIT_USAGE, "%s", err.text);
    if (assemble_nasm_version(nasm, sizeof nasm, &err) != 0)
        return command_fail(&cmd_run, EXIT_ENVIRONMENT, "%s", err.text);
    int status = EXIT_DONE;
    if (session_check_stopped(check_selection(selection, nasm, &check, &err), &err) != 0)
        status = command_fail(&cmd_run, EXIT_ENVIRONMENT, "%s", err.text);
    else if (check.nproblems > 0) {
        check_print(&check, stderr);
        status =
            command_fail(&cmd_run, EXIT_USAGE, "%zu problem%s in the lists; nothing was measured",
                         check.nproblems, check.nproblems == 1 ? "" : "s");
    }
    check_free(&check);
    return status;
}

// Prints each list of which forms are selected, with its number of forms and its title; all lists
// if none is named.
static int print_lists(const struct arguments *arguments)
{
    struct err err = {0};
    struct selection selection;
    int nnames = arguments->nnames;
    char **all = nnames ? NULL : select_list_names();
    for (; all && all[nnames]; nnames++)
        ;
    int status = select_rows(all ? (const char *const *)all : arguments->names, nnames,
                             arguments->filter, &selection, &err);
    if (all)
        select_list_names_free(all);
    if (status != 0)
        return command_fail(&cmd_run, EXIT_USAGE, "%s", err.text);
    struct strbuf out = {0};
    struct text_table *table =
        text_table_new((const char *const[]){"list", "forms", "title"},
                       (const enum text_align[]){ALIGN_LEFT, ALIGN_RIGHT, ALIGN_LEFT}, 3);
    for (int i = 0, next = 0; i < selection.nrows; i = next) {
        char forms[16];
        const struct list *list = selection.rows[i].list;
        while (next < selection.nrows && selection.rows[next].list == list)
            next++;
        snprintf(forms, sizeof forms, "%d", next - i);
        text_table_cell(table, list->name);
        text_table_cell(table, forms);
        text_table_cell(table, list->title);
    }
    text_table_print(table, &out);
    pager_put(strbuf_text(&out));
    text_table_free(table);
    strbuf_free(&out);
    selection_free(&selection);
    return EXIT_DONE;
}

// Refuses what --kernel may not or cannot do: its bodies have rights (docs/SECURITY.md).
static int check_kernel(const struct selection *selection)
{
    for (int i = 0; i < selection->nlists; i++)
        if (!select_is_own(&selection->lists[i]))
            return command_fail(&cmd_run, EXIT_USAGE,
                                "%s: --kernel measures latput's own lists only, those below %s",
                                selection->lists[i].path, path_data("lists"));
    const char *why = exec_no_interrupts_off();
    return why ? command_fail(&cmd_run, EXIT_ENVIRONMENT, "--kernel %s", why) : EXIT_DONE;
}

// Checks and measures the selection, which it frees.
static int run_selected(struct store *store, struct selection *selection,
                        struct arguments *arguments, const struct run_again *again)
{
    struct strbuf text = {0};
    session_stop_on_signals(); // checking makes scratch files
    int status = arguments->run.kernel ? check_kernel(selection) : EXIT_DONE;
    if (status == EXIT_DONE)
        status = check_before(selection);
    if (arguments->filter)
        strbuf_printf(&text, "filter=%s ", arguments->filter);
    if (arguments->tests_text)
        strbuf_printf(&text, "tests=%s", arguments->tests_text);
    arguments->run.selection = strbuf_text(&text);
    arguments->run.ahead = arguments->jobs > 1;
    struct store *made = NULL;
    if (status == EXIT_DONE && !store) {
        status = store_option_open(&cmd_run, arguments->db, STORE_WRITE, &made);
        store = made;
    }
    if (status == EXIT_DONE)
        status = run_measured(store, selection, arguments, again);
    if (status == EXIT_ENVIRONMENT && made) // a run that could not begin makes no database
        store_close_unused(made);
    else
        store_close(made);
    strbuf_free(&text);
    selection_free(selection);
    return status;
}

// Finds the run to be completed on the CPU to be measured on.
static int again_find(struct store *store, const struct arguments *arguments,
                      struct run_again *again)
{
    struct err err = {0};
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    int status = kind_identify(arguments->run.kind, arguments->run.cpu, cpu, &err);
    if (status == 0)
        status = run_again_find(store, cpu, again, &err);
    free(cpu);
    const char *label = arguments->run.label;
    if (status != 0)
        return command_fail(&cmd_run, again->base.found ? EXIT_USAGE : EXIT_ENVIRONMENT, "%s: %s",
                            store_path(store), err.text);
    if (label && strcmp(label, again->base.label) != 0)
        return command_fail(&cmd_run, EXIT_USAGE,
                            "run %" PRId64 " has the label '%s', and what completes it has the "
                            "same; leave --label out",
                            again->base.run_id, again->base.label);
    if (run_is_kernel(again->base.selection) != arguments->run.kernel)
        return command_fail(&cmd_run, EXIT_USAGE,
                            "run %" PRId64 " was measured %s --kernel, and what completes it is as "
                            "well",
                            again->base.run_id, arguments->run.kernel ? "without" : "with");
    return EXIT_DONE;
}

// Measures what the run lacks.
static int again_measure(struct store *store, struct arguments *arguments, struct run_again *again,
                         const char *const *names, int nnames)
{
    struct err err = {0};
    struct selection selection;
    if (nnames == 0)
        for (names = run_again_lists(again); names[nnames];)
            nnames++;
    if (select_rows(names, nnames, arguments->filter, &selection, &err) != 0)
        return command_fail(&cmd_run, EXIT_USAGE,
                            "run %" PRId64 ": %s; name the lists that it measured",
                            again->base.run_id, err.text);
    run_again_narrow(again, arguments->run.tests, &selection);
    arguments->run.completes = again->base.uuid;
    arguments->run.completes_id = again->base.run_id;
    arguments->run.label = again->base.label;
    arguments->run.resume = true;
    if (selection.nrows > 0)
        return run_selected(store, &selection, arguments, again);
    selection_free(&selection);
    command_note(&cmd_run, "run %" PRId64 " has a value for all that has one; nothing was measured",
                 again->base.run_id);
    struct run_summary summary = {0};
    if (run_again_summary(store, again, &summary, &err) != 0)
        return command_fail(&cmd_run, EXIT_ENVIRONMENT, "%s", err.text);
    return say_verdict(&summary);
}

static int run_again(struct arguments *arguments)
{
    struct store *store = NULL;
    struct run_again again = {.n = 0};
    if (access(arguments->db, F_OK) != 0)
        return command_fail(&cmd_run, EXIT_USAGE,
                            "%s: there is no database, so there is no run to be completed; `latput "
                            "run` measures one",
                            arguments->db);
    int status = store_option_open(&cmd_run, arguments->db, STORE_WRITE, &store);
    if (status == EXIT_DONE)
        status = again_find(store, arguments, &again);
    if (status == EXIT_DONE)
        status = again_measure(store, arguments, &again, arguments->names, arguments->nnames);
    run_again_free(&again);
    store_close(store);
    return status;
}

// Measures one kind of core.
static int run_kind(const char *kind, const char *results, void *data)
{
    struct arguments arguments = *(const struct arguments *)data;
    struct err err = {0};
    struct selection selection;
    arguments.run.kind = kind;
    arguments.results = results;
    if (arguments.again)
        return run_again(&arguments);
    // Rows are read first, so that a wrong name makes no database.
    if (select_rows(arguments.names, arguments.nnames, arguments.filter, &selection, &err) != 0)
        return command_fail(&cmd_run, EXIT_USAGE, "%s", err.text);
    return run_selected(NULL, &selection, &arguments, NULL);
}

static int run_command(int argc, char **argv)
{
    static const char *const quick[] = {"selection/quick"};
    struct arguments arguments = {
        .run = {.tests = TESTS_ALL, .cpu = -1, .parallel = 1, .give_up_s = 30},
        .db = store_default_path(),
        .results = "results",
        .jobs = JOBS_MAX
    };
    int operand_index = argc;
    int status = command_read_options(&cmd_run, argc, argv, &arguments, &operand_index);
    if (status != 0)
        return status;
    if (arguments.quick && operand_index < argc)
        return command_fail(&cmd_run, EXIT_USAGE, "--quick is a list of its own: leave '%s' out",
                            argv[operand_index]);
    arguments.names = arguments.quick ? quick : (const char *const *)argv + operand_index;
    arguments.nnames = arguments.quick ? 1 : argc - operand_index;
    if (arguments.list)
        return print_lists(&arguments);
    const struct kind_work work = {.cmd = &cmd_run,
                                   .cpu = arguments.run.cpu,
                                   .kind = arguments.run.kind,
                                   .results = arguments.results,
                                   .measure = run_kind,
                                   .data = &arguments};
    return kinds_measure(&work);
}
