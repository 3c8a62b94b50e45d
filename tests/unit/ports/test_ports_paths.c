// SPDX-License-Identifier: MIT
// Paths: the loss beside stores of forms that store nothing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ports/ports_internal.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

enum { STORE, LOAD, MULTIPLY_LOADED, NARROW, FENCE, MIXED };

// A core whose stores have two of four ports of loads, and need half a cycle of path 0.
static struct port_form form_of(int which)
{
    static const char *const names[] = {"vmovdqa m128 x", "vlddqu x m128", "vfmadd231ps x x m128",
                                        "mov r32 m32",    "sfence",        "vpextrd m32 x i8"};
    return (struct port_form){
        .name = names[which], .memory = which != FENCE, .stores = which == STORE || which == MIXED};
}

static struct port_model stores_model(void)
{
    const struct port_class stores = {.set = 0x30, .blocker = STORE, .blocker_clk = 0.5};
    const struct port_class loads = {.set = 0xf0, .blocker = NARROW, .blocker_clk = 0.25};
    struct port_model model = {.width = 8, .nports = 8, .nclasses = 2, .nunits = 1, .teller = -1};
    model.classes[0] = stores;
    ports_demand_put(&model.classes[0].demands, 0)->clk = 0.5;
    model.classes[1] = loads;
    model.units[0] = (struct port_unit){.name = "path1", .blocker = MIXED};
    return model;
}

static struct port_usage shared(const struct port_model *model, int form, struct port_usage usage)
{
    struct port_form forms[MIXED + 1];
    for (int f = 0; f <= MIXED; f++)
        forms[f] = form_of(f);
    const struct port_question question = {.forms = forms, .which = &form, .n = 1};
    ports_share_stores(&question, model, &usage);
    return usage;
}

static void what_stores_nothing_has_no_uop_of_stores(void **state)
{
    (void)state;
    struct port_model model = stores_model();
    const struct port_usage seen = {
        .uses = {3, 3, {{0xc0, 1}, {0x30, 1}, {0x03, 1}}},
        .wide_uses = {2, 2, {{0x80, 1}, {0x30, 1}}           },
    };
    struct port_usage usage = shared(&model, MULTIPLY_LOADED, seen);
    assert_int_equal(usage.uses.uops, 2);
    assert_int_equal(usage.uses.n, 2);
    assert_true(usage.uses.use[0].set == 0xc0 && usage.uses.use[1].set == 0x03);
    assert_int_equal(usage.wide_uses.n, 1); // nor beside wide forms
    assert_int_equal(usage.wide_uses.use[0].set, 0x80);
    assert_int_equal(usage.demands.n, 1);
    assert_true(port_demand_on(&usage.demands, 0)->clk == 0.5);

    // It has a share by its own pairs with probes: the larger one counts, once.
    struct port_usage known = seen;
    ports_demand_put(&known.demands, 0)->clk = 0.4;
    usage = shared(&model, MULTIPLY_LOADED, known);
    assert_int_equal(usage.demands.n, 1);
    assert_true(usage.demands.of[0].clk == 0.5);

    // A store keeps what it has, and what is neither a load nor a store.
    assert_int_equal(shared(&model, FENCE, seen).uses.uops, 3);
    usage = shared(&model, MIXED, seen);
    assert_int_equal(usage.uses.uops, 3);
    assert_int_equal(usage.demands.n, 0);
}

static void ports_of_loads_stay(void **state)
{
    (void)state;
    struct port_model model = stores_model();
    const struct port_usage seen = {
        .uses = {2, 2, {{0xf0, 1}, {0x30, 1}}}
    };
    model.classes[0].blocker = LOAD; // loads have the set, too
    assert_int_equal(shared(&model, MULTIPLY_LOADED, seen).uses.uops, 2);
    model = stores_model();
    model.classes[0].demands.n = 0; // nothing else that stores need is known
    assert_int_equal(shared(&model, MULTIPLY_LOADED, seen).uses.uops, 2);
}

// The core's classes with a filler: vectors load by 0xc0 alone.
static struct port_model core_model(void)
{
    struct port_model model = stores_model();
    const struct port_class vectors = {.set = 0xc0, .blocker = LOAD, .blocker_clk = 0.5};
    model.filler = FENCE;
    model.classes[2] = model.classes[1];
    model.classes[1] = vectors;
    model.nclasses = 3;
    return model;
}

// The time that the operand of the multiplication, which it loads, needs the stores' path; whether
// it has a µop on any port of loads beside that for vectors.
static double loaded_clk = 0.5;
static bool loaded_twice = false;

// Times mixes of what the core's forms need.
static int core_measure(void *context, const struct port_mix *mixes, int n,
                        struct port_timing *timings, struct err *err)
{
    (void)err;
    const struct port_model *model = context;
    struct port_usage usages[MIXED + 1] = {
        [STORE] = ports_one_uop(0x30),           [LOAD] = ports_one_uop(0xc0),
        [MULTIPLY_LOADED] = ports_one_uop(0xc0), [NARROW] = ports_one_uop(0xf0),
        [FENCE] = {.front = {.slots = 1}},       [MIXED] = ports_one_uop(0x30)};
    ports_demand_put(&usages[STORE].demands, 0)->clk = 0.5;
    ports_demand_put(&usages[MULTIPLY_LOADED].demands, 0)->clk = loaded_clk;
    if (loaded_twice)
        usages[MULTIPLY_LOADED].uses = (struct port_uses){
            2, 2, {{0xf0, 1}, {0xc0, 1}}
        };
    for (int i = 0; i < n; i++) {
        const struct port_usage *parts[PORT_MIX_PARTS_MAX];
        int counts[PORT_MIX_PARTS_MAX];
        for (int p = 0; p < mixes[i].nparts; p++) {
            parts[p] = &usages[mixes[i].parts[p].form];
            counts[p] = mixes[i].parts[p].count;
        }
        timings[i] = (struct port_timing){.outcome = OUTCOME_OK,
                                          .clk = port_bound(model, parts, counts, mixes[i].nparts)};
    }
    return 0;
}

// Finds the usages of the multiplication, the second as a sibling of the first.
static void core_infer(struct port_usage usages[2])
{
    struct err err = {0};
    struct port_model model = core_model();
    struct port_form forms[MIXED + 1];
    for (int f = 0; f <= MIXED; f++) {
        forms[f] = form_of(f);
        forms[f].rthroughput_clk = 0.5;
        forms[f].family = (uint64_t)f + 1;
    }
    int which[] = {MULTIPLY_LOADED, MULTIPLY_LOADED};
    const struct port_oracle oracle = {.measure = core_measure, .context = &model};
    struct port_siblings *siblings = port_siblings_new(1);
    const struct port_question question = {
        .oracle = &oracle, .forms = forms, .which = which, .n = 2, .siblings = siblings};
    assert_int_equal(port_infer(&question, &model, usages, &err), 0);
    port_siblings_free(siblings);
    ports_share_stores(&question, &model, usages);
}

// Stores have a part of the ports of loads. A load that waits for the stores' path has no µop
// there, however it is found: all that show one are sure of their ports.
static void a_shared_path_is_no_doubt_about_ports(void **state)
{
    (void)state;
    struct port_usage usages[2];
    core_infer(usages);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(usages[i].outcome, OUTCOME_OK);
        assert_false(usages[i].ambiguous);
        assert_int_equal(usages[i].uses.n, 1);
        assert_int_equal(usages[i].uses.use[0].set, 0xc0);
        assert_int_equal(usages[i].uses.uops, 1);
        assert_non_null(port_demand_on(&usages[i].demands, 0));
        assert_true(port_demand_on(&usages[i].demands, 0)->clk == 0.5);
    }
}

// A second µop on any port of loads stays one: the path does not explain it, though its loss beside
// stores is as large.
static void a_shared_path_is_no_uop_of_loads(void **state)
{
    (void)state;
    struct port_usage usages[2];
    loaded_twice = true;
    core_infer(usages);
    loaded_twice = false;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(usages[i].outcome, OUTCOME_OK);
        assert_false(usages[i].ambiguous);
        assert_int_equal(usages[i].uses.n, 2);
        assert_int_equal(usages[i].uses.use[0].set, 0xf0);
        assert_int_equal(usages[i].uses.use[1].set, 0xc0);
        assert_int_equal(usages[i].uses.uops, 2);
        assert_true(port_demand_on(&usages[i].demands, 0)->clk == 0.5);
    }
}

// A loss of less than what a store needs is no share: trials may show too much.
static void a_part_of_a_share_is_none(void **state)
{
    (void)state;
    struct port_usage usages[2];
    loaded_clk = 0.3;
    core_infer(usages);
    loaded_clk = 0.5;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(usages[i].outcome, OUTCOME_OK);
        assert_int_equal(usages[i].uses.n, 1);
        assert_int_equal(usages[i].uses.use[0].set, 0xc0);
        assert_null(port_demand_on(&usages[i].demands, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stores_nothing_has_no_uop_of_stores),
        cmocka_unit_test(ports_of_loads_stay),
        cmocka_unit_test(a_shared_path_is_no_doubt_about_ports),
        cmocka_unit_test(a_shared_path_is_no_uop_of_loads),
        cmocka_unit_test(a_part_of_a_share_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
