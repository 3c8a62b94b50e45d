// SPDX-License-Identifier: MIT
// The order of the nodes in a chase: each comes once, and if pages are visited as a whole, all
// nodes of one come before any of another.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"

// The core is a program of its own; this file of it has no state and no dependencies.
#include "core/core_chase.c"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 19 };
static uint32_t order[NODES_MAX], again[NODES_MAX];
static int lives;

static void alive(void)
{
    lives++;
}

static uint32_t make(enum core_fill_kind kind, uint32_t nodes, uint32_t stride, uint64_t seed)
{
    const struct core_fill fill = {
        .kind = kind, .bytes = (uint64_t)nodes * stride, .stride = stride, .seed = seed};
    assert_int_equal(chase_nodes(&fill), nodes);
    chase_order(&fill, order, alive);
    return CORE_PAGE / stride;
}

static void check_each_once(uint32_t nodes)
{
    bool *has = calloc(nodes, sizeof *has);
    for (uint32_t i = 0; i < nodes; i++) {
        assert_true(order[i] < nodes && !has[order[i]]);
        has[order[i]] = true;
    }
    free(has);
}

// Counts the numbers that are one more than the number before.
static uint32_t in_a_row(const uint32_t *numbers, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < n; i++)
        count += numbers[i] == numbers[i - 1] + 1;
    return count;
}

static const struct {
    uint32_t nodes, stride;
} SIZES[] = {
    {1,         64 },
    {63,        64 }, // less than a page
    {64,        64 },
    {65,        64 }, // what is left is one node
    {6400,      64 },
    {6433,      64 },
    {1000,      192}, // 21 of a page, which they do not fill
    {4000,      512},
    {NODES_MAX, 64 },
};

static void each_node_comes_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            make(CORE_FILL_CHASE, SIZES[i].nodes, SIZES[i].stride, seed);
            check_each_once(SIZES[i].nodes);
            make(CORE_FILL_CHASE_PAGES, SIZES[i].nodes, SIZES[i].stride, seed);
            check_each_once(SIZES[i].nodes);
        }
}

// Each group of as many as a page holds is one page's, what is left of one comes last.
static void pages_come_one_by_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        uint32_t nodes = SIZES[i].nodes;
        uint32_t each = make(CORE_FILL_CHASE_PAGES, nodes, SIZES[i].stride, i);
        for (uint32_t k = 0; k < nodes; k++)
            assert_int_equal(order[k] / each, order[k / each * each] / each);
        for (uint32_t k = nodes / each * each; k < nodes; k++)
            assert_int_equal(order[k] / each, nodes / each);
    }
}

// Neither pages nor the nodes of one are in the order of addresses, and not two pages in the same.
static void both_are_at_random(void **state)
{
    (void)state;
    enum { NODES = 6400, EACH = 64, PAGES = NODES / EACH };
    assert_int_equal(make(CORE_FILL_CHASE_PAGES, NODES, 64, 7), EACH);
    uint32_t pages[PAGES], same = 0;
    for (uint32_t page = 0; page < PAGES; page++)
        pages[page] = order[page * EACH] / EACH;
    assert_true(in_a_row(pages, PAGES) < PAGES / 10);
    assert_true(in_a_row(order, NODES) < NODES / 10);
    for (uint32_t k = 0; k < EACH; k++)
        same += order[k] % EACH == order[EACH + k] % EACH;
    assert_true(same < EACH / 4);
}

// The same seed has the same order, so that a kernel finds its data as they were; another has
// another.
static void seeds_tell_orders_apart(void **state)
{
    (void)state;
    static const enum core_fill_kind kinds[] = {CORE_FILL_CHASE, CORE_FILL_CHASE_PAGES};
    for (int i = 0; i < 2; i++) {
        make(kinds[i], 6400, 64, 1);
        memcpy(again, order, sizeof again);
        make(kinds[i], 6400, 64, 1);
        assert_memory_equal(again, order, 6400 * sizeof *order);
        make(kinds[i], 6400, 64, 2);
        assert_memory_not_equal(again, order, 6400 * sizeof *order);
    }
}

static void long_orders_show_life(void **state)
{
    (void)state;
    lives = 0;
    make(CORE_FILL_CHASE, NODES_MAX, 64, 1);
    assert_true(lives > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_comes_once),  cmocka_unit_test(pages_come_one_by_one),
        cmocka_unit_test(both_are_at_random),    cmocka_unit_test(seeds_tell_orders_apart),
        cmocka_unit_test(long_orders_show_life),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
