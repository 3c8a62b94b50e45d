// SPDX-License-Identifier: MIT
// Random mixes against the table; see validate.h.
#include "validate.h"

#include "list/select.h"
#include "plan/plan.h"
#include "store/store_ports.h"
#include "store/store_validation.h"
#include "util/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS_MIN = 2,
    PARTS_MOST = 8,
    COUNT_MOST = 3,      // instances of a form
    BODY_INSTANCES = 40, // a mix is repeated within a body, so that its order has no short period
    WORST = 20,
    SPARE_PERCENT = 25, // mixes drawn beyond those wanted: some have too few registers
};
static const double WITHIN = 0.10;
static const double SLOTS_MICROCODE = 4.5;
static const double UNIT_CLK = 2.5; // that a form keeps a unit busy which is not pipelined
static const double LONG_CLK = 30;  // forms that would drown all others

enum form_class {
    CLASS_GPR_FORM,
    CLASS_VECTOR,
    CLASS_MASK_FORM,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_UNIT,
    CLASS_MICROCODE
};

const char *validate_class_name(int class)
{
    static const char *const names[VALIDATE_CLASSES] = {
        "general-purpose", "vector", "mask", "load", "store", "non-pipelined", "microcode"};
    return names[class];
}

static int form_class(const struct list_row *row, const struct port_usage *usage)
{
    bool vector = false, mask = false, load = false, store = false;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        bool memory = op->kind == OPERAND_MEM || op->kind == OPERAND_VSIB;
        vector |= op->kind == OPERAND_VEC || op->kind == OPERAND_MMX || op->kind == OPERAND_X87;
        mask |= op->kind == OPERAND_MASK;
        load |= memory && op->access & ACCESS_READ;
        store |= memory && op->access & ACCESS_WRITE;
    }
    if (usage->unit >= 0 && usage->busy_clk >= UNIT_CLK && !(usage->slots > SLOTS_MICROCODE))
        return CLASS_UNIT;
    if (usage->slots > SLOTS_MICROCODE)
        return CLASS_MICROCODE;
    return store    ? CLASS_STORE
           : load   ? CLASS_LOAD
           : vector ? CLASS_VECTOR
           : mask   ? CLASS_MASK_FORM
                    : CLASS_GPR_FORM;
}

// Whether instances wait for each other in a way that no move can cut: through memory, say.
static bool chains(const struct list_row *row)
{
    if (row->same)
        return true; // what it reads is what it has written
    int read = 0, written = 0;
    for (int i = 0; i < row->nops + row->nimplicit; i++) {
        const struct operand *op = i < row->nops ? &row->ops[i] : &row->implicit[i - row->nops];
        // The x87 stack has one top; an absolute address is the same for all forms of a mix.
        if (op->kind == OPERAND_X87 || op->kind == OPERAND_FPSW || op->kind == OPERAND_MOFFS)
            return true;
        if (op->kind != OPERAND_MEM && op->kind != OPERAND_VSIB)
            continue;
        read |= op->access & ACCESS_READ;
        written |= op->access & ACCESS_WRITE;
    }
    return read && written;
}

static const struct stored_port_usage *usage_find(const struct stored_port_usage *usages, int n,
                                                  struct stored_form key)
{
    return stored_form_find(&key, usages, n, sizeof *usages);
}

// A breaker's encoding is not in its text; there is only one of each.
static const struct port_usage *usage_of_breaker(const struct stored_port_usage *usages, int n,
                                                 const char *form)
{
    static const char *const encs[] = {"legacy", "vex"};
    for (size_t i = 0; i < sizeof encs / sizeof encs[0]; i++) {
        const struct stored_port_usage *found =
            usage_find(usages, n, (struct stored_form){form, encs[i], 64});
        if (found)
            return found->usage.outcome == OUTCOME_OK ? &found->usage : NULL;
    }
    return NULL;
}

static bool usage_add(struct port_usage *to, const struct port_usage *usage)
{
    for (int i = 0; i < usage->nuses; i++) {
        int at = 0;
        while (at < to->nuses && to->uses[at].set != usage->uses[i].set)
            at++;
        if (at == PORT_USES_MAX)
            return false;
        if (at == to->nuses)
            to->uses[to->nuses++] = (struct port_use){usage->uses[i].set, 0};
        to->uses[at].uops += usage->uses[i].uops;
    }
    to->uops += usage->uops;
    to->slots += usage->slots;
    to->slots_mixed += fmax(usage->slots, usage->slots_mixed);
    return true;
}

// Adds what cuts the dependencies of an instance; false if that is not known.
static bool usage_add_breakers(struct port_usage *to, const struct list_row *row,
                               const struct stored_port_usage *usages, int n)
{
    const char *breakers[MIX_BREAKERS_MAX];
    int nbreakers = mix_breakers(row, BREAK_ALL, breakers);
    for (int i = 0; i < nbreakers; i++) {
        const struct port_usage *usage = usage_of_breaker(usages, n, breakers[i]);
        if (!usage || isnan(usage->slots) || !usage_add(to, usage))
            return false;
    }
    return true;
}

struct validate_forms validate_choose(const struct selected_row *rows, int nrows,
                                      const struct stored_port_usage *usages, int nusages,
                                      struct arena *arena)
{
    struct validate_forms chosen = {
        .forms = arena_alloc(arena, ((size_t)nrows + 1) * sizeof *chosen.forms)};
    for (int i = 0; i < nrows; i++) {
        const struct list_row *row = rows[i].row;
        const struct stored_port_usage *stored = usage_find(
            usages, nusages, (struct stored_form){row->form, encoding_name(row->enc), row->bits});
        if (!stored || row->bits != 64 || stored->usage.outcome != OUTCOME_OK ||
            isnan(stored->usage.slots) || !mix_plannable(row) || mix_locks(row) ||
            stored->usage.busy_clk > LONG_CLK)
            continue;
        struct validate_form form = {row, stored->usage, form_class(row, &stored->usage)};
        if (chains(row) || !usage_add_breakers(&form.usage, row, usages, nusages))
            chosen.left_out++;
        else
            chosen.forms[chosen.n++] = form;
    }
    return chosen;
}

// The forms in the order of their classes.
struct drawer {
    const struct validate_forms *forms;
    int *by_class; // indices of forms
    int first[VALIDATE_CLASSES + 1];
    int classes[VALIDATE_CLASSES], nclasses; // those that have forms
    bool fits[2];                            // whether any form fits: [1] legacy mixes, [0] others
    uint64_t state;
};

// Legacy SSE instructions and wide vectors are not mixed: what either costs then is not theirs.
static bool form_fits(const struct list_row *row, bool legacy)
{
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        if (op->kind == OPERAND_VEC && (legacy ? op->bits > 128 : row->enc == ENC_LEGACY))
            return false;
        if (op->kind == OPERAND_VSIB && legacy && op->index_bits > 128)
            return false;
    }
    return true;
}

static void drawer_begin(struct drawer *drawer, const struct validate_forms *forms, uint64_t seed,
                         struct arena *arena)
{
    *drawer = (struct drawer){.forms = forms, .state = seed};
    drawer->by_class = arena_alloc(arena, ((size_t)forms->n + 1) * sizeof *drawer->by_class);
    int n = 0;
    for (int class = 0; class < VALIDATE_CLASSES; ++class) {
        drawer->first[class] = n;
        for (int i = 0; i < forms->n; i++)
            if (forms->forms[i].class == class)
                drawer->by_class[n++] = i;
        if (n > drawer->first[class])
            drawer->classes[drawer->nclasses++] = class;
    }
    drawer->first[VALIDATE_CLASSES] = n;
    for (int i = 0; i < forms->n; i++)
        for (int legacy = 0; legacy < 2; legacy++)
            drawer->fits[legacy] |= form_fits(forms->forms[i].row, legacy);
}

static int drawer_form(struct drawer *drawer, bool legacy)
{
    for (;;) {
        int class = drawer->classes[random_below(&drawer->state, drawer->nclasses)];
        int members = drawer->first[class + 1] - drawer->first[class];
        int form = drawer->by_class[drawer->first[class] + random_below(&drawer->state, members)];
        if (form_fits(drawer->forms->forms[form].row, legacy))
            return form;
    }
}

static struct port_mix drawer_mix(struct drawer *drawer)
{
    struct port_mix mix = {.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
    bool legacy = random_below(&drawer->state, 2);
    legacy = drawer->fits[legacy] ? legacy : !legacy; // every form fits one of the two
    mix.nparts = PARTS_MIN + random_below(&drawer->state, PARTS_MOST - PARTS_MIN + 1);
    for (int i = 0; i < mix.nparts; i++) {
        int form = drawer_form(drawer, legacy);
        mix.parts[i] = (struct port_part){form, 1 + random_below(&drawer->state, COUNT_MOST)};
    }
    return mix;
}

// How often the mix stands in a body.
static int mix_repeats(const struct port_mix *mix)
{
    int instances = 0;
    for (int i = 0; i < mix->nparts; i++)
        instances += mix->parts[i].count;
    return instances > 0 && instances < BODY_INSTANCES ? BODY_INSTANCES / instances : 1;
}

// Times the mixes; the times are those of one mix.
static int mixes_measure(const struct port_oracle *oracle, const struct port_mix *mixes, int n,
                         struct port_timing *timings, struct err *err)
{
    struct port_mix *bodies = xcalloc((size_t)n, sizeof *bodies);
    for (int i = 0; i < n; i++) {
        bodies[i] = mixes[i];
        for (int p = 0; p < mixes[i].nparts; p++)
            bodies[i].parts[p].count *= mix_repeats(&mixes[i]);
    }
    int status = oracle->measure(oracle->context, bodies, n, timings, err);
    for (int i = 0; i < n && status == 0; i++)
        timings[i].clk /= mix_repeats(&mixes[i]);
    free(bodies);
    return status;
}

struct outcomes { // of the mixes that have a value
    const struct port_mix **mixes;
    double *measured_clk, *predicted_clk;
    int n;
};

static double outcome_error(const struct outcomes *outcomes, int i)
{
    return fabs(outcomes->predicted_clk[i] - outcomes->measured_clk[i]) / outcomes->measured_clk[i];
}

static bool mix_has_class(const struct validate_forms *forms, const struct port_mix *mix, int class)
{
    for (int i = 0; i < mix->nparts; i++)
        if (forms->forms[mix->parts[i].form].class == class)
            return true;
    return false;
}

// Over the mixes with a form of the class; -1: over all.
static struct validation_class validate_summary(const struct validate_forms *forms,
                                                const struct outcomes *outcomes, int class)
{
    struct validation_class summary = {.name = class >= 0 ? validate_class_name(class) : ""};
    double sum = 0;
    int64_t within = 0;
    for (int i = 0; i < outcomes->n; i++) {
        if (class >= 0 && !mix_has_class(forms, outcomes->mixes[i], class))
            continue;
        double error = outcome_error(outcomes, i);
        summary.mixes++;
        sum += error;
        within += error <= WITHIN;
    }
    summary.mape_percent = summary.mixes ? 100 * sum / (double)summary.mixes : (double)NAN;
    summary.within_10_percent =
        summary.mixes ? 100 * (double)within / (double)summary.mixes : (double)NAN;
    return summary;
}

static const char *mix_text(const struct validate_forms *forms, const struct port_mix *mix,
                            struct arena *arena)
{
    struct strbuf text = {0};
    for (int i = 0; i < mix->nparts; i++)
        strbuf_printf(&text, "%s%d*%s", i ? "; " : "", mix->parts[i].count,
                      forms->forms[mix->parts[i].form].row->form);
    const char *copy = arena_strdup(arena, strbuf_text(&text));
    strbuf_free(&text);
    return copy;
}

static void validate_worst(const struct validate_forms *forms, const struct outcomes *outcomes,
                           struct arena *arena, struct validation *result)
{
    int worst[WORST], n = 0;
    for (int i = 0; i < outcomes->n; i++) {
        int at = n < WORST ? n++ : WORST;
        for (; at > 0 && outcome_error(outcomes, worst[at - 1]) < outcome_error(outcomes, i); at--)
            if (at < WORST)
                worst[at] = worst[at - 1];
        if (at < WORST)
            worst[at] = i;
    }
    struct validation_mix *mixes = arena_alloc(arena, WORST * sizeof *mixes);
    for (int i = 0; i < n; i++)
        mixes[i] = (struct validation_mix){mix_text(forms, outcomes->mixes[worst[i]], arena),
                                           outcomes->measured_clk[worst[i]],
                                           outcomes->predicted_clk[worst[i]]};
    result->worst = mixes;
    result->nworst = n;
}

static double mix_predict(const struct validate_forms *forms, const struct port_model *model,
                          const struct port_mix *mix)
{
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++) {
        usages[i] = &forms->forms[mix->parts[i].form].usage;
        counts[i] = mix->parts[i].count;
    }
    return port_predict(model, usages, counts, mix->nparts);
}

int validate_mixes(const struct validate_trial *trial, struct arena *arena,
                   struct validation *result, struct err *err)
{
    const struct validate_forms *forms = trial->forms;
    const int wanted = trial->wanted;
    int n = wanted + wanted * SPARE_PERCENT / 100 + 8;
    struct port_mix *mixes = arena_alloc(arena, (size_t)n * sizeof *mixes);
    struct port_timing *timings = arena_alloc(arena, (size_t)n * sizeof *timings);
    struct outcomes outcomes = {arena_alloc(arena, (size_t)n * sizeof *outcomes.mixes),
                                arena_alloc(arena, (size_t)n * sizeof(double)),
                                arena_alloc(arena, (size_t)n * sizeof(double)), 0};
    struct drawer drawer;
    drawer_begin(&drawer, forms, trial->seed, arena);
    if (drawer.nclasses == 0)
        return err_set(err, "no form has a port usage that mixes can be drawn from");
    for (int i = 0; i < n; i++)
        mixes[i] = drawer_mix(&drawer);
    if (mixes_measure(trial->oracle, mixes, n, timings, err) != 0)
        return -1;
    for (int i = 0; i < n && outcomes.n < wanted; i++) {
        double predicted_clk = mix_predict(forms, trial->model, &mixes[i]);
        if (timings[i].outcome != OUTCOME_OK || predicted_clk <= 0)
            continue;
        outcomes.mixes[outcomes.n] = &mixes[i];
        outcomes.predicted_clk[outcomes.n] = predicted_clk;
        outcomes.measured_clk[outcomes.n++] = timings[i].clk;
    }
    if (outcomes.n < 2)
        return err_set(err, "no mix could be timed: the core is too disturbed");
    struct validation_class all = validate_summary(forms, &outcomes, -1);
    struct validation_class *classes = arena_alloc(arena, VALIDATE_CLASSES * sizeof *classes);
    *result = (struct validation){
        .seed = (int64_t)trial->seed,
        .mixes = outcomes.n,
        .mape_percent = all.mape_percent,
        .within_10_percent = all.within_10_percent,
        .kendall_tau = validate_kendall(outcomes.measured_clk, outcomes.predicted_clk, outcomes.n),
        .classes = classes};
    for (int i = 0; i < drawer.nclasses; i++)
        classes[result->nclasses++] = validate_summary(forms, &outcomes, drawer.classes[i]);
    validate_worst(forms, &outcomes, arena, result);
    return 0;
}
