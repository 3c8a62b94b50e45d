// SPDX-License-Identifier: MIT
// Tables of bench; see bench_print.h.
#include "bench_print.h"

#include <math.h>
#include <string.h>

enum { REPETITION_WIDTH = 10, CPU_WIDTH = 4, VALUE_WIDTH = 12 };

static const char *row_mark(const struct bench_row *row)
{
    return row->accepted ? "" : "  disturbed";
}

static void print_table_row(const struct bench_result *result, const struct bench_row *row,
                            FILE *out)
{
    char name[16];
    snprintf(name, sizeof name, "%d", row->repetition);
    // The name of a repetition stands once, in the line of its first thread.
    const char *shown = row->thread > 0 ? "" : row->cold ? "cold" : name;
    fprintf(out, "%*s", REPETITION_WIDTH, shown);
    if (result->nthreads > 1)
        fprintf(out, " %*d", CPU_WIDTH, result->cpus[row->thread]);
    fprintf(out, " %*.0f %*.0f %*.3f%s\n", VALUE_WIDTH, row->tsc, VALUE_WIDTH, row->clk,
            VALUE_WIDTH, row->per_clk, row_mark(row));
}

static void print_number(double value, const char *null, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.4f", value);
    else
        fputs(null, out);
}

static void print_summary(const struct bench_result *result, int thread, FILE *out)
{
    const struct bench_summary *summary = &result->threads[thread];
    if (result->nthreads > 1)
        fprintf(out, "CPU %d: ", result->cpus[thread]);
    if (isfinite(summary->clk))
        fprintf(out, "%.2f core clk an instance", summary->clk);
    else
        fputs("no steady value", out);
    if (isfinite(summary->median_clk))
        fprintf(out, " (median %.3f, spread %.3f)", summary->median_clk, summary->spread_clk);
    fputc('\n', out);
}

static void print_head(const struct bench_result *result, FILE *out)
{
    double instances = (double)result->copies * result->iterations * result->instances;
    fprintf(out, "%s, CPU ", result->uarch);
    for (int t = 0; t < result->nthreads; t++)
        fprintf(out, "%s%d", t ? "+" : "", result->cpus[t]);
    fprintf(out, " at %.2f GHz, %d-bit; %d %s x %d %s = %.0f %s\n", result->core_hz / 1e9,
            result->bits, result->copies, result->copies == 1 ? "copy" : "copies",
            result->iterations, result->iterations == 1 ? "iteration" : "iterations", instances,
            instances > 1 ? "instances" : "instance");
    fprintf(out, "%*s", REPETITION_WIDTH, "repetition");
    if (result->nthreads > 1)
        fprintf(out, " %*s", CPU_WIDTH, "CPU");
    fprintf(out, " %*s %*s %*s\n", VALUE_WIDTH, "TSC ticks", VALUE_WIDTH, "core clk", VALUE_WIDTH,
            "clk/instance");
}

// The latest start of any thread in the repetitions that are shown.
static double latest_start_ns(const struct bench_result *result, int pass)
{
    double latest_ns = 0;
    for (int i = 0; i < result->nrows; i++)
        if (result->rows[i].pass == pass && result->rows[i].accepted)
            latest_ns = fmax(latest_ns, result->rows[i].late_ns);
    return latest_ns;
}

static void print_table(const struct bench_result *result, FILE *out)
{
    if (!result->nrows)
        return;
    int pass = result->pass ? result->pass : 1;
    print_head(result, out);
    for (int i = 0; i < result->nrows; i++)
        if (result->rows[i].pass == pass)
            print_table_row(result, &result->rows[i], out);
    if (result->pass) {
        for (int t = 0; t < result->nthreads; t++)
            print_summary(result, t, out);
        fprintf(out, "%d of %d repetitions accepted in %d passes", result->summary.accepted,
                result->summary.tried, result->summary.passes);
        if (result->nthreads > 1)
            fprintf(out, "; all threads started within %.0f ns", latest_start_ns(result, pass));
        fputc('\n', out);
    }
    if (result->floor_uncertain)
        fputs("The floor of the canary is a guess: the core was not seen undisturbed.\n", out);
}

static void print_csv(const struct bench_result *result, FILE *out)
{
    if (!result->nrows)
        return;
    fputs("pass,repetition,cpu,cold,accepted,tried,late_ns,tsc,core_clk,clk_per_instance\n", out);
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        fprintf(out, "%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.1f,%.5f\n", row->pass, row->repetition,
                result->cpus[row->thread], row->cold, row->accepted, row->tried, row->late_ns,
                row->tsc, row->clk, row->per_clk);
    }
}

static void print_json_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (; text && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_json_member(const char *name, const char *text, FILE *out)
{
    fprintf(out, "  \"%s\": ", name);
    print_json_text(text, out);
    fputs(",\n", out);
}

static void print_json_rows(const struct bench_result *result, FILE *out)
{
    fputs("  \"repetitions\": [", out);
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        fprintf(out,
                "%s\n    {\"pass\": %d, \"repetition\": %d, \"cpu\": %d, \"cold\": %s, "
                "\"accepted\": %s, "
                "\"tried\": %d, \"late_ns\": %.0f, \"tsc\": %.0f, \"core_clk\": %.1f, "
                "\"clk_per_instance\": %.5f}",
                i ? "," : "", row->pass, row->repetition, result->cpus[row->thread],
                row->cold ? "true" : "false", row->accepted ? "true" : "false", row->tried,
                row->late_ns, row->tsc, row->clk, row->per_clk);
    }
    fputs(result->nrows ? "\n  ]\n" : "]\n", out);
}

static void print_json_summary(const struct bench_result *result, int thread, FILE *out)
{
    const struct bench_summary *summary = &result->threads[thread];
    fprintf(out, "%s\n    {\"cpu\": %d, \"clk_per_instance\": ", thread ? "," : "",
            result->cpus[thread]);
    print_number(summary->clk, "null", out);
    fputs(", \"median_clk\": ", out);
    print_number(summary->median_clk, "null", out);
    fputs(", \"spread_clk\": ", out);
    print_number(summary->spread_clk, "null", out);
    fprintf(out, ", \"accepted\": %d, \"tried\": %d, \"passes\": %d}", summary->accepted,
            summary->tried, summary->passes);
}

static void print_json(const struct bench_spec *spec, const struct bench_result *result, FILE *out)
{
    fputs("{\n", out);
    if (spec->file)
        print_json_member("file", spec->file, out);
    if (spec->file && spec->symbol)
        print_json_member("symbol", spec->symbol, out);
    if (spec->body)
        print_json_member("code", spec->body, out);
    print_json_member("init", spec->init ? spec->init : "", out);
    fprintf(out, "  \"bits\": %d,\n", result->bits);
    print_json_member("outcome", outcome_name(result->outcome), out);
    print_json_member("detail", result->detail, out);
    print_json_member("uarch", result->uarch, out);
    fprintf(out, "  \"tsc_hz\": %.0f,\n  \"core_hz\": %.0f,\n", result->tsc_hz, result->core_hz);
    fprintf(out, "  \"copies\": %d,\n  \"iterations\": %d,\n  \"instances\": %d,\n", result->copies,
            result->iterations, result->instances);
    fputs("  \"threads\": [", out);
    for (int t = 0; t < result->nthreads; t++)
        print_json_summary(result, t, out);
    fputs("\n  ],\n", out);
    print_json_rows(result, out);
    fputs("}\n", out);
}

void bench_print(const struct bench_spec *spec, const struct bench_result *result,
                 enum bench_format format, FILE *out)
{
    switch (format) {
    case BENCH_TABLE:
        print_table(result, out);
        break;
    case BENCH_CSV:
        print_csv(result, out);
        break;
    case BENCH_JSON:
        print_json(spec, result, out);
        break;
    }
}
