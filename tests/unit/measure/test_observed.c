// SPDX-License-Identifier: MIT
// Properties in the database as witnesses of the CPU's family: sure ones, of this CPU, on which
// several runs agree.
#include "fixtures/store_fixture.h"

#include "measure/observed.h"
#include "store/store_cpu.h"
#include "store/store_property.h"

#include <math.h>

// A run of this CPU in which a property of one conclusion said so.
static void put_run(struct store *store, const char *name, double value, double confidence)
{
    struct err err;
    const struct conclusion_value knee = {
        .label = "knee", .value = value, .low = value - 3, .high = value + 3, .unit = "entries"};
    const struct conclusion conclusion = {
        .variant = "nop", .confidence = confidence, .values = &knee, .nvalues = 1, .sentence = ""};
    struct swept_property property = fixture_property(name, "knee");
    property.conclusions = &conclusion;
    property.nconclusions = 1;
    int64_t run_id = fixture_run(store, "zen5", 0xb40f40);
    if (store_put_property(store, run_id, &property, &err) != 0)
        fail_msg("%s", err.text);
}

static int get(struct store *store, uint32_t signature,
               struct cpu_observed observed[CPU_OBSERVED_MAX])
{
    struct err err = {0};
    int n = observed_read(store, fixture_cpu("zen5", signature), observed, &err);
    if (n < 0)
        fail_msg("%s", err.text);
    return n;
}

static void test_observed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct cpu_observed observed[CPU_OBSERVED_MAX];
    struct store *store = fixture_start(&fixture);
    assert_int_equal(get(store, 0xb40f40, observed), 0);
    put_run(store, "reorder_buffer", 498, 1);
    assert_int_equal(get(store, 0xb40f40, observed), 1);
    assert_string_equal(observed[0].property, "reorder_buffer");
    assert_string_equal(observed[0].variant, "nop");
    assert_string_equal(observed[0].label, "knee");
    assert_true(observed[0].value == 498 && observed[0].low == 495 && observed[0].high == 501);
    assert_int_equal(get(store, 0xb40f41, observed), 0); // another CPU
    // Properties that no core has a line for, and unsure ones.
    put_run(store, "no_such_property", 7, 1);
    put_run(store, "reorder_buffer", 100, 0.5);
    assert_int_equal(get(store, 0xb40f40, observed), 1);
    assert_true(observed[0].value == 498);
    // The middle of those that agree; one that does not makes it no witness, until it is old.
    put_run(store, "reorder_buffer", 506, 1);
    put_run(store, "reorder_buffer", 500, 1);
    assert_int_equal(get(store, 0xb40f40, observed), 1);
    assert_true(observed[0].value == 500);
    put_run(store, "reorder_buffer", 250, 1);
    assert_int_equal(get(store, 0xb40f40, observed), 0);
    for (int i = 0; i < 3; i++)
        put_run(store, "reorder_buffer", 502 + i, 1);
    assert_int_equal(get(store, 0xb40f40, observed), 1);
    assert_true(observed[0].value == 503);
    fixture_end(&fixture, store);
}

int main(void)
{
    if (!getenv("LATPUT_ROOT"))
        setenv("LATPUT_ROOT", ".", 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_observed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
