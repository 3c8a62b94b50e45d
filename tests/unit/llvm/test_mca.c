// SPDX-License-Identifier: MIT
// Mixes through llvm-mca, of forms that a recording has: bounds that are known of its model of
// Sapphire Rapids, and what it does not take. Skipped where LLVM 19 is not installed.
#include "fixtures/pack_fixture.h"

#include "llvm/llvm_run.h"
#include "llvm/mca.h"

#include <math.h>

static int form_index(const struct known_cpu *data, const char *form)
{
    for (int i = 0; i < data->nforms; i++)
        if (strcmp(data->forms[i].id.form, form) == 0)
            return i;
    fail_msg("no %s", form);
    return -1;
}

static void expect_near(double value, double expected)
{
    if (!(fabs(value - expected) < 0.06)) // it prints tenths
        fail_msg("%g, expected %g", value, expected);
}

static void test_bounds(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct known_cpu data;
    int64_t run_id;
    struct store *store =
        fixture_merged(&fixture, "tests/fixtures/recorded/sapphirerapids_a/run.zip", &run_id);
    struct store_filter filter = {.uarch = "sapphirerapids?", .run_id = run_id};
    if (known_read(store, &filter, KNOWN_CODE, &data, &err) != 0)
        fail_msg("%s", err.text);
    int rol = form_index(&data, "rol r32 i8"), move = form_index(&data, "or r64 m64");
    int none = form_index(&data, "or r16 i16");
    data.forms[none].code = NULL;
    struct mca_mix *mixes = calloc(260, sizeof *mixes); // more than one process is given
    assert_non_null(mixes);
    for (int i = 0; i < 260; i++)
        mixes[i] = (struct mca_mix){
            .parts = {{rol, 1 + i % 7}, {move, 3}},
              .nparts = 2
        };
    mixes[258] = (struct mca_mix){.parts = {{move, 12}}, .nparts = 1};
    mixes[259] = (struct mca_mix){
        .parts = {{rol, 4}, {none, 1}},
          .nparts = 2
    };
    struct mca_counts counts;
    if (mca_bounds(&data, "sapphirerapids", mixes, 260, &counts, &err) != 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < 258; i++) // rotation: two µops for two ports; six a cycle in all
        expect_near(mixes[i].clk, fmax(1 + i % 7, (2 * (1 + i % 7) + 6) / 6.0));
    expect_near(mixes[258].clk, 4); // three loads per cycle
    assert_true(isnan(mixes[259].clk));
    assert_int_equal(counts.refused, 1);
    assert_int_equal(counts.late, 0);
    assert_true(mca_cpu_is_name("znver4") && !mca_cpu_is_name("") && !mca_cpu_is_name("a b"));
    assert_string_equal(mca_cpu_of("zen4", &err), "znver4");
    assert_null(mca_cpu_of("zen6", &err));
    assert_string_equal(err.text, "LLVM has no name for 'zen6' in cpuinfo/other_names.csv");
    free(mixes);
    known_free(&data);
    fixture_end(&fixture, store);
}

int main(void)
{
    struct err err;
    llvm_choose(19);
    char *tool = llvm_find("llvm-mca", &err);
    if (!tool) {
        puts(err.text);
        return 77;
    }
    free(tool);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
