// SPDX-License-Identifier: MIT
#include "validate_stored.h"

#include "list/select.h"
#include "store/store_ports.h"
#include "store/store_read.h"
#include "store/store_validation.h"
#include "util/mem.h"
#include "validate/validate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A run with ports, and what they predict of its mixes.
struct stored_run {
    int64_t run_id;
    const char *uarch, *version;
    int unknown;
    struct validation figures;
};

// Returns the runs of the filter, in the order of the view; NULL after an error.
static struct stored_run *runs_list(struct store *store, int64_t run_id, struct arena *arena,
                                    int *n, struct err *err)
{
    const struct store_filter filter = {.run_id = run_id};
    struct store_rows *rows = store_rows_open(store, STORE_VIEW_RUN, &filter, err);
    struct stored_run *runs = NULL;
    int got = rows ? 1 : -1;
    for (*n = 0; got == 1 && (got = store_rows_next(rows, err)) == 1; ++*n) {
        if ((*n & (*n - 1)) == 0)
            runs = xrealloc(runs, (size_t)(*n ? 2 * *n : 1) * sizeof *runs);
        runs[*n] = (struct stored_run){
            .run_id = store_integer_of(rows, "run_id"),
            .uarch = store_rows_keep(rows, "uarch", arena),
            .version = store_rows_keep(rows, "version", arena),
            .figures = {.mape_percent = (double)NAN,
                        .kendall_tau = (double)NAN,
                        .within_10_percent = (double)NAN}
        };
    }
    store_rows_close(rows);
    if (got < 0) {
        free(runs);
        return NULL;
    }
    return runs ? runs : xcalloc(1, sizeof *runs);
}

// Predicts the mixes of a run. Returns 1, 0 if it has no ports, -1.
static int run_predict(struct store *store, const struct selection *all, unsigned without,
                       struct stored_run *run, struct arena *arena, struct err *err)
{
    struct validation stored;
    struct stored_port_usages usages;
    struct validate_mixes mixes;
    struct stored_port_model *of = arena_alloc(arena, sizeof *of);
    int got = store_get_port_model(store, run->run_id, of, arena, err);
    if (got <= 0)
        return got;
    got = store_get_validated_mixes(store, run->run_id, VALIDATE_LAYOUTS, &stored, arena, err);
    if (got <= 0)
        return got < 0 ? -1 : 1;
    if (store_get_port_usages(store, run->run_id, &usages, arena, err) != 0)
        return -1;
    of->model.without = without;
    struct validate_forms forms =
        validate_choose(&of->model, all->rows, all->nrows, &usages, arena);
    const struct validate_again again = {&forms, &of->model};
    if (validate_stored(&stored, &again, arena, &mixes, err) != 0)
        return err_prefix(err, "run %" PRId64 ": ", run->run_id);
    run->unknown = mixes.unknown;
    run->figures = validate_figures(&forms, &mixes, (uint64_t)stored.seed, arena);
    return 1;
}

#define RUN(title, side, ...)                                                                      \
    OUTPUT_FIELD(struct stored_run, __VA_ARGS__, .look.heading = (title), .look.align = (side))
OUTPUT_DEFINE(run_record, struct stored_run, OUTPUT_LINE, RUN("run", ALIGN_RIGHT, run_id),
              RUN("CPU", ALIGN_LEFT, uarch), RUN("version", ALIGN_LEFT, version),
              RUN("mixes", ALIGN_RIGHT, figures.mixes), OUTPUT_FIELD(struct stored_run, unknown),
              RUN("within 10 %", ALIGN_POINT, figures.within_10_percent, .only = OUTPUT_PEOPLE,
                  .shown = 1),
              RUN("error %", ALIGN_POINT, figures.mape_percent, .shown = 2),
              RUN("tau", ALIGN_POINT, figures.kendall_tau, .shown = 3),
              OUTPUT_FIELD(struct stored_run, figures.within_10_percent),
              RUN("not predicted", ALIGN_RIGHT, unknown, .only = OUTPUT_PEOPLE, .known = true));
const struct output_kind validate_stored_kind = {"validate_stored", "latput validate --stored",
                                                 &run_record, 1, 0};

static void runs_print(const struct stored_run *runs, int n, enum report_format format)
{
    struct strbuf out = {0};
    if (format == REPORT_JSON)
        output_put_json(&run_record, runs, n, false, &out);
    else
        output_put_table(&run_record, runs, n, format, &out);
    fputs(strbuf_text(&out), stdout);
    strbuf_free(&out);
}

static int runs_predict(const struct command *cmd, struct store *store,
                        const struct stored_request *request, const struct selection *all,
                        struct arena *arena)
{
    struct err err = {0};
    int n, with_ports = 0, status = EXIT_DONE;
    struct stored_run *runs = runs_list(store, request->run_id, arena, &n, &err);
    for (int i = 0; runs && i < n; i++) {
        int got = run_predict(store, all, request->without, &runs[i], arena, &err);
        if (got < 0) // the others are told all the same
            status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
        if (got > 0)
            runs[with_ports++] = runs[i];
    }
    if (!runs)
        status = command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    else if (with_ports == 0 && status == EXIT_DONE && request->run_id)
        status = command_fail(cmd, EXIT_USAGE, "%s: run %" PRId64 " has not found its ports",
                              store_path(store), request->run_id);
    else if (with_ports == 0 && status == EXIT_DONE)
        status = command_fail(cmd, EXIT_ENVIRONMENT,
                              "%s: no run has found its ports; latput run "
                              "does",
                              store_path(store));
    if (with_ports > 0)
        runs_print(runs, with_ports, request->format);
    free(runs);
    return status;
}

int validate_stored_runs(const struct command *cmd, struct store *store,
                         const struct stored_request *request)
{
    struct err err = {0};
    struct arena arena = {0};
    struct selection all;
    if (select_rows(NULL, 0, NULL, &all, &err) != 0)
        return command_fail(cmd, EXIT_ENVIRONMENT, "%s", err.text);
    int status = runs_predict(cmd, store, request, &all, &arena);
    selection_free(&all);
    arena_free(&arena);
    return status;
}
