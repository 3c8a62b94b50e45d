// SPDX-License-Identifier: MIT
// The text files of a run: info.txt and one table per list; see report.h. Their content follows
// from the database alone, so the same run always gives the same bytes.
#include "report.h"

#include "store/store.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Meanings of the outcomes, for the legend.
static const char *const outcome_meanings[OUTCOME_COUNT] = {
    [OUTCOME_OK] = "measured",
    [OUTCOME_UNSUPPORTED] = "this CPU does not execute the form",
    [OUTCOME_ASM_FAILED] = "the assembler refuses it",
    [OUTCOME_LINK_FAILED] = "it could not be linked with the measurement core",
    [OUTCOME_SIGNALLED] = "it raised a signal",
    [OUTCOME_TIMED_OUT] = "it did not return in time",
    [OUTCOME_UNSTABLE] = "no repeat was undisturbed, or the passes disagree",
    [OUTCOME_NOT_MEASURABLE] = "no code can answer the question",
    [OUTCOME_SKIPPED] = "not tried",
};

struct run_text { // texts of a row of run_table, valid as long as the arena
    struct arena arena;
    const char *version, *brand, *uarch, *uarch_name, *started, *backend;
    int64_t calib_link_clk;
};

static struct store_rows *run_row_open(struct store *store, int64_t run_id, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    if (!rows)
        return NULL;
    int got = store_rows_next(rows, err);
    if (got > 0)
        return rows;
    if (got == 0)
        err_set(err, "%s: has no run %" PRId64, store_path(store), run_id);
    store_rows_close(rows);
    return NULL;
}

static int run_text_read(struct store *store, int64_t run_id, struct run_text *run, struct err *err)
{
    struct store_rows *rows = run_row_open(store, run_id, err);
    if (!rows)
        return -1;
    *run = (struct run_text){0};
    run->version = arena_strdup(&run->arena, store_text_of(rows, "version"));
    run->brand = arena_strdup(&run->arena, store_text_of(rows, "brand"));
    run->uarch = arena_strdup(&run->arena, store_text_of(rows, "uarch"));
    run->uarch_name = arena_strdup(&run->arena, store_text_of(rows, "uarch_name"));
    run->started = arena_strdup(&run->arena, store_text_of(rows, "started_utc"));
    run->backend = arena_strdup(&run->arena, store_text_of(rows, "backend"));
    run->calib_link_clk = store_integer_of(rows, "calib_link_clk");
    store_rows_close(rows);
    return 0;
}

static void put_heading(struct strbuf *out, const struct run_text *run, const char *list,
                        const char *title)
{
    strbuf_printf(out, "Latency and throughput: %s on %s (%s)\n", title,
                  *run->brand ? run->brand : "a CPU without a name",
                  *run->uarch_name ? run->uarch_name : run->uarch);
    strbuf_puts(out, "List ");
    text_put_escaped(out, list); // stored raw, unlike texts read with a run
    strbuf_printf(out, "; uarch %s; started %.10s; latput %s\n", run->uarch, run->started,
                  run->version);
    if (strcmp(run->backend, "tsc") == 0)
        strbuf_printf(
            out,
            "Core cycles by calibration with a chain of imul r64,r64 (%lld cycles per link), timed "
            "by TSC, gated by a canary.\n"
            "\n",
            (long long)run->calib_link_clk);
    else
        strbuf_printf(out, "Core cycles counted by the backend %s.\n\n", run->backend);
}

// A table of a list being written.
struct list_table {
    const struct column *columns[VIEW_COLUMNS_MAX];
    int n;
    struct text_table *table;
};

struct list_seen { // things that the legend must explain
    bool outcomes[OUTCOME_COUNT];
    bool columns[VIEW_COLUMNS_MAX]; // of the table, that have a value
    int64_t run_id;                 // run in the heading
    int others;                     // rows with an answer of another run
};

static void put_list_row(struct list_table *list, struct store_rows *rows, struct list_seen *seen)
{
    char text[REPORT_LATENCY_MAX];
    int outcome = outcome_parse(store_text_of(rows, "outcome"));
    for (int i = 0; i < list->n; i++) {
        const char *value = report_value(rows, list->columns[i]->look.name, text);
        text_table_cell(list->table, value);
        seen->columns[i] |= *value != '\0';
    }
    if (outcome >= 0)
        seen->outcomes[outcome] = true;
    int64_t ports_run = store_integer_of(rows, "ports_run_id");
    seen->others += store_integer_of(rows, "run_id") != seen->run_id ||
                    (ports_run && ports_run != seen->run_id);
}

enum { LEGEND_WIDTH = 100 };

// Appends what the columns and the marks of a table mean, as far as it has them.
static void put_legend(struct strbuf *out, const struct list_table *list,
                       const struct list_seen *seen, const char *table)
{
    strbuf_puts(out, "\n");
    for (int i = 0; i < list->n; i++) {
        struct strbuf line = {0};
        strbuf_printf(&line, "%s: ", list->columns[i]->look.heading);
        columns_say(list->columns[i], &line);
        strbuf_puts(&line, ".");
        if (seen->columns[i] && !list->columns[i]->key)
            text_wrap(out, strbuf_text(&line), 0, LEGEND_WIDTH);
        strbuf_free(&line);
    }
    report_legend(table, LEGEND_WIDTH, out);
    if (seen->others)
        strbuf_printf(out,
                      "%d of the lines have answers of other runs than the one in the heading, "
                      "which did not ask or has no better one.\n",
                      seen->others);
    for (int i = OUTCOME_OK + 1; i < OUTCOME_COUNT; i++)
        if (seen->outcomes[i])
            strbuf_printf(out, "%s: %s.\n", outcome_name((enum outcome)i), outcome_meanings[i]);
}

// Lists operands that forms wait for although they overwrite them; nothing if there are none.
static int put_false(struct strbuf *out, struct store *store, enum store_view view,
                     const struct store_filter *filter, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, view, filter, err);
    if (!rows)
        return -1;
    const char *title = "\n"
                        "False dependencies: cycles from the old content of an operand to the new "
                        "one:\n";
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        char number[32], text[REPORT_LATENCY_MAX];
        double clk = store_real_of(rows, "latency_clk");
        if (!(clk > 0))
            continue;
        report_number(clk, number);
        report_latency(number, strcmp(store_text_of(rows, "bound"), "upper") == 0,
                       store_text_of(rows, "mark"), text);
        strbuf_printf(out, "%s  %s: ", title, store_form_of(rows, "form"));
        strbuf_printf(out, "%s: %s\n", store_text_of(rows, "operand"), text);
        title = "";
    }
    store_rows_close(rows);
    return got;
}

// Lists failures that say more than their table's column: neither missing instructions nor pairs
// without a possible chain.
static int put_failures(struct strbuf *out, struct store *store, enum store_view view,
                        const struct store_filter *filter, struct err *err)
{
    struct store_rows *rows = store_rows_open(store, view, filter, err);
    if (!rows)
        return -1;
    const char *title = "\nFailures:\n";
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        int outcome = outcome_parse(store_text_of(rows, "outcome"));
        if (outcome == OUTCOME_UNSUPPORTED || outcome == OUTCOME_NOT_MEASURABLE)
            continue;
        const char *detail = store_text_of(rows, "detail");
        strbuf_printf(out, "%s  %s: ", title, store_form_of(rows, "form"));
        strbuf_printf(out, "%s: ", store_text_of(rows, "test"));
        strbuf_printf(out, "%s%s%s\n", store_text_of(rows, "outcome"), *detail ? ": " : "", detail);
        title = "";
    }
    store_rows_close(rows);
    return got;
}

// Appends the table of the rows with its legend. Returns 0 or -1.
static int put_rows(struct store_rows *rows, int64_t run_id, struct strbuf *out, struct err *err)
{
    struct list_table list;
    const char *headings[VIEW_COLUMNS_MAX];
    enum text_align aligns[VIEW_COLUMNS_MAX];
    struct list_seen seen = {.run_id = run_id};
    int got;
    list.n = columns_on(STORE_VIEW_INSTRUCTION, COLUMN_LIST, list.columns);
    for (int i = 0; i < list.n; i++) {
        headings[i] = list.columns[i]->look.heading;
        aligns[i] = list.columns[i]->look.align;
    }
    list.table = text_table_new(headings, aligns, list.n);
    while ((got = store_rows_next(rows, err)) > 0)
        put_list_row(&list, rows, &seen);
    struct strbuf table = {0};
    text_table_print(list.table, &table);
    strbuf_puts(out, strbuf_text(&table));
    put_legend(out, &list, &seen, strbuf_text(&table));
    strbuf_free(&table);
    text_table_free(list.table);
    return got;
}

static int put_list(struct store *store, int64_t run_id, const char *list, bool best,
                    struct strbuf *out, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id, .list = list};
    struct run_text run;
    char *title = store_run_list_title(store, run_id, list, err);
    if (!title || run_text_read(store, run_id, &run, err) != 0) {
        free(title);
        return -1;
    }
    put_heading(out, &run, list, title);
    arena_free(&run.arena);
    free(title);
    struct store_rows *rows =
        store_rows_open(store, best ? STORE_VIEW_LIST_BEST : STORE_VIEW_INSTRUCTION, &filter, err);
    if (!rows)
        return -1;
    int got = put_rows(rows, run_id, out, err);
    store_rows_close(rows);
    const enum store_view overwritten = best ? STORE_VIEW_LIST_FALSE : STORE_VIEW_FALSE;
    const enum store_view failures = best ? STORE_VIEW_LIST_FAILURE : STORE_VIEW_FAILURE;
    if (got < 0 || put_false(out, store, overwritten, &filter, err) < 0 ||
        put_failures(out, store, failures, &filter, err) < 0)
        return -1;
    return 0;
}

int report_list_text(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                     struct err *err)
{
    return put_list(store, run_id, list, false, out, err);
}

int report_list_text_best(struct store *store, int64_t run_id, const char *list, struct strbuf *out,
                          struct err *err)
{
    return put_list(store, run_id, list, true, out, err);
}

int report_ports_run(struct store *store, int64_t run_id, int64_t *ports_run_id, struct err *err)
{
    struct arena arena = {0};
    struct stored_port_model model;
    struct run_text run = {.uarch = NULL};
    int got = store_get_port_model(store, run_id, &model, &arena, err);
    *ports_run_id = run_id;
    if (got == 0 && run_text_read(store, run_id, &run, err) == 0)
        got = store_newest_port_run(store, 0, run.uarch, ports_run_id, err);
    arena_free(&run.arena);
    arena_free(&arena);
    return got;
}

// Formats of the facts about a run in info.txt, and below the facts in its order.
enum info_kind { INFO_PLAIN, INFO_HEX, INFO_WHOLE, INFO_TENTHS };

static const struct info_line {
    const char *label, *column;
    enum info_kind kind;
} info_lines[] = {
    {"CPU",            "brand",          INFO_PLAIN },
    {"vendor",         "vendor",         INFO_PLAIN },
    {"uarch",          "uarch",          INFO_PLAIN },
    {"uarch name",     "uarch_name",     INFO_PLAIN },
    {"claimed uarch",  "claimed_uarch",  INFO_PLAIN },
    {"decided by",     "decided",        INFO_PLAIN },
    {"evidence",       "evidence",       INFO_PLAIN },
    {"signature",      "signature",      INFO_HEX   },
    {"family",         "family",         INFO_PLAIN },
    {"model",          "model",          INFO_PLAIN },
    {"stepping",       "stepping",       INFO_PLAIN },
    {"microcode",      "microcode",      INFO_HEX   },
    {"hypervisor",     "hypervisor",     INFO_PLAIN },
    {"features",       "features",       INFO_PLAIN },
    {"latput",         "version",        INFO_PLAIN },
    {"assembler",      "nasm_version",   INFO_PLAIN },
    {"kernel",         "os_kernel",      INFO_PLAIN },
    {"backend",        "backend",        INFO_PLAIN },
    {"counted",        "counted",        INFO_PLAIN },
    {"TSC Hz",         "tsc_hz",         INFO_WHOLE },
    {"core Hz",        "core_hz",        INFO_WHOLE },
    {"overhead ticks", "overhead_tsc",   INFO_TENTHS},
    {"issue width",    "issue_width",    INFO_PLAIN },
    {"measured width", "measured_width", INFO_PLAIN },
    {"link cycles",    "calib_link_clk", INFO_PLAIN },
    {"logical CPU",    "measuring_cpu",  INFO_PLAIN },
    {"frequency",      "frequency",      INFO_PLAIN },
    {"lists",          "lists",          INFO_PLAIN },
    {"tables",         "tables",         INFO_PLAIN },
    {"selection",      "selection",      INFO_PLAIN },
    {"started",        "started_utc",    INFO_PLAIN },
    {"finished",       "finished_utc",   INFO_PLAIN },
    {"status",         "status",         INFO_PLAIN },
    {"kernels",        "kernels",        INFO_PLAIN },
    {"seconds",        "seconds",        INFO_TENTHS},
    {"forms",          "forms",          INFO_PLAIN },
    {"run",            "uuid",           INFO_PLAIN },
};

enum { INFO_LABEL_WIDTH = 16, INFO_LINE_WIDTH = 100 };

static void put_info_line(struct strbuf *out, struct store_rows *rows, const struct info_line *line)
{
    int column = store_rows_column(rows, line->column);
    char number[64];
    const char *text = store_rows_text(rows, column);
    if (!*text)
        return;
    switch (line->kind) {
    case INFO_HEX:
        snprintf(number, sizeof number, "0x%08" PRIX64, (uint64_t)store_rows_integer(rows, column));
        text = number;
        break;
    case INFO_WHOLE:
        snprintf(number, sizeof number, "%.0f", store_rows_real(rows, column));
        text = number;
        break;
    case INFO_TENTHS:
        snprintf(number, sizeof number, "%.1f", store_rows_real(rows, column));
        text = number;
        break;
    case INFO_PLAIN:
        break;
    }
    strbuf_printf(out, "%-*s", INFO_LABEL_WIDTH, line->label);
    text_wrap(out, text, INFO_LABEL_WIDTH, INFO_LINE_WIDTH);
}

static int put_info_outcomes(struct strbuf *out, struct store *store, int64_t run_id,
                             struct err *err)
{
    int64_t counts[OUTCOME_COUNT], forms;
    if (store_run_summary(store, run_id, counts, &forms, err) != 0)
        return -1;
    const char *title = "\nTests by outcome:\n";
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (counts[i] == 0)
            continue;
        strbuf_printf(out, "%s%8" PRId64 "  %-15s %s\n", title, counts[i],
                      outcome_name((enum outcome)i), outcome_meanings[i]);
        title = "";
    }
    return 0;
}

static int put_info_time(struct strbuf *out, struct store *store, int64_t run_id, struct err *err)
{
    struct strbuf text = {0};
    int status = report_time_text(store, run_id, &text, err);
    for (char *rest = text.data, *line; rest && *rest;) {
        line = strsep(&rest, "\n");
        int label = (int)strcspn(line, ":");
        strbuf_printf(out, "%-*.*s", INFO_LABEL_WIDTH, label, line);
        text_wrap(out, line + label + 2, INFO_LABEL_WIDTH, INFO_LINE_WIDTH);
    }
    strbuf_free(&text);
    return status;
}

// Appends a view's rows of the run as a table; nothing if there are none.
static int put_info_view(struct strbuf *out, struct store *store, int64_t run_id,
                         enum store_view view, const char *title, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct strbuf table = {0};
    int64_t nrows;
    const struct report_query query = {.view = view, .filter = &filter};
    int status = report_rows(store, &query, &table, NULL, &nrows, err);
    if (status == 0 && nrows > 0)
        strbuf_printf(out, "\n%s:\n%s", title, strbuf_text(&table));
    strbuf_free(&table);
    return status;
}

static int put_info_warnings(struct strbuf *out, struct store *store, int64_t run_id,
                             struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_WARNING, &filter, err);
    if (!rows)
        return -1;
    const char *title = "\nWarnings:\n";
    int got;
    while ((got = store_rows_next(rows, err)) > 0) {
        strbuf_printf(out, "%s  %s\n", title, store_text_of(rows, "text"));
        if (*store_text_of(rows, "remedy"))
            strbuf_printf(out, "    Remedy: %s\n", store_text_of(rows, "remedy"));
        title = "";
    }
    store_rows_close(rows);
    return got;
}

int report_info_text(struct store *store, int64_t run_id, struct strbuf *out, struct err *err)
{
    struct store_rows *rows = run_row_open(store, run_id, err);
    if (!rows)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(info_lines); i++)
        put_info_line(out, rows, &info_lines[i]);
    store_rows_close(rows);
    if (put_info_time(out, store, run_id, err) != 0 ||
        report_run_ports(store, run_id, out, err) != 0)
        return -1;
    if (put_info_outcomes(out, store, run_id, err) != 0 ||
        put_info_view(out, store, run_id, STORE_VIEW_LIST, "Tables", err) != 0 ||
        put_info_view(out, store, run_id, STORE_VIEW_BENCH, "Pieces of code", err) != 0)
        return -1;
    return put_info_warnings(out, store, run_id, err);
}
