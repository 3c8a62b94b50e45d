// SPDX-License-Identifier: MIT
// Tests store_validation.c: what is read is what was stored, of the newest validation of a run, or
// of that with all its mixes.
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

// The mixes that a run has with it: all of a validation, in as many layouts; of several the most.
static void test_all_mixes_are_read(void **state)
{
    (void)state;
    static const struct validation_mix mixes[] = {
        {"2*add r64 r64; 1*mulps x x", 4, 3},
        {"1*div r64",                  9, 8},
        {"1*nop",                      1, 1},
    };
    const struct validation all = {
        .seed = 1, .mixes = 2, .worst = mixes, .nworst = 2, .layouts = 2};
    struct validation others[] = {all, all, all, all};
    others[0].mixes = 7;   // not all are there
    others[1].layouts = 1; // of an older version
    others[2].layouts = 0;
    others[3].mixes = others[3].nworst = 1;
    struct fixture fixture;
    struct validation read;
    struct arena arena = {0};
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(store_put_validation(store, run_id, &others[i], &err), 0);
    assert_int_equal(store_get_validated_mixes(store, run_id, 2, &read, &arena, &err), 0);
    assert_int_equal(store_put_validation(store, run_id, &all, &err), 0);
    assert_int_equal(store_put_validation(store, run_id, &others[3], &err), 0);
    assert_int_equal(store_get_validated_mixes(store, run_id, 2, &read, &arena, &err), 1);
    assert_int_equal(read.mixes, 2);
    assert_int_equal(read.nworst, 2);
    assert_int_equal(read.layouts, 2);
    assert_string_equal(read.worst[1].text, "1*div r64");
    assert_int_equal(store_get_validated_mixes(store, run_id, 3, &read, &arena, &err), 0);
    arena_free(&arena);
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_newest_is_read),
                                       cmocka_unit_test(test_all_mixes_are_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
