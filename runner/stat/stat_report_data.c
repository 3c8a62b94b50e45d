// SPDX-License-Identifier: MIT
// The report of `latput stat` for programs: CSV with one line a row, then what follows from the
// rows; JSON with the single values too. docs/COUNTERS.md says what the columns and members are.
#include "stat_report_internal.h"

#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- CSV ---

static void put_number(struct strbuf *out, double value, const char *otherwise)
{
    if (isfinite(value))
        strbuf_printf(out, "%.15g", value);
    else
        strbuf_puts(out, otherwise);
}

// The last columns of a row: where the code of a hardware event comes from.
static void put_csv_table(const struct stat_report *r, bool of_table, struct strbuf *out)
{
    if (of_table)
        strbuf_printf(out, ",%s,%s\n", r->table->uarch, r->table->version);
    else
        strbuf_puts(out, ",,\n");
}

// A row that follows from others: `kind`:`event`:`detail`. Names of raw events have commas.
static void put_csv_derived(const struct stat_report *r, const char *kind, const char *event,
                            const char *detail, double clk, struct strbuf *out)
{
    char *name = xasprintf("%s:%s%s%s", kind, event, *detail ? ":" : "", detail);
    report_csv_text(out, name);
    strbuf_printf(out, ",derived,,,clk,%.15g,,,,,ok,", clk);
    put_csv_table(r, true, out);
    free(name);
}

static void put_csv_histogram(const struct stat_report *r, const double *means, int event,
                              struct strbuf *out)
{
    struct stat_histogram h;
    if (r->events[event].base != event ||
        !stat_histogram_make(r->events, means, r->result->nevents, event, &h))
        return;
    for (int k = 0; k < h.nbuckets; k++) {
        char bucket[16];
        snprintf(bucket, sizeof bucket, "%s%d", k == h.nbuckets - 1 ? "ge" : "", k);
        put_csv_derived(r, "histogram", r->events[event].event.name, bucket, h.clk[k], out);
    }
}

void stat_report_csv(const struct stat_report *r, struct strbuf *out)
{
    strbuf_puts(out, "event,source,code,rings,unit,mean,min,max,spread,runs,outcome,detail,uarch,"
                     "table_version\n");
    for (int i = 0; i < stat_rows_count(r); i++) {
        struct stat_row row = stat_row_at(r, i);
        const char *const texts[] = {row.name, row.source, row.code, row.rings, row.unit};
        const double numbers[] = {row.summary.mean, row.summary.min, row.summary.max,
                                  row.summary.spread};
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            report_csv_text(out, texts[k]);
            strbuf_puts(out, ",");
        }
        for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
            put_number(out, numbers[k], "");
            strbuf_puts(out, ",");
        }
        strbuf_printf(out, "%zu,%s,", row.summary.n,
                      row.series->obstacle ? count_obstacle_name(row.series->obstacle) : "ok");
        report_csv_text(out, row.series->why ? row.series->why : "");
        put_csv_table(r, row.code[0] != '\0', out);
    }
    double *means = stat_means_make(r);
    for (int i = 0; i < r->result->nevents; i++) {
        int begins;
        double clk = stat_duration_of(r, means, i, &begins);
        put_csv_histogram(r, means, i, out);
        if (!isnan(clk))
            put_csv_derived(r, "duration", r->events[i].event.name, "", clk, out);
    }
    free(means);
}

// --- JSON ---

static void put_json_member(struct strbuf *out, const char *name, const char *text)
{
    strbuf_printf(out, "\"%s\": ", name);
    if (text && *text)
        report_json_text(out, text);
    else
        strbuf_puts(out, "null");
    strbuf_puts(out, ", ");
}

static void put_json_rows(const struct stat_report *r, struct strbuf *out)
{
    strbuf_puts(out, "  \"events\": [");
    for (int i = 0; i < stat_rows_count(r); i++) {
        struct stat_row row = stat_row_at(r, i);
        const char *const names[] = {"mean", "min", "max", "spread"};
        const double numbers[] = {row.summary.mean, row.summary.min, row.summary.max,
                                  row.summary.spread};
        strbuf_puts(out, i ? ",\n    {" : "\n    {");
        put_json_member(out, "event", row.name);
        put_json_member(out, "source", row.source);
        put_json_member(out, "code", row.code);
        put_json_member(out, "rings", row.rings);
        put_json_member(out, "unit", row.unit);
        for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
            strbuf_printf(out, "\"%s\": ", names[k]);
            put_number(out, numbers[k], "null");
            strbuf_puts(out, ", ");
        }
        put_json_member(out, "outcome",
                        row.series->obstacle ? count_obstacle_name(row.series->obstacle) : "ok");
        put_json_member(out, "detail", row.series->why);
        strbuf_puts(out, "\"values\": [");
        for (size_t k = 0; k < row.series->n; k++)
            strbuf_printf(out, "%s%.15g", k ? ", " : "", row.series->values[k]);
        strbuf_puts(out, "]}");
    }
    strbuf_puts(out, "\n  ],\n");
}

static void put_json_histograms(const struct stat_report *r, const double *means,
                                struct strbuf *out)
{
    const char *comma = "\n    ";
    strbuf_puts(out, "  \"histograms\": [");
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h;
        if (r->events[i].base != i ||
            !stat_histogram_make(r->events, means, r->result->nevents, i, &h))
            continue;
        strbuf_puts(out, comma);
        strbuf_puts(out, "{");
        put_json_member(out, "event", r->events[i].event.name);
        strbuf_printf(out, "\"total_clk\": %.15g, \"mean\": %.15g, \"clk\": [", h.total_clk,
                      h.mean);
        for (int k = 0; k < h.nbuckets; k++)
            strbuf_printf(out, "%s%.15g", k ? ", " : "", h.clk[k]);
        strbuf_puts(out, "]}");
        comma = ",\n    ";
    }
    strbuf_puts(out, "\n  ],\n");
}

static void put_json_durations(const struct stat_report *r, const double *means, struct strbuf *out)
{
    const char *comma = "\n    ";
    strbuf_puts(out, "  \"durations\": [");
    for (int i = 0; i < r->result->nevents; i++) {
        int begins;
        double clk = stat_duration_of(r, means, i, &begins);
        if (isnan(clk))
            continue;
        strbuf_puts(out, comma);
        strbuf_puts(out, "{");
        put_json_member(out, "condition", r->events[i].event.name);
        strbuf_printf(out, "\"clk\": %.15g, \"begins\": %.15g, \"mean_clk\": %.15g}", means[i],
                      means[begins], clk);
        comma = ",\n    ";
    }
    strbuf_puts(out, "\n  ]\n");
}

void stat_report_json(const struct stat_report *r, struct strbuf *out)
{
    const struct stat_result *result = r->result;
    double *means = stat_means_make(r);
    strbuf_puts(out, "{\n  \"program\": [");
    for (int i = 0; r->options->argv[i]; i++) {
        strbuf_puts(out, i ? ", " : "");
        report_json_text(out, r->options->argv[i]);
    }
    strbuf_puts(out, "],\n  ");
    put_json_member(out, "uarch", r->table->uarch);
    put_json_member(out, "table_version", r->table->version);
    put_json_member(out, "backend", r->options->backend->name);
    if (r->options->cpu >= 0)
        strbuf_printf(out, "\"cpu\": %d,", r->options->cpu);
    else
        strbuf_puts(out, "\"cpu\": null,");
    strbuf_printf(out,
                  "\n  \"warm_runs\": %d, \"counted_runs\": %d, \"lost_runs\": %d, "
                  "\"exit_status\": %d, \"signal\": %d, \"statuses_differ\": %s,\n",
                  result->warm_runs, result->counted_runs, result->lost_runs, result->exit_status,
                  result->signal, result->statuses_differ ? "true" : "false");
    char doubt[200];
    strbuf_puts(out, "  ");
    put_json_member(out, "doubt", stat_doubt_find(r, means, doubt, sizeof doubt));
    strbuf_puts(out, "\n");
    put_json_rows(r, out);
    put_json_histograms(r, means, out);
    put_json_durations(r, means, out);
    strbuf_puts(out, "}\n");
    free(means);
}
