// SPDX-License-Identifier: MIT
// See run_bindings.h.
#include "run_bindings.h"

#include "store/store_ports.h"
#include "store/store_run.h"
#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
    FORMS_LEAST = 200, // else the mixes are of the same few
    MIXES = 1600,      // that tell of a binding or of the norm
};
static const uint64_t SEED = UINT64_C(0x62696e64696e6773);
static const double TELLING = 0.5;    // beside no binding at all
static const double TELLING_NORM = 8; // beside the longest

void bindings_fit(const struct validate_forms *forms, const struct validate_mixes *mixes,
                  struct port_model *model)
{
    struct port_bound_mix *bound = xcalloc((size_t)mixes->n + 1, sizeof *bound);
    for (int i = 0; i < mixes->n; i++) {
        const struct port_mix *mix = &mixes->mixes[i].mix;
        const struct port_usage *usages[PORT_MIX_PARTS_MAX];
        int counts[PORT_MIX_PARTS_MAX];
        validate_usages(forms, mix, usages, counts);
        port_bound_mix(model, usages, counts, mix->nparts, true, &bound[i]);
        bound[i].measured_clk = mixes->mixes[i].measured_clk;
        bound[i].tells = 1u << PORT_WRITES_COUNT;
        for (int p = 0; p < mix->nparts; p++)
            bound[i].tells |= 1u << usages[p]->writes;
    }
    port_norm_fit(bound, mixes->n, model);
    free(bound);
}

// Those that tell of a binding, whichever, or of the norm.
static int bindings_measure(struct run_ports *run, struct validate_forms *forms,
                            const struct port_model *model, struct arena *arena,
                            struct validate_mixes *mixes, struct err *err)
{
    static struct port_model loose, bound, together;
    const struct port_model *const telling[] = {&loose, &bound, &together};
    loose = *model;
    loose.binding = loose.norm = 0;
    memset(loose.binding_more, 0, sizeof loose.binding_more);
    bound = together = loose;
    bound.binding = TELLING;
    together.norm = TELLING_NORM;
    const struct list_row **rows = arena_alloc(arena, (size_t)forms->n * sizeof(struct list_row *));
    for (int i = 0; i < forms->n; i++)
        rows[i] = forms->forms[i].row;
    struct measure_mixes measure = {.session = run->session,
                                    .rows = rows,
                                    .plan = {.issue_width = run->session->issue_width},
                                    .progress = run->progress,
                                    .keep = run->keep,
                                    .ahead = run->ahead};
    const struct port_oracle oracle = measure_mixes_oracle(&measure);
    const struct validate_trial trial = {.forms = forms,
                                         .model = model,
                                         .oracle = &oracle,
                                         .wanted = MIXES,
                                         .seed = SEED,
                                         .telling = telling,
                                         .ntelling = ARRAY_LEN(telling)};
    int status = validate_measure(&trial, arena, mixes, err);
    run->kernels += measure.kernels;
    run->passes += measure.passes;
    run->stopped |= measure.stopped;
    return status;
}

// What was not measured is missing in predictions only, for which the model has other bindings.
static int bindings_lost(struct run_ports *run, const char *why, struct err *err)
{
    char *text = xasprintf("how early schedulers bind µops was not measured by all forms: %s", why);
    int status = store_run_warning(run->store, run->run_id, text,
                                   "predictions of mixes are less exact for it, nothing else", err);
    free(text);
    return status;
}

static int bindings_find(struct run_ports *run, const struct selected_row *rows, int nrows,
                         struct arena *arena, struct err *err)
{
    struct stored_port_model *stored = arena_alloc(arena, sizeof *stored);
    struct stored_port_usages usages;
    struct validate_mixes mixes;
    struct err lost = {0};
    int found = store_get_port_model(run->store, run->run_id, stored, arena, err);
    if (found <= 0 || store_get_port_usages(run->store, run->run_id, &usages, arena, err) != 0)
        return found == 0 ? 0 : -1;
    struct validate_forms forms = validate_choose(rows, nrows, &usages, arena);
    if (forms.n < FORMS_LEAST)
        return 0;
    int status = bindings_measure(run, &forms, &stored->model, arena, &mixes, &lost);
    if (run->stopped || (status == 0 && mixes.n < PORT_BOUND_MIXES_LEAST))
        return 0;
    if (status != 0)
        return bindings_lost(run, lost.text, err);
    bindings_fit(&forms, &mixes, &stored->model);
    return store_put_port_bindings(run->store, run->run_id, &stored->model, err);
}

int run_bindings(struct run_ports *run, const struct selected_row *rows, int nrows, struct err *err)
{
    struct arena arena = {0};
    int has = store_has_port_bindings(run->store, run->run_id, err);
    int status = has == 0 ? bindings_find(run, rows, nrows, &arena, err) : has < 0 ? -1 : 0;
    arena_free(&arena);
    return status;
}
