// SPDX-License-Identifier: MIT
// Tables of bench; see bench_print.h.
#include "bench_print.h"

#include <math.h>
#include <string.h>

enum { REPETITION_WIDTH = 10, VALUE_WIDTH = 12 };

static const char *row_mark(const struct bench_row *row)
{
    return row->accepted ? "" : "  disturbed";
}

static void print_table_row(const struct bench_row *row, FILE *out)
{
    char name[16];
    snprintf(name, sizeof name, "%d", row->repetition);
    fprintf(out, "%*s %*.0f %*.0f %*.3f%s\n", REPETITION_WIDTH, row->cold ? "cold" : name,
            VALUE_WIDTH, row->tsc, VALUE_WIDTH, row->clk, VALUE_WIDTH, row->per_clk, row_mark(row));
}

static void print_number(double value, const char *null, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.4f", value);
    else
        fputs(null, out);
}

static void print_summary(const struct bench_result *result, FILE *out)
{
    const struct bench_summary *summary = &result->summary;
    if (isfinite(summary->clk))
        fprintf(out, "%.2f core clk an instance", summary->clk);
    else
        fputs("no steady value", out);
    if (isfinite(summary->median_clk))
        fprintf(out, " (median %.3f, spread %.3f)", summary->median_clk, summary->spread_clk);
    fprintf(out, "\n%d of %d repetitions accepted in %d passes\n", summary->accepted, summary->tried,
            summary->passes);
}

static void print_table(const struct bench_result *result, FILE *out)
{
    if (!result->nrows)
        return;
    double instances = (double)result->copies * result->iterations * result->instances;
    fprintf(out, "%s, CPU %d at %.2f GHz, %d-bit; %d %s x %d %s = %.0f %s\n", result->uarch,
            result->cpu, result->core_hz / 1e9, result->bits, result->copies,
            result->copies == 1 ? "copy" : "copies", result->iterations,
            result->iterations == 1 ? "iteration" : "iterations", instances,
            instances > 1 ? "instances" : "instance");
    fprintf(out, "%*s %*s %*s %*s\n", REPETITION_WIDTH, "repetition", VALUE_WIDTH, "TSC ticks",
            VALUE_WIDTH, "core clk", VALUE_WIDTH, "clk/instance");
    int pass = result->pass ? result->pass : 1;
    for (int i = 0; i < result->nrows; i++)
        if (result->rows[i].pass == pass)
            print_table_row(&result->rows[i], out);
    if (result->pass)
        print_summary(result, out);
    if (result->floor_uncertain)
        fputs("The floor of the canary is a guess: the core was not seen undisturbed.\n", out);
}

static void print_csv(const struct bench_result *result, FILE *out)
{
    if (!result->nrows)
        return;
    fputs("pass,repetition,cold,accepted,tried,tsc,core_clk,clk_per_instance\n", out);
    for (int i = 0; i < result->nrows; i++) {
        const struct bench_row *row = &result->rows[i];
        fprintf(out, "%d,%d,%d,%d,%d,%.0f,%.1f,%.5f\n", row->pass, row->repetition, row->cold,
                row->accepted, row->tried, row->tsc, row->clk, row->per_clk);
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
                "%s\n    {\"pass\": %d, \"repetition\": %d, \"cold\": %s, \"accepted\": %s, "
                "\"tried\": %d, \"tsc\": %.0f, \"core_clk\": %.1f, \"clk_per_instance\": %.5f}",
                i ? "," : "", row->pass, row->repetition, row->cold ? "true" : "false",
                row->accepted ? "true" : "false", row->tried, row->tsc, row->clk, row->per_clk);
    }
    fputs(result->nrows ? "\n  ]\n" : "]\n", out);
}

static void print_json(const struct bench_spec *spec, const struct bench_result *result, FILE *out)
{
    const struct bench_summary *summary = &result->summary;
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
    fprintf(out, "  \"cpu\": %d,\n  \"tsc_hz\": %.0f,\n  \"core_hz\": %.0f,\n", result->cpu,
            result->tsc_hz, result->core_hz);
    fprintf(out, "  \"copies\": %d,\n  \"iterations\": %d,\n  \"instances\": %d,\n", result->copies,
            result->iterations, result->instances);
    fputs("  \"clk_per_instance\": ", out);
    print_number(summary->clk, "null", out);
    fputs(",\n  \"median_clk\": ", out);
    print_number(summary->median_clk, "null", out);
    fputs(",\n  \"spread_clk\": ", out);
    print_number(summary->spread_clk, "null", out);
    fprintf(out, ",\n  \"accepted\": %d,\n  \"tried\": %d,\n  \"passes\": %d,\n", summary->accepted,
            summary->tried, summary->passes);
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
