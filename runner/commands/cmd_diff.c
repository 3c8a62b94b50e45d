// SPDX-License-Identifier: MIT
// latput diff: two CPU families or two runs side by side, only the forms whose results differ.
#include "cmd_format.h"
#include "command.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_read.h"
#include "store_options.h"

#include "util/mem.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_DB, OPT_FORMAT, OPT_TOLERANCE, OPT_FILTER, OPT_WIDE };
enum { DIFF_VALUES = 4 };

// clang-format off
static const struct command_option diff_options[] = {
    [OPT_DB] = {0, "db", "FILE", "the database; default: db/latput.db"},
    [OPT_FORMAT] = {'f', "format", "FORMAT", "table (default) or csv"},
    [OPT_TOLERANCE] = {'t', "tolerance", "PERCENT", "differences up to this are none; default: 2"},
    [OPT_FILTER] = {0,"filter", "GLOB", "only the forms that match, as in latput query"},
    [OPT_WIDE] = {'w', "wide", NULL, "all columns, however narrow the terminal is"},
    {0},
};
// clang-format on

static const char *const diff_columns[DIFF_VALUES] = {"latency_min_clk", "latency_max_clk",
                                                      "rthroughput_clk", "rthroughput_slow_clk"};
static const char diff_kinds[] = "LLTT"; // the kinds of questions that these answer

extern const struct command cmd_diff;

struct diff_form {
    const char *form, *enc, *outcome, *uarch;
    const char *tests; // kinds of questions that were asked: "LTP"
    int64_t bits;
    double values[DIFF_VALUES];
    const char *uops, *ports; // as tables show them; "" where unknown
};

struct diff_side {
    const char *name;
    struct store_filter filter;
    struct diff_form *forms;
    size_t nforms, capacity;
    struct arena arena;
};

struct diff {
    const char *db, *glob;
    enum report_format format;
    bool wide;
    double tolerance; // relative
    struct diff_side sides[2];
};

static int diff_compare(const void *a, const void *b)
{
    const struct diff_form *one = a, *two = b;
    int order = strcmp(one->form, two->form);
    if (order == 0)
        order = strcmp(one->enc, two->enc);
    return order ? order : (one->bits > two->bits) - (one->bits < two->bits);
}

static const char *diff_text(struct diff_side *side, struct store_rows *rows, const char *name)
{
    return arena_strdup(&side->arena, store_rows_text(rows, store_rows_column(rows, name)));
}

static int diff_read(struct store *store, struct diff_side *side, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_INSTRUCTION, &side->filter, err);
    if (!rows)
        return -1;
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        side->forms = xgrow(side->forms, &side->capacity, side->nforms + 1, sizeof *side->forms);
        struct diff_form *form = &side->forms[side->nforms++];
        form->form = diff_text(side, rows, "form");
        form->enc = diff_text(side, rows, "enc");
        form->outcome = diff_text(side, rows, "outcome");
        form->uarch = diff_text(side, rows, "uarch");
        form->tests = diff_text(side, rows, "tests");
        form->uops = diff_text(side, rows, "uops");
        form->ports = arena_strdup(&side->arena, report_ports(rows));
        form->bits = store_rows_integer(rows, store_rows_column(rows, "bits"));
        for (int i = 0; i < DIFF_VALUES; i++)
            form->values[i] = store_rows_real(rows, store_rows_column(rows, diff_columns[i]));
    }
    store_rows_close(rows);
    if (side->nforms > 0)
        qsort(side->forms, side->nforms, sizeof *side->forms, diff_compare);
    return got;
}

// What nobody asked differs from nothing; what was asked and has no value does.
static bool diff_value_differs(const struct diff_form *a, const struct diff_form *b, int i,
                               double tolerance)
{
    double one = a->values[i], two = b->values[i];
    if (isnan(one) != isnan(two))
        return strchr((isnan(one) ? a : b)->tests, diff_kinds[i]) != NULL;
    return fabs(one - two) > tolerance * fmax(fabs(one), fabs(two)) && fabs(one - two) > 0.005;
}

// A form's outcome follows from its latency and throughput, so it compares where both were asked
// alike; but that a CPU does not have a form comes out whatever is asked.
static bool diff_outcomes_differ(const struct diff_form *a, const struct diff_form *b)
{
    if (strcmp(a->outcome, b->outcome) == 0)
        return false;
    for (const char *kind = "LT"; *kind; kind++)
        if (!strchr(a->tests, *kind) != !strchr(b->tests, *kind))
            return strcmp(a->outcome, "unsupported") == 0 || strcmp(b->outcome, "unsupported") == 0;
    return true;
}

// Names of ports mean something within one CPU family only; what is ambiguous differs from nothing.
static bool diff_ports_differ(const struct diff_form *a, const struct diff_form *b)
{
    if (*a->uops && *b->uops && strcmp(a->uops, b->uops) != 0)
        return true;
    return *a->ports && *b->ports && !strchr(a->ports, '?') && !strchr(b->ports, '?') &&
           strcmp(a->uarch, b->uarch) == 0 && strcmp(a->ports, b->ports) != 0;
}

static bool diff_forms_differ(const struct diff_form *a, const struct diff_form *b,
                              double tolerance)
{
    for (int i = 0; i < DIFF_VALUES; i++)
        if (diff_value_differs(a, b, i, tolerance))
            return true;
    return diff_ports_differ(a, b) || diff_outcomes_differ(a, b);
}

// CSV: everything of both sides.
static void diff_put_csv(struct text_table *table, const struct diff_form *a,
                         const struct diff_form *b)
{
    char number[32];
    text_table_cell(table, a->form);
    text_table_cell(table, a->enc);
    for (int i = 0; i < DIFF_VALUES; i++) {
        text_table_cell(table, report_number(a->values[i], number));
        text_table_cell(table, report_number(b->values[i], number));
    }
    bool same = !diff_outcomes_differ(a, b);
    text_table_cell(table, same ? "" : a->outcome);
    text_table_cell(table, same ? "" : b->outcome);
    text_table_cell(table, a->uops);
    text_table_cell(table, b->uops);
    text_table_cell(table, a->ports);
    text_table_cell(table, b->ports);
}

static void diff_put_change(struct text_table *table, const char *a, const char *b, bool changed)
{
    char *text = xasprintf("%s → %s", *a ? a : "-", *b ? b : "-");
    text_table_cell(table, changed ? text : a);
    free(text);
}

// For people: one column a quantity, an arrow where the sides differ.
static void diff_put(struct text_table *table, const struct diff_form *a, const struct diff_form *b,
                     double tolerance)
{
    char one[32], two[32];
    text_table_cell(table, a->form);
    text_table_cell(table, a->enc);
    for (int i = 0; i < DIFF_VALUES; i++)
        diff_put_change(table, report_number(a->values[i], one), report_number(b->values[i], two),
                        diff_value_differs(a, b, i, tolerance));
    bool known = *a->uops && *b->uops;
    diff_put_change(table, known ? a->uops : "", b->uops, known && strcmp(a->uops, b->uops) != 0);
    known = *a->ports && *b->ports;
    diff_put_change(table, known ? a->ports : "", b->ports,
                    known && strcmp(a->ports, b->ports) != 0);
    bool same = !diff_outcomes_differ(a, b);
    diff_put_change(table, same ? "" : a->outcome, b->outcome, !same);
}

// What the sides have in common, and what they have not.
struct diff_counts {
    size_t both, only[2];                       // forms
    size_t latency[2], throughput[2], ports[2]; // of common forms: not asked by this side
};

static void diff_count(struct diff_counts *counts, const struct diff_form *a,
                       const struct diff_form *b)
{
    const struct diff_form *sides[2] = {a, b};
    counts->both++;
    for (int i = 0; i < 2; i++) {
        const struct diff_form *this = sides[i], *other = sides[!i];
        counts->latency[i] += !strchr(this->tests, 'L') && !isnan(other->values[0]);
        counts->throughput[i] += !strchr(this->tests, 'T') && !isnan(other->values[2]);
        counts->ports[i] += !strchr(this->tests, 'P') && strchr(other->tests, 'P') != NULL;
    }
}

// Walks both sorted sides; counts what only one of them has.
static void diff_join(const struct diff *diff, struct text_table *table, struct diff_counts *counts)
{
    const struct diff_side *a = &diff->sides[0], *b = &diff->sides[1];
    size_t i = 0, j = 0;
    while (i < a->nforms || j < b->nforms) {
        int order = i == a->nforms   ? 1
                    : j == b->nforms ? -1
                                     : diff_compare(&a->forms[i], &b->forms[j]);
        if (order == 0) {
            if (!diff_forms_differ(&a->forms[i], &b->forms[j], diff->tolerance))
                ;
            else if (diff->format == REPORT_CSV)
                diff_put_csv(table, &a->forms[i], &b->forms[j]);
            else
                diff_put(table, &a->forms[i], &b->forms[j], diff->tolerance);
            diff_count(counts, &a->forms[i], &b->forms[j]);
        } else {
            counts->only[order > 0]++;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

enum { CSV_QUANTITIES = 7, CSV_COLUMNS = 2 + 2 * CSV_QUANTITIES };

struct diff_headings { // must outlive the table
    char texts[CSV_COLUMNS][300];
    const char *pointers[CSV_COLUMNS];
};

static struct text_table *diff_table_csv(const struct diff *diff, struct diff_headings *headings)
{
    static const char *const shown[CSV_QUANTITIES] = {
        "latency min", "max", "1/throughput", "slow data", "outcome", "uops", "ports"};
    static const enum text_align aligns[CSV_COLUMNS] = {ALIGN_LEFT};
    headings->pointers[0] = "instruction";
    headings->pointers[1] = "enc";
    for (int c = 2; c < CSV_COLUMNS; c++) {
        snprintf(headings->texts[c], sizeof headings->texts[c], "%s %.120s", shown[(c - 2) / 2],
                 diff->sides[c % 2].name);
        headings->pointers[c] = headings->texts[c];
    }
    return text_table_new(headings->pointers, aligns, CSV_COLUMNS);
}

static struct text_table *diff_table(const struct diff *diff, struct diff_headings *headings)
{
    static const char *const shown[] = {"",     "enc",  "latency", "max",    "1/tput",
                                        "slow", "uops", "ports",   "outcome"};
    static const enum text_align aligns[ARRAY_LEN(shown)] = {ALIGN_LEFT};
    memcpy(headings->pointers, shown, sizeof shown);
    snprintf(headings->texts[0], sizeof headings->texts[0], "%.120s → %.120s", diff->sides[0].name,
             diff->sides[1].name);
    headings->pointers[0] = headings->texts[0];
    return text_table_new(headings->pointers, aligns, (int)ARRAY_LEN(shown));
}

// On a terminal the table fits its lines, as that of latput query does.
static void diff_print_table(const struct diff *diff, const struct text_table *table,
                             struct strbuf *out, struct strbuf *note)
{
    static const struct text_fit fits[] = {
        {FIT_KEEP, 24}, // the form
        {4,        0 },
        {FIT_KEEP, 9 }, // latency
        {2,        9 },
        {FIT_KEEP, 9 }, // throughput
        {3,        9 },
        {1,        0 },
        {FIT_KEEP, 15}, // ports
        {FIT_KEEP, 14}, // outcome
    };
    int width = diff->wide ? 0 : terminal_columns(STDOUT_FILENO);
    if (width > 0)
        text_table_print_narrow(table, width, fits, out, note);
    else
        text_table_print(table, out);
}

static void diff_print_counts(const struct diff *diff, int differ, const struct diff_counts *counts)
{
    fprintf(stderr,
            "latput diff: %d of %zu common forms differ by more than %.3g %%; %zu only in %s, %zu "
            "only in %s\n",
            differ, counts->both, diff->tolerance * 100, counts->only[0], diff->sides[0].name,
            counts->only[1], diff->sides[1].name);
    for (int i = 0; i < 2; i++)
        if (counts->latency[i] || counts->throughput[i] || counts->ports[i])
            fprintf(stderr,
                    "latput diff: not measured in %s, and not compared: latency of %zu forms, "
                    "throughput of %zu, ports of %zu\n",
                    diff->sides[i].name, counts->latency[i], counts->throughput[i],
                    counts->ports[i]);
}

static void diff_print(const struct diff *diff)
{
    struct diff_headings headings;
    struct text_table *table =
        diff->format == REPORT_CSV ? diff_table_csv(diff, &headings) : diff_table(diff, &headings);
    struct diff_counts counts = {0};
    diff_join(diff, table, &counts);
    struct strbuf out = {0}, note = {0};
    if (diff->format == REPORT_CSV)
        text_table_csv(table, &out);
    else if (text_table_rows(table) > 0)
        diff_print_table(diff, table, &out, &note);
    fputs(strbuf_text(&out), stdout);
    fflush(stdout);
    if (note.len)
        command_fail(&cmd_diff, EXIT_DONE, TEXT_TABLE_FITTED, strbuf_text(&note));
    diff_print_counts(diff, text_table_rows(table), &counts);
    strbuf_free(&out);
    strbuf_free(&note);
    text_table_free(table);
}

static int diff_databases(struct store *store, struct diff *diff)
{
    struct err err = {0};
    for (int i = 0; i < 2; i++) {
        struct diff_side *side = &diff->sides[i];
        side->filter.globs = &diff->glob;
        side->filter.nglobs = diff->glob != NULL;
        int status = store_option_check(&cmd_diff, store, side->filter.run_id, side->filter.uarch);
        if (status != EXIT_DONE)
            return status;
        if (diff_read(store, side, &err) != 0)
            return command_fail(&cmd_diff, EXIT_ENVIRONMENT, "%s", err.text);
    }
    diff_print(diff);
    return EXIT_DONE;
}

static int diff_option(void *context, int option, const char *argument)
{
    struct diff *diff = context;
    char *end;
    switch (option) {
    case OPT_DB:
        diff->db = argument;
        break;
    case OPT_FILTER:
        diff->glob = argument;
        break;
    case OPT_FORMAT:
        return format_option_read(&cmd_diff, argument, FORMATS_TABLE_CSV, &diff->format);
    case OPT_WIDE:
        diff->wide = true;
        break;
    case OPT_TOLERANCE:
        diff->tolerance = strtod(argument, &end) / 100;
        if (end == argument || *end || !(diff->tolerance >= 0 && diff->tolerance < 10))
            return command_fail(&cmd_diff, EXIT_USAGE, "'%s' is no tolerance in percent", argument);
        break;
    }
    return EXIT_DONE;
}

static int diff_operands(struct diff *diff, char **names, int n)
{
    if (n != 2)
        return command_fail(&cmd_diff, EXIT_USAGE,
                            "name two CPU families (uarch) or two runs; latput query --runs lists "
                            "them");
    for (int i = 0; i < 2; i++) {
        struct diff_side *side = &diff->sides[i];
        side->name = names[i];
        if (names[i][strspn(names[i], "0123456789")])
            side->filter.uarch = names[i];
        else if (store_option_run(&cmd_diff, names[i], &side->filter.run_id) != 0)
            return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static int diff_run(int argc, char **argv)
{
    struct diff diff = {.tolerance = 0.02};
    int operand = argc;
    int status = command_each_option(&cmd_diff, argc, argv, diff_option, &diff, &operand);
    if (status == EXIT_DONE)
        status = diff_operands(&diff, argv + operand, argc - operand);
    if (status != EXIT_DONE)
        return status;
    struct store *store;
    status = store_option_open(&cmd_diff, diff.db, STORE_READ, &store);
    if (status != EXIT_DONE)
        return status;
    status = diff_databases(store, &diff);
    store_close(store);
    for (int i = 0; i < 2; i++) {
        free(diff.sides[i].forms);
        arena_free(&diff.sides[i].arena);
    }
    return status;
}

const struct command cmd_diff = {
    .name = "diff",
    .arguments = "A B",
    .summary = "two CPUs or two runs side by side, only what differs",
    .description =
        "A and B are CPU families (uarch, such as zen5) or numbers of runs. Prints the forms that "
        "both have and whose latency, throughput or outcome differ by more than the tolerance, or "
        "whose µops or ports differ where both are known and not ambiguous; names of ports are "
        "compared within one CPU family only. "
        "How many forms only one of them has, and how many only one of them has measured the "
        "latency, throughput or ports of, is said on standard error. On a terminal the table is "
        "made to fit its lines, as that of latput query is.",
    .options = diff_options,
    .run = diff_run,
};
