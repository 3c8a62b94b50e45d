// SPDX-License-Identifier: MIT
// The report of `latput stat`; see stat_report.h. All formats show the same rows: times, then
// events, then what follows from them.
#include "stat_report_internal.h"

#include "util/mem.h"
#include "util/text.h"
#include "util/text_table.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 80, BAR_WIDTH = 40, PROGRAM_BYTES = 120 };

// --- the table ---

// Returns "30,066,740,927"; numbers below 100 with two decimals, unless they are whole.
static const char *grouped(double value, char text[40])
{
    char digits[32];
    text[0] = '\0';
    if (isnan(value))
        return text;
    snprintf(digits, sizeof digits, value < 100 && value != floor(value) ? "%.2f" : "%.0f", value);
    size_t whole = strcspn(digits, "."), n = 0;
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = digits[i];
    }
    snprintf(text + n, 40 - n, "%s", digits + whole);
    return text;
}

// Returns the divisor of a value for people, and the name of that unit.
static double shown_unit(const struct stat_row *row, const char **name)
{
    if (strcmp(row->unit, "ns") == 0) {
        *name = " (ms)";
        return 1e6;
    }
    if (strcmp(row->unit, "bytes") == 0) {
        *name = " (KiB)";
        return 1024;
    }
    *name = "";
    return 1;
}

static void put_rows(const struct stat_report *r, enum report_format format, struct strbuf *out)
{
    static const char *const headers[] = {"event", "mean", "min", "spread %", "runs"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_POINT, ALIGN_POINT,
                                             ALIGN_RIGHT};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    if (r->colour)
        text_table_colour(table);
    for (int i = 0; i < stat_rows_count(r); i++) {
        struct stat_row row = stat_row_at(r, i);
        char text[160];
        const char *unit;
        double per = shown_unit(&row, &unit);
        if (row.summary.n == 0)
            continue;
        snprintf(text, sizeof text, "%s%s", row.name, unit);
        text_table_cell(table, text);
        bool decimals = per == 1e6;
        for (int k = 0; k < 2; k++) {
            double value = (k == 0 ? row.summary.mean : row.summary.min) / per;
            if (decimals && value < 1e6)
                snprintf(text, sizeof text, "%.3f", value);
            else
                grouped(value, text);
            text_table_cell(table, text);
        }
        double spread = 100 * row.summary.spread / row.summary.mean;
        text[0] = '\0';
        if (isfinite(spread))
            snprintf(text, sizeof text, "%.1f", spread);
        text_table_cell(table, text);
        snprintf(text, sizeof text, "%zu", row.summary.n);
        text_table_cell(table, text);
    }
    text_table_put(table, format, out);
    text_table_free(table);
}

// Puts all histograms as one table to be pasted.
static void put_shares(const struct stat_report *r, const double *means, enum report_format format,
                       struct strbuf *out)
{
    static const char *const headers[] = {"event", "in a cycle", "share of cycles %"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_RIGHT, ALIGN_RIGHT};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h;
        if (r->events[i].base != i ||
            !stat_histogram_make(r->events, means, r->result->nevents, i, &h))
            continue;
        for (int k = 0; k < h.nbuckets; k++) {
            char text[32];
            text_table_cell(table, r->events[i].event.name);
            snprintf(text, sizeof text, "%s%d", k == h.nbuckets - 1 ? "≥" : "", k);
            text_table_cell(table, text);
            snprintf(text, sizeof text, "%.2f", 100 * h.clk[k] / h.total_clk);
            text_table_cell(table, text);
        }
    }
    if (text_table_rows(table) > 0) {
        strbuf_puts(out, "\n");
        text_table_put(table, format, out);
    }
    text_table_free(table);
}

static void put_histograms(const struct stat_report *r, const double *means, struct strbuf *out)
{
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h;
        if (r->events[i].base != i ||
            !stat_histogram_make(r->events, means, r->result->nevents, i, &h))
            continue;
        strbuf_printf(out, "\n%s in a cycle, share of the cycles\n", r->events[i].event.name);
        for (int k = 0; k < h.nbuckets; k++) {
            double share = h.clk[k] / h.total_clk;
            int bar = (int)lround(share * BAR_WIDTH);
            const char *least = k == h.nbuckets - 1 ? "≥" : "";
            strbuf_printf(out, "%*s%s%d  %6.2f %%%s", (*least ? 3 : 4) - (k > 9 ? 2 : 1), "", least,
                          k, 100 * share, bar > 0 ? "  " : "");
            for (int b = 0; b < bar && b < BAR_WIDTH; b++)
                strbuf_puts(out, "#");
            strbuf_puts(out, "\n");
        }
        strbuf_printf(out, "mean  %.3f by these shares", h.mean);
        if (!isnan(means[i]))
            strbuf_printf(out, ", %.3f by the count itself", means[i] / h.total_clk);
        strbuf_puts(out, "\n");
    }
}

static void put_durations(const struct stat_report *r, const double *means,
                          enum report_format format, struct strbuf *out)
{
    static const char *const headers[] = {"condition", "cycles", "begins", "mean duration (clk)"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_POINT, ALIGN_POINT};
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    if (r->colour)
        text_table_colour(table);
    for (int i = 0; i < r->result->nevents; i++) {
        char text[40];
        int begins;
        double clk = stat_duration_of(r, means, i, &begins);
        if (isnan(clk))
            continue;
        text_table_cell(table, r->events[i].event.name);
        text_table_cell(table, grouped(means[i], text));
        text_table_cell(table, grouped(means[begins], text));
        snprintf(text, sizeof text, "%.2f", clk);
        text_table_cell(table, text);
    }
    if (text_table_rows(table) > 0) {
        strbuf_puts(out, "\n");
        text_table_put(table, format, out);
    }
    text_table_free(table);
}

// Puts the events that were refused for the same reason as events[first], without families that the
// user has not named.
static void put_refused(const struct stat_report *r, int first, struct strbuf *out)
{
    struct strbuf text = {0};
    const char *comma = "";
    int hardware = 0, same = 0;
    for (int i = 0; i < r->result->nevents; i++) {
        hardware += stat_is_hardware(r, i);
        same += stat_is_hardware(r, i) && stat_same_refusal(r, i, first);
    }
    bool whole_family = r->all_events && same == hardware;
    strbuf_puts(&text, "Not counted: ");
    for (int i = first; i < r->result->nevents; i++)
        if (stat_same_refusal(r, i, first) && !(whole_family && stat_is_hardware(r, i))) {
            strbuf_printf(&text, "%s%s", comma, r->events[i].event.name);
            comma = ", ";
        }
    if (whole_family && same > 0)
        strbuf_printf(&text, "%sthe %d hardware events of %s", comma, hardware, r->table->uarch);
    strbuf_printf(&text, ": %s.", r->result->series[first].why);
    strbuf_puts(out, "\n");
    text_wrap(out, strbuf_text(&text), 0, LINE_WIDTH);
    strbuf_free(&text);
}

// Puts the rows that are not perf's although others of their kind are.
static void put_account(const struct stat_report *r, struct strbuf *out)
{
    struct strbuf text = {0};
    for (int i = 0; i < r->result->nevents; i++)
        if (r->result->series[i].from_usage)
            strbuf_printf(&text, "%s%s",
                          text.len ? ", "
                                   : "From the kernel's account of the process, exec "
                                     "included: ",
                          r->events[i].event.name);
    if (text.len) {
        strbuf_puts(&text, ".");
        strbuf_puts(out, "\n");
        text_wrap(out, strbuf_text(&text), 0, LINE_WIDTH);
    }
    strbuf_free(&text);
}

static void put_all_refused(const struct stat_report *r, struct strbuf *out)
{
    for (int i = 0; i < r->result->nevents; i++) {
        if (stat_is_first_refused(r, i))
            put_refused(r, i, out);
    }
}

static void put_doubt(const struct stat_report *r, const double *means, struct strbuf *out)
{
    char doubt[200];
    if (!stat_doubt_find(r, means, doubt, sizeof doubt))
        return;
    char *text = xasprintf("Not to be believed: %s. The event may be another one on this CPU, a "
                           "hypervisor may have lost counts, or the runs differ much.",
                           doubt);
    strbuf_puts(out, "\n");
    text_wrap(out, text, 0, LINE_WIDTH);
    free(text);
}

static const char *signal_name(int number, char name[32])
{
    const char *known = sigabbrev_np(number);
    if (known)
        snprintf(name, 32, "SIG%s", known);
    else
        snprintf(name, 32, "signal %d", number);
    return name;
}

// Puts the program's words in the space of about two lines; a script may be one of them.
static void put_program(const char *const *argv, struct strbuf *text)
{
    for (int i = 0; argv[i]; i++)
        strbuf_printf(text, "%s%s", i ? " " : "", argv[i]);
    bool cut = text->len > PROGRAM_BYTES;
    size_t len = cut ? PROGRAM_BYTES : text->len;
    while (cut && ((unsigned char)text->data[len] & 0xc0) == 0x80) // within a character
        len--;
    char *shown = xasprintf("%.*s%s", (int)len, strbuf_text(text), cut ? "..." : "");
    for (char *at = shown; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    strbuf_clear(text);
    strbuf_puts(text, shown);
    free(shown);
}

static void put_head(const struct stat_report *r, struct strbuf *out)
{
    char name[32];
    const struct stat_result *result = r->result;
    struct strbuf text = {0};
    bool counted = false;
    for (int i = 0; i < result->nevents; i++)
        counted = counted || (stat_is_hardware(r, i) && result->series[i].n > 0);
    put_program(r->options->argv, &text);
    if (result->counted_runs > 0)
        strbuf_printf(&text, ": %d run%s counted after %d to warm, ", result->counted_runs,
                      result->counted_runs == 1 ? "" : "s", result->warm_runs);
    else
        strbuf_puts(&text, ": no run could be counted, ");
    if (result->signal)
        strbuf_printf(&text, "ended by %s", signal_name(result->signal, name));
    else if (result->interrupted)
        strbuf_printf(&text, "stopped by %s", signal_name(result->interrupted, name));
    else
        strbuf_printf(&text, "exit status %d%s", result->exit_status,
                      result->statuses_differ ? " in the last one, others differ" : "");
    if (r->options->cpu >= 0)
        strbuf_printf(&text, "; kept on CPU %d", r->options->cpu);
    if (result->lost_runs)
        strbuf_printf(&text, "; %d more lost because counters were shared", result->lost_runs);
    if (counted)
        strbuf_printf(&text, "; hardware events of %s through %s, table version %s%s",
                      r->table->uarch, r->options->backend->name, r->table->version,
                      r->options->backend->whole_cpu ? ", of all that ran there" : "");
    text_wrap(out, strbuf_text(&text), 0, LINE_WIDTH);
    text_wrap(out, r->whose, 0, LINE_WIDTH);
    strbuf_free(&text);
}

static void put_table(const struct stat_report *r, struct strbuf *out)
{
    put_head(r, out);
    if (r->result->counted_runs == 0)
        return;
    double *means = stat_means_make(r);
    strbuf_puts(out, "\n");
    put_rows(r, REPORT_TABLE, out);
    put_histograms(r, means, out);
    put_durations(r, means, REPORT_TABLE, out);
    put_doubt(r, means, out);
    put_account(r, out);
    put_all_refused(r, out);
    free(means);
}

// Puts the tables without the text around them, to be pasted.
static void put_pasted(const struct stat_report *r, enum report_format format, struct strbuf *out)
{
    double *means = stat_means_make(r);
    put_rows(r, format, out);
    put_shares(r, means, format, out);
    put_durations(r, means, format, out);
    free(means);
}

void stat_report_put(const struct stat_report *report, enum report_format format,
                     struct strbuf *out)
{
    if (format == REPORT_CSV)
        stat_report_csv(report, out);
    else if (format == REPORT_JSON)
        stat_report_json(report, out);
    else if (format == REPORT_TABLE)
        put_table(report, out);
    else
        put_pasted(report, format, out);
}
