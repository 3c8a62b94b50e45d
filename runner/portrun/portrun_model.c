// SPDX-License-Identifier: MIT
// Chooses the forms to find a port model with, and finds it; see portrun_model.h.
#include "portrun_model.h"

#include "plan/plan.h"
#include "port_names/port_names.h"
#include "ports/ports_forms.h"
#include "store/store_ports.h"
#include "util/clock.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Throughputs in cycles of forms that may keep a unit busy, among those that a model is found with.
static const double UNIT_LEAST_CLK = 1.9, UNIT_MOST_CLK = 40;
static const double PATH_LEAST_CLK = 0.45, PATH_MOST_CLK = 2.1; // throughputs of forms that may
                                                                // need a shared path

// Adds a form. `throughputs` NULL: none are known.
static void forms_add(struct portrun_forms *forms, const struct list_row *row,
                      const struct stored_throughputs *throughputs)
{
    const struct stored_form key = stored_form_of(row);
    forms->rows[forms->n] = row;
    forms->forms[forms->n] = ports_form(row);
    if (throughputs)
        forms->forms[forms->n].rthroughput_clk = stored_throughput_clk(throughputs, &key);
    forms->n++;
}

void portrun_forms_make(struct portrun_forms *forms, const struct selection *all,
                        const struct selected_row *asked, int nasked,
                        const struct stored_throughputs *throughputs)
{
    size_t most = (size_t)all->nrows + (size_t)nasked + PORT_CLASSES_MAX + PORT_UNITS_MAX + 1;
    *forms = (struct portrun_forms){.rows = xcalloc(most, sizeof *forms->rows),
                                    .forms = xcalloc(most, sizeof *forms->forms)};
    for (int i = 0; i < all->nrows; i++) {
        const struct list_row *row = all->rows[i].row;
        if (row->bits == 64 && mix_plannable(row))
            forms_add(forms, row, throughputs);
    }
    ports_forms_thin(forms->forms, forms->rows, forms->n);
    forms->first_requested = forms->n;
    for (int i = 0; i < nasked; i++) {
        forms_add(forms, asked[i].row, throughputs);
        forms->forms[forms->n - 1].blocker_cost = -1;
    }
}

void portrun_forms_free(struct portrun_forms *forms)
{
    free(forms->rows);
    free(forms->forms);
    free(forms->rows_32);
}

// Returns true if a unit may be found with the row: without memory, which would interfere, and
// among the many forms of AVX-512 only with 512 bits, which may need more than others.
static bool row_shows_units(const struct list_row *row)
{
    bool wide = false;
    for (int i = 0; i < row->nops; i++) {
        if (row->ops[i].kind == OPERAND_MEM || row->ops[i].kind == OPERAND_VSIB)
            return false;
        wide |= row->ops[i].bits == 512 && !row->ops[i].masked;
    }
    return row->enc != ENC_EVEX || (wide && row->rounding == ROUND_NONE);
}

// Returns true if a shared path may be found with the row: one or two per cycle, no load, no wider
// twin.
static bool row_shows_paths(const struct list_row *row, double clk)
{
    if (!(clk >= PATH_LEAST_CLK && clk <= PATH_MOST_CLK) || row->enc == ENC_EVEX ||
        row->data != DATA_ORDINARY)
        return false;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        bool memory = op->kind == OPERAND_MEM || op->kind == OPERAND_VSIB;
        if ((memory && op->access & ACCESS_READ) || op->kind == OPERAND_MMX ||
            op->kind == OPERAND_X87 || op->high8 ||
            (op->kind == OPERAND_VEC && (row->enc == ENC_LEGACY || op->bits > 128)))
            return false;
    }
    for (int i = 0; i < row->nimplicit; i++)
        if (row->implicit[i].kind == OPERAND_X87 || row->implicit[i].kind == OPERAND_FPSW)
            return false;
    return true;
}

// Returns true for rows of the same mnemonic and place of memory, of which one is enough.
static bool row_is_twin(const struct portrun_forms *forms, int a, int b)
{
    const struct list_row *one = forms->rows[a], *other = forms->rows[b];
    bool same = strcmp(one->mnemonic, other->mnemonic) == 0 && one->nops == other->nops;
    for (int i = 0; i < one->nops && same; i++)
        same = one->ops[i].kind == other->ops[i].kind;
    return same;
}

static int forms_for_paths(const struct portrun_forms *forms, int *which)
{
    int n = 0;
    for (int i = 0; i < forms->first_requested; i++) {
        bool wanted = row_shows_paths(forms->rows[i], forms->forms[i].rthroughput_clk);
        for (int k = n - 1; k >= 0 && wanted; k--)
            wanted = !row_is_twin(forms, i, which[k]);
        if (wanted)
            which[n++] = i;
    }
    return n;
}

static int forms_for_units(const struct portrun_forms *forms, int *which)
{
    int n = 0;
    for (int i = 0; i < forms->first_requested; i++) {
        double clk = forms->forms[i].rthroughput_clk;
        if (clk >= UNIT_LEAST_CLK && clk <= UNIT_MOST_CLK && row_shows_units(forms->rows[i]))
            which[n++] = i;
    }
    return n;
}

static int model_units(const struct portrun_forms *forms, const struct port_oracle *oracle,
                       struct port_model *model, struct err *err)
{
    int *which = xcalloc(2 * (size_t)forms->n + 1, sizeof *which);
    struct port_usage *usages = xcalloc(2 * (size_t)forms->n + 1, sizeof *usages);
    int nunits = forms_for_units(forms, which), npaths = forms_for_paths(forms, which + nunits);
    struct port_question question = {
        .oracle = oracle, .forms = forms->forms, .which = which, .n = nunits + npaths};
    // All in one call: the time of a series hardly depends on its size.
    int status = port_infer(&question, model, usages, err);
    question.n = nunits;
    if (status == 0)
        status = port_find_units(&question, model, usages, err);
    question.which += nunits;
    question.n = npaths;
    if (status == 0)
        status = port_find_paths(&question, model, usages + nunits, err);
    free(which);
    free(usages);
    return status;
}

int portrun_find_model(const struct portrun_forms *forms, const struct port_oracle *measured,
                       const struct session *session, struct port_model *model, struct err *note,
                       struct err *err)
{
    const double give_up_s = session->params.config.give_up_ms / 1e3;
    struct port_limit limit = {.oracle = measured,
                               .kernels_most = PORTRUN_KERNELS_MOST,
                               .most_s = PORTRUN_GIVE_UPS_MOST * give_up_s,
                               .now_s = clock_now_s};
    const struct port_oracle oracle = port_limited(&limit);
    if (port_discover(&oracle, forms->forms, forms->first_requested, session->issue_width, model,
                      err) != 0)
        return -1;
    const struct port_subjects subjects = {&oracle, forms->forms, forms->first_requested};
    if (port_name_sets(&subjects, session->cpu->uarch, model, note, err) != 0)
        return -1;
    return model_units(forms, &oracle, model, err);
}

// Returns the index of a form of the lists by its text, -1 if there is none.
static int forms_find(const struct portrun_forms *forms, const char *name)
{
    for (int i = 0; i < forms->first_requested && *name; i++)
        if (strcmp(forms->forms[i].name, name) == 0)
            return i;
    return -1;
}

static const char *forms_name(const struct portrun_forms *forms, int form)
{
    return form >= 0 ? forms->forms[form].name : "";
}

void portrun_stored_model(const struct portrun_forms *forms, const struct port_model *model,
                          struct stored_port_model *stored)
{
    *stored =
        (struct stored_port_model){.model = *model, .filler = forms_name(forms, model->filler)};
    for (int c = 0; c < model->nclasses; c++)
        stored->class_blockers[c] = forms_name(forms, model->classes[c].blocker);
    for (int u = 0; u < model->nunits; u++) {
        stored->unit_blockers[u] = forms_name(forms, model->units[u].blocker);
        stored->unit_wholes[u] = forms_name(forms, model->units[u].whole_blocker);
    }
}

// Returns true if the unit's blocker is a legacy instruction, which may not stand beside all
// vectors, although this CPU has a VEX form of the same, which may (`vdivps` for `divps`; none for
// `sha1rnds4`).
static bool forms_stand_apart(const struct portrun_forms *forms, const struct port_model *model,
                              int unit)
{
    int blocker = model->units[unit].blocker;
    if (blocker < 0 || forms->forms[blocker].upper != UPPER_LEGACY)
        return false;
    const char *mnemonic = forms->rows[blocker]->mnemonic;
    for (int i = 0; i < forms->n; i++)
        if (forms->rows[i]->mnemonic[0] == 'v' && !strcmp(forms->rows[i]->mnemonic + 1, mnemonic) &&
            !isnan(forms->forms[i].rthroughput_clk))
            return true;
    return false;
}

bool portrun_model_of_stored(const struct portrun_forms *forms,
                             const struct stored_port_model *stored, struct port_model *model)
{
    bool complete = true;
    *model = stored->model;
    model->filler = forms_find(forms, stored->filler);
    for (int c = 0; c < model->nclasses; c++) {
        model->classes[c].blocker = forms_find(forms, stored->class_blockers[c]);
        complete &= model->classes[c].blocker >= 0;
    }
    for (int u = 0; u < model->nunits; u++) {
        model->units[u].blocker = forms_find(forms, stored->unit_blockers[u]);
        model->units[u].whole_blocker = forms_find(forms, stored->unit_wholes[u]);
        complete &= model->units[u].blocker >= 0;
        // Models of old versions let legacy instructions stand beside wide vectors.
        complete &= !forms_stand_apart(forms, model, u);
        // Models of old versions do not say how long the blockers of paths need them.
        complete &= !port_unit_is_path(&model->units[u]) || model->units[u].usage.demands.n > 0;
    }
    return complete;
}

void portrun_model_for_32(struct portrun_forms *forms, const struct port_model *model,
                          struct port_model *model_32)
{
    *model_32 = *model;
    model_32->nclasses = model_32->nunits = 0;
    model_32->filler = -1;
    forms->rows_32 = xcalloc(PORT_CLASSES_MAX + 1, sizeof *forms->rows_32);
    for (int c = -1; c < model->nclasses; c++) {
        int blocker = c < 0 ? model->filler : model->classes[c].blocker;
        if (blocker < 0)
            continue;
        const struct list_row *row = forms->rows[blocker];
        bool possible = true;
        for (int i = 0; i < row->nops; i++)
            possible &= row->ops[i].bits != 64 || row->ops[i].kind == OPERAND_VEC ||
                        row->ops[i].kind == OPERAND_MMX;
        if (!possible)
            continue;
        struct list_row *copy = &forms->rows_32[c + 1];
        *copy = *row;
        copy->bits = 32;
        forms_add(forms, copy, NULL);
        if (c < 0) {
            model_32->filler = forms->n - 1;
        } else {
            model_32->classes[model_32->nclasses] = model->classes[c];
            model_32->classes[model_32->nclasses].demands.n = 0; // there are no units
            model_32->classes[model_32->nclasses++].blocker = forms->n - 1;
        }
    }
}
