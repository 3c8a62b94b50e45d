// SPDX-License-Identifier: MIT
// `latput check`: validates lists, macros and tables without measuring.
#include "check/check.h"
#include "check/check_paths.h"
#include "check/check_property.h"
#include "cli/command.h"
#include "cpuinfo/counter_check.h"
#include "list/select.h"
#include "util/csvtext.h"
#include "util/strbuf.h"
#include "llvm/llvm_check.h"

struct arguments {
    const char *coverage;
    bool missing, expand;
};

// clang-format off
static const struct command_option options[] = {
    {0, "coverage", "FILE",
        "compare the lists with a table of variants (tab-separated, columns form, enc, isa_set and "
        "exec_status), and print by instruction set how many of the variants that execute are in "
        "the lists", OPTION_TEXT(coverage)},
    {0, "missing", NULL, "with --coverage: print every form that is missing",
        OPTION_SWITCH(missing, true), .with = "coverage"},
    {0, "expand", NULL,
        "check nothing, but print the rows (of all lists, of LIST or of LIST:LINE) with one row "
        "for each form that a family stands for", OPTION_SWITCH(expand, true), .beside = ""},
    {0},
};
// clang-format on

extern const struct command cmd_check;

// Names families without a table of counters, which is allowed: nothing can be counted on them.
static void check_say_uncounted(void)
{
    struct strbuf names = {0};
    counters_missing(&names);
    if (names.len)
        command_note(&cmd_check, "no counter events are known, and none can be counted, on: %s",
                     strbuf_text(&names));
    strbuf_free(&names);
}

static void check_print_counts(const struct check *check)
{
    if (check->nlists || !check->nproperties)
        fprintf(stderr, "%d list%s, %d row%s, ", check->nlists, check->nlists == 1 ? "" : "s",
                check->nrows, check->nrows == 1 ? "" : "s");
    if (check->nproperties)
        fprintf(stderr, "%d propert%s, ", check->nproperties,
                check->nproperties == 1 ? "y" : "ies");
    fprintf(stderr, "%zu problem%s\n", check->nproblems, check->nproblems == 1 ? "" : "s");
}

static int check_run_paths(const struct check_paths *paths, bool complete, const char *coverage,
                           bool missing)
{
    struct check check;
    struct err err = {0}, unused = {0};
    int status = EXIT_DONE;
    struct check_properties *properties =
        check_properties_begin(paths->properties, paths->nproperties);
    int failed = check_lists(paths->items, paths->n, complete, &check, &err);
    int known = failed ? 0 : llvm_check(&check, &err);
    failed |= check_properties_end(properties, &check, failed ? &unused : &err);
    failed |= known < 0;
    if (!failed && complete)
        check_port_names(&check);
    int without = !failed && paths->lines ? check_keep_lines(&check, paths->lines) : -1;
    check_print(&check, stderr);
    if (failed)
        status = command_fail(&cmd_check, EXIT_ENVIRONMENT, "%s", err.text);
    else if (without >= 0)
        status = command_fail(&cmd_check, EXIT_USAGE, "%s:%d: there is no row at that line",
                              paths->items[without], paths->lines[without]);
    else if (check.nproblems)
        status = EXIT_USAGE;
    if (!failed && coverage && check_coverage(&check, coverage, missing, stdout, &err) != 0)
        status = command_fail(&cmd_check, EXIT_USAGE, "%s", err.text);
    if (!failed) // after a failure not all was checked
        check_print_counts(&check);
    if (!failed && complete && known > 0)
        command_note(&cmd_check, "LLVM disassembles %d rows with opcode= as they say", known);
    if (!failed && complete)
        check_say_uncounted();
    check_free(&check);
    return status;
}

static void check_print_row(const struct list_row *row)
{
    struct strbuf line = {0};
    for (int column = 0; column < LIST_COLUMNS; column++) {
        strbuf_puts(&line, column ? "," : "");
        csv_put_text(&line, row->fields[column]);
    }
    puts(line.data);
    strbuf_free(&line);
}

// Prints the rows of the named lists (all, if none is) with families expanded.
static int check_expand(const char *const *names, int nnames)
{
    struct selection selection;
    struct err err = {0};
    if (select_rows(names, nnames, NULL, &selection, &err) != 0)
        return command_fail(&cmd_check, EXIT_USAGE, "%s", err.text);
    puts("mnemonic,operands,implicit,isa,tests,options");
    for (int i = 0; i < selection.nrows; i++)
        check_print_row(selection.rows[i].row);
    selection_free(&selection);
    return EXIT_DONE;
}

static int check_command(int argc, char **argv)
{
    struct arguments arguments = {.coverage = NULL};
    int operand = argc;
    int status = command_read_options(&cmd_check, argc, argv, &arguments, &operand);
    if (status != EXIT_DONE)
        return status;
    if (arguments.expand)
        return check_expand((const char *const *)argv + operand, argc - operand);
    struct check_paths paths = {0};
    bool complete = operand >= argc;
    struct err err = {0};
    int found = complete ? check_paths_all(&paths, &err)
                         : check_paths_named(&paths, argv + operand, argc - operand, &err);
    if (found < 0)
        status = command_fail(&cmd_check, EXIT_USAGE, "%s", err.text);
    else
        status = check_run_paths(&paths, complete, arguments.coverage, arguments.missing);
    check_paths_free(&paths);
    return status;
}

const struct command cmd_check = {
    .name = "check",
    .arguments = "[LIST[:LINE]...]",
    .summary = "validate lists and tables without measuring",
    .description =
        "Reads the lists (all of lists/ without arguments; LIST:LINE is one line), assembles every "
        "row once and decodes the result. It reports unknown columns, classes, isa names and "
        "options; a form that stands in two lists; rows that NASM refuses or silently encodes as "
        "something else; and rows whose reads and writes differ from the decoder's, unless "
        "lists/exceptions.csv gives a reason. Rows with opcode= are also compared with LLVM 22 or "
        "newer, where that is installed. Without arguments the tables of CPUs, features, "
        "counter events and port names in cpuinfo/, and the properties in lists/properties/, are "
        "checked, too; for properties the code of the first and last point of each curve is "
        "assembled. Every problem is printed with file, line and a caret; the exit status is 0 if "
        "there is none, else 2.",
    .options = options,
    .run = check_command,
};
