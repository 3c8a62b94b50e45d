// SPDX-License-Identifier: MIT
#include "refuse.h"

#include "plan/plan.h"

#include <string.h>
#include <unistd.h>

enum { TRIED = 2 };

// Isa expression of some of the rows, and those of them that are tried.
struct asked_isa {
    const char *isa;
    int nrows;         // that could be tried
    int first, last;   // of these, by number
    int kernel[TRIED]; // in the program; -1: none
};

struct asked_isas {
    struct asked_isa *items;
    int n;
};

static struct asked_isa *isa_find(struct asked_isas *asked, const char *isa)
{
    for (int i = 0; i < asked->n; i++)
        if (strcmp(asked->items[i].isa, isa) == 0)
            return &asked->items[i];
    return NULL;
}

// Lists the isa expressions of the rows, with the rows of each that can be tried.
static void isas_of_rows(const struct refuse_asked *from, struct arena *arena,
                         struct asked_isas *asked)
{
    const struct selected_row *rows = from->rows;
    const int nrows = from->nrows;
    // Most rows have the expression of the row before.
    struct asked_isa *isa = NULL;
    int most = 0;
    for (int i = 0; i < nrows; i++)
        most += i == 0 || strcmp(rows[i].row->isa, rows[i - 1].row->isa) != 0;
    asked->items = arena_alloc(arena, (size_t)most * sizeof *asked->items);
    for (int i = 0; i < nrows; i++) {
        const struct list_row *row = rows[i].row;
        if (!isa || strcmp(isa->isa, row->isa) != 0)
            isa = isa_find(asked, row->isa);
        if (!isa) {
            isa = &asked->items[asked->n++];
            *isa = (struct asked_isa){.isa = row->isa};
        }
        if (row->enc == ENC_LEGACY || row->bits != 64 || row->macro.file ||
            !(row->tests & TESTS_THROUGHPUT))
            continue;
        isa->first = isa->nrows++ ? isa->first : i;
        isa->last = i;
    }
}

// Appends; the items are copied, as few are.
static void refusals_add(struct refusals *refusals, const struct refusal *item, struct arena *arena)
{
    struct refusal *items = arena_alloc(arena, ((size_t)refusals->n + 1) * sizeof *items);
    if (refusals->n)
        memcpy(items, refusals->items, (size_t)refusals->n * sizeof *items);
    items[refusals->n] = *item;
    *refusals = (struct refusals){items, refusals->n + 1};
}

static bool isa_is_refused(const struct refusals *refusals, const char *isa)
{
    for (int i = 0; i < refusals->n; i++)
        if (strcmp(refusals->items[i].isa, isa) == 0)
            return true;
    return false;
}

void refuse_states(const struct refuse_asked *asked, struct arena *arena, struct refusals *refusals)
{
    struct asked_isas isas = {.n = 0};
    isas_of_rows(asked, arena, &isas);
    for (int i = 0; i < isas.n; i++) {
        const char *isa = isas.items[i].isa;
        char reason[CPU_REASON_BYTES];
        if (cpu_lacks_state(asked->session->cpu, isa, reason, sizeof reason)) {
            const struct refusal item = {isa, true, arena_strdup(arena, reason)};
            refusals_add(refusals, &item, arena);
        }
    }
}

// Kernels of the forms that are tried, in one program.
struct trial {
    const struct refuse_asked *asked;
    struct arena *arena;
    struct gen_kernel *kernels;
    int nkernels;
    struct exec_kernel *measured;
};

// Adds the first kernel of the row's throughput. Returns its number, -1: there is none.
static int trial_add(struct trial *trial, int index)
{
    const struct plan_params params = {.issue_width = 1, .tests = TESTS_THROUGHPUT};
    struct plan plan;
    struct err ignored; // the run meets it again
    if (plan_row(trial->asked->rows[index].row, &params, trial->arena, &plan, &ignored) != 0 ||
        plan.ntests == 0 || plan.tests[0].nkernels == 0)
        return -1;
    trial->kernels[trial->nkernels] = (struct gen_kernel){
        .row = plan.row, .test = &plan.tests[0], .spec = &plan.tests[0].kernels[0]};
    return trial->nkernels++;
}

static int trial_run(struct trial *trial, bool *stopped, struct err *err)
{
    struct exec_params params = session_params(trial->asked->session, 64);
    const struct assemble_options build = {
        .directory = trial->asked->session->directory, .stem = "refused", .bits = 64};
    struct program program = {0};
    struct exec_summary summary = {0};
    params.config.probe = true;
    trial->measured = arena_alloc(trial->arena, (size_t)trial->nkernels * sizeof *trial->measured);
    for (int k = 0; k < trial->nkernels; k++)
        trial->measured[k] = (struct exec_kernel){.selected = true, .detail = ""};
    int status =
        assemble_program(trial->kernels, trial->nkernels, &build, trial->arena, &program, err);
    for (int f = 0; f < program.nfailures && status == 0; f++)
        trial->measured[program.failures[f].kernel].finished = true;
    const struct exec_job job = {program.path,    &params, trial->measured,
                                 trial->nkernels, NULL,    NULL};
    if (status == 0 && program.path)
        status = exec_run(&job, trial->arena, &summary, err);
    if (program.path)
        unlink(program.path);
    *stopped |= summary.stopped;
    return status;
}

// Returns why the isa expression is refused, after both forms were tried; NULL: it is not.
static const char *trial_reason(const struct trial *trial, const struct asked_isa *isa)
{
    for (int t = 0; t < TRIED; t++)
        if (isa->kernel[t] < 0 || trial->measured[isa->kernel[t]].outcome != OUTCOME_UNSUPPORTED)
            return NULL;
    return arena_printf(trial->arena,
                        "the CPU does not announce %s, and refuses `%s` and `%s`, which were tried",
                        isa->isa, trial->asked->rows[isa->first].row->form,
                        trial->asked->rows[isa->last].row->form);
}

// Adds the two rows of each isa expression of which it is not known whether the CPU has it.
static void trial_choose(struct trial *trial, const struct refusals *refusals,
                         struct asked_isas *isas)
{
    trial->kernels = arena_alloc(trial->arena, TRIED * (size_t)isas->n * sizeof *trial->kernels);
    for (int i = 0; i < isas->n; i++) {
        struct asked_isa *isa = &isas->items[i];
        bool wanted = isa->nrows > TRIED && !cpu_has_isa(trial->asked->session->cpu, isa->isa) &&
                      !isa_is_refused(refusals, isa->isa);
        isa->kernel[0] = wanted ? trial_add(trial, isa->first) : -1;
        isa->kernel[1] = wanted ? trial_add(trial, isa->last) : -1;
    }
}

int refuse_untried(const struct refuse_asked *asked, struct arena *arena, struct refusals *refusals,
                   bool *stopped, struct err *err)
{
    struct asked_isas isas = {.n = 0};
    struct trial trial = {.asked = asked, .arena = arena};
    isas_of_rows(asked, arena, &isas);
    trial_choose(&trial, refusals, &isas);
    int status = trial.nkernels ? trial_run(&trial, stopped, err) : 0;
    for (int i = 0; i < isas.n && status == 0; i++) {
        const char *reason = trial_reason(&trial, &isas.items[i]);
        const struct refusal item = {isas.items[i].isa, false, reason};
        if (reason)
            refusals_add(refusals, &item, arena);
    }
    return status;
}

void refuse_leave_out(const struct refusals *refusals, struct selection *selection)
{
    int kept = 0;
    for (int i = 0; i < selection->nrows; i++)
        if (!refusals_reason(refusals, selection->rows[i].row))
            selection->rows[kept++] = selection->rows[i];
    selection->nrows = kept;
}
