// SPDX-License-Identifier: MIT
// Which canary and which floor are chosen from timed candidates, and when a kernel's passes are
// enough: the two decisions of the measurement that need no CPU to be tested.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/core_internal.h"
#include "floor.h"

// The core is a program of its own; this file of it has no state and no dependencies.
#include "core/core_steady.c"

#include <string.h>

static void the_fastest_steady_candidate_wins(void **state)
{
    (void)state;
    const struct exec_floor floors[] = {
        {1, 0.1760, 0.94, 6000, 0.1760}, // one-byte nops do not reach the width
        {4, 0.1684, 0.77, 6000, 0.1684},
        {5, 0.1600, 0.05, 6000, 0.1650}, // no peak: chance
        {6, 0.1808, 0.19, 6000, 0.1808},
    };
    struct canary_floor floor;
    assert_int_equal(floor_choose(floors, 4, 6, &floor), 1);
    assert_int_equal(floor.canary, 4);
    assert_true(floor.clk_per_instr == 0.1684);
    assert_string_equal(floor.method, "issue-width");
    // Without a width there is nothing to expect; the mode is taken as it is.
    assert_int_equal(floor_choose(floors, 4, 0, &floor), 1);
    assert_string_equal(floor.method, "mode");
}

static void fused_nops_are_no_canary(void **state)
{
    (void)state;
    const struct exec_floor zen4[] = {
        {1,  0.1089, 0.60, 6000, 0.0958}, // now 9, now 10 a cycle, where 6 µops are dispatched
        {2,  0.0995, 0.75, 6000, 0.0920},
        {5,  0.1301, 0.80, 6000, 0.1242},
        {9,  0.2085, 0.80, 6000, 0.2067},
        {10, 0.1672, 0.70, 6000, 0.1660},
    };
    struct canary_floor floor;
    assert_int_equal(floor_choose(zen4, 5, 6, &floor), 1);
    assert_int_equal(floor.canary, 10);
    // Disturbed, nops of six bytes take what the width allows; still they are none.
    const struct exec_floor busy[] = {
        {1,  0.1543, 0.40, 6000, 0.1013},
        {6,  0.1687, 0.40, 6000, 0.1340},
        {10, 0.2530, 0.40, 6000, 0.1695},
    };
    assert_int_equal(floor_choose(busy, 3, 6, &floor), 0);
    assert_int_equal(floor.canary, 10);
}

static void a_busy_core_gives_no_floor_to_keep(void **state)
{
    (void)state;
    const struct exec_floor busy[] = {
        {1, 0.33,   0.9, 6000, 0.33  },
        {4, 0.3368, 0.8, 6000, 0.3368}
    };
    struct canary_floor floor;
    assert_int_equal(floor_choose(busy, 2, 6, &floor), 0);
    const struct exec_floor none[] = {
        {1, 0.17, 0.01, 6000, 0.17}
    };
    assert_int_equal(floor_choose(none, 1, 6, &floor), -1);
    assert_int_equal(floor_choose(NULL, 0, 6, &floor), -1);
}

enum { SAMPLES = 4 };

static bool settled(uint32_t grid, uint32_t passes, const double *clk)
{
    struct core_kernel kernel = {.grid = grid};
    struct kernel_run run = {.kernel = &kernel, .nvalues = passes};
    for (uint32_t pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < SAMPLES; i++)
            run.values[pass][i] = clk[pass];
    return steady_settled(&run, SAMPLES, 0.005);
}

static void passes_go_on_until_the_fastest_state_came_back(void **state)
{
    (void)state;
    static const struct {
        uint32_t grid, passes;
        double clk[5];
        bool settled;
    } cases[] = {
        {1, 1, {3},                            false},
        {1, 2, {3, 3.001},                     true },
        {1, 2, {3, 4},                         false}, // 3 was seen once
        {1, 3, {4, 4, 3},                      false},
        {1, 4, {4, 4, 3, 3, 4},                true },
        {1, 2, {3.15, 3.15},                   false}, // no whole cycle: look longer
        {1, 5, {3.15, 3.15, 3.15, 3.15, 3.15}, true },
        {6, 2, {0.5, 0.5},                     true },
        {6, 2, {0.333, 0.333},                 true },
        {6, 2, {0.532, 0.532},                 false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(settled(cases[i].grid, cases[i].passes, cases[i].clk), cases[i].settled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_steady_candidate_wins),
        cmocka_unit_test(fused_nops_are_no_canary),
        cmocka_unit_test(a_busy_core_gives_no_floor_to_keep),
        cmocka_unit_test(passes_go_on_until_the_fastest_state_came_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
