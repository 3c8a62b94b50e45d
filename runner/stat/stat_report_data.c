// SPDX-License-Identifier: MIT
// The report of `latput stat` for programs: CSV with a line per row, then the values that follow
// from the rows; JSON with the single values, too. docs/COUNTERS.md describes columns and members.
#include "stat_report_internal.h"

#include "util/json.h"
#include "util/mem.h"
#include "util/text_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIGITS = 15 }; // of a number: all that a count has

// --- CSV ---

// Adds a row that follows from others: `kind`:`event`:`detail`.
static void put_derived(const struct stat_report *r, const char *kind, const char *event,
                        const char *detail, double clk, struct text_table *table)
{
    char *name = xasprintf("%s:%s%s%s", kind, event, *detail ? ":" : "", detail);
    const char *const before[] = {name, "derived", "", "", "clk"};
    const char *const after[] = {"", "", "", "", "ok", "", r->table->uarch, r->table->version};
    for (size_t i = 0; i < ARRAY_LEN(before); i++)
        text_table_cell(table, before[i]);
    report_put_number(table, clk, DIGITS, REPORT_CSV);
    for (size_t i = 0; i < ARRAY_LEN(after); i++)
        text_table_cell(table, after[i]);
    free(name);
}

static void put_histogram(const struct stat_report *r, const double *means, int event,
                          struct text_table *table)
{
    struct stat_histogram h;
    if (r->events[event].base != event ||
        !stat_histogram_make(r->events, means, r->result->nevents, event, &h))
        return;
    for (int k = 0; k < h.nbuckets; k++) {
        char bucket[16];
        snprintf(bucket, sizeof bucket, "%s%d", k == h.nbuckets - 1 ? "ge" : "", k);
        put_derived(r, "histogram", r->events[event].event.name, bucket, h.clk[k], table);
    }
}

static void put_row(const struct stat_report *r, const struct stat_row *row,
                    struct text_table *table)
{
    const char *const texts[] = {row->name, row->source, row->code, row->rings, row->unit};
    const double numbers[] = {row->summary.mean, row->summary.min, row->summary.max,
                              row->summary.spread, (double)row->summary.n};
    const bool of_table = row->code[0] != '\0';
    for (size_t k = 0; k < ARRAY_LEN(texts); k++)
        text_table_cell(table, texts[k]);
    for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
        report_put_number(table, numbers[k], DIGITS, REPORT_CSV);
    text_table_cell(table,
                    row->series->obstacle ? count_obstacle_name(row->series->obstacle) : "ok");
    text_table_cell(table, row->series->why);
    text_table_cell(table, of_table ? r->table->uarch : "");
    text_table_cell(table, of_table ? r->table->version : "");
}

void stat_report_csv(const struct stat_report *r, struct strbuf *out)
{
    static const char *const headers[] = {"event",   "source", "code",  "rings",        "unit",
                                          "mean",    "min",    "max",   "spread",       "runs",
                                          "outcome", "detail", "uarch", "table_version"};
    static const enum text_align aligns[ARRAY_LEN(headers)];
    struct text_table *table = text_table_new(headers, aligns, ARRAY_LEN(headers));
    for (int i = 0; i < stat_rows_count(r); i++) {
        struct stat_row row = stat_row_at(r, i);
        put_row(r, &row, table);
    }
    double *means = stat_means_make(r);
    for (int i = 0; i < r->result->nevents; i++) {
        int begins;
        double clk = stat_duration_of(r, means, i, &begins);
        put_histogram(r, means, i, table);
        if (!isnan(clk))
            put_derived(r, "duration", r->events[i].event.name, "", clk, table);
    }
    free(means);
    text_table_put(table, REPORT_CSV, out);
    text_table_free(table);
}

// --- JSON ---

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
        json_open(json_name(json, "values"), '[');
        for (size_t k = 0; k < row.series->n; k++)
            json_digits(json, row.series->values[k], DIGITS);
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

// Puts each reason why events were not counted once, with their names.
static void put_json_refused(struct json *json, const struct stat_report *r)
{
    const struct stat_result *result = r->result;
    json_open(json_name(json_break(json, "\n  "), "not_counted"), '[');
    for (int i = 0; i < result->nevents; i++) {
        if (!stat_is_first_refused(r, i))
            continue;
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "outcome"), count_obstacle_name(result->series[i].obstacle));
        json_text_known(json_name(json, "detail"), result->series[i].why);
        json_open(json_name(json, "events"), '[');
        for (int k = i; k < result->nevents; k++)
            if (k == i || stat_same_refusal(r, i, k))
                json_text(json, r->events[k].event.name);
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
    put_json_refused(&json, r);
    put_json_histograms(&json, r, means);
    put_json_durations(&json, r, means);
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
    free(means);
}
