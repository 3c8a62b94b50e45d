// SPDX-License-Identifier: MIT
#include "validate.h"

#include "plan/plan.h"
#include "portrun/portrun_decoding.h"
#include "ports/ports_forms.h"
#include "util/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS_MIN = 2,
    PARTS_MOST = 8,
    COUNT_MOST = 3,  // instances per form
    RATIO_LEAST = 3, // least instances of one form beside one of the other, with --ratios
    RATIO_MOST = 12,
    RATIO_DRAWS = 200,   // attempts to find a form that shares ports with another
    SPARE_PERCENT = 25,  // mixes drawn in addition: some need too many registers
    WAIT_INSTANCES = 12, // instances of a form that may wait for its own results
};
// Relative and absolute excess from which a form waits: a few hundredths depend on the order.
static const double WAIT_TIMES = 1.1, WAIT_CLK = 0.3;

// Forms sorted by class.
struct drawer {
    const struct validate_forms *forms;
    int *by_class; // indices of forms
    int first[VALIDATE_CLASSES + 1];
    int classes[VALIDATE_CLASSES], nclasses; // classes that have forms
    bool fits[2];                            // there are forms for [1] legacy mixes, [0] others
    uint64_t state;
};

// Returns true if the form may be in the mix: legacy SSE instructions and wide vectors do not mix.
static bool form_fits(const struct list_row *row, bool legacy)
{
    return ports_form_upper(row) != (legacy ? UPPER_WIDE : UPPER_LEGACY);
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
            if (forms->forms[i].class == class && !forms->forms[i].decodes_slowly)
                drawer->by_class[n++] = i;
        if (n > drawer->first[class])
            drawer->classes[drawer->nclasses++] = class;
    }
    drawer->first[VALIDATE_CLASSES] = n;
    for (int i = 0; i < n; i++)
        for (int legacy = 0; legacy < 2; legacy++)
            drawer->fits[legacy] |= form_fits(forms->forms[drawer->by_class[i]].row, legacy);
}

// Draws the kind of a mix's vectors: every form fits at least one of the two.
static bool drawer_legacy(struct drawer *drawer)
{
    bool legacy = random_below(&drawer->state, 2);
    return drawer->fits[legacy] ? legacy : !legacy;
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

static struct port_mix drawer_mix(struct drawer *drawer, int most)
{
    struct port_mix mix = {.orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
    bool legacy = drawer_legacy(drawer);
    mix.nparts = PARTS_MIN + random_below(&drawer->state, most - PARTS_MIN + 1);
    for (int i = 0; i < mix.nparts; i++) {
        int form = drawer_form(drawer, legacy);
        mix.parts[i] = (struct port_part){form, 1 + random_below(&drawer->state, COUNT_MOST)};
    }
    return mix;
}

static uint32_t usage_ports(const struct port_usage *usage)
{
    uint32_t ports = 0;
    for (int u = 0; u < usage->uses.n; u++)
        ports |= usage->uses.use[u].set;
    return ports;
}

// Draws two forms that share ports, few instances of one and many of the other, which shows errors
// in the µops of either.
static struct port_mix drawer_ratio(struct drawer *drawer)
{
    struct port_mix mix = {.nparts = 2, .orders = MIX_ORDERS_ALL | PORT_MIX_INDEPENDENT};
    const struct validate_form *forms = drawer->forms->forms;
    bool legacy = drawer_legacy(drawer);
    int a = drawer_form(drawer, legacy), b = a;
    for (int draws = 0; draws < RATIO_DRAWS; draws++) {
        b = drawer_form(drawer, legacy);
        if (b != a && usage_ports(&forms[a].usage) & usage_ports(&forms[b].usage))
            break;
    }
    int ratio = RATIO_LEAST + random_below(&drawer->state, RATIO_MOST - RATIO_LEAST + 1);
    bool many = random_below(&drawer->state, 2);
    mix.parts[0] = (struct port_part){a, many ? ratio : 1};
    mix.parts[1] = (struct port_part){b, many ? 1 : ratio};
    return mix;
}

// Returns how often the body repeats the mix.
static int mix_repeats(const struct port_mix *mix)
{
    int instances = 0;
    for (int i = 0; i < mix->nparts; i++)
        instances += mix->parts[i].count;
    return instances > 0 && instances < PORT_MIX_BODY ? PORT_MIX_BODY / instances : 1;
}

// Times the mixes; the times are per mix.
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

void validate_limits(const struct validate_forms *forms, const struct port_model *model,
                     const struct port_mix *mix, struct port_limits *limits)
{
    const struct port_usage *usages[PORT_MIX_PARTS_MAX];
    int counts[PORT_MIX_PARTS_MAX];
    for (int i = 0; i < mix->nparts; i++) {
        usages[i] = &forms->forms[mix->parts[i].form].usage;
        counts[i] = mix->parts[i].count;
    }
    port_limits(model, usages, counts, mix->nparts, limits);
}

double validate_predict(const struct validate_forms *forms, const struct port_model *model,
                        const struct port_mix *mix)
{
    struct port_limits limits;
    validate_limits(forms, model, mix, &limits);
    return limits.clk;
}

// Finds forms that decode slowly, unless the run has measured that. Forms that could not be timed
// count as slow.
static int forms_check_decoding(const struct validate_trial *trial, struct arena *arena,
                                struct err *err)
{
    struct validate_forms *forms = trial->forms;
    struct portrun_decoding *asked = arena_alloc(arena, ((size_t)forms->n + 1) * sizeof *asked);
    int n = 0;
    for (int i = 0; i < forms->n; i++) {
        const struct port_usage *usage = &forms->forms[i].usage;
        if (row_changes_length(forms->forms[i].row) && isnan(forms->forms[i].decode_clk))
            asked[n++] = (struct portrun_decoding){
                .form = i, .explained_clk = portrun_decoding_explained_clk(trial->model, usage)};
    }
    if (portrun_decoding_measure(trial->oracle, asked, n, err) != 0)
        return -1;
    for (int i = 0; i < n; i++)
        forms->forms[asked[i].form].decode_clk = asked[i].decode_clk;
    for (int i = 0; i < forms->n; i++) {
        struct validate_form *form = &forms->forms[i];
        form->decodes_slowly = row_changes_length(form->row) && form->decode_clk != 0;
        forms->left_out[VALIDATE_DECODING] += form->decodes_slowly;
    }
    return 0;
}

static bool row_writes_register(const struct list_row *row)
{
    bool writes = false;
    for (int i = 0; i < row->nops; i++) {
        enum operand_kind kind = row->ops[i].kind;
        bool reg = kind == OPERAND_GPR || kind == OPERAND_VEC || kind == OPERAND_MASK ||
                   kind == OPERAND_MMX;
        writes |= reg && row->ops[i].access & ACCESS_WRITE;
    }
    return writes;
}

// Times forms alone; `orders` also selects how many registers their instances have, compared with
// mixes.
static int forms_time_alone(const struct validate_trial *trial, const int *which, int n,
                            unsigned orders, struct port_timing *timings, struct err *err)
{
    struct port_mix *mixes = xcalloc((size_t)n + 1, sizeof *mixes);
    for (int i = 0; i < n; i++)
        mixes[i] = (struct port_mix){
            .parts = {{which[i], WAIT_INSTANCES}},
            .nparts = 1,
            .orders = 1u << MIX_INTERLEAVED | PORT_MIX_INDEPENDENT | orders,
        };
    int status = n ? trial->oracle->measure(trial->oracle->context, mixes, n, timings, err) : 0;
    free(mixes);
    return status;
}

static bool timing_is_above(const struct port_timing *timing, double clk)
{
    return timing->outcome == OUTCOME_OK &&
           timing->clk > WAIT_TIMES * clk + WAIT_INSTANCES * WAIT_CLK;
}

// Finds drawn forms that wait for a register which they only write: in a mix with few registers
// their instances would run one after another. These are forms that take longer with one register
// than ports explain, and than with several registers.
static int forms_check_waits(const struct validate_trial *trial, const struct port_mix *drawn,
                             int n, struct arena *arena, struct err *err)
{
    struct validate_forms *forms = trial->forms;
    size_t room = (size_t)forms->n + 1;
    bool *seen = arena_alloc(arena, room * sizeof *seen);
    int *which = arena_alloc(arena, room * sizeof *which), nwhich = 0, nlong = 0;
    struct port_timing *one = arena_alloc(arena, room * sizeof *one);
    struct port_timing *some = arena_alloc(arena, room * sizeof *some);
    memset(seen, 0, room * sizeof *seen);
    for (int i = 0; i < n; i++)
        for (int p = 0; p < drawn[i].nparts; p++) {
            int form = drawn[i].parts[p].form;
            if (!seen[form] && row_writes_register(forms->forms[form].row))
                which[nwhich++] = form;
            seen[form] = true;
        }
    if (forms_time_alone(trial, which, nwhich, PORT_MIX_SINGLE, one, err) != 0)
        return -1;
    for (int i = 0; i < nwhich; i++) {
        const struct port_part part = {which[i], WAIT_INSTANCES};
        if (!timing_is_above(&one[i], validate_predict(forms, trial->model,
                                                       &(struct port_mix){{part}, .nparts = 1})))
            continue;
        one[nlong] = one[i];
        which[nlong++] = which[i];
    }
    if (forms_time_alone(trial, which, nlong, 0, some, err) != 0)
        return -1;
    for (int i = 0; i < nlong; i++) {
        bool waits = some[i].outcome == OUTCOME_OK && timing_is_above(&one[i], some[i].clk);
        forms->forms[which[i]].waits = waits;
        forms->left_out[VALIDATE_REGISTER] += waits;
    }
    return 0;
}

static bool mix_waits(const struct validate_forms *forms, const struct port_mix *mix)
{
    bool waits = false;
    for (int i = 0; i < mix->nparts; i++)
        waits |= forms->forms[mix->parts[i].form].waits;
    return waits;
}

static struct port_mix *mixes_draw(const struct validate_trial *trial, int n, struct arena *arena,
                                   struct err *err)
{
    struct port_mix *mixes = arena_alloc(arena, (size_t)n * sizeof *mixes);
    struct drawer drawer;
    drawer_begin(&drawer, trial->forms, trial->seed, arena);
    if (drawer.nclasses == 0) {
        err_set(err, "no form has a port usage that mixes can be drawn from");
        return NULL;
    }
    for (int i = 0; i < n; i++)
        mixes[i] =
            trial->kind == VALIDATE_RATIOS
                ? drawer_ratio(&drawer)
                : drawer_mix(&drawer, trial->kind == VALIDATE_PAIRS ? PARTS_MIN : PARTS_MOST);
    return mixes;
}

int validate_measure(const struct validate_trial *trial, struct arena *arena,
                     struct validate_mixes *mixes, struct err *err)
{
    if (forms_check_decoding(trial, arena, err) != 0)
        return -1;
    int n = trial->wanted + trial->wanted * SPARE_PERCENT / 100 + 8; // some cannot be timed
    struct port_timing *timings = arena_alloc(arena, (size_t)n * sizeof *timings);
    const struct port_mix *drawn = mixes_draw(trial, n, arena, err);
    *mixes = (struct validate_mixes){.mixes = arena_alloc(arena, (size_t)n * sizeof *mixes->mixes)};
    if (!drawn || forms_check_waits(trial, drawn, n, arena, err) != 0 ||
        mixes_measure(trial->oracle, drawn, n, timings, err) != 0)
        return -1;
    for (int i = 0; i < n && mixes->n < trial->wanted; i++) {
        double predicted_clk = validate_predict(trial->forms, trial->model, &drawn[i]);
        if (timings[i].outcome == OUTCOME_OK && predicted_clk > 0 &&
            !mix_waits(trial->forms, &drawn[i]))
            mixes->mixes[mixes->n++] =
                (struct validate_mix){drawn[i], timings[i].clk, predicted_clk};
    }
    if (mixes->n < 2)
        return err_set(err, "no mix could be timed: the core is too disturbed");
    return 0;
}
