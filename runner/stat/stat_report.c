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

static void put_histograms(const struct stat_report *r, const double *means, struct strbuf *out)
{
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h;
        if (!stat_histogram_at(r, means, i, &h))
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
    stat_report_events(r, REPORT_TABLE, out);
    put_histograms(r, means, out);
    stat_report_durations(r, means, REPORT_TABLE, out);
    put_doubt(r, means, out);
    put_account(r, out);
    put_all_refused(r, out);
    free(means);
}

// Puts the tables without the text around them, to be pasted.
static void put_pasted(const struct stat_report *r, enum report_format format, struct strbuf *out)
{
    double *means = stat_means_make(r);
    stat_report_events(r, format, out);
    stat_report_shares(r, means, format, out);
    stat_report_durations(r, means, format, out);
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
