// SPDX-License-Identifier: MIT
// The report of `latput stat` for programs: CSV with a line per row, then the values that follow
// from the rows; JSON with the single values, too. docs/COUNTERS.md describes columns and members.
#include "stat_report_internal.h"

#include "util/csvtext.h"
#include "util/json.h"
#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- CSV ---

// Puts the last columns of a row: the source of a hardware event's code.
static void put_csv_table(const struct stat_report *r, bool of_table, struct strbuf *out)
{
    if (of_table)
        strbuf_printf(out, ",%s,%s\n", r->table->uarch, r->table->version);
    else
        strbuf_puts(out, ",,\n");
}

// Puts a row that follows from others: `kind`:`event`:`detail`. Names of raw events have commas.
static void put_csv_derived(const struct stat_report *r, const char *kind, const char *event,
                            const char *detail, double clk, struct strbuf *out)
{
    char *name = xasprintf("%s:%s%s%s", kind, event, *detail ? ":" : "", detail);
    csv_put_text(out, name);
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
            csv_put_text(out, texts[k]);
            strbuf_puts(out, ",");
        }
        for (size_t k = 0; k < ARRAY_LEN(numbers); k++) {
            if (isfinite(numbers[k]))
                strbuf_printf(out, "%.15g", numbers[k]);
            strbuf_puts(out, ",");
        }
        strbuf_printf(out, "%zu,%s,", row.summary.n,
                      row.series->obstacle ? count_obstacle_name(row.series->obstacle) : "ok");
        csv_put_text(out, row.series->why ? row.series->why : "");
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

enum { DIGITS = 15 }; // of a number: all that a count has

static void put_json_rows(struct json *json, const struct stat_report *r)
{
    json_open(json_name(json_break(json, " \n  "), "events"), '[');
    for (int i = 0; i < stat_rows_count(r); i++) {
        struct stat_row row = stat_row_at(r, i);
        json_open(json_break(json, "\n    "), '{');
        json_text_known(json_name(json, "event"), row.name);
        json_text_known(json_name(json, "source"), row.source);
        json_text_known(json_name(json, "code"), row.code);
        json_text_known(json_name(json, "rings"), row.rings);
        json_text_known(json_name(json, "unit"), row.unit);
        json_digits(json_name(json, "mean"), row.summary.mean, DIGITS);
        json_digits(json_name(json, "min"), row.summary.min, DIGITS);
        json_digits(json_name(json, "max"), row.summary.max, DIGITS);
        json_digits(json_name(json, "spread"), row.summary.spread, DIGITS);
        json_text_known(json_name(json, "outcome"),
                        row.series->obstacle ? count_obstacle_name(row.series->obstacle) : "ok");
        json_text_known(json_name(json, "detail"), row.series->why);
        json_open(json_name(json, "values"), '[');
        for (size_t k = 0; k < row.series->n; k++)
            json_digits(json, row.series->values[k], DIGITS);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

static void put_json_histograms(struct json *json, const struct stat_report *r, const double *means)
{
    json_open(json_name(json_break(json, "\n  "), "histograms"), '[');
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h;
        if (r->events[i].base != i ||
            !stat_histogram_make(r->events, means, r->result->nevents, i, &h))
            continue;
        json_open(json_break(json, "\n    "), '{');
        json_text_known(json_name(json, "event"), r->events[i].event.name);
        json_digits(json_name(json, "total_clk"), h.total_clk, DIGITS);
        json_digits(json_name(json, "mean"), h.mean, DIGITS);
        json_open(json_name(json, "clk"), '[');
        for (int k = 0; k < h.nbuckets; k++)
            json_digits(json, h.clk[k], DIGITS);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

static void put_json_durations(struct json *json, const struct stat_report *r, const double *means)
{
    json_open(json_name(json_break(json, "\n  "), "durations"), '[');
    for (int i = 0; i < r->result->nevents; i++) {
        int begins;
        double clk = stat_duration_of(r, means, i, &begins);
        if (isnan(clk))
            continue;
        json_open(json_break(json, "\n    "), '{');
        json_text_known(json_name(json, "condition"), r->events[i].event.name);
        json_digits(json_name(json, "clk"), means[i], DIGITS);
        json_digits(json_name(json, "begins"), means[begins], DIGITS);
        json_digits(json_name(json, "mean_clk"), clk, DIGITS);
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

static void put_json_head(struct json *json, const struct stat_report *r)
{
    const struct stat_result *result = r->result;
    json_open(json_name(json_break(json, "\n  "), "program"), '[');
    for (int i = 0; r->options->argv[i]; i++)
        json_text(json, r->options->argv[i]);
    json_close(json, ']');
    json_text_known(json_name(json_break(json, "\n  "), "uarch"), r->table->uarch);
    json_text_known(json_name(json, "table_version"), r->table->version);
    json_text_known(json_name(json, "backend"), r->options->backend->name);
    if (r->options->cpu >= 0)
        json_int(json_name(json, "cpu"), r->options->cpu);
    else
        json_null(json_name(json, "cpu"));
    json_int(json_name(json_break(json, "\n  "), "warm_runs"), result->warm_runs);
    json_int(json_name(json, "counted_runs"), result->counted_runs);
    json_int(json_name(json, "lost_runs"), result->lost_runs);
    json_int(json_name(json, "exit_status"), result->exit_status);
    json_int(json_name(json, "signal"), result->signal);
    json_int(json_name(json, "statuses_differ"), result->statuses_differ);
}

void stat_report_json(const struct stat_report *r, struct strbuf *out)
{
    char doubt[200];
    double *means = stat_means_make(r);
    struct json json = {.out = out};
    json_open(&json, '[');
    json_open(&json, '{');
    put_json_head(&json, r);
    json_text_known(json_name(json_break(&json, "\n  "), "doubt"),
                    stat_doubt_find(r, means, doubt, sizeof doubt));
    put_json_rows(&json, r);
    put_json_histograms(&json, r, means);
    put_json_durations(&json, r, means);
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
    free(means);
}
