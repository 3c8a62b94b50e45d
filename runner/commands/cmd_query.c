// SPDX-License-Identifier: MIT
// latput query: prints the instruction table, the operand pairs, the ports with their evidence, the
// failures or the runs of a database. Only reads.
#include "cli/command.h"
#include "cli/option_beside.h"
#include "cli/option_format.h"
#include "cli/option_store.h"
#include "expr/expr.h"
#include "list/form_code.h"
#include "list/form_described.h"
#include "list/form_words.h"
#include "list/select.h"
#include "report/report.h"
#include "store/store.h"
#include "store/store_read.h"
#include "util/mem.h"
#include "util/pager.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

extern const struct command cmd_query;

struct arguments {
    const char *db;
    enum report_format format;
    enum store_view view;
    struct store_filter filter;
    const char *where, *sort, *columns; // as written by the user
    char **globs;
    int nglobs;
    int limit;
    bool wide, side, shown, together;
    struct beside_option beside;
    bool others; // the runs are the published ones of other machines
};

// Returns true if one option refines another, so that they may be combined in any order.
static bool query_refines(enum store_view view, enum store_view of)
{
    return (view == STORE_VIEW_EVIDENCE && of == STORE_VIEW_PORT) ||
           (view == STORE_VIEW_REPETITION && of == STORE_VIEW_BENCH);
}

static int take_view(const struct option_given *given, void *to)
{
    struct arguments *query = to;
    enum store_view view = (enum store_view)given->option->value;
    if (query_refines(query->view, view))
        return EXIT_DONE;
    if (query->view != STORE_VIEW_INSTRUCTION && !query_refines(view, query->view))
        return command_fail(given->cmd, EXIT_USAGE,
                            "--latency, --ports, --false-dependencies, --doubts, --failures, "
                            "--runs, --list and --bench exclude each other");
    query->view = view;
    return EXIT_DONE;
}

static int query_set_where(struct arguments *query, const char *text)
{
    if (query->where)
        return command_fail(&cmd_query, EXIT_USAGE,
                            "one expression, please: join '%s' and '%s' with and, or", query->where,
                            text);
    query->where = text;
    return EXIT_DONE;
}

static int take_where(const struct option_given *given, void *to)
{
    return query_set_where(to, given->argument);
}

#define OPTION_VIEW(view) OPTION_CALL(take_view), .value = (view)

// clang-format off
static const struct command_option options[] = {
    {COMMON_DB(db)},
    {COMMON_FORMAT(format)},
    {'u', "uarch", "NAME", "only this CPU family, e.g. zen5, or these: zen4,zen5",
        OPTION_TEXT(filter.uarch)},
    {COMMON_TOGETHER(together)},
    {'r', "run", "N", "this run instead of the best run of each form", OPTION_RUN(filter.run_id)},
    {'l', "latency", NULL, "the latency of each pair of operands", OPTION_VIEW(STORE_VIEW_LATENCY)},
    {'p', "ports", NULL, "the ports that each form uses", OPTION_VIEW(STORE_VIEW_PORT)},
    {0, "evidence", NULL, "the timings as evidence for these ports",
        OPTION_VIEW(STORE_VIEW_EVIDENCE)},
    {0, "false-dependencies", NULL,
        "the forms that wait for the old content of an operand that they overwrite",
        OPTION_VIEW(STORE_VIEW_FALSE)},
    {0, "doubts", NULL, "the values that differ in another way of measuring",
        OPTION_VIEW(STORE_VIEW_DOUBT)},
    {0, "failures", NULL, "the tests without a value, with the reasons",
        OPTION_VIEW(STORE_VIEW_FAILURE)},
    {0, "runs", NULL, "the runs in the database", OPTION_VIEW(STORE_VIEW_RUN)},
    {0, "list", NULL, "the lists of forms that they have, with titles",
        OPTION_VIEW(STORE_VIEW_LIST)},
    {COMMON_WIDE(wide)},
    {'b', "bench", NULL, "pieces of code that latput bench has stored",
        OPTION_VIEW(STORE_VIEW_BENCH)},
    {0, "repetitions", NULL, "with --bench: each repetition of them",
        OPTION_VIEW(STORE_VIEW_REPETITION)},
    {'W', "where", "EXPR",
        "only rows for which this is true, e.g. 'latency > 20 and isa = \"AVX2\"'",
        OPTION_CALL(take_where)},
    {'s', "sort", "COLUMNS", "sort by these, e.g. -latency,form; - for the largest first",
        OPTION_TEXT(sort)},
    {'n', "limit", "N", "at most N rows", OPTION_NUMBER(limit, 1, INT_MAX)},
    {'c', "columns", "COLUMNS", "these columns, e.g. form,latency,ports", OPTION_TEXT(columns)},
    {0, "shown", NULL,
        "with CSV: each number also as tables show it, rounded and marked, in a column NAME_shown "
        "after the others", OPTION_SWITCH(shown, true)},
    {COMMON_BESIDE(beside)},
    {'S', "side-by-side", NULL, "one row per form, columns for each CPU (all, or those of --uarch)",
        OPTION_SWITCH(side, true)},
    {0},
};
// clang-format on

static int query_parse(int argc, char **argv, struct arguments *query)
{
    int operand = argc;
    int status = command_read_options(&cmd_query, argc, argv, query, &operand);
    query->globs = argv + operand;
    for (; operand < argc && status == EXIT_DONE; operand++)
        if (expr_is_one(argv[operand]))
            status = query_set_where(query, argv[operand]);
        else
            query->globs[query->nglobs++] = argv[operand];
    if (status == EXIT_DONE && query->nglobs &&
        (query->view == STORE_VIEW_RUN || query->view == STORE_VIEW_LIST))
        return command_fail(&cmd_query, EXIT_USAGE,
                            "--%s has no forms: leave '%s' out, or select by an expression, as "
                            "after --where",
                            query->view == STORE_VIEW_RUN ? "runs" : "list", query->globs[0]);
    // Without a selection only false dependencies that exist are listed; of selected forms, all
    // that were asked for.
    if (query->view == STORE_VIEW_FALSE && !query->nglobs && !query->where)
        query->where = "latency_clk > 0";
    if (status == EXIT_DONE && query->side && !report_has_sides(query->view))
        return command_fail(&cmd_query, EXIT_USAGE,
                            "--side-by-side is for instructions, --latency and --ports");
    if (status == EXIT_DONE && query->shown && (query->format != REPORT_CSV || query->side))
        return command_fail(&cmd_query, EXIT_USAGE,
                            "--shown is for --format csv or spreadsheet, without --side-by-side");
    if (status == EXIT_DONE && query->beside.n &&
        (query->view != STORE_VIEW_INSTRUCTION || query->side))
        return command_fail(&cmd_query, EXIT_USAGE,
                            "--beside is for the instruction table, without --side-by-side");
    if (status == EXIT_DONE && query->side && (query->sort || query->filter.run_id))
        return command_fail(&cmd_query, EXIT_USAGE, "--side-by-side excludes --sort and --run");
    return status;
}

enum { QUERY_COLUMNS_MAX = 60 };

// The user's texts, translated for this database; freed by query_forget().
struct query_meaning {
    struct store_where *where;
    char *sort;
    const char *columns[QUERY_COLUMNS_MAX + 1]; // parts of `owned`
    char *owned[QUERY_COLUMNS_MAX];
    int ncolumns;
};

static void query_forget(struct query_meaning *meaning)
{
    expr_free(meaning->where);
    free(meaning->sort);
    for (int i = 0; i < meaning->ncolumns; i++)
        free(meaning->owned[i]);
}

static int query_read_columns(struct store *store, const struct arguments *query,
                              struct query_meaning *meaning, struct err *err)
{
    char *words = xstrdup(query->columns), *rest = words;
    int result = 0;
    for (char *word; result == 0 && (word = strsep(&rest, ","));) {
        word += strspn(word, " ");
        char *column = expr_column(store, query->view, word, err);
        if (!column) {
            result = -1;
        } else if (meaning->ncolumns == QUERY_COLUMNS_MAX) {
            result = err_set(err, "%d columns at most", QUERY_COLUMNS_MAX);
            free(column);
        } else {
            meaning->columns[meaning->ncolumns] = column;
            meaning->owned[meaning->ncolumns++] = column;
        }
    }
    free(words);
    return result == 0 ? 0 : err_prefix(err, "--columns: ");
}

// Says which column a heading stands for in an expression, where it could be another one.
static void query_say_columns(const struct arguments *query)
{
    struct strbuf said = {0};
    for (const char *at = query->where ? query->where : ""; *at;) {
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        char *word = xasprintf("%.*s", (int)len, at);
        const struct column *column = columns_called(query->view, word);
        if (column && column->wider && strcasecmp(word, column->look.name) != 0 &&
            !strstr(strbuf_text(&said), column->look.name))
            strbuf_printf(&said, "%s%s is %s, to the result (%s: of all pairs)",
                          said.len ? "; " : "", word, column->look.name, column->wider);
        free(word);
        at += len ? len : 1;
    }
    if (said.len)
        command_note(&cmd_query, "--where: %s", strbuf_text(&said));
    strbuf_free(&said);
}

// Translates them. Returns EXIT_DONE, or EXIT_USAGE after a message.
static int query_understand(struct store *store, struct arguments *query,
                            struct query_meaning *meaning)
{
    struct err err = {0};
    int bad = 0;
    if (query->where) {
        meaning->where = expr_parse(store, query->view, query->where, &err);
        bad = !meaning->where ? err_prefix(&err, "--where: ") : 0;
    }
    if (!bad)
        query_say_columns(query);
    if (!bad && query->sort) {
        meaning->sort = expr_sort_parse(store, query->view, query->sort, &err);
        bad = !meaning->sort ? err_prefix(&err, "--sort: ") : 0;
    }
    if (!bad && query->columns)
        bad = query_read_columns(store, query, meaning, &err);
    query->filter.where = meaning->where;
    query->filter.sort = meaning->sort;
    query->filter.limit = query->limit;
    query->filter.globs = (const char *const *)query->globs;
    query->filter.nglobs = query->nglobs;
    return bad ? command_fail(&cmd_query, EXIT_USAGE, "%s", err.text) : EXIT_DONE;
}

// Prints a table; its legend and whose it is do not stand out.
static void query_put(const char *table, const char *legend, const char *whose)
{
    struct strbuf text = {0};
    bool colour = (*legend || *whose) && terminal_has_colour(STDOUT_FILENO);
    strbuf_printf(&text, "%s%s%s%s%s%s", table, text_style_begin(STYLE_FAINT, colour), legend,
                  *whose ? "\n" : "", whose, text_style_end(STYLE_FAINT, colour));
    pager_put(strbuf_text(&text));
    strbuf_free(&text);
}

// Returns the number of rows that this glob alone would find.
static int64_t query_count(struct store *store, const struct arguments *query, const char *glob)
{
    struct store_filter filter = query->filter;
    struct strbuf out = {0};
    int64_t nrows = 0;
    struct err err;
    filter.globs = (const char *const[]){glob};
    filter.nglobs = 1;
    const struct report_query wanted = {.view = query->view, .filter = &filter};
    if (store_narrow_globs(store, query->view, &filter, &err) != 0 ||
        report_rows(store, &wanted, &out, NULL, &nrows, &err) != 0)
        nrows = 0;
    strbuf_free(&out);
    return nrows;
}

// Says that no form has the mnemonic that a glob begins with, and what may be meant.
static void query_no_form(const char *glob, const char *mnemonics)
{
    char hint[96];
    struct suggestion near = form_suggest(glob);
    struct selection all = {0};
    for (const char *at = mnemonics; *at; at += strlen(at) + 1)
        suggest_offer(&near, at);
    form_words_offer(&near);
    if (select_rows(NULL, 0, NULL, &all, NULL) == 0)
        form_described_offer(all.lists, all.nlists, &near);
    command_note(&cmd_query, "no rows match: no form is called '%.*s'%s", (int)near.len, glob,
                 suggest_text(&near, hint, sizeof hint));
    selection_free(&all);
}

// Narrows the database to the forms that lists describe with a glob's words, where no glob is the
// name of one. Returns true if there are some.
static bool query_described(struct store *store, struct arguments *query)
{
    struct selection all = {0};
    struct err err;
    size_t n = 0;
    bool found = false;
    for (int i = 0; i < query->nglobs && store_view_has_forms(query->view); i++)
        found |= form_described_is_text(query->globs[i]);
    if (!found || select_rows(NULL, 0, NULL, &all, &err) != 0)
        return false;
    const char **forms = xcalloc((size_t)all.nrows * (size_t)query->nglobs, sizeof *forms);
    for (int i = 0; i < query->nglobs; i++) {
        struct described by = form_described_find(all.lists, all.nlists, query->globs[i]);
        for (int j = 0; j < all.nrows && by.nwords > 0; j++)
            if (form_described_is(&by, all.rows[j].list, all.rows[j].row))
                forms[n++] = all.rows[j].row->form;
    }
    found = n > 0 && store_narrow_forms(store, forms, (int)n, &err) == 0;
    query->filter.nglobs = found ? 0 : query->nglobs;
    free(forms);
    selection_free(&all);
    return found;
}

// Returns true if a mnemonic is this word, or begins with it and a blank.
static bool texts_have(const char *texts, const char *word, size_t len)
{
    while (*texts && (strncasecmp(texts, word, len) != 0 || !strchr(" ", texts[len])))
        texts += strlen(texts) + 1;
    return *texts != '\0';
}

// Says why no row matches one glob without stars, which is not compared with parts of names: all
// forms of its mnemonic have other operands, it is a part of names, or a slip.
static void query_hint(struct store *store, const struct arguments *query)
{
    const char *glob =
        query->nglobs == 1 && !strpbrk(query->globs[0], "*?[") && store_view_has_forms(query->view)
            ? query->globs[0]
            : "";
    glob += strspn(glob, " ,(");
    struct err err;
    char *mnemonics = *glob ? store_mnemonics(store, &err) : NULL;
    size_t len = strcspn(glob, " ,(");
    char *whole = xasprintf("%.*s", (int)len, glob), *part = xasprintf("*%s*", glob);
    const bool known = mnemonics && (texts_have(mnemonics, glob, len) || form_word_globs(whole));
    int64_t nrows = !*glob ? 0 : query_count(store, query, known ? whole : part);
    if (nrows > 0)
        command_note(&cmd_query, "no rows match; %" PRId64 " match '%s'", nrows,
                     known ? whole : part);
    else if (form_word_no_form(whole))
        command_note(&cmd_query, "no rows match: '%s' is no form: %s", whole,
                     form_word_no_form(whole));
    else if (form_code_is_bytes(glob))
        command_note(&cmd_query, "no rows match; these bytes are no single instruction of lists");
    else if (!mnemonics || known)
        command_note(&cmd_query, "no rows match");
    else
        query_no_form(glob, mnemonics);
    free(mnemonics);
    free(whole);
    free(part);
}

// Rows as they are printed, and the columns that were left out.
struct query_text {
    struct strbuf rows, note;
    int64_t nrows;
};

// Reads the rows that the globs match or, if there are none, the rows that the lists describe so.
static int query_rows(struct store *store, struct arguments *query,
                      const struct report_query *wanted, struct query_text *text, struct err *err)
{
    int (*rows)(struct store *, const struct report_query *, struct strbuf *, struct strbuf *,
                int64_t *, struct err *) = query->side ? report_side : report_rows;
    int status = store_narrow_globs(store, query->view, &query->filter, err);
    if (status == 0)
        status = rows(store, wanted, &text->rows, &text->note, &text->nrows, err);
    if (status != 0 || text->nrows > 0 || !query_described(store, query))
        return status;
    strbuf_clear(&text->rows);
    strbuf_clear(&text->note);
    status = rows(store, wanted, &text->rows, &text->note, &text->nrows, err);
    if (status == 0 && text->nrows > 0)
        command_note(&cmd_query, "no form is called so; lists describe these with '%s'",
                     query->globs[0]);
    return status;
}

// Prints the rows. Tables on a terminal are fitted to its lines; elsewhere the width is unknown.
static int query_print(struct store *store, struct arguments *query,
                       const struct query_meaning *meaning)
{
    struct err err = {0};
    struct query_text text = {.nrows = 0};
    struct strbuf legend = {0}, whose = {0};
    struct store_runs runs = {.n = 0};
    int status = EXIT_DONE;
    bool table = query->format == REPORT_TABLE;
    int terminal = table ? terminal_columns(STDOUT_FILENO) : 0;
    const struct report_query wanted = {
        query->view,
        &query->filter,
        query->format,
        query->wide ? 0 : terminal,
        table && terminal_has_colour(STDOUT_FILENO),
        meaning->ncolumns ? meaning->columns : NULL,
        table && query->view != STORE_VIEW_RUN && query->view != STORE_VIEW_LIST ? &runs : NULL,
        query->shown};
    if (query_rows(store, query, &wanted, &text, &err) != 0 ||
        store_runs_put(store, &runs, "", terminal, &whose, &err) != 0)
        status = command_fail(&cmd_query, EXIT_ENVIRONMENT, "%s", err.text);
    else if (terminal > 0)
        report_legend(strbuf_text(&text.rows), terminal, &legend);
    if (status == EXIT_DONE && query->others)
        store_option_say_others(&cmd_query, terminal, &whose);
    if (status == EXIT_DONE)
        query_put(strbuf_text(&text.rows), strbuf_text(&legend), strbuf_text(&whose));
    if (status == EXIT_DONE && text.nrows == 0)
        query_hint(store, query);
    if (status == EXIT_DONE && text.note.len)
        command_note(&cmd_query, TEXT_TABLE_FITTED, strbuf_text(&text.note));
    strbuf_free(&text.rows);
    strbuf_free(&text.note);
    strbuf_free(&legend);
    strbuf_free(&whose);
    return status;
}

static int query_execute(struct store *store, struct arguments *query)
{
    struct query_meaning meaning = {.where = NULL};
    int status = store_option_check(&cmd_query, store, query->filter.run_id);
    if (status == EXIT_DONE)
        status = store_option_all_called(&cmd_query, store, &query->filter.uarch);
    if (status == EXIT_DONE)
        status = beside_option_apply(&cmd_query, store, &query->beside, query->filter.uarch);
    if (status == EXIT_DONE)
        status = query_understand(store, query, &meaning);
    if (status == EXIT_DONE)
        status = query_print(store, query, &meaning);
    query_forget(&meaning);
    return status;
}

static int query_run(int argc, char **argv)
{
    struct arguments query = {.view = STORE_VIEW_INSTRUCTION};
    struct store *store;
    int status = query_parse(argc, argv, &query);
    if (status == EXIT_DONE)
        status =
            store_option_open_read(&cmd_query, query.db, query.together, &store, &query.others);
    if (status != EXIT_DONE)
        return status;
    status = query_execute(store, &query);
    store_close(store);
    return status;
}

const struct command cmd_query = {
    .name = "query",
    .arguments = "[GLOB | EXPR]...",
    .summary = "print the instruction table as table, CSV or JSON",
    .description =
        "Prints the results of the forms that match one of the GLOBs (all without one). A GLOB is "
        "compared with the mnemonic, with mnemonic and operands, and with the form as the lists "
        "have it, without regard to case: 'add', 'add r64 *', '*z{k}*'. Registers and memory may "
        "be written as in code: 'vaddps ymm1, ymm2, mem256' is 'vaddps y y m256', and 'zmm{k}' are "
        "all forms with such an operand. Other names ('jne'), kinds ('jcc', 'shuffle') and "
        "intrinsics ('_mm_add_ps') stand for their forms. Words that are no form's name find those "
        "that the lists describe so: 'population count', 'saving state'. One instruction may also "
        "be written as AT&T does, 'addl %eax, %ebx', or be its bytes, '48 0f af c3'.\n"
        "An operand with <, >, = or ~, or the word is, in, like or between after another, is an "
        "EXPR, as after --where: comparisons of the view's columns, joined with and, or, not: "
        "'latency > 20', 'ports is null', 'form ~ \"vp*\" and slow / tput >= 2'. Columns have the "
        "names that CSV shows, or those of tables. "
        "docs/QUERIES.md has examples.\n"
        "Numbers are core cycles: latency and max are the least and the largest latency from a "
        "register (also of an address) to the result: registers, or memory or flags if it has no "
        "other; --latency has all pairs. 1/tput (reciprocal throughput) is cycles per instruction, "
        "slow the same for slow data; '10.00 / 13.00' is a latency with fast and with slow data, "
        "'1.00–2.00' one whose steady states differ. A "
        "number after ≤ is an upper bound, one after ~ the mean of executions that differ, one "
        "before * the fastest of several steady states; least and most are their range. A test "
        "that did not succeed has no number; its outcome stands in the last columns, which tables "
        "leave out if all are ok.\n"
        "Ports are sets that a µop can choose from: 2*A+1*B is two µops on ports of A and one on "
        "B; p1/p5 is any of these ports, which no form of one µop has for itself; 'none' needs no "
        "port, and ? means that other ports explain the timings about as well. uops are slots of "
        "dispatch in the instruction table; with --ports, µops that need a port; ≤ marks the most: "
        "microcode takes slots from others that it does not use. --evidence prints each mix that "
        "was timed: instances of the form and of a blocker, the cycles of all, and the µops per "
        "instance that this shows on the blocker's ports.\n"
        "On a terminal tables are made to fit its lines: columns that say the same in every row "
        "and the least important ones are left out, which a note on standard error names, and long "
        "texts are folded. --wide prints all columns, as does any output that is not a terminal; "
        "CSV and JSON have more than any table.\n"
        "--false-dependencies prints the forms that wait for the old content of a register which "
        "they overwrite without reading it, with the longest latency from the old content to the "
        "new one; with a GLOB or EXPR also those that do not wait, as 0.\n"
        "--doubts prints values that differ in another way of measuring: with other registers, "
        "lines of data, fillers or copies in a loop; or in a chain with less time per instance "
        "than the throughput.\n"
        "--bench prints the results of latput bench --store; GLOB is then compared with the label "
        "and with the code in one line, e.g. '*imul*': core cycles and counts per instance; "
        "--repetitions each repetition of all passes.\n"
        "--list prints the lists that the database has forms of, as the newest run of each has it; "
        "'list = \"string_rep\"' are the forms of one.\n"
        "No matching row is no error: a note on standard error, an empty table, and status 0.\n"
        "Without --db, and before this machine has a run, query and all other commands that only "
        "read ask the published runs of other machines, and say so.",
    .options = options,
    .run = query_run,
};
