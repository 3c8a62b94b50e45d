// SPDX-License-Identifier: MIT
// latput bench --sweep; see cmd_bench_sweep.h. Rows appear as they are measured.
#include "cmd_bench_sweep.h"

#include "bench/bench_sweep.h"
#include "measure/session.h"
#include "util/csvtext.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/strbuf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sweep_print {
    const struct bench_sweep *sweep;
    enum report_format format;
    struct strbuf out;
    struct json json;
};

static void print_head(struct sweep_print *print)
{
    if (print->format == REPORT_TABLE)
        printf("%12s  instance_clk  spread_clk  outcome\n", print->sweep->name);
    else if (print->format == REPORT_CSV)
        printf("%s,instance_clk,spread_clk,outcome,detail\n", print->sweep->name);
    else
        json_open(&print->json, '[');
}

static void print_csv(struct sweep_print *print, const struct sweep_point *point)
{
    strbuf_printf(&print->out, "%" PRId64 ",", point->value);
    if (isfinite(point->clk))
        strbuf_put_real(&print->out, point->clk);
    strbuf_puts(&print->out, ",");
    if (isfinite(point->spread_clk))
        strbuf_put_real(&print->out, point->spread_clk);
    strbuf_printf(&print->out, ",%s,", outcome_name(point->outcome));
    csv_put_text(&print->out, point->detail);
    strbuf_puts(&print->out, "\n");
}

static void print_json(struct sweep_print *print, const struct sweep_point *point)
{
    struct json *json = &print->json;
    json_open(json_break(json, "\n  "), '{');
    json_int(json_name(json, print->sweep->name), point->value);
    json_real(json_name(json, "instance_clk"), point->clk);
    json_real(json_name(json, "spread_clk"), point->spread_clk);
    json_text(json_name(json, "outcome"), outcome_name(point->outcome));
    json_text(json_name(json, "detail"), point->detail);
    json_close(json, '}');
}

static void print_point(struct sweep_print *print, const struct sweep_point *point)
{
    char clk[32], spread[32];
    if (print->format == REPORT_CSV)
        print_csv(print, point);
    else if (print->format == REPORT_JSON)
        print_json(print, point);
    else
        printf("%12" PRId64 "  %12s  %10s%s%s\n", point->value, report_number(point->clk, clk),
               report_number(point->spread_clk, spread), point->outcome == OUTCOME_OK ? "" : "  ",
               point->outcome == OUTCOME_OK ? "" : outcome_name(point->outcome));
    fputs(strbuf_text(&print->out), stdout);
    strbuf_clear(&print->out);
    fflush(stdout);
}

static void print_end(struct sweep_print *print)
{
    if (print->format == REPORT_JSON) {
        json_close(json_break(&print->json, "\n"), ']');
        printf("%s\n", strbuf_text(&print->out));
    }
    strbuf_free(&print->out);
}

// One point. EXIT_DONE, also where it has no value; else the status to end with, after a message.
static int sweep_measure(const struct command *cmd, const struct bench_spec *spec,
                         const struct bench_sweep *sweep, struct sweep_point *point,
                         struct arena *arena)
{
    struct bench_result result;
    struct err err = {0};
    if (bench_measure(spec, &result, arena, &err) != 0)
        return command_fail(cmd, result.refused ? EXIT_USAGE : EXIT_ENVIRONMENT,
                            "%s=%" PRId64 ": %s", sweep->name, point->value, err.text);
    point->outcome = result.outcome;
    point->detail = result.outcome == OUTCOME_OK ? "" : result.detail;
    point->clk = result.outcome == OUTCOME_OK ? result.summary.clk : (double)NAN;
    point->spread_clk = result.outcome == OUTCOME_OK ? result.summary.spread_clk : (double)NAN;
    if (result.outcome == OUTCOME_ASM_FAILED || result.outcome == OUTCOME_LINK_FAILED)
        return command_fail(cmd, EXIT_USAGE, "%s=%" PRId64 ": %s", sweep->name, point->value,
                            result.detail);
    if (result.store_failure)
        return command_fail(cmd, EXIT_ENVIRONMENT, "not stored: %s", result.store_failure);
    return EXIT_DONE;
}

static int sweep_points(const struct command *cmd, const struct bench_spec *spec,
                        const struct bench_sweep *sweep, struct sweep_print *print,
                        struct sweep_point *points, struct arena *arena)
{
    int status = EXIT_DONE, without = 0;
    for (int i = 0; i < sweep->npoints && status == EXIT_DONE; i++) {
        struct bench_spec filled;
        points[i] = (struct sweep_point){.value = sweep->first + i * sweep->step};
        bench_sweep_point(sweep, i, spec, arena, &filled);
        status = sweep_measure(cmd, &filled, sweep, &points[i], arena);
        if (status == EXIT_DONE && session_stopped_by())
            status = command_fail(cmd, EXIT_SOME_FAILED, "stopped by %s", session_stopped_by());
        if (status == EXIT_DONE)
            print_point(print, &points[i]);
        without += points[i].outcome != OUTCOME_OK;
    }
    if (status == EXIT_DONE && without)
        status = command_fail(cmd, EXIT_SOME_FAILED, "%d of %d points have no value", without,
                              sweep->npoints);
    return status;
}

int bench_sweep_run(const struct command *cmd, const struct bench_spec *spec,
                    const struct bench_sweep_arguments *arguments)
{
    struct bench_sweep sweep;
    struct err err = {0};
    if (bench_sweep_parse(arguments->sweep, &sweep, &err) != 0)
        return command_fail(cmd, EXIT_USAGE, "--sweep: %s", err.text);
    if (spec->events || spec->ncolumns || spec->threads > 1)
        return command_fail(cmd, EXIT_USAGE,
                            "--sweep shows times of one thread; leave out --events, --column and "
                            "--threads");
    struct arena arena = {0};
    struct bench_spec filled;
    if (bench_sweep_point(&sweep, 0, spec, &arena, &filled) == 0)
        return command_fail(cmd, EXIT_USAGE,
                            "there is no {%s} in --asm, --init or --cflags for --sweep to set",
                            sweep.name);
    struct sweep_print print = {&sweep, arguments->format, {0}, {0}};
    struct sweep_point *points = xcalloc((size_t)sweep.npoints, sizeof *points);
    print.json.out = &print.out;
    print_head(&print);
    int status = sweep_points(cmd, spec, &sweep, &print, points, &arena);
    print_end(&print);
    struct strbuf drawing = {0};
    if ((status == EXIT_DONE || status == EXIT_SOME_FAILED) && arguments->plot &&
        bench_sweep_plot(&sweep, points, arguments->plot, &drawing, &err) != 0)
        status = command_fail(cmd, EXIT_ENVIRONMENT, "--plot: %s", err.text);
    fputs(strbuf_text(&drawing), stdout);
    strbuf_free(&drawing);
    free(points);
    arena_free(&arena);
    return status;
}
