// SPDX-License-Identifier: MIT
// Tests store_validation.c: what is read is what was stored, of the newest validation of a run.
#include "fixtures/store_fixture.h"

#include "store/store_validation.h"

#include <math.h>

static void test_newest_is_read(void **state)
{
    (void)state;
    static const struct validation_class classes[] = {
        {"sse", 3, 2.5,         (double)NAN},
        {"all", 7, (double)NAN, 50         },
    };
    static const struct validation_mix worst[] = {
        {"2*add r64 r64; 1*mulps x x", 4, 3},
        {"1*div r64",                  9, 8},
    };
    const struct validation older = {.seed = 1, .mixes = 2, .mape_percent = 9};
    const struct validation stored = {.seed = 5,
                                      .mixes = 7,
                                      .mape_percent = 2.5,
                                      .kendall_tau = (double)NAN,
                                      .within_10_percent = 75,
                                      .classes = classes,
                                      .nclasses = 2,
                                      .worst = worst,
                                      .nworst = 2};
    struct fixture fixture;
    struct validation read;
    struct arena arena = {0};
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    assert_int_equal(store_get_validation(store, run_id, &read, &arena, &err), 0);
    assert_int_equal(store_put_validation(store, run_id, &older, &err), 0);
    assert_int_equal(store_put_validation(store, run_id, &stored, &err), 0);
    assert_int_equal(store_get_validation(store, run_id, &read, &arena, &err), 1);
    assert_int_equal(read.seed, 5);
    assert_int_equal(read.mixes, 7);
    assert_true(read.mape_percent == 2.5 && isnan(read.kendall_tau));
    assert_int_equal(read.nclasses, 2);
    assert_string_equal(read.classes[0].name, "all"); // in the order of names
    assert_true(isnan(read.classes[0].mape_percent) && read.classes[1].mape_percent == 2.5);
    assert_int_equal(read.nworst, 2);
    assert_string_equal(read.worst[0].text, "2*add r64 r64; 1*mulps x x");
    assert_true(read.worst[1].measured_clk == 9 && read.worst[1].predicted_clk == 8);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_newest_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
