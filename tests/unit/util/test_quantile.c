// SPDX-License-Identifier: MIT
// Sorting values and quantiles of them, by hand.
#include "util/quantile.h"
#include "util/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_sort(void **state)
{
    (void)state;
    double values[] = {3, -INFINITY, 0.5, 1e300, -2, 0.5, INFINITY, -1e-300};
    const double sorted[] = {-INFINITY, -2, -1e-300, 0.5, 0.5, 3, 1e300, INFINITY};
    quantile_sort(values, 8);
    assert_memory_equal(values, sorted, sizeof sorted);
    quantile_sort(values + 1, 0);
    quantile_sort(NULL, 0);
    assert_memory_equal(values, sorted, sizeof sorted);
}

static void test_quantiles(void **state)
{
    (void)state;
    static const struct {
        int n;
        double values[5], q, expected;
    } cases[] = {
        {1, {7},                 0.25, 7  },
        {1, {7},                 1,    7  },
        {2, {1, 2},              0.5,  1.5},
        {2, {1, 2},              0,    1  },
        {2, {1, 2},              1,    2  },
        {3, {1, 2, 10},          0.5,  2  },
        {3, {1, 2, 10},          0.75, 6  },
        {4, {1, 2, 4, 8},        0.5,  3  },
        {5, {0, 10, 20, 30, 40}, 0.1,  4  },
        {5, {0, 10, 20, 30, 40}, 0.9,  36 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(fabs(quantile_of(cases[i].values, cases[i].n, cases[i].q) - cases[i].expected) <
                    1e-12);
    const double values[] = {0, 10, 20, 30, 50};
    assert_true(quantile_median(values, 5) == 20);
    assert_true(quantile_median(values, 4) == 15);
    assert_true(quantile_spread(values, 5) == 20);
    assert_true(quantile_spread(values, 1) == 0);
}

// The median of values in any order is that of sorted ones: random ones, few different ones, and
// ones in an order that makes parts uneven.
static void test_median_unsorted(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int n = 1; n <= 300; n++) {
        for (int kind = 0; kind < 4; kind++) {
            double values[300], sorted[300];
            for (int i = 0; i < n; i++)
                sorted[i] = values[i] = kind == 0   ? random_below(&random, 1000000) / 7.0
                                        : kind == 1 ? random_below(&random, 3)
                                        : kind == 2 ? i % 2 ? n - i : i
                                                    : -i * (double)i;
            quantile_sort(sorted, n);
            assert_true(quantile_median_unsorted(values, n) == quantile_median(sorted, n));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_median_unsorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
