// SPDX-License-Identifier: MIT
// Rows appear as they are measured.
#include "bench_sweep_print.h"

#include "bench_print.h"
#include "util/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A thread's part of a point.
#define NUMBER(member, called)                                                                     \
    OUTPUT_NAMED(struct sweep_line, member, called, .look.heading = (called),                      \
                 .look.align = ALIGN_RIGHT)
static const struct output_field fields[SWEEP_FIELDS] = {
    OUTPUT_NAMED(struct sweep_line, of.value, "", .look.align = ALIGN_RIGHT), // the variable's name
    NUMBER(of.clk, "instance_clk"),
    NUMBER(of.spread_clk, "spread_clk"),
    OUTPUT_FIELD(struct sweep_line, of.outcome, .words = &words_outcome),
    OUTPUT_FIELD(struct sweep_line, of.detail),
    NUMBER(cpu, "cpu"),
    OUTPUT_MORE(struct sweep_line, more),
    OUTPUT_FIELD(struct sweep_line, failed, .only = OUTPUT_PEOPLE, .look.heading = "outcome")};
static const struct output_record record = {OUTPUT_RECORD(struct sweep_line, fields)};
const struct output_kind bench_sweep_kind = {
    "sweep", "latput bench --sweep: the variables, then what was measured", &record, 0, 0};
enum { VARIABLE, CPU = 5 };

// Makes the record of this sweep: the counted quantities are known after the first point.
static void print_begin(struct sweep_print *print, const struct bench_result *result)
{
    print->begun = true;
    print->nlooks = bench_quantities(result);
    print->looks = arena_alloc(&print->arena, ((size_t)print->nlooks + 1) * sizeof *print->looks);
    for (int i = 0; i < print->nlooks; i++) {
        char name[BENCH_MEMBER_BYTES];
        print->looks[i].name = print->looks[i].heading =
            arena_strdup(&print->arena, bench_quantity_name(result, i, name));
        print->looks[i].align = ALIGN_RIGHT;
    }
    memcpy(print->fields, fields, sizeof fields);
    print->fields[VARIABLE].look.name = print->fields[VARIABLE].look.heading = print->sweep->name;
    if (result->nthreads == 1)
        print->fields[CPU].look.heading = NULL;
    print->record = record;
    print->record.fields = print->fields;
    const struct sweep_line names = {
        .more = {print->looks, NULL, print->nlooks, 0}
    };
    print->page = (struct output_page){print->format, 0, terminal_has_colour(STDOUT_FILENO)};
    print->stream = (struct output_stream){
        .record = &print->record, .page = &print->page, .out = &print->out, .lines = true};
    output_begin(&print->stream, &names);
}

static struct sweep_line line_make(struct sweep_print *print, const struct sweep_point *whole,
                                   const struct bench_result *result, int thread)
{
    double *values = arena_alloc(&print->arena, ((size_t)print->nlooks + 1) * sizeof *values);
    struct sweep_line line = {
        *whole,
        result->cpus[thread],
        whole->outcome == OUTCOME_OK ? "" : outcome_name(whole->outcome),
        {print->looks, values, print->nlooks, 0}
    };
    bool ok = whole->outcome == OUTCOME_OK;
    if (ok) {
        line.of.clk = result->threads[thread].clk;
        line.of.spread_clk = result->threads[thread].spread_clk;
    }
    for (int i = 0; i < print->nlooks; i++)
        values[i] = ok && i < bench_quantities(result)
                        ? bench_quantity(print->spec, result, thread, i)
                        : (double)NAN;
    return line;
}

void sweep_print_point(struct sweep_print *print, const struct sweep_point *whole,
                       const struct bench_result *result)
{
    if (!print->begun)
        print_begin(print, result);
    for (int thread = 0; thread < result->nthreads; thread++) {
        struct sweep_line line = line_make(print, whole, result, thread);
        output_row(&print->stream, &line);
    }
    fputs(strbuf_text(&print->out), stdout);
    strbuf_clear(&print->out);
    fflush(stdout);
}

void sweep_print_end(struct sweep_print *print)
{
    if (print->begun)
        output_end(&print->stream, NULL);
    else if (print->format == REPORT_JSON)
        output_put_json(&record, NULL, 0, false, &print->out);
    fputs(strbuf_text(&print->out), stdout);
    arena_free(&print->arena);
    strbuf_free(&print->out);
}
