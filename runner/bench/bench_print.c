// SPDX-License-Identifier: MIT
#include "bench_print.h"

#include "util/json.h"
#include "util/mem.h"
#include "util/quantile.h"
#include "util/strbuf.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPETITION_WIDTH = 10, CPU_WIDTH = 4, VALUE_WIDTH = 12, LINE_WIDTH = 80 };

// Columns of a row: times, then counts per instance, then computed ones.
enum { TIME_COLUMNS = 3 };

static int column_count(const struct bench_result *result)
{
    return TIME_COLUMNS + result->nevents + result->ncolumns;
}

static const char *column_name(const struct bench_result *result, int column)
{
    static const char *const times[TIME_COLUMNS] = {"TSC ticks", "core clk", "clk/instance"};
    if (column < TIME_COLUMNS)
        return times[column];
    column -= TIME_COLUMNS;
    return column < result->nevents ? result->events[column].name
                                    : result->columns[column - result->nevents];
}

static int column_width(const struct bench_result *result, int column)
{
    int len = (int)strlen(column_name(result, column));
    return len > VALUE_WIDTH ? len : VALUE_WIDTH;
}

static double row_instances(const struct bench_result *result)
{
    return (double)result->copies * result->iterations * result->instances;
}

static double column_value(const struct bench_result *result, const struct bench_row *row,
                           int column)
{
    const double times[TIME_COLUMNS] = {row->tsc, row->clk, row->per_clk};
    if (column < TIME_COLUMNS)
        return times[column];
    column -= TIME_COLUMNS;
    return column < result->nevents ? row->counts[column] / row_instances(result)
                                    : row->columns[column - result->nevents];
}

// Formats a value for people.
enum { VALUE_TEXT_MAX = 400 };
static const char *value_text(int column, double value, char text[VALUE_TEXT_MAX])
{
    if (isfinite(value))
        snprintf(text, VALUE_TEXT_MAX, "%.*f", column < 2 ? 0 : 3, value);
    else
        snprintf(text, VALUE_TEXT_MAX, "-");
    return text;
}

static const char *row_mark(const struct bench_row *row)
{
    return row->accepted ? "" : "  disturbed";
}

static void print_table_row(const struct bench_result *result, const struct bench_row *row,
                            int from, int to, FILE *out)
{
    char name[16], text[VALUE_TEXT_MAX];
    snprintf(name, sizeof name, "%d", row->repetition);
    // The name of a repetition stands once, in the line of its first thread.
    const char *shown = row->thread > 0 ? "" : row->cold ? "cold" : name;
    fprintf(out, "%*s", REPETITION_WIDTH, shown);
    if (result->nthreads > 1)
        fprintf(out, " %*d", CPU_WIDTH, result->cpus[row->thread]);
    for (int c = from; c < to; c++)
        fprintf(out, " %*s", column_width(result, c),
                value_text(c, column_value(result, row, c), text));
    fprintf(out, "%s\n", row_mark(row));
}

// Prints the owner of a summary if there are several.
static void print_summary_cpu(const struct bench_result *result, int thread, FILE *out)
{
    if (result->nthreads > 1)
        fprintf(out, "CPU %d: ", result->cpus[thread]);
}

static void print_summary(const struct bench_result *result, int thread, FILE *out)
{
    const struct bench_summary *summary = &result->threads[thread];
    print_summary_cpu(result, thread, out);
    if (isfinite(summary->clk))
        fprintf(out, "%.*f core clk per instance", summary->clk < 1 ? 3 : 2, summary->clk);
    else
        fputs("no steady value", out);
    if (isfinite(summary->median_clk))
        fprintf(out, " (median %.3f, spread %.3f)", summary->median_clk, summary->spread_clk);
    fputc('\n', out);
}

// Returns the sorted values of a column in the accepted repetitions of a thread that the summary
// counts. The caller frees them.
static double *column_values(const struct bench_spec *spec, const struct bench_result *result,
                             int thread, int column, int *n)
{
    double *values = xcalloc((size_t)result->nrows + 1, sizeof *values);
    *n = 0;
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        double value = column_value(result, row, column);
        if (row->thread == thread && row->accepted && row->cold == spec->cold && isfinite(value))
            values[(*n)++] = value;
    }
    quantile_sort(values, *n);
    return values;
}

// Prints median and quartiles of a column of a thread.
static void print_column_summary(const struct bench_spec *spec, const struct bench_result *result,
                                 int thread, int column, FILE *out)
{
    int n;
    double *values = column_values(spec, result, thread, column, &n);
    print_summary_cpu(result, thread, out);
    fprintf(out, "%s", column_name(result, column));
    if (n)
        fprintf(out, ": %.3f%s (median, spread %.3f)\n", quantile_median(values, n),
                column < TIME_COLUMNS + result->nevents ? " per instance" : "",
                quantile_spread(values, n));
    else
        fputs(": no value\n", out);
    free(values);
}

// Prints a text of one instruction per line in one line.
static void print_list(const char *heading, const char *lines, FILE *out)
{
    fputs(heading, out);
    for (const char *at = lines; *at; at++)
        fputs(*at != '\n' ? (const char[]){*at, '\0'} : at[1] ? "; " : "\n", out);
}

// Prints place and name, in one line if both fit: names of families and numbers of copies have any
// length.
static void print_head(const struct bench_result *result, FILE *out)
{
    struct strbuf where = {0}, what = {0};
    double instances = row_instances(result);
    strbuf_printf(&where, "%s, CPU ", result->uarch);
    for (int t = 0; t < result->nthreads; t++)
        strbuf_printf(&where, "%s%d", t ? "+" : "", result->cpus[t]);
    strbuf_printf(&where, " at %.2f GHz, %d-bit;", result->core_hz / 1e9, result->bits);
    strbuf_printf(&what, "%d %s x %d %s = %.0f %s", result->copies,
                  result->copies == 1 ? "copy" : "copies", result->iterations,
                  result->iterations == 1 ? "iteration" : "iterations", instances,
                  instances > 1 ? "instances" : "instance");
    fprintf(out, "%s%c%s\n", where.data, where.len + 1 + what.len <= LINE_WIDTH ? ' ' : '\n',
            what.data);
    strbuf_free(&where);
    strbuf_free(&what);
    if (result->nthreads > 1)
        fprintf(out, "threads: %s\n", result->placement);
    if (*result->breakers)
        print_list("before each copy, to break its chains: ", result->breakers, out);
}

// Prints the columns [from, to) of all repetitions of a pass.
static void print_block(const struct bench_result *result, int pass, int from, int to, FILE *out)
{
    bool colour = terminal_has_colour(fileno(out));
    fprintf(out, "%s%*s", text_style_begin(STYLE_HEADING, colour), REPETITION_WIDTH, "repetition");
    if (result->nthreads > 1)
        fprintf(out, " %*s", CPU_WIDTH, "CPU");
    for (int c = from; c < to; c++)
        fprintf(out, " %*s", column_width(result, c), column_name(result, c));
    fprintf(out, "%s\n", text_style_end(STYLE_HEADING, colour));
    for (int i = 0; i < result->nrows; i++)
        if (result->rows[i].pass == pass)
            print_table_row(result, &result->rows[i], from, to, out);
}

// Prints blocks of as many columns as fit into a line.
static void print_blocks(const struct bench_result *result, int pass, FILE *out)
{
    static const int MARK_WIDTH = 11;
    int names = REPETITION_WIDTH + (result->nthreads > 1 ? CPU_WIDTH + 1 : 0) + MARK_WIDTH;
    for (int from = 0, to = 0; from < column_count(result); from = to) {
        int width = names;
        while (to < column_count(result) &&
               (to == from || width + column_width(result, to) + 1 <= LINE_WIDTH))
            width += column_width(result, to++) + 1;
        print_block(result, pass, from, to, out);
    }
}

// Returns the latest start of any thread in the repetitions that are shown.
static double latest_start_ns(const struct bench_result *result, int pass)
{
    double latest_ns = 0;
    for (int i = 0; i < result->nrows; i++)
        if (result->rows[i].pass == pass && result->rows[i].accepted)
            latest_ns = fmax(latest_ns, result->rows[i].late_ns);
    return latest_ns;
}

static void print_table(const struct bench_spec *spec, const struct bench_result *result, FILE *out)
{
    if (!result->nrows)
        return;
    int pass = result->pass ? result->pass : 1;
    print_head(result, out);
    print_blocks(result, pass, out);
    if (result->pass) {
        for (int t = 0; t < result->nthreads; t++) {
            print_summary(result, t, out);
            for (int c = TIME_COLUMNS; c < column_count(result); c++)
                print_column_summary(spec, result, t, c, out);
        }
        fprintf(out, "%d of %d repetitions accepted in %d %s", result->summary.accepted,
                result->summary.tried, result->summary.passes,
                result->summary.passes == 1 ? "pass" : "passes");
        if (result->nthreads > 1)
            fprintf(out, "; all threads started within %.0f ns", latest_start_ns(result, pass));
        fputc('\n', out);
    }
}

// Returns the name in CSV and JSON. An event with the name of a time gets a prefix.
static const char *member_name(const struct bench_result *result, int column,
                               char text[BENCH_MEMBER_BYTES])
{
    static const char *const taken[] = {"core_clk", "elapsed_tsc", "elapsed_clk", "instance_clk"};
    const char *name = column_name(result, column);
    for (size_t i = 0; i < ARRAY_LEN(taken); i++)
        if (strcmp(taken[i], name) == 0) {
            snprintf(text, BENCH_MEMBER_BYTES, "counted_%s", name);
            return text;
        }
    return name;
}

enum { CSV_FIRST = 10, DIGITS = 15, PASTED_FIRST = 2 };
enum { QUANTITIES_MAX = TIME_COLUMNS + BENCH_EVENTS_MAX + BENCH_COLUMNS_MAX };

static void print_csv(const struct bench_result *result, struct strbuf *out)
{
    static const enum text_align aligns[CSV_FIRST + QUANTITIES_MAX];
    const char *headers[CSV_FIRST + QUANTITIES_MAX] = {
        "pass",  "repetition", "cpu",         "cold",        "accepted",
        "tried", "late_ns",    "elapsed_tsc", "elapsed_clk", "instance_clk"};
    char names[QUANTITIES_MAX][BENCH_MEMBER_BYTES];
    int n = CSV_FIRST;
    for (int c = TIME_COLUMNS; c < column_count(result); c++)
        headers[n++] = member_name(result, c, names[c]);
    struct text_table *table = text_table_new(headers, aligns, n);
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        const int numbers[] = {row->pass, row->repetition, result->cpus[row->thread],
                               row->cold, row->accepted,   row->tried};
        const double times[] = {row->late_ns, row->tsc, row->clk, row->per_clk};
        for (size_t t = 0; t < ARRAY_LEN(numbers); t++)
            report_put_number(table, numbers[t], DIGITS, REPORT_CSV);
        for (size_t t = 0; t < ARRAY_LEN(times); t++)
            report_put_number(table, times[t], 0, REPORT_CSV);
        for (int e = 0; e < result->nevents; e++)
            report_put_number(table, row->counts[e], 0, REPORT_CSV);
        for (int c = 0; c < result->ncolumns; c++)
            report_put_number(table, row->columns[c], 0, REPORT_CSV);
    }
    text_table_put(table, REPORT_CSV, out);
    text_table_free(table);
}

// Adds the medians of a thread's accepted repetitions.
static void put_medians(const struct bench_spec *spec, const struct bench_result *result,
                        int thread, struct text_table *table)
{
    char cpu[16], text[VALUE_TEXT_MAX];
    snprintf(cpu, sizeof cpu, "%d", result->cpus[thread]);
    text_table_styled(table, "median", STYLE_HEADING);
    text_table_cell(table, result->nthreads > 1 ? cpu : "");
    for (int c = 0; c < column_count(result); c++) {
        int n;
        double *values = column_values(spec, result, thread, c, &n);
        double median = n ? quantile_median(values, n) : (double)NAN;
        text_table_styled(table, value_text(c, median, text), STYLE_HEADING);
        free(values);
    }
    text_table_cell(table, "");
}

// Prints the repetitions of the last pass and their medians as one table.
static void print_pasted(const struct bench_spec *spec, const struct bench_result *result,
                         enum report_format format, struct strbuf *out)
{
    const char *headers[PASTED_FIRST + QUANTITIES_MAX + 1] = {"repetition", "CPU"};
    enum text_align aligns[PASTED_FIRST + QUANTITIES_MAX + 1] = {ALIGN_LEFT};
    int n = 1, pass = result->pass ? result->pass : 1;
    for (aligns[n++] = ALIGN_RIGHT; n < PASTED_FIRST + column_count(result); n++) {
        headers[n] = column_name(result, n - PASTED_FIRST);
        aligns[n] = ALIGN_RIGHT;
    }
    headers[n] = "disturbed";
    struct text_table *table = text_table_new(headers, aligns, n + 1);
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        char name[16], cpu[16], text[VALUE_TEXT_MAX];
        if (row->pass != pass)
            continue;
        snprintf(name, sizeof name, "%d", row->repetition);
        snprintf(cpu, sizeof cpu, "%d", result->cpus[row->thread]);
        text_table_cell(table, row->cold ? "cold" : name);
        text_table_cell(table, result->nthreads > 1 ? cpu : "");
        for (int c = 0; c < column_count(result); c++)
            text_table_cell(table, value_text(c, column_value(result, row, c), text));
        text_table_cell(table, row->accepted ? "" : "disturbed");
    }
    for (int t = 0; t < result->nthreads && result->pass; t++)
        put_medians(spec, result, t, table);
    text_table_put(table, format, out);
    text_table_free(table);
}

// Begins a member of the outermost object on a line of its own.
static struct json *line_name(struct json *json, const char *name)
{
    return json_name(json_break(json, "\n  "), name);
}

static void put_json_rows(struct json *json, const struct bench_result *result)
{
    char name[BENCH_MEMBER_BYTES];
    json_open(line_name(json, "repetitions"), '[');
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        json_open(json_break(json, "\n    "), '{');
        json_int(json_name(json, "pass"), row->pass);
        json_int(json_name(json, "repetition"), row->repetition);
        json_int(json_name(json, "cpu"), result->cpus[row->thread]);
        json_int(json_name(json, "cold"), row->cold);
        json_int(json_name(json, "accepted"), row->accepted);
        json_int(json_name(json, "tried"), row->tried);
        json_real(json_name(json, "late_ns"), row->late_ns);
        json_real(json_name(json, "elapsed_tsc"), row->tsc);
        json_real(json_name(json, "elapsed_clk"), row->clk);
        json_real(json_name(json, "instance_clk"), row->per_clk);
        for (int c = TIME_COLUMNS; c < column_count(result); c++) {
            int e = c - TIME_COLUMNS;
            json_real(json_name(json, member_name(result, c, name)),
                      e < result->nevents ? row->counts[e] : row->columns[e - result->nevents]);
        }
        json_close(json, '}');
    }
    json_close(result->nrows ? json_break(json, "\n  ") : json, ']');
}

static void put_json_threads(struct json *json, const struct bench_result *result)
{
    json_open(line_name(json, "threads"), '[');
    for (int t = 0; t < result->nthreads; t++) {
        const struct bench_summary *summary = &result->threads[t];
        json_open(json_break(json, "\n    "), '{');
        json_int(json_name(json, "cpu"), result->cpus[t]);
        json_real(json_name(json, "instance_clk"), summary->clk);
        json_real(json_name(json, "median_clk"), summary->median_clk);
        json_real(json_name(json, "spread_clk"), summary->spread_clk);
        json_int(json_name(json, "accepted"), summary->accepted);
        json_int(json_name(json, "tried"), summary->tried);
        json_int(json_name(json, "passes"), summary->passes);
        json_close(json, '}');
    }
    json_close(json_break(json, "\n  "), ']');
}

// Puts each event with its counter setting, so that it can be counted again.
static void put_json_events(struct json *json, const struct bench_result *result)
{
    json_open(line_name(json, "events"), '[');
    for (int i = 0; i < result->nevents; i++) {
        json_open(json_break(json, "\n    "), '{');
        json_text(json_name(json, "name"), result->events[i].name);
        json_text(json_name(json, "code"), result->events[i].code);
        json_text(json_name(json, "backend"), result->events[i].backend);
        json_text(json_name(json, "table_version"), result->table_version);
        json_close(json, '}');
    }
    json_close(result->nevents ? json_break(json, "\n  ") : json, ']');
}

static void put_json_head(struct json *json, const struct bench_spec *spec,
                          const struct bench_result *result)
{
    json_text_known(line_name(json, "file"), spec->file);
    json_text_known(line_name(json, "symbol"), spec->file ? spec->symbol : NULL);
    json_text_known(line_name(json, "code"), spec->body);
    json_text_known(line_name(json, "init"), spec->init);
    json_text(line_name(json, "mode"), bench_mode_name(spec->mode));
    json_text_known(line_name(json, "breakers"), result->breakers);
    json_int(line_name(json, "bits"), result->bits);
    json_text(line_name(json, "outcome"), outcome_name(result->outcome));
    json_text_known(line_name(json, "detail"), result->detail);
    json_text(line_name(json, "uarch"), result->uarch);
    json_text_known(line_name(json, "brand"), result->brand);
    json_real(line_name(json, "tsc_hz"), result->tsc_hz);
    json_real(line_name(json, "core_hz"), result->core_hz);
    json_int(line_name(json, "copies"), result->copies);
    json_int(line_name(json, "iterations"), result->iterations);
    json_int(line_name(json, "instances"), result->instances);
}

static void print_json(const struct bench_spec *spec, const struct bench_result *result,
                       struct strbuf *out)
{
    struct json json = {.out = out};
    json_open(&json, '[');
    json_open(&json, '{');
    put_json_head(&json, spec, result);
    put_json_events(&json, result);
    json_text_known(line_name(&json, "placement"), result->placement);
    put_json_threads(&json, result);
    put_json_rows(&json, result);
    json_close(json_break(&json, "\n"), '}');
    json_close(&json, ']');
    strbuf_puts(out, "\n");
}

void bench_print(const struct bench_spec *spec, const struct bench_result *result,
                 enum report_format format, FILE *out)
{
    struct strbuf text = {0};
    if (format == REPORT_TABLE)
        print_table(spec, result, out);
    else if (format == REPORT_JSON)
        print_json(spec, result, &text);
    else if (format == REPORT_CSV && result->nrows)
        print_csv(result, &text);
    else if (result->nrows)
        print_pasted(spec, result, format, &text);
    fputs(strbuf_text(&text), out);
    strbuf_free(&text);
}

int bench_quantities(const struct bench_result *result)
{
    return result->nevents + result->ncolumns;
}

const char *bench_quantity_name(const struct bench_result *result, int quantity,
                                char text[BENCH_MEMBER_BYTES])
{
    return member_name(result, TIME_COLUMNS + quantity, text);
}

double bench_quantity(const struct bench_spec *spec, const struct bench_result *result, int thread,
                      int quantity)
{
    int n;
    double *values = column_values(spec, result, thread, TIME_COLUMNS + quantity, &n);
    double median = n ? quantile_median(values, n) : (double)NAN;
    free(values);
    return median;
}
