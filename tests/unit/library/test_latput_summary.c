// SPDX-License-Identifier: MIT
// Summaries of liblatput: what is far from the others, or no number, does not count.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <latput.h>

#include <math.h>

static void summaries_are_right(void **state)
{
    (void)state;
    const double values[] = {5, NAN, 1, 2, 4, 3, 1000};
    struct latput_summary summary = latput_summarise(values, 7, 0);
    assert_int_equal(summary.n, 6);
    assert_true(summary.min == 1 && summary.max == 1000);
    assert_true(summary.median == 3.5);
    assert_true(summary.spread == 2.5);
    assert_true(summary.mean == 3); // 1000 is more than 3 * 2.5 from 3.5
    // Two neighbouring steps: the spread may be 0, the mean keeps both.
    const double steps[] = {52, 52, 52, 52, 78};
    assert_true(latput_summarise(steps, 5, 0).mean == 52);
    assert_true(latput_summarise(steps, 5, 26).mean == 57.2);
    assert_true(latput_summarise(values + 1, 1, 0).n == 0);
    assert_true(isnan(latput_summarise(values + 1, 1, 0).median));
    assert_true(isnan(latput_summarise(NULL, 0, 0).mean));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(summaries_are_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
