// SPDX-License-Identifier: MIT
// Random mixes at the end of a run; see run_mixes.h. All is read from the database, so a resumed
// run does the same.
#include "run_mixes.h"

#include "portrun/portrun_mixes.h"
#include "store/store_ports.h"
#include "store/store_run.h"
#include "util/scratch.h"
#include "util/spent.h"
#include "validate/validate.h"

#include <stdlib.h>

enum {
    MIXES = 400,      // some 4,000 kernels and 45 KB
    FORMS_LEAST = 50, // of which mixes say something; with fewer than MIXES each may be in one
    SEED = 1,         // as `latput validate` draws them
};

static int mixes_store(struct run_mixes *run, const struct validate_forms *forms,
                       struct validate_mixes *mixes, struct arena *arena, struct err *err)
{
    validate_shorten(forms, mixes);
    struct validation result = validate_figures(forms, mixes, SEED, arena);
    validate_name_all(forms, mixes, arena, &result);
    const struct spent before = spent_now();
    int status = store_put_validation(run->store, run->run_id, &result, err);
    spent_add_rest(SPENT_WRITING, &before);
    run->mixes = result.mixes;
    run->mape_percent = result.mape_percent;
    run->within_10_percent = result.within_10_percent;
    return status;
}

// Warns that the mixes could not be timed, as on a disturbed machine. All else stays.
static int mixes_not_timed(struct run_mixes *run, struct err *err)
{
    if (scratch_is_gone(run->session->directory, err))
        return -1;
    char *text = xasprintf("no random mixes were measured: %s", err->text);
    int status =
        store_run_warning(run->store, run->run_id, text,
                          "they only test the ports: latput validate does so at any time", err);
    free(text);
    return status;
}

static int mixes_time(struct run_mixes *run, const struct port_model *model,
                      struct validate_forms *forms, struct arena *arena, struct err *err)
{
    const struct list_row **rows = arena_alloc(arena, (size_t)forms->n * sizeof *rows);
    for (int i = 0; i < forms->n; i++)
        rows[i] = forms->forms[i].row;
    struct portrun_mixes measure = {.session = run->session,
                                    .rows = rows,
                                    .plan = {.issue_width = model->width},
                                    .progress = run->progress,
                                    .keep = run->keep,
                                    .ahead = run->ahead};
    const struct port_oracle oracle = portrun_mixes_oracle(&measure);
    const struct validate_trial trial = {.forms = forms,
                                         .model = model,
                                         .oracle = &oracle,
                                         .wanted = forms->n < MIXES ? forms->n : MIXES,
                                         .kind = VALIDATE_MIXES,
                                         .seed = SEED};
    struct validate_mixes mixes;
    int timed = validate_measure(&trial, arena, &mixes, err);
    run->kernels = measure.kernels;
    run->passes = measure.passes;
    run->stopped = measure.stopped;
    if (run->stopped)
        return 0;
    return timed == 0 ? mixes_store(run, forms, &mixes, arena, err) : mixes_not_timed(run, err);
}

// Reads the ports of the run, and has the mixes timed that it has not yet.
static int mixes_missing(struct run_mixes *run, const struct selected_row *rows, int nrows,
                         struct arena *arena, struct err *err)
{
    struct validation had;
    struct stored_port_usages usages;
    struct stored_port_model *stored = arena_alloc(arena, sizeof *stored);
    int got =
        store_get_validated_mixes(run->store, run->run_id, VALIDATE_LAYOUTS, &had, arena, err);
    if (got != 0)
        return got < 0 ? -1 : 0;
    got = store_get_port_model(run->store, run->run_id, stored, arena, err);
    if (got <= 0)
        return got;
    if (store_get_port_usages(run->store, run->run_id, &usages, arena, err) != 0)
        return -1;
    struct validate_forms forms = validate_choose(&stored->model, rows, nrows, &usages, arena);
    return forms.n < FORMS_LEAST ? 0 : mixes_time(run, &stored->model, &forms, arena, err);
}

int run_mixes(struct run_mixes *run, const struct selected_row *rows, int nrows, struct err *err)
{
    struct arena arena = {0};
    int status = mixes_missing(run, rows, nrows, &arena, err);
    arena_free(&arena);
    return status;
}
