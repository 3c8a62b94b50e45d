// SPDX-License-Identifier: MIT
// latput bench --sweep. Rows appear as they are measured.
#include "cmd_bench.h"

#include "bench/bench_sweep_print.h"
#include "measure/session.h"
#include "util/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Returns the time of the slowest of the threads in step, for the curve.
static double slowest_clk(const struct bench_result *result)
{
    double clk = result->summary.clk;
    for (int thread = 1; thread < result->nthreads; thread++)
        clk = fmax(clk, result->threads[thread].clk);
    return clk;
}

// Measures one point. Returns EXIT_DONE, also if it has no value; else the exit status, after a
// message.
static int sweep_measure(const struct command *cmd, const struct bench_spec *spec,
                         const struct bench_sweep *sweep, struct sweep_point *point,
                         struct bench_result *result, struct arena *arena)
{
    struct err err = {0};
    if (bench_measure(spec, result, arena, &err) != 0)
        return command_fail(cmd, result->refused ? EXIT_USAGE : EXIT_ENVIRONMENT,
                            "%s=%" PRId64 ": %s", sweep->name, point->value, err.text);
    point->outcome = result->outcome;
    point->detail = result->outcome == OUTCOME_OK ? "" : result->detail;
    point->clk = result->outcome == OUTCOME_OK ? slowest_clk(result) : (double)NAN;
    point->spread_clk = result->outcome == OUTCOME_OK ? result->summary.spread_clk : (double)NAN;
    if (result->outcome == OUTCOME_ASM_FAILED || result->outcome == OUTCOME_LINK_FAILED)
        return command_fail(cmd, EXIT_USAGE, "%s=%" PRId64 ": %s", sweep->name, point->value,
                            result->detail);
    if (result->store_failure)
        return command_fail(cmd, EXIT_ENVIRONMENT, "not stored: %s", result->store_failure);
    return EXIT_DONE;
}

static int sweep_points(const struct command *cmd, const struct bench_spec *spec,
                        const struct bench_sweep *sweep, struct sweep_print *print,
                        struct sweep_point *points, struct arena *arena)
{
    int status = EXIT_DONE, without = 0;
    for (int i = 0; i < sweep->npoints && status == EXIT_DONE; i++) {
        struct bench_spec filled;
        struct bench_result result;
        points[i] = (struct sweep_point){.value = sweep->first + i * sweep->step};
        bench_sweep_point(sweep, i, spec, arena, &filled);
        status = sweep_measure(cmd, &filled, sweep, &points[i], &result, arena);
        if (status == EXIT_DONE && session_stopped_by())
            status = command_fail(cmd, EXIT_SOME_FAILED, "stopped by %s", session_stopped_by());
        if (status == EXIT_DONE)
            sweep_print_point(print, &points[i], &result);
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
    struct arena arena = {0};
    struct bench_spec filled;
    if (bench_sweep_point(&sweep, 0, spec, &arena, &filled) == 0)
        return command_fail(cmd, EXIT_USAGE,
                            "there is no {%s} in the code, --init or --cflags for --sweep to set",
                            sweep.name);
    struct sweep_print print = {.spec = spec, .sweep = &sweep, .format = arguments->format};
    struct sweep_point *points = xcalloc((size_t)sweep.npoints, sizeof *points);
    int status = sweep_points(cmd, spec, &sweep, &print, points, &arena);
    sweep_print_end(&print);
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
