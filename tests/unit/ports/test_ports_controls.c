// SPDX-License-Identifier: MIT
// Claims of ports and their controls, on simulated CPUs: what fillers cost as well is no port; what
// slots do not allow is said only where all trials agree.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"
#include "ports/ports_fit.h"
#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct sim_cpu cpu;
static struct port_model model;

static uint32_t set_of(const char *name)
{
    for (int s = 0; s < cpu.nsets; s++)
        if (strcmp(cpu.sets[s].name, name) == 0)
            return cpu.sets[s].set;
    fail_msg("no set %s", name);
    return 0;
}

static int unit_of(const char *name)
{
    int unit = 0;
    while (unit < cpu.nunits && strcmp(cpu.units[unit].name, name) != 0)
        unit++;
    assert_true(unit < cpu.nunits);
    return unit;
}

// Adds a form of one set to the CPU.
static struct sim_form *add(const char *name, const char *set, int uops, double slots)
{
    struct sim_form *form = &cpu.forms[cpu.nforms++];
    *form = (struct sim_form){.slots = slots, .cost = -1, .unit = -1, .nuses = 1};
    snprintf(form->name, sizeof form->name, "%s", name);
    form->uses[0] = (struct port_use){set_of(set), uops};
    return form;
}

static int setup(void **state)
{
    (void)state;
    struct err err = {0};
    if (sim_read("tests/fixtures/sim/zen_like.csv", &cpu, &err) != 0)
        fail_msg("%s", err.text);
    return 0;
}

// The CPU's last form takes longer beside up to so many blockers of ALU for each instance.
struct few {
    struct port_oracle oracle;
    int most;
    double clk;
};

static int few_measure(void *context, const struct port_mix *mixes, int n,
                       struct port_timing *timings, struct err *err)
{
    const struct few *few = context;
    int status = few->oracle.measure(few->oracle.context, mixes, n, timings, err);
    for (int i = 0; i < n; i++) {
        const struct port_part *parts = mixes[i].parts;
        if (mixes[i].nparts == 2 && parts[0].form == cpu.nforms - 1 &&
            strcmp(cpu.forms[parts[1].form].name, "mov r32 i32") == 0 &&
            parts[1].count <= few->most * parts[0].count)
            timings[i].clk += few->clk * parts[0].count;
    }
    return status;
}

// Infers the last form of the CPU; `memory`: it has an operand there. It takes `few_clk` longer
// beside up to `few` blockers of ALU.
static struct port_usage inferred_beside(bool memory, int few, double few_clk)
{
    struct port_form forms[SIM_FORMS_MAX];
    struct err err = {0};
    struct port_usage usage;
    const int form = cpu.nforms - 1;
    sim_model(&cpu, &model);
    struct sim sim = {.cpu = &cpu, .seed = 3};
    struct few slowed = {sim_oracle(&sim), few, few_clk};
    struct port_oracle oracle = slowed.oracle;
    oracle.measure = few_measure;
    oracle.context = &slowed;
    sim_forms(&cpu, forms);
    forms[form].memory = memory;
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = &form, .n = 1};
    if (port_infer(&question, &model, &usage, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(usage.outcome, OUTCOME_OK);
    return usage;
}

static struct port_usage inferred(bool memory)
{
    return inferred_beside(memory, 0, 0);
}

static int uops_on(const struct port_usage *usage, const char *set)
{
    int uops = 0;
    for (int u = 0; u < usage->uses.n; u++)
        uops += usage->uses.use[u].set == set_of(set) ? usage->uses.use[u].uops : 0;
    return uops;
}

// A root that begins later where many instructions stand beside it, and holds up whatever these
// need: fillers show it, so it has no ports there.
static void what_fillers_cost_as_well_is_no_port(void **state)
{
    (void)state;
    struct sim_form *root = add("vsqrtpd x m128", "F1", 1, 2);
    root->uses[root->nuses++] = (struct port_use){set_of("LOAD"), 1};
    root->unit = unit_of("FDIV");
    root->whole = true;
    root->busy_clk = 8;
    struct port_usage usage = inferred(true);
    assert_int_equal(usage.uses.uops, 2);
    assert_false(usage.ambiguous);
    root->crowd = 20;
    root->crowd_clk = 10;
    root->crowd_uops = 4;
    usage = inferred(true);
    assert_int_equal(uops_on(&usage, "ALU"), 0);
    assert_int_equal(uops_on(&usage, "LOAD"), 1);
    assert_int_equal(uops_on(&usage, "F1"), 1);
    assert_int_equal(usage.uses.uops, 2);
}

// A form may take ports for longer than its slots have µops, if nothing else explains its
// throughput.
static void more_than_slots_explain_the_throughput(void **state)
{
    (void)state;
    add("lea r64 [b+i*4+d8]", "ALU", 3, 2);
    struct port_usage usage = inferred(false);
    assert_int_equal(uops_on(&usage, "ALU"), 3);
    assert_int_equal(usage.uses.uops, 3);
    assert_false(usage.ambiguous);
}

// A divider keeps a port: slots do not allow it, but all trials agree, so it is said with a doubt.
static void a_port_that_is_kept_is_a_doubt(void **state)
{
    (void)state;
    struct sim_form *divide = add("div r16", "ALU12", 4, 2);
    divide->unit = unit_of("IDIV");
    divide->busy_clk = 6;
    struct port_usage usage = inferred(false);
    assert_int_equal(uops_on(&usage, "ALU12"), 4);
    assert_int_equal(usage.uses.uops, 4);
    assert_true(usage.ambiguous);
}

// Fillers explain what a form costs many blockers, and not what it costs few: these tell its µops.
static void one_trial_that_waits_excuses_no_other(void **state)
{
    (void)state;
    sim_model(&cpu, &model);
    int class = 0;
    while (model.classes[class].set != set_of("ALU"))
        class ++;
    int size = port_set_size(model.classes[class].set);
    struct port_trial told[] = {
        {.class = class, .instances = 1, .blockers = 4 * size, .counted_uops = NAN},
        {.class = class, .instances = 1, .blockers = 6 * size, .counted_uops = NAN}
    };
    struct port_trials trials = {.alone_clk = 2,
                                 .best_clk = 2,
                                 .shared_clk = NAN,
                                 .slots = 2,
                                 .uops_most = 6,
                                 .slots_mixed = 2,
                                 .slots_whole = NAN,
                                 .front_clk = 0,
                                 .front_many_clk = NAN,
                                 .beside_clk = NAN,
                                 .delivery_clk = 0,
                                 .among_fillers = 5.5 * size,
                                 .among_clk = 7,
                                 .counted_uops = NAN,
                                 .counted_total = NAN,
                                 .trials = told,
                                 .n = 2};
    told[0].clk = 4 + 1.8 / size;
    told[1].clk = 7;
    assert_false(port_trial_waits(&model, &trials, &told[0]));
    assert_true(port_trial_waits(&model, &trials, &told[1]));
    struct port_usage usage = port_fit(&model, &trials);
    assert_int_equal(uops_on(&usage, "ALU"), 2);

    // More blockers than those that wait show no more.
    told[0].blockers = 8 * size;
    told[0].clk = 8 + 1.8 / size;
    usage = port_fit(&model, &trials);
    assert_true(uops_on(&usage, "ALU") < 2);
}

// Microcode that costs blockers more than its slots, but not in any number, has no ports there.
static void what_a_number_of_blockers_costs_is_no_port(void **state)
{
    (void)state;
    struct sim_form *adds = add("vphaddd x x x", "FADD", 2, 8);
    adds->begins = true;
    struct port_usage usage = inferred(false);
    assert_int_equal(uops_on(&usage, "FADD"), 2);
    assert_int_equal(usage.uses.uops, 2);
    usage = inferred_beside(false, 32, 0.5);
    assert_int_equal(uops_on(&usage, "FADD"), 2);
    assert_int_equal(usage.uses.uops, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_fillers_cost_as_well_is_no_port, setup),
        cmocka_unit_test_setup(one_trial_that_waits_excuses_no_other, setup),
        cmocka_unit_test_setup(more_than_slots_explain_the_throughput, setup),
        cmocka_unit_test_setup(a_port_that_is_kept_is_a_doubt, setup),
        cmocka_unit_test_setup(what_a_number_of_blockers_costs_is_no_port, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
