// SPDX-License-Identifier: MIT
// Microcode that has the front end to itself: simulated CPUs whose front end delivers nothing else
// meanwhile, and others faster than dispatch takes them, by more or less, or no faster; one that
// never stalls, and one where it begins a group of dispatch. What the inference says of them must
// predict mixes that it has not seen.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"
#include "plan/plan.h"
#include "ports/ports_fit.h"
#include "ports/ports_internal.h"
#include "util/mem.h"
#include "util/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MIXES = 400,
    PARTS = 4,
    COUNT_MOST = 3,
    WHOLE_LEAST = 20,
    ORDERS = 1 << MIX_INTERLEAVED | 1 << MIX_SHUFFLED // as in trials of few beside many
};
static const double FILLER_SLOWER = 1.018, SLOTS_LOST = 0.02, SLOWS_CLK = 0.4;
static const int DELIVERIES[] = {8, 7};
static const char *const cpu_file = "tests/fixtures/sim/golden_cove_like.csv";

struct microcode {
    const char *name;
    const char *like; // uses what these forms do, so often
    int times;
    double slots, stall_clk;
};
static const struct microcode microcode[] = {
    {"dpps",     "vphaddd x x x", 2, 9,  1.5},
    {"shift",    "add m32 r32",   1, 12, 1  },
    {"conflict", "vphaddd x x x", 4, 21, 2.5},
    {"plain",    "vphaddd x x x", 2, 9,  0  },
};

static void read_cpu(struct sim_cpu *cpu)
{
    struct err err = {0};
    if (sim_read(cpu_file, cpu, &err) != 0)
        fail_msg("%s", err.text);
}

enum microcode_does { STALLS, BEGINS_GROUPS, DOES_NEITHER };

static void add_microcode(struct sim_cpu *cpu, enum microcode_does does)
{
    for (size_t i = 0; i < ARRAY_LEN(microcode); i++) {
        struct sim_form *form = &cpu->forms[cpu->nforms++];
        for (int f = 0; f < cpu->nforms - 1; f++)
            if (strcmp(cpu->forms[f].name, microcode[i].like) == 0)
                *form = cpu->forms[f];
        snprintf(form->name, sizeof form->name, "%s", microcode[i].name);
        for (int u = 0; u < form->nuses; u++)
            form->uses[u].uops *= microcode[i].times;
        form->cost = -1;
        form->slots = microcode[i].slots;
        form->stall_clk = does == STALLS ? microcode[i].stall_clk : 0;
        form->begins = does == BEGINS_GROUPS;
    }
}

static void infer_by(const struct port_oracle *oracle, const struct sim_cpu *cpu,
                     const struct port_model *model, struct port_usage *usages)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct err err = {0};
    int which[SIM_FORMS_MAX];
    sim_forms(cpu, forms);
    for (int i = 0; i < cpu->nforms; i++)
        which[i] = i;
    const struct port_question question = {
        .oracle = oracle, .forms = forms, .which = which, .n = cpu->nforms};
    if (port_infer(&question, model, usages, &err) != 0)
        fail_msg("%s", err.text);
}

static void infer(struct sim *sim, const struct port_model *model, struct port_usage *usages)
{
    struct port_oracle oracle = sim_oracle(sim);
    infer_by(&oracle, sim->cpu, model, usages);
}

// Mean error of the predictions for mixes that begin with microcode.
static double mixes_error(const struct sim_cpu *cpu, const struct port_model *model,
                          const struct port_usage *found)
{
    uint64_t state = 5;
    double error = 0;
    struct sim sim = {.cpu = cpu};
    const struct port_oracle oracle = sim_oracle(&sim);
    for (int m = 0; m < MIXES; m++) {
        struct port_mix mix = {.nparts = PARTS, .orders = ORDERS};
        struct port_timing timing;
        const struct port_usage *usages[PARTS];
        int counts[PARTS];
        for (int p = 0; p < PARTS; p++) {
            int many = p == 0 ? (int)ARRAY_LEN(microcode) : cpu->nforms;
            int form = cpu->nforms - 1 - random_below(&state, many);
            usages[p] = &found[form];
            counts[p] = 1 + random_below(&state, COUNT_MOST);
            mix.parts[p] = (struct port_part){form, counts[p]};
        }
        assert_int_equal(oracle.measure(oracle.context, &mix, 1, &timing, NULL), 0);
        error += fabs(port_predict(model, usages, counts, PARTS) / timing.clk - 1) / MIXES;
    }
    return error;
}

// Finds a CPU's model, and the error of the predictions with it and without the stalls.
static void judge(enum microcode_does does, int delivery, bool noise, struct port_usage *usages,
                  double *error, double *error_without)
{
    struct sim_cpu cpu;
    struct port_model model;
    read_cpu(&cpu);
    add_microcode(&cpu, does);
    cpu.delivery = delivery;
    sim_model(&cpu, &model);
    struct sim sim = {.cpu = &cpu, .seed = 5, .noise = noise};
    infer(&sim, &model, usages);
    *error = mixes_error(&cpu, &model, usages);
    struct port_usage without[SIM_FORMS_MAX];
    memcpy(without, usages, (size_t)cpu.nforms * sizeof *without);
    for (int f = 0; f < cpu.nforms; f++) {
        if (f < cpu.nforms - (int)ARRAY_LEN(microcode))
            assert_true(without[f].front.stall_clk == 0);
        without[f].front.stall_clk = 0;
    }
    *error_without = mixes_error(&cpu, &model, without);
    memmove(usages, usages + cpu.nforms - ARRAY_LEN(microcode),
            ARRAY_LEN(microcode) * sizeof *usages);
    printf("%s, %d delivered%s: mixes with microcode are %.1f %% off, without stalls %.1f\n",
           does == STALLS ? "stalls" : "no stalls", delivery, noise ? ", noise" : "", 100 * *error,
           100 * *error_without);
}

static void stalls_that_others_hide_are_found(void **state)
{
    (void)state;
    for (int how = 0; how < 2 * (int)ARRAY_LEN(DELIVERIES); how++) {
        int noise = how % 2, d = how / 2;
        struct port_usage usages[SIM_FORMS_MAX];
        double error, without;
        judge(STALLS, DELIVERIES[d], noise, usages, &error, &without);
        assert_true(error < 0.055 && without > 3 * error);
        for (size_t i = 0; i < ARRAY_LEN(microcode); i++) {
            double least = microcode[i].slots / 6 + microcode[i].stall_clk;
            double found = usages[i].front.slots / 6 + usages[i].front.stall_clk;
            assert_true(fabs(found / least - 1) < 0.08);
            assert_int_equal(usages[i].front.stall_clk > 0, microcode[i].stall_clk > 0);
        }
    }
}

// Stalls that nothing hides are slots like others.
static void stalls_that_nothing_hides_are_slots(void **state)
{
    (void)state;
    struct port_usage usages[SIM_FORMS_MAX];
    double error, without;
    judge(STALLS, 0, true, usages, &error, &without);
    assert_true(error < 0.06); // what runs of others lose in their last cycle
    for (size_t i = 0; i < ARRAY_LEN(microcode); i++)
        assert_true(usages[i].front.stall_clk == 0);
}

// A form that begins a group of dispatch stalls nothing: others lose the rest of the cut group, on
// average half of its largest loss.
static void cut_groups_are_slots(void **state)
{
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        struct port_usage usages[SIM_FORMS_MAX];
        double error, without;
        judge(BEGINS_GROUPS, 0, noise, usages, &error, &without);
        assert_true(error < 0.05);
        for (size_t i = 0; i < ARRAY_LEN(microcode); i++) {
            assert_true(usages[i].front.stall_clk == 0);
            // Known apart where whole groups show it, else an average.
            double cut = usages[i].front.mixed > usages[i].front.slots ? 0 : 2.5;
            assert_true(fabs(usages[i].front.slots / (microcode[i].slots + cut) - 1) < 0.08);
        }
    }
}

// An instance takes its slots from others, or more if it cuts groups of dispatch short.
static void slots_add_up(void **state)
{
    (void)state;
    const struct port_model model = {.width = 8};
    const struct port_usage code = {
        .front = {.slots = 8, .mixed = 10}
    };
    const struct port_usage other = {
        .front = {.slots = 1, .mixed = (double)NAN}
    };
    const struct port_usage unknown = {.front = {.slots = (double)NAN}, .uses = {.uops = 2}};
    const struct port_usage *usages[] = {&code, &other, &unknown};
    assert_true(fabs(port_bound(&model, usages, (const int[]){1, 0, 0}, 3) - 10 / 8.0) < 1e-9);
    assert_true(fabs(port_bound(&model, usages, (const int[]){2, 12, 4}, 3) - 40 / 8.0) < 1e-9);
}

// Stalls of the front end are hidden by others as far as they are delivered faster than they are
// dispatched.
static void deliveries_add_up(void **state)
{
    (void)state;
    const struct port_model model = {.width = 6};
    const struct port_usage stalls = {
        .front = {.slots = 6, .stall_clk = 3}
    };
    const struct port_usage other = {.front = {.slots = 1}};
    const struct port_usage *usages[] = {&stalls, &other};
    double lost = 0.5 * (8 - 1) / (2 * 8.0); // six of eight that are delivered in a cycle
    struct port_limits limits;
    port_limits(&model, usages, (const int[]){1, 24}, 2, &limits);
    assert_true(fabs(limits.front_clk - 30 / 6.0) < 1e-9);
    assert_true(fabs(limits.delivery_clk - (1 + 3 + lost + 24 * 0.75 / 6)) < 1e-9);
    assert_true(limits.bound_clk == limits.delivery_clk);
    port_limits(&model, usages, (const int[]){1, 240}, 2, &limits);
    assert_true(limits.bound_clk == limits.front_clk);
}

// Two resources with equal times make a mix 4 % longer, and no longer than one of them alone if the
// other takes half as long.
static void resources_beside_each_other(void **state)
{
    (void)state;
    const struct port_model model = {.width = 4, .nunits = 1, .units = {{.name = "U1"}}};
    const struct port_usage both = {
        .front = {.slots = 4},
          .uses = {         1,         1, {{1, 1}}},
          .demands = { 1,          {{.clk = 1}}}
    };
    const struct port_usage half = {
        .front = {.slots = 2},
          .uses = { 1, 1, {{1, 1}}}
    };
    const struct port_usage *usages[] = {&both, &half};
    assert_true(fabs(port_predict(&model, usages, (const int[]){1, 0}, 2) - pow(3, 1 / 16.0)) <
                1e-3);
    assert_true(fabs(port_bound(&model, usages, (const int[]){1, 0}, 2) - 1) < 1e-9);
    assert_true(fabs(port_predict(&model, usages, (const int[]){0, 1}, 2) - 1) < 1e-3);
}

// Time that nothing explains keeps the narrowest set of a form busy.
static void what_is_held_is_busy_for_others(void **state)
{
    (void)state;
    const struct port_model model = {.width = 8};
    const struct port_usage waits = {
        .front = {.slots = 1},
          .uses = {         1,         1, {{3, 1}}},
          .demands = { 1,          {{-1, .clk = 1}}}
    };
    const struct port_usage other = {
        .front = {.slots = 1},
          .uses = { 1, 1, {{3, 1}}}
    };
    const struct port_usage around = {
        .front = {.slots = 1},
          .uses = { 1, 1, {{15, 1}}}
    };
    const struct port_usage *usages[] = {&waits, &other}, *beside[] = {&waits, &around};
    const int counts[] = {2, 4};
    assert_true(fabs(port_predict(&model, usages, counts, 2) - 4) < 0.02);
    assert_true(fabs(port_bound(&model, usages, counts, 2) - 3) < 1e-9); // it may be elsewhere
    assert_true(fabs(port_predict(&model, beside, counts, 2) - 2) < 0.02);
}

static void where_there_are_none_none_are_found(void **state)
{
    (void)state;
    struct port_usage usages[SIM_FORMS_MAX];
    double error, without;
    judge(DOES_NEITHER, DELIVERIES[0], true, usages, &error, &without);
    assert_true(error < 0.02 && error == without);
}

// A form that waits for all that is under way on some ports keeps them without µops (`ldmxcsr` on a
// Zen 5 seemed to have 97 there): it has no ports and the reason. Microcode of many slots has them.
static void waits_are_no_uops(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    read_cpu(&cpu);
    int first = cpu.nforms;
    add_microcode(&cpu, DOES_NEITHER);
    struct sim_form *waits = &cpu.forms[first], *many = &cpu.forms[first + 1];
    for (int u = 0; u < waits->nuses; u++)
        waits->uses[u].uops = 40;
    waits->slots = 4;
    for (int u = 0; u < many->nuses; u++)
        many->uses[u].uops *= 8;
    many->slots = 60;
    sim_model(&cpu, &model);
    struct sim sim = {.cpu = &cpu, .seed = 3, .noise = true};
    infer(&sim, &model, usages);
    assert_int_equal(usages[first].outcome, OUTCOME_NOT_MEASURABLE);
    assert_non_null(strstr(usages[first].detail, "longer than its"));
    for (int f = 0; f < cpu.nforms; f++)
        if (f != first)
            assert_int_equal(usages[f].outcome, OUTCOME_OK);
}

// A CPU with forms whose cost to others is no µop, as real ones have: `late` takes a cycle of the
// ports around its own beside many, `always` two beside any number, and beside `slows` each other
// instance takes longer.
struct disturbances {
    struct port_oracle oracle;
    const struct sim_cpu *cpu;
    int late, always, slows;
};

static double disturbed_clk(const struct disturbances *on, const struct port_part *part,
                            const struct port_part *other)
{
    const struct sim_form *form = &on->cpu->forms[part->form];
    const struct sim_form *beside = &on->cpu->forms[other->form];
    if (part->form == on->slows)
        return SLOWS_CLK * other->count;
    uint32_t set = form->uses[0].set, around = beside->nuses > 0 ? beside->uses[0].set : set;
    int size = port_set_size(around);
    bool late = part->form == on->late && other->count >= size * part->count;
    if ((!late && part->form != on->always) || set & ~around || set == around)
        return 0;
    return (late ? 1.0 : 2.0) * part->count / size;
}

static int disturbed_measure(void *context, const struct port_mix *mixes, int n,
                             struct port_timing *timings, struct err *err)
{
    const struct disturbances *on = context;
    int status = on->oracle.measure(on->oracle.context, mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++)
        for (int p = 0; p < mixes[i].nparts; p++)
            for (int q = 0; q < mixes[i].nparts; q++)
                if (p != q)
                    timings[i].clk += disturbed_clk(on, &mixes[i].parts[p], &mixes[i].parts[q]);
    return status;
}

// Claims meet trials at another ratio: what shows beside many others only, more than slots have
// room for, is no µop; what costs others the more there are of them has no ports, and the reason.
static void disturbances_are_no_uops(void **state)
{
    (void)state;
    for (int noise = 0; noise < 2; noise++) {
        struct sim_cpu cpu;
        struct port_model model;
        struct port_usage usages[SIM_FORMS_MAX];
        read_cpu(&cpu);
        sim_model(&cpu, &model);
        int narrow = -1;
        for (int f = 0; f < cpu.nforms && narrow < 0; f++)
            if (cpu.forms[f].nuses == 1 && cpu.forms[f].uses[0].uops == 1 &&
                port_set_size(cpu.forms[f].uses[0].set) == 1 && cpu.forms[f].unit < 0)
                narrow = f;
        assert_true(narrow >= 0);
        int late = cpu.nforms, slows = cpu.nforms + 1, always = cpu.nforms + 2;
        cpu.forms[late] = cpu.forms[slows] = cpu.forms[always] = cpu.forms[narrow];
        cpu.nforms += 3;
        strcpy(cpu.forms[always].name, "enters");
        strcpy(cpu.forms[late].name, "multiplies");
        strcpy(cpu.forms[slows].name, "prefetches");
        cpu.forms[late].cost = cpu.forms[slows].cost = cpu.forms[always].cost = -1;
        struct sim sim = {.cpu = &cpu, .seed = 7, .noise = noise};
        struct disturbances on = {sim_oracle(&sim), &cpu, late, always, slows};
        const struct port_oracle oracle = {.measure = disturbed_measure, .context = &on};
        infer_by(&oracle, &cpu, &model, usages);
        assert_int_equal(usages[late].outcome, OUTCOME_OK);
        assert_true(usages[late].uses.n == 1 && usages[late].uses.uops == 1);
        assert_int_equal(usages[late].uses.use[0].set, cpu.forms[late].uses[0].set);
        assert_false(usages[late].ambiguous);
        assert_true(usages[always].uses.uops == 1 && usages[always].ambiguous); // it has one slot
        assert_int_equal(usages[slows].outcome, OUTCOME_NOT_MEASURABLE);
        assert_non_null(strstr(usages[slows].detail, "the more there are"));
    }
}

// A locked form of 20 cycles and eight slots. It `waits`: for 17 of these nothing is dispatched.
struct locked {
    struct port_oracle oracle;
    const struct sim_cpu *cpu;
    int form, filler;
    bool waits;
    int beside_blockers; // mixes with others than fillers
};

static int locked_measure(void *context, const struct port_mix *mixes, int n,
                          struct port_timing *timings, struct err *err)
{
    struct locked *on = context;
    int status = on->oracle.measure(on->oracle.context, mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++) {
        const struct port_part *parts = mixes[i].parts;
        if (parts[0].form != on->form)
            continue;
        bool others = mixes[i].nparts > 1;
        double width = on->cpu->width, fillers = others ? parts[1].count : 0;
        double dispatch = on->waits ? 17 * parts[0].count + fillers / width
                                    : (8 * parts[0].count + fillers) / width;
        timings[i].clk = fmax(20 * parts[0].count, dispatch);
        on->beside_blockers += others && parts[1].form != on->filler;
    }
    return status;
}

// A locked form shows its slots beside fillers, if these are dispatched meanwhile, and no ports.
static void locked_forms_show_slots_alone(void **state)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct sim_cpu cpu;
        struct port_model model;
        struct port_usage usages[SIM_FORMS_MAX];
        read_cpu(&cpu);
        sim_model(&cpu, &model);
        int form = cpu.nforms++;
        cpu.forms[form] = cpu.forms[0];
        cpu.forms[form].cost = -1;
        cpu.forms[form].locks = true;
        cpu.forms[form].alone_clk = 20;
        strcpy(cpu.forms[form].name, "lock inc");
        struct sim sim = {.cpu = &cpu, .seed = 5};
        struct locked on = {sim_oracle(&sim), &cpu, form, model.filler, waits, 0};
        const struct port_oracle oracle = {.measure = locked_measure, .context = &on};
        infer_by(&oracle, &cpu, &model, usages);
        assert_int_equal(usages[form].outcome, OUTCOME_NOT_MEASURABLE);
        assert_int_equal(strncmp(usages[form].detail, "locked: ", 8), 0);
        assert_true(isnan(usages[form].front.slots) && usages[form].uses.n == 0);
        assert_true(waits ? isnan(usages[form].front.mixed)
                          : fabs(usages[form].front.mixed - 8) < 0.5);
        assert_int_equal(on.beside_blockers, 0);
    }
}

// A CPU on which the filler alone is a little slower than the width says, and less so among others.
struct slow_filler {
    struct port_oracle oracle;
    int filler;
};

static int slow_measure(void *context, const struct port_mix *mixes, int n,
                        struct port_timing *timings, struct err *err)
{
    const struct slow_filler *slow = context;
    int status = slow->oracle.measure(slow->oracle.context, mixes, n, timings, err);
    for (int i = 0; i < n && status == 0; i++)
        if (mixes[i].nparts == 1 && mixes[i].parts[0].form == slow->filler)
            timings[i].clk *= FILLER_SLOWER;
    return status;
}

static void slots_are_whole_beside_a_slow_filler(void **state)
{
    (void)state;
    struct sim_cpu cpu;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    int whole = 0;
    read_cpu(&cpu);
    struct sim_form *part = &cpu.forms[cpu.nforms];
    add_microcode(&cpu, DOES_NEITHER);
    part->slots = 8.5;
    sim_model(&cpu, &model);
    struct sim sim = {.cpu = &cpu, .seed = 1};
    struct slow_filler slow = {sim_oracle(&sim), model.filler};
    const struct port_oracle oracle = {.measure = slow_measure, .context = &slow};
    infer_by(&oracle, &cpu, &model, usages);
    for (int i = 0; i < cpu.nforms; i++) {
        double slots = cpu.forms[i].slots;
        if (usages[i].outcome != OUTCOME_OK || slots < 1)
            continue;
        if (slots > PORT_GROUP_SLOTS) { // no whole number; less by what many fillers are slower
            printf("%s: %.2f slots of %.2f\n", cpu.forms[i].name, usages[i].front.slots, slots);
            assert_true(usages[i].front.slots < slots + SLOTS_LOST);
            assert_true(usages[i].front.slots > 0.8 * slots);
            continue;
        }
        if (usages[i].front.slots < slots - SLOTS_LOST)
            fail_msg("%s: %.2f slots, not %.0f", cpu.forms[i].name, usages[i].front.slots, slots);
        whole++;
    }
    assert_true(model.filler >= 0);
    assert_true(whole >= WHOLE_LEAST);
}

// Instances of microcode behind each other take no more slots than their time has, whatever fillers
// say; and no other form is asked for that, since what is fused may take none alone.
static void microcode_fits_into_its_time(void **state)
{
    (void)state;
    const struct port_model model = {.width = 8};
    static const struct {
        double slots, alone_clk, wanted;
    } cases[] = {
        {9,   1.0625, 8.5},
        {9,   1.25,   9  },
        {8.5, 4,      8.5},
        {2,   0.2,    2  },
        {9,   0.5,    9  }
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct port_trials trials = {.alone_clk = cases[i].alone_clk,
                                           .best_clk = cases[i].alone_clk,
                                           .shared_clk = NAN,
                                           .slots = cases[i].slots,
                                           .slots_mixed = cases[i].slots + 3,
                                           .slots_whole = cases[i].slots,
                                           .front_clk = NAN,
                                           .beside_clk = NAN,
                                           .front_many_clk = NAN,
                                           .delivery_clk = NAN,
                                           .counted_uops = NAN,
                                           .counted_total = NAN};
        struct port_usage usage = port_fit(&model, &trials);
        assert_true(fabs(usage.front.slots - cases[i].wanted) < 1e-9);
        // A form that begins a group loses a part of the one before; others lose nothing.
        double lost = cases[i].wanted > 4.5 ? 0.3 * (model.width - 1) : 0;
        assert_true(fabs(usage.front.mixed - cases[i].wanted - lost) < 1e-9);
    }
}

// A form that rewrites memory may wait alone and not among others; as few others as take a quarter
// of that time show it.
static void what_rewrites_waits_alone(void **state)
{
    (void)state;
    static const double alone_clk = 1, least_clk = 0.5, most_clk = 0.75;
    struct sim_cpu cpu;
    struct port_model model;
    struct port_usage usages[SIM_FORMS_MAX];
    read_cpu(&cpu);
    struct sim_form *form = sim_named(&cpu, "add m32 r32");
    assert_non_null(form);
    form->alone_clk = alone_clk;
    sim_model(&cpu, &model);
    struct sim sim = {.cpu = &cpu, .seed = 1};
    infer(&sim, &model, usages);
    const struct port_usage *usage = &usages[form - cpu.forms];
    assert_int_equal(usage->outcome, OUTCOME_OK);
    printf("waits for %.2f cycles\n", port_usage_wait_clk(usage));
    assert_true(port_usage_wait_clk(usage) >= least_clk);
    assert_true(port_usage_wait_clk(usage) <= most_clk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(microcode_fits_into_its_time),
                                       cmocka_unit_test(stalls_that_others_hide_are_found),
                                       cmocka_unit_test(stalls_that_nothing_hides_are_slots),
                                       cmocka_unit_test(cut_groups_are_slots),
                                       cmocka_unit_test(slots_add_up),
                                       cmocka_unit_test(deliveries_add_up),
                                       cmocka_unit_test(resources_beside_each_other),
                                       cmocka_unit_test(slots_are_whole_beside_a_slow_filler),
                                       cmocka_unit_test(waits_are_no_uops),
                                       cmocka_unit_test(locked_forms_show_slots_alone),
                                       cmocka_unit_test(disturbances_are_no_uops),
                                       cmocka_unit_test(what_is_held_is_busy_for_others),
                                       cmocka_unit_test(what_rewrites_waits_alone),
                                       cmocka_unit_test(where_there_are_none_none_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
