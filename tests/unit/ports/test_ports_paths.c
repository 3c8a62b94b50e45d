// SPDX-License-Identifier: MIT
// Paths: two that are one, and what forms that store nothing lose beside stores.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ports/ports_pairs.h"
#include "util/mem.h"

#include <math.h>
#include <stdlib.h>

enum { FORMS = 12, COUNT = 60 };

// Pairs of forms that take half a cycle each; beside each other those that `need` the same path
// take the sum, others no longer than alone.
static struct pairs *pairs_of(const unsigned *need)
{
    struct pairs *pairs = xcalloc(1, sizeof *pairs);
    pairs->n = FORMS;
    for (int i = 0; i < FORMS; i++) {
        pairs->clk[i] = 0.5;
        pairs->count[i] = COUNT;
        for (int j = 0; j < FORMS; j++)
            pairs->cells[i][j] = (struct cell){need[i] & need[j] ? 60 : 30, 30};
    }
    return pairs;
}

static void put_path(struct pairs *pairs, unsigned members)
{
    for (int i = 0; i < FORMS; i++)
        pairs->shares[pairs->npaths][i] = members & 1u << i ? 0.5 : 0;
    pairs->npaths++;
}

// Some forms have a share of the one path, some of the other, two of both.
static void one_path_that_was_found_twice(void **state)
{
    (void)state;
    const unsigned need[FORMS] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct pairs *pairs = pairs_of(need);
    put_path(pairs, 0x1f);
    put_path(pairs, 0xf8);
    pairs_join_paths(pairs);
    assert_int_equal(pairs->npaths, 1);
    for (int i = 0; i < FORMS; i++)
        assert_true(fabs(pairs->shares[0][i] - (need[i] ? 0.5 : 0)) < 0.01);
    free(pairs);
}

static void two_paths_stay(void **state)
{
    (void)state;
    const unsigned need[FORMS] = {1, 1, 1, 1, 3, 3, 2, 2, 2, 2};
    struct pairs *pairs = pairs_of(need);
    put_path(pairs, 0x3f);
    put_path(pairs, 0x3f0);
    pairs_join_paths(pairs);
    assert_int_equal(pairs->npaths, 2);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < FORMS; i++)
            assert_true(fabs(pairs->shares[k][i] - (need[i] & 1u << k ? 0.5 : 0)) < 0.01);
    free(pairs);
}

// The first and the last of three are one; the number of the other does not matter.
static void others_stay(void **state)
{
    (void)state;
    const unsigned need[FORMS] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 2};
    struct pairs *pairs = pairs_of(need);
    put_path(pairs, 0x0f);
    put_path(pairs, 0x3c0);
    put_path(pairs, 0x3c);
    pairs_join_paths(pairs);
    assert_int_equal(pairs->npaths, 2);
    int first = pairs->shares[0][0] > 0 ? 0 : 1;
    for (int i = 0; i < FORMS; i++) {
        assert_true(fabs(pairs->shares[first][i] - (need[i] & 1 ? 0.5 : 0)) < 0.01);
        assert_true(fabs(pairs->shares[1 - first][i] - (need[i] & 2 ? 0.5 : 0)) < 0.01);
    }
    free(pairs);
}

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
        .uses = {3, 3, {{0xc0, 1}, {0x30, 1}, {0x03, 1}}}
    };
    struct port_usage usage = shared(&model, MULTIPLY_LOADED, seen);
    assert_int_equal(usage.uses.uops, 2);
    assert_int_equal(usage.uses.n, 2);
    assert_true(usage.uses.use[0].set == 0xc0 && usage.uses.use[1].set == 0x03);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_path_that_was_found_twice),
        cmocka_unit_test(two_paths_stay),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(what_stores_nothing_has_no_uop_of_stores),
        cmocka_unit_test(ports_of_loads_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
