// SPDX-License-Identifier: MIT
// Choices in the search for the structure: the form that stands for a slot and nothing else, and
// the forms that stand for classes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixtures/port_sim.h"

#include "util/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEEDS = 20 };

static void discover(struct sim *sim, struct port_model *model)
{
    struct err err = {0};
    static struct port_form forms[SIM_FORMS_MAX];
    const struct port_oracle oracle = sim_oracle(sim);
    sim_forms(sim->cpu, forms);
    for (int f = 0; f < sim->cpu->nforms; f++)
        forms[f].family = strncmp(forms[f].name, "two", 3) == 0 ? 1 : 2 + (uint64_t)f;
    if (port_discover(&oracle, forms, sim->cpu->nforms, sim->cpu->width, model, &err) != 0)
        fail_msg("%s", err.text);
}

// A CPU of as many ports of integers as slots, where moves of constants are cheaper than nops.
static void four_wide(struct sim_cpu *cpu)
{
    struct err err = {0};
    if (sim_read("tests/fixtures/sim/four_wide.csv", cpu, &err) != 0)
        fail_msg("%s", err.text);
    sim_named(cpu, "nop")->cost = 5;
}

static void expect_filler(struct sim_cpu *cpu, const char *name, int fast)
{
    for (int seed = 1; seed <= SEEDS; seed++) {
        struct sim sim = {.cpu = cpu, .seed = (uint64_t)seed, .noise = seed > 1};
        static struct port_model model;
        discover(&sim, &model);
        if (model.filler < 0 || strcmp(cpu->forms[model.filler].name, name) != 0)
            fail_msg("the filler is %s, not %s",
                     model.filler < 0 ? "none" : cpu->forms[model.filler].name, name);
        assert_int_equal(model.fast, fast);
    }
}

static void a_filler_needs_no_port(void **state)
{
    (void)state;
    static struct sim_cpu cpu;
    four_wide(&cpu);
    expect_filler(&cpu, "nop", 1); // and what may hide behind slots is the move
    sim_named(&cpu, "mov r32 i32")->eliminated = true;
    expect_filler(&cpu, "mov r32 i32", 0); // as good, and cheaper
}

// Without a nop the move is better than nothing.
static void a_filler_may_need_ports(void **state)
{
    (void)state;
    static struct sim_cpu cpu;
    four_wide(&cpu);
    sim_named(&cpu, "nop")->cost = -1;
    expect_filler(&cpu, "mov r32 i32", 1);
}

static void add_blocker(struct sim_cpu *cpu, const char *name, uint32_t set, uint32_t other)
{
    struct sim_form *form = &cpu->forms[cpu->nforms++];
    *form = (struct sim_form){.nuses = 1, .slots = 1, .cost = cpu->nforms, .unit = -1};
    snprintf(form->name, sizeof form->name, "%s%d", name, cpu->nforms);
    form->uses[0] = (struct port_use){set, 1};
    if (other)
        form->uses[form->nuses++] = (struct port_use){other, 1};
}

// Port 0 alone has a class of so many forms, the cheapest of which, all of one mnemonic, also need
// port 3 or 4, in the same slot; and so has port 1.
static void bad_blockers(struct sim_cpu *cpu, int forms)
{
    enum { A = 1, B = 2, AB = 3, ABC = 7, D = 0x18, LOAD = 0xe0, OTHERS = 5 };
    *cpu = (struct sim_cpu){.width = 6};
    cpu->forms[cpu->nforms++] =
        (struct sim_form){.name = "nop", .slots = 1, .unit = -1, .filler_only = true};
    add_blocker(cpu, "two a", A, D);
    add_blocker(cpu, "two aa", A, D);
    add_blocker(cpu, "two b", B, LOAD);
    for (int i = 0; i < forms; i++) {
        add_blocker(cpu, "a", A, 0);
        add_blocker(cpu, "b", B, 0);
    }
    for (int i = 0; i < OTHERS; i++) {
        add_blocker(cpu, "ab", AB, 0);
        add_blocker(cpu, "abc", ABC, 0);
        add_blocker(cpu, "d", D, 0);
        add_blocker(cpu, "load", LOAD, 0);
    }
}

static void another_form_stands_for_a_class(void **state)
{
    (void)state;
    static const int forms[] = {4, 8, 20};
    static struct sim_cpu cpu;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        bad_blockers(&cpu, forms[i]);
        for (int seed = 1; seed <= SEEDS; seed++) {
            struct sim sim = {.cpu = &cpu, .seed = (uint64_t)seed, .noise = seed > 1};
            static struct port_model model;
            int map[PORTS_MAX];
            discover(&sim, &model);
            if (!sim_same_model(&cpu, &model, map))
                fail_msg("another structure, of %d sets, with %d forms", model.nclasses, forms[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filler_needs_no_port),
        cmocka_unit_test(a_filler_may_need_ports),
        cmocka_unit_test(another_form_stands_for_a_class),
    };
    return cmocka_run_group_tests_name("the search for ports", tests, NULL, NULL);
}
