// SPDX-License-Identifier: MIT
// The report of `latput stat` for programs: CSV with a line per row, then the values that follow
// from the rows; JSON with the single values, too. docs/COUNTERS.md describes columns and members.
#include "stat_report_internal.h"

#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 15, STAT_TEXT = 40 }; // of a number: all that a count has; bytes of one in words

// A time or an event; in CSV also a value that follows from others.
struct event_row {
    struct stat_row of;
    const char *outcome, *detail, *uarch, *version;
    const double *values;
    size_t n;
    int64_t runs;                                     // -1: none
    char shown[160], mean[STAT_TEXT], min[STAT_TEXT]; // for people
    double spread_percent;
};
#define EVENT(...) OUTPUT_FIELD(struct event_row, __VA_ARGS__)
#define EVENT_SHOWN(title, ...) EVENT(__VA_ARGS__, .only = OUTPUT_PEOPLE, .look.heading = (title))
#define EVENT_NUMBER(...) EVENT(__VA_ARGS__, .look.digits = DIGITS, .digits = DIGITS)
OUTPUT_DEFINE(event_record, struct event_row, OUTPUT_LINE, EVENT(of.name, .look.name = "event"),
              EVENT(of.source), EVENT(of.code, .known = true), EVENT(of.rings, .known = true),
              EVENT(of.unit), EVENT_NUMBER(of.summary.mean), EVENT_NUMBER(of.summary.min),
              EVENT_NUMBER(of.summary.max), EVENT_NUMBER(of.summary.spread),
              EVENT_SHOWN("event", shown), EVENT_SHOWN("mean", mean, .look.align = ALIGN_POINT),
              EVENT_SHOWN("min", min, .look.align = ALIGN_POINT),
              EVENT_SHOWN("spread %", spread_percent, .shown = 1, .look.align = ALIGN_POINT),
              EVENT(runs, .only = OUTPUT_TABLES, .known = true, .none = -1, .look.heading = "runs",
                    .look.align = ALIGN_RIGHT),
              EVENT(outcome), EVENT(detail, .only = OUTPUT_CSV), EVENT(uarch, .only = OUTPUT_CSV),
              EVENT(version, .only = OUTPUT_CSV, .look.name = "table_version"),
              OUTPUT_LIST(struct event_row, values, n, .digits = DIGITS));

// Events that were not counted for the same reason.
struct refused_row {
    const char *outcome, *detail, *const *events;
    int n;
};
#define REFUSED(...) OUTPUT_FIELD(struct refused_row, __VA_ARGS__)
OUTPUT_DEFINE(refused_record, struct refused_row, OUTPUT_LINE, REFUSED(outcome),
              REFUSED(detail, .known = true), OUTPUT_LIST(struct refused_row, events, n));

struct histogram_row {
    const char *event;
    struct stat_histogram of;
    const double *clk;
};
#define HISTOGRAM(...) OUTPUT_FIELD(struct histogram_row, __VA_ARGS__, .digits = DIGITS)
OUTPUT_DEFINE(histogram_record, struct histogram_row, OUTPUT_LINE, HISTOGRAM(event),
              HISTOGRAM(of.total_clk), HISTOGRAM(of.mean),
              OUTPUT_LIST(struct histogram_row, clk, of.nbuckets, .digits = DIGITS));

#define DURATION(...) OUTPUT_FIELD(struct stat_duration, __VA_ARGS__, .digits = DIGITS)
#define DURATION_SHOWN(title, ...) DURATION(__VA_ARGS__, .look.heading = (title))
OUTPUT_DEFINE(duration_record, struct stat_duration, OUTPUT_LINE,
              DURATION_SHOWN("condition", condition), DURATION(clk), DURATION(begins),
              DURATION_SHOWN("cycles", clk_text, .only = OUTPUT_PEOPLE, .look.align = ALIGN_POINT),
              DURATION_SHOWN("begins", begins_text, .only = OUTPUT_PEOPLE,
                             .look.align = ALIGN_POINT),
              DURATION_SHOWN("mean duration (clk)", mean_clk, .shown = 2,
                             .look.align = ALIGN_POINT));

struct whole {
    struct stat_result of;
    const char *const *program;
    const char *uarch, *version, *backend, *doubt;
    int cpu, nprogram, nevents, nrefused, nhistograms, ndurations;
    struct event_row *events;
    struct refused_row *refused;
    struct histogram_row *histograms;
    struct stat_duration *durations;
};
#define WHOLE(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
#define WHOLE_ROWS(...) OUTPUT_ROWS(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(whole_record, struct whole, OUTPUT_LINE, OUTPUT_LIST(struct whole, program, nprogram),
              WHOLE(uarch, .known = true),
              WHOLE(version, .known = true, .look.name = "table_version"), WHOLE(backend),
              WHOLE(cpu, .known = true, .none = -1), WHOLE(of.warm_runs), WHOLE(of.counted_runs),
              WHOLE(of.lost_runs), WHOLE(of.exit_status), WHOLE(of.signal),
              WHOLE(of.statuses_differ, .zero_one = true), WHOLE(doubt, .known = true),
              WHOLE_ROWS(events, nevents, event_record),
              WHOLE_ROWS(refused, nrefused, refused_record, .look.name = "not_counted"),
              WHOLE_ROWS(histograms, nhistograms, histogram_record),
              WHOLE_ROWS(durations, ndurations, duration_record));
const struct output_kind stat_report_kind = {"stat", "latput stat", &whole_record, 1, 1};

// Makes a row for CSV that follows from others: `kind`:`event`:`detail`.
static struct event_row derived_row(const struct stat_report *r, const char *name, double clk)
{
    const double none = (double)NAN;
    return (struct event_row){
        .of = {.name = name,
               .unit = "clk",
               .source = "derived",
               .summary = {.mean = clk, .min = none, .max = none, .spread = none}},
        .outcome = "ok",
        .uarch = r->table->uarch,
        .version = r->table->version,
        .runs = -1
    };
}

// Writes "30,066,740,927"; numbers below 100 with two decimals, unless they are whole.
static void put_grouped(double value, char text[STAT_TEXT])
{
    char digits[STAT_TEXT];
    text[0] = '\0';
    if (isnan(value))
        return;
    snprintf(digits, sizeof digits, value < 100 && value != floor(value) ? "%.2f" : "%.0f", value);
    size_t whole = strcspn(digits, "."), n = 0;
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = digits[i];
    }
    snprintf(text + n, STAT_TEXT - n, "%s", digits + whole);
}

// Fills what people see: times in ms and sizes in KiB.
static void row_show(struct event_row *row)
{
    bool ms = strcmp(row->of.unit, "ns") == 0, kib = strcmp(row->of.unit, "bytes") == 0;
    const double values[] = {row->of.summary.mean, row->of.summary.min};
    char *texts[] = {row->mean, row->min};
    snprintf(row->shown, sizeof row->shown, "%s%s", row->of.name,
             ms    ? " (ms)"
             : kib ? " (KiB)"
                   : "");
    for (size_t k = 0; k < ARRAY_LEN(values); k++)
        if (ms && values[k] < 1e12)
            snprintf(texts[k], STAT_TEXT, "%.3f", values[k] / 1e6);
        else
            put_grouped(values[k] / (ms ? 1e6 : kib ? 1024 : 1), texts[k]);
    row->spread_percent = 100 * row->of.summary.spread / row->of.summary.mean;
}

static struct event_row event_row_at(const struct stat_report *r, int i)
{
    struct event_row row = {.of = stat_row_at(r, i)};
    const struct stat_series *series = row.of.series;
    row.outcome = series->obstacle ? count_obstacle_name(series->obstacle) : "ok";
    row.detail = series->why;
    row.values = series->values;
    row.n = series->n;
    row.runs = (int64_t)series->n;
    if (row.of.code[0]) {
        row.uarch = r->table->uarch;
        row.version = r->table->version;
    }
    row_show(&row);
    return row;
}

void stat_report_csv(const struct stat_report *r, struct strbuf *out)
{
    struct arena arena = {0};
    double *means = stat_means_make(r);
    const struct output_page page = {.format = REPORT_CSV};
    struct output_stream stream = {.record = &event_record, .page = &page, .out = out};
    output_begin(&stream, NULL);
    for (int i = 0; i < stat_rows_count(r); i++) {
        const struct event_row row = event_row_at(r, i);
        output_row(&stream, &row);
    }
    for (int i = 0; i < r->result->nevents; i++) {
        const char *event = r->events[i].event.name;
        struct stat_histogram h = {0};
        struct stat_duration duration;
        stat_histogram_at(r, means, i, &h);
        for (int k = 0; k < h.nbuckets; k++) {
            const struct event_row row =
                derived_row(r,
                            arena_printf(&arena, "histogram:%s:%s%d", event,
                                         k == h.nbuckets - 1 ? "ge" : "", k),
                            h.clk[k]);
            output_row(&stream, &row);
        }
        if (stat_duration_at(r, means, i, &duration)) {
            const struct event_row row =
                derived_row(r, arena_printf(&arena, "duration:%s", event), duration.mean_clk);
            output_row(&stream, &row);
        }
    }
    output_end(&stream, NULL);
    free(means);
    arena_free(&arena);
}

// Makes the events that were refused for the same reason as the first of them.
static struct refused_row refused_row_make(const struct stat_report *r, int first,
                                           struct arena *arena)
{
    const struct stat_series *series = &r->result->series[first];
    const char **events = arena_alloc(arena, (size_t)r->result->nevents * sizeof *events);
    int n = 0;
    for (int k = first; k < r->result->nevents; k++)
        if (k == first || stat_same_refusal(r, first, k))
            events[n++] = r->events[k].event.name;
    return (struct refused_row){count_obstacle_name(series->obstacle), series->why, events, n};
}

static void whole_fill(const struct stat_report *r, const double *means, struct arena *arena,
                       struct whole *whole)
{
    size_t n = (size_t)r->result->nevents + 1;
    whole->nevents = stat_rows_count(r);
    whole->events = arena_alloc(arena, ((size_t)whole->nevents + 1) * sizeof *whole->events);
    whole->refused = arena_alloc(arena, n * sizeof *whole->refused);
    whole->histograms = arena_alloc(arena, n * sizeof *whole->histograms);
    whole->durations = arena_alloc(arena, n * sizeof *whole->durations);
    for (int i = 0; i < whole->nevents; i++)
        whole->events[i] = event_row_at(r, i);
    for (int i = 0; i < r->result->nevents; i++) {
        struct histogram_row *histogram = &whole->histograms[whole->nhistograms];
        if (stat_is_first_refused(r, i))
            whole->refused[whole->nrefused++] = refused_row_make(r, i, arena);
        if (stat_histogram_at(r, means, i, &histogram->of)) {
            histogram->event = r->events[i].event.name;
            histogram->clk = histogram->of.clk;
            whole->nhistograms++;
        }
        whole->ndurations += stat_duration_at(r, means, i, &whole->durations[whole->ndurations]);
    }
    while (r->options->argv[whole->nprogram])
        whole->nprogram++;
}

void stat_report_json(const struct stat_report *r, struct strbuf *out)
{
    char doubt[200];
    struct arena arena = {0};
    double *means = stat_means_make(r);
    struct whole whole = {.of = *r->result,
                          .program = r->options->argv,
                          .uarch = r->table->uarch,
                          .version = r->table->version,
                          .backend = r->options->backend->name,
                          .doubt = stat_doubt_find(r, means, doubt, sizeof doubt),
                          .cpu = r->options->cpu >= 0 ? r->options->cpu : -1};
    whole_fill(r, means, &arena, &whole);
    output_put_json(&whole_record, &whole, 1, true, out);
    free(means);
    arena_free(&arena);
}

// --- tables for people ---

// A part of a histogram.
struct share_row {
    const char *event;
    char in_cycle[16];
    double percent;
};
OUTPUT_DEFINE(share_record, struct share_row, OUTPUT_LINE,
              OUTPUT_FIELD(struct share_row, event, .look.heading = "event"),
              OUTPUT_FIELD(struct share_row, in_cycle, .look.heading = "in a cycle",
                           .look.align = ALIGN_RIGHT),
              OUTPUT_FIELD(struct share_row, percent, .look.heading = "share of cycles %",
                           .shown = 2, .look.align = ALIGN_RIGHT));

void stat_report_events(const struct stat_report *r, enum report_format format, struct strbuf *out)
{
    const struct output_page page = {format, 0, r->colour};
    int n = 0;
    struct event_row *rows = xcalloc((size_t)stat_rows_count(r), sizeof *rows);
    for (int i = 0; i < stat_rows_count(r); i++) {
        rows[n] = event_row_at(r, i);
        n += rows[n].n > 0;
    }
    output_print(&event_record, rows, n, &page, out, NULL);
    free(rows);
}

void stat_report_shares(const struct stat_report *r, const double *means, enum report_format format,
                        struct strbuf *out)
{
    const struct output_page page = {format, 0, r->colour};
    struct arena arena = {0};
    int n = 0;
    struct share_row *rows =
        arena_alloc(&arena, ((size_t)r->result->nevents * STAT_BUCKETS_MAX + 1) * sizeof *rows);
    for (int i = 0; i < r->result->nevents; i++) {
        struct stat_histogram h = {0};
        stat_histogram_at(r, means, i, &h);
        for (int k = 0; k < h.nbuckets; k++, n++) {
            rows[n] = (struct share_row){r->events[i].event.name, "", 100 * h.clk[k] / h.total_clk};
            snprintf(rows[n].in_cycle, sizeof rows[n].in_cycle, "%s%d",
                     k == h.nbuckets - 1 ? "≥" : "", k);
        }
    }
    if (n > 0) {
        strbuf_puts(out, "\n");
        output_print(&share_record, rows, n, &page, out, NULL);
    }
    arena_free(&arena);
}

void stat_report_durations(const struct stat_report *r, const double *means,
                           enum report_format format, struct strbuf *out)
{
    const struct output_page page = {format, 0, r->colour};
    int n = 0;
    struct stat_duration *rows = xcalloc((size_t)r->result->nevents + 1, sizeof *rows);
    for (int i = 0; i < r->result->nevents; i++)
        if (stat_duration_at(r, means, i, &rows[n])) {
            put_grouped(rows[n].clk, rows[n].clk_text);
            put_grouped(rows[n].begins, rows[n].begins_text);
            n++;
        }
    if (n > 0) {
        strbuf_puts(out, "\n");
        output_print(&duration_record, rows, n, &page, out, NULL);
    }
    free(rows);
}
