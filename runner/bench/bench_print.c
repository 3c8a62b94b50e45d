// SPDX-License-Identifier: MIT
#include "bench_print.h"

#include "util/mem.h"
#include "util/quantile.h"
#include "util/strbuf.h"
#include "util/terminal.h"
#include "util/text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WIDTH = 80 };

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
    return result->metrics[column - TIME_COLUMNS].name;
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
    return row->values[column] / (column < result->nevents ? row_instances(result) : 1);
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

// A repetition of a thread, or the medians of some, in two shapes: for programs with what was
// counted, for people with the times and counts per instance.
struct line {
    struct bench_row row;
    int cpu;
    const char *name, *disturbed; // "cold", "3", "median"; "" unless it is
    struct output_more more, shown;
};
#define DATA(...) OUTPUT_NAMED(struct line, __VA_ARGS__)
OUTPUT_DEFINE(data_record, struct line, OUTPUT_LINE, DATA(row.pass, "pass"),
              DATA(row.repetition, "repetition"), DATA(cpu, "cpu"),
              DATA(row.cold, "cold", .zero_one = true),
              DATA(row.accepted, "accepted", .zero_one = true), DATA(row.tried, "tried"),
              DATA(row.late_ns, "late_ns"), DATA(row.tsc, "elapsed_tsc"),
              DATA(row.clk, "elapsed_clk"), DATA(row.per_clk, "instance_clk"),
              OUTPUT_MORE(struct line, more));

#define SHOWN(title, side, ...)                                                                    \
    OUTPUT_FIELD(struct line, __VA_ARGS__, .look.heading = (title), .look.align = (side))
OUTPUT_DEFINE(shown_record, struct line, OUTPUT_LINE, SHOWN("repetition", ALIGN_RIGHT, name),
              SHOWN("CPU", ALIGN_RIGHT, cpu, .known = true, .none = -1),
              OUTPUT_MORE(struct line, shown, .shown = 3),
              SHOWN("disturbed", ALIGN_LEFT, disturbed));

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

// Makes the looks of all columns, times included.
static struct look *looks_make(const struct bench_result *result, struct arena *arena)
{
    struct look *looks = arena_alloc(arena, (size_t)column_count(result) * sizeof *looks);
    for (int c = 0; c < column_count(result); c++) {
        char name[BENCH_MEMBER_BYTES];
        looks[c].name = arena_strdup(arena, member_name(result, c, name));
        looks[c].heading = column_name(result, c);
        looks[c].align = ALIGN_RIGHT;
    }
    return looks;
}

// Makes the lines of all repetitions; for people (`pass` above 0) of one pass.
static struct line *lines_make(const struct bench_result *result, int pass, struct arena *arena,
                               int *n)
{
    const struct look *looks = looks_make(result, arena);
    const int columns = column_count(result), counted = columns - TIME_COLUMNS;
    struct line *lines =
        arena_alloc(arena, (size_t)(result->nrows + result->nthreads) * sizeof *lines);
    *n = 0;
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        double *values = arena_alloc(arena, (size_t)columns * 2 * sizeof *values);
        for (int c = 0; c < columns; c++)
            values[c] = values[columns + c] = column_value(result, row, c);
        for (int e = 0; e < result->nevents; e++)
            values[columns + TIME_COLUMNS + e] = row->values[e];
        if (!pass || row->pass == pass)
            lines[(*n)++] = (struct line){
                *row,
                pass && result->nthreads == 1 ? -1 : result->cpus[row->thread],
                row->thread > 0 && pass ? ""
                : row->cold             ? "cold"
                                        : arena_printf(arena, "%d", row->repetition),
                row->accepted ? "" : "disturbed",
                {looks + TIME_COLUMNS, values + columns + TIME_COLUMNS, counted, 0},
                {looks,                values,                          columns, 2}
            };
    }
    return lines;
}

// Prints blocks of as many columns as fit into a line.
static void put_blocks(const struct bench_result *result, int pass, bool colour, struct strbuf *out)
{
    enum { OTHERS = 28, GAP = 2, NARROWEST = 8 }; // characters: of what each block has; of a number
    struct arena arena = {0};
    int n, take;
    struct line *lines = lines_make(result, pass, &arena, &n);
    for (int left = column_count(result); left > 0 && n > 0; left -= take) {
        const struct look *looks = lines[0].shown.looks;
        int width = OTHERS;
        for (take = 0; take < left && width <= LINE_WIDTH; take++) {
            int len = (int)strlen(looks[take].heading);
            width += GAP + (len > NARROWEST ? len : NARROWEST);
        }
        take -= width > LINE_WIDTH && take > 1;
        for (int i = 0; i < n; i++)
            lines[i].shown.n = take;
        output_print(&shown_record, lines, n, &(struct output_page){REPORT_TABLE, 0, colour}, out,
                     NULL);
        for (int i = 0; i < n; i++) {
            struct output_more *shown = &lines[i].shown;
            *shown = (struct output_more){shown->looks + take, shown->values + take, 0,
                                          shown->whole - take};
        }
    }
    arena_free(&arena);
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
    struct strbuf blocks = {0};
    put_blocks(result, pass, terminal_has_colour(fileno(out)), &blocks);
    fputs(strbuf_text(&blocks), out);
    strbuf_free(&blocks);
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

// --- tables to be pasted, and JSON ---

// Adds a line with the medians of a thread's accepted repetitions.
static struct line median_line(const struct bench_spec *spec, const struct bench_result *result,
                               int thread, struct arena *arena)
{
    int columns = column_count(result);
    double *medians = arena_alloc(arena, (size_t)columns * sizeof *medians);
    for (int c = 0; c < columns; c++) {
        int n;
        double *values = column_values(spec, result, thread, c, &n);
        medians[c] = n ? quantile_median(values, n) : (double)NAN;
        free(values);
    }
    return (struct line){
        .cpu = result->nthreads > 1 ? result->cpus[thread] : -1,
        .name = "median",
        .shown = {looks_make(result, arena), medians, columns, 2}
    };
}

// Prints the repetitions of the last pass and their medians as one table.
static void put_pasted(const struct bench_spec *spec, const struct bench_result *result,
                       enum report_format format, struct strbuf *out)
{
    struct arena arena = {0};
    int n;
    struct line *lines = lines_make(result, result->pass ? result->pass : 1, &arena, &n);
    for (int t = 0; t < result->nthreads && result->pass; t++)
        lines[n++] = median_line(spec, result, t, &arena);
    output_put_table(&shown_record, lines, n, format, out);
    arena_free(&arena);
}

struct whole {
    struct bench_spec spec;
    struct bench_result of;
    const char *mode;
    const struct line *lines;
};
#define WHOLE(...) OUTPUT_FIELD(struct whole, __VA_ARGS__)
#define WHOLE_ROWS(...) OUTPUT_ROWS(struct whole, __VA_ARGS__)
OUTPUT_DEFINE(whole_record, struct whole, OUTPUT_LINES, WHOLE(spec.file, .known = true),
              WHOLE(spec.symbol, .known = true),
              OUTPUT_NAMED(struct whole, spec.body, "code", .known = true),
              WHOLE(spec.init, .known = true), WHOLE(mode), WHOLE(of.breakers, .known = true),
              WHOLE(of.bits), WHOLE(of.outcome, .words = &words_outcome),
              WHOLE(of.detail, .known = true), WHOLE(of.uarch), WHOLE(of.brand, .known = true),
              WHOLE(of.tsc_hz, .always = true), WHOLE(of.core_hz, .always = true), WHOLE(of.copies),
              WHOLE(of.iterations), WHOLE(of.instances),
              WHOLE_ROWS(of.metrics, of.nevents, store_bench_metric.of, .look.name = "events"),
              WHOLE(of.placement, .known = true),
              WHOLE_ROWS(of.threads, of.nthreads, store_bench_thread.of),
              WHOLE_ROWS(lines, of.nrows, data_record, .look.name = "repetitions"));
const struct output_kind bench_kind = {
    "bench", "latput bench; repetitions have a member for each event and column beside these.",
    &whole_record, 1, 1};

static void put_json(const struct bench_spec *spec, const struct bench_result *result,
                     struct strbuf *out)
{
    struct arena arena = {0};
    int n;
    struct whole whole = {*spec, *result, bench_mode_name(spec->mode),
                          lines_make(result, 0, &arena, &n)};
    if (!spec->file)
        whole.spec.symbol = NULL;
    output_put_json(&whole_record, &whole, 1, true, out);
    arena_free(&arena);
}

static void put_csv(const struct bench_result *result, struct strbuf *out)
{
    struct arena arena = {0};
    int n;
    struct line *lines = lines_make(result, 0, &arena, &n);
    output_put_table(&data_record, lines, n, REPORT_CSV, out);
    arena_free(&arena);
}

void bench_print(const struct bench_spec *spec, const struct bench_result *result,
                 enum report_format format, FILE *out)
{
    struct strbuf text = {0};
    if (format == REPORT_TABLE)
        print_table(spec, result, out);
    else if (format == REPORT_JSON)
        put_json(spec, result, &text);
    else if (format == REPORT_CSV && result->nrows)
        put_csv(result, &text);
    else if (result->nrows)
        put_pasted(spec, result, format, &text);
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
