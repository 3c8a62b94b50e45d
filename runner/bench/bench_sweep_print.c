// SPDX-License-Identifier: MIT
// Rows appear as they are measured.
#include "bench_sweep_print.h"

#include "bench_print.h"
#include "util/csvtext.h"
#include "util/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { SWEEP_NUMBER = 12, SWEEP_FIRST = 4 }; // least width of a counted number; columns before

static int quantity_width(const char *name)
{
    int width = (int)strlen(name);
    return width > SWEEP_NUMBER ? width : SWEEP_NUMBER;
}

static void table_begin(struct sweep_print *print, const struct bench_result *result)
{
    const char *const first[] = {print->sweep->name, "cpu", "instance_clk", "spread_clk"};
    int n = SWEEP_FIRST + print->nquantities + 1;
    const char **headers = arena_alloc(&print->arena, (size_t)n * sizeof *headers);
    enum text_align *aligns = arena_alloc(&print->arena, (size_t)n * sizeof *aligns);
    for (int i = 0; i < n; i++) {
        char name[BENCH_MEMBER_BYTES];
        aligns[i] = i < n - 1 ? ALIGN_RIGHT : ALIGN_LEFT;
        headers[i] =
            i < SWEEP_FIRST ? first[i]
            : i == n - 1
                ? "outcome"
                : arena_strdup(&print->arena, bench_quantity_name(result, i - SWEEP_FIRST, name));
    }
    print->table = text_table_new(headers, aligns, n);
}

// Prints the heading: the counted quantities are known after the first point.
static void print_head(struct sweep_print *print, const struct bench_result *result)
{
    char name[BENCH_MEMBER_BYTES];
    bool table = print->format == REPORT_TABLE;
    bool colour = table && terminal_has_colour(STDOUT_FILENO);
    print->begun = true;
    print->nquantities = bench_quantities(result);
    if (print->format == REPORT_JSON) {
        json_open(&print->json, '[');
        return;
    }
    if (!table && print->format != REPORT_CSV) {
        table_begin(print, result);
        return;
    }
    strbuf_puts(&print->out, text_style_begin(STYLE_HEADING, colour));
    strbuf_printf(&print->out,
                  table ? "%12s  instance_clk  spread_clk" : "%s,instance_clk,spread_clk",
                  print->sweep->name);
    if (table && result->nthreads > 1)
        strbuf_puts(&print->out, "   cpu");
    if (!table)
        strbuf_puts(&print->out, ",outcome,detail,cpu");
    for (int i = 0; i < print->nquantities; i++) {
        const char *shown = bench_quantity_name(result, i, name);
        if (table) {
            strbuf_printf(&print->out, "  %*s", quantity_width(shown), shown);
        } else {
            strbuf_puts(&print->out, ",");
            csv_put_text(&print->out, shown);
        }
    }
    strbuf_printf(&print->out, "%s%s\n", table ? "  outcome" : "",
                  text_style_end(STYLE_HEADING, colour));
}

static double point_quantity(const struct sweep_print *print, const struct bench_result *result,
                             int thread, int quantity)
{
    return result->outcome == OUTCOME_OK && quantity < bench_quantities(result)
               ? bench_quantity(print->spec, result, thread, quantity)
               : (double)NAN;
}

static void put_real(struct strbuf *out, double value)
{
    strbuf_puts(out, ",");
    if (isfinite(value))
        strbuf_put_real(out, value);
}

static void print_csv(struct sweep_print *print, const struct sweep_point *point,
                      const struct bench_result *result, int thread)
{
    strbuf_printf(&print->out, "%" PRId64, point->value);
    put_real(&print->out, point->clk);
    put_real(&print->out, point->spread_clk);
    strbuf_printf(&print->out, ",%s,", outcome_name(point->outcome));
    csv_put_text(&print->out, point->detail);
    strbuf_printf(&print->out, ",%d", result->cpus[thread]);
    for (int i = 0; i < print->nquantities; i++)
        put_real(&print->out, point_quantity(print, result, thread, i));
    strbuf_puts(&print->out, "\n");
}

static void print_json(struct sweep_print *print, const struct sweep_point *point,
                       const struct bench_result *result, int thread)
{
    char name[BENCH_MEMBER_BYTES];
    struct json *json = &print->json;
    json_open(json_break(json, "\n  "), '{');
    json_int(json_name(json, print->sweep->name), point->value);
    json_real(json_name(json, "instance_clk"), point->clk);
    json_real(json_name(json, "spread_clk"), point->spread_clk);
    json_text(json_name(json, "outcome"), outcome_name(point->outcome));
    json_text(json_name(json, "detail"), point->detail);
    json_int(json_name(json, "cpu"), result->cpus[thread]);
    for (int i = 0; i < print->nquantities && i < bench_quantities(result); i++)
        json_real(json_name(json, bench_quantity_name(result, i, name)),
                  point_quantity(print, result, thread, i));
    json_close(json, '}');
}

static void print_line(struct sweep_print *print, const struct sweep_point *point,
                       const struct bench_result *result, int thread)
{
    char clk[32], spread[32], name[BENCH_MEMBER_BYTES];
    bool colour = terminal_has_colour(STDOUT_FILENO);
    const char *outcome = point->outcome == OUTCOME_OK ? "" : outcome_name(point->outcome);
    strbuf_printf(&print->out, "%12" PRId64 "  %12s  %10s", point->value,
                  report_number(point->clk, clk), report_number(point->spread_clk, spread));
    if (result->nthreads > 1)
        strbuf_printf(&print->out, "  %4d", result->cpus[thread]);
    for (int i = 0; i < print->nquantities && i < bench_quantities(result); i++) {
        char value[32] = "";
        double quantity = point_quantity(print, result, thread, i);
        if (isfinite(quantity))
            snprintf(value, sizeof value, "%.3f", quantity);
        strbuf_printf(&print->out, "  %*s", quantity_width(bench_quantity_name(result, i, name)),
                      value);
    }
    strbuf_printf(&print->out, "%s%s%s%s\n", *outcome ? "  " : "",
                  text_style_begin(STYLE_BAD, colour && *outcome), outcome,
                  text_style_end(STYLE_BAD, colour && *outcome));
}

// Adds a row to a table to be pasted.
static void put_row(struct sweep_print *print, const struct sweep_point *point,
                    const struct bench_result *result, int thread)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, point->value);
    text_table_cell(print->table, text);
    snprintf(text, sizeof text, "%d", result->cpus[thread]);
    text_table_cell(print->table, result->nthreads > 1 ? text : "");
    report_put_number(print->table, point->clk, 0, print->format);
    report_put_number(print->table, point->spread_clk, 0, print->format);
    for (int i = 0; i < print->nquantities; i++)
        report_put_number(print->table, point_quantity(print, result, thread, i), 0, print->format);
    text_table_cell(print->table, point->outcome == OUTCOME_OK ? "" : outcome_name(point->outcome));
}

void sweep_print_point(struct sweep_print *print, const struct sweep_point *whole,
                       const struct bench_result *result)
{
    if (!print->begun)
        print_head(print, result);
    for (int thread = 0; thread < result->nthreads; thread++) {
        struct sweep_point point = *whole;
        if (point.outcome == OUTCOME_OK) {
            point.clk = result->threads[thread].clk;
            point.spread_clk = result->threads[thread].spread_clk;
        }
        if (print->format == REPORT_CSV)
            print_csv(print, &point, result, thread);
        else if (print->format == REPORT_JSON)
            print_json(print, &point, result, thread);
        else if (print->table)
            put_row(print, &point, result, thread);
        else
            print_line(print, &point, result, thread);
    }
    fputs(strbuf_text(&print->out), stdout);
    strbuf_clear(&print->out);
    fflush(stdout);
}

void sweep_print_end(struct sweep_print *print)
{
    if (print->format == REPORT_JSON) {
        if (!print->begun)
            json_open(&print->json, '[');
        json_close(json_break(&print->json, "\n"), ']');
        printf("%s\n", strbuf_text(&print->out));
    }
    if (print->table) {
        text_table_put(print->table, print->format, &print->out);
        fputs(strbuf_text(&print->out), stdout);
        text_table_free(print->table);
    }
    arena_free(&print->arena);
    strbuf_free(&print->out);
}
