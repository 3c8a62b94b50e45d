// SPDX-License-Identifier: MIT
// The pairs of a form that are the latency of its result: columns result_latency_* of
// instruction_table, and in_result of latency_table.
#include "fixtures/store_fixture.h"

#include "store/store_internal.h"

#define LATENCY(src_, dst_, clk_) LATENCY_OF(src_, dst_, "", clk_)
#define LATENCY_OF(src_, dst_, variant_, clk_)                                                     \
    {                                                                                              \
        TEST_LATENCY, src_, dst_, variant_, OUTCOME_OK, OUTCOME_OK, clk_                           \
    }
#define FAILED(src_, dst_)                                                                         \
    {                                                                                              \
        TEST_LATENCY, src_, dst_, "", OUTCOME_OK, OUTCOME_SIGNALLED, 0                             \
    }
#define NO_CHAIN(src_, dst_)                                                                       \
    {                                                                                              \
        TEST_LATENCY, src_, dst_, "", OUTCOME_NOT_MEASURABLE, OUTCOME_OK, 0                        \
    }

enum { PAIRS_MAX = 8 };

// clang-format off
static const struct {
    const char *form;
    struct fixture_test pairs[PAIRS_MAX];
    const char *expected; // least, most, with slow data; which pairs
} forms[] = {
    // Registers before memory and flags, which stand apart; so do data that were just stored.
    {"add r64 m64",
     {LATENCY("op1", "op1", 1), LATENCY("op1", "flags", 2), LATENCY("op2.base", "op1", 5),
      LATENCY("op2.base", "flags", 6), LATENCY("op2.data", "op1", 0.5)},
     "1.0 5.0 - - op1>op1 op2.base>op1"},
    {"mov r64 m64",
     {LATENCY("op2.base", "op1", 4), LATENCY("op2.data", "op1", 0.5)},
     "4.0 4.0 - - op2.base>op1"},
    {"xadd m64 r64",
     {LATENCY("op1.base", "op2", 16), LATENCY("op2", "op1.data", 19), LATENCY("op2", "op2", 18),
      LATENCY("op1.data", "op1.data", 20)},
     "16.0 18.0 - - op1.base>op2 op2>op2"},
    // Flags as an input stand apart beside registers; alone they count.
    {"adc r64 r64",
     {LATENCY("op1", "op1", 1), LATENCY("op2", "op1", 1), LATENCY("cf", "op1", 3),
      LATENCY("cf", "flags", 4)},
     "1.0 1.0 - - op1>op1 op2>op1"},
    {"setz r8", {LATENCY("zf", "op1", 2), LATENCY("op1.rest", "op1", 1)}, "2.0 2.0 - - zf>op1"},
    // Memory where it is the result, then also from what was there before.
    {"mov m64 r64", {LATENCY("op2", "op1.data", 3)}, "3.0 3.0 - - op2>op1.data"},
    {"add m64 r64",
     {LATENCY("op1.data", "op1.data", 7), LATENCY("op2", "op1.data", 2),
      LATENCY("op1.base", "flags", 9), LATENCY("op1.data", "flags", 8)},
     "2.0 7.0 - - op1.data>op1.data op2>op1.data"},
    {"setz m8", {LATENCY("zf", "op1.data", 6)}, "6.0 6.0 - - zf>op1.data"},
    // A cleared mask is no result.
    {"vpscatterdd vm32x{k} x",
     {LATENCY("op1.mask", "op1.mask", 40), LATENCY("op2", "op1.data", 20)},
     "20.0 20.0 - - op2>op1.data"},
    // Flags where they are the result; those that are left undefined are none.
    {"cmp r64 m64",
     {LATENCY("op1", "flags", 1), LATENCY("op2.base", "flags", 6), LATENCY("op1", "flags.of", 2),
      LATENCY("op2.data", "flags", 0.5)},
     "1.0 6.0 - - op1>flags op1>flags.of op2.base>flags"},
    {"bt r64 r64",
     {LATENCY("op1", "cf", 10), LATENCY("op2", "cf", 10), LATENCY("op1", "sf", 3),
      LATENCY("op1", "of", 3), LATENCY("op2", "af", 12)},
     "10.0 10.0 - - op1>cf op2>cf"},
    {"cmc", {LATENCY("cf", "cf", 1)}, "1.0 1.0 - - cf>cf"},
    {"fcom st0 st", {LATENCY("st0", "fpsw", 4)}, "4.0 4.0 - - st0>fpsw"},
    // Slow data stand beside fast ones; undefined flags of a division in neither.
    {"div r32",
     {LATENCY_OF("op1", "eax", "fast", 10), LATENCY_OF("op1", "edx", "fast", 11),
      LATENCY_OF("op1", "flags", "fast", 3), LATENCY_OF("op1", "eax", "slow", 13),
      LATENCY_OF("op1", "edx", "slow", 14), LATENCY_OF("op1", "flags", "slow", 3)},
     "10.0 11.0 13.0 14.0 op1>eax op1>eax op1>edx op1>edx"},
    // A result without a value is not replaced by flags, nor by what is left alone.
    {"popcnt r64 r64", {FAILED("op2", "op1"), LATENCY("op2", "flags", 3)}, "- - - - op2>op1"},
    {"vpconflictd y m32{1to8}",
     {NO_CHAIN("op2.base", "op1"), LATENCY("op2.data", "op1", 6)},
     "- - - - op2.base>op1"},
    {"mov r8 i8", {LATENCY("op1.rest", "op1", 1)}, "- - - - "},
    {"xor r64 r64 same",
     {LATENCY("op1", "op1", 0.25), NO_CHAIN("op1", "flags")},
     "0.0 0.0 - - op1>op1"},
};
// clang-format on

static int count_pairs(const struct fixture_test *pairs)
{
    int n = 0;
    while (n < PAIRS_MAX && pairs[n].src)
        n++;
    return n;
}

static void put(struct store *store, int64_t run_id, int position, const char *form,
                const struct fixture_test *pairs)
{
    char mnemonic[40];
    struct err err = {0};
    snprintf(mnemonic, sizeof mnemonic, "%.*s", (int)strcspn(form, " "), form);
    const char *operands = form + strlen(mnemonic) + (form[strlen(mnemonic)] == ' ');
    struct list_row row = fixture_row(mnemonic, operands, form);
    if (fixture_put(store, run_id, &row, position, pairs, count_pairs(pairs), &err) != 0)
        fail_msg("%s: %s", form, err.text);
}

static void test_rule(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        put(store, run_id, (int)i, forms[i].form, forms[i].pairs);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        char sql[1000];
        snprintf(sql, sizeof sql,
                 "SELECT coalesce(round(result_latency_clk, 2), '-') || ' ' || "
                 "coalesce(round(result_latency_max_clk, 2), '-') || ' ' || "
                 "coalesce(round(result_latency_slow_clk, 2), '-') || ' ' || "
                 "coalesce(round(result_latency_slow_max_clk, 2), '-') || ' ' || "
                 "coalesce((SELECT group_concat(src || '>' || dst, ' ') FROM (SELECT src, dst FROM "
                 "latency_table AS pair WHERE pair.form = instr.form AND in_result "
                 "ORDER BY src, dst)), '') FROM instruction_table AS instr WHERE form = '%s'",
                 forms[i].form);
        fixture_expect(store, sql, forms[i].expected);
    }
    fixture_end(&fixture, store);
}

// Bounds, averages and ranges: facts of the result of a pair, as derive/ makes them.
// clang-format off
static const struct {
    const char *change, *expected; // least, its upper end and bound; most, the same
} results[] = {
    {"", "1.0 - exact; 5.0 - exact"},
    {"most_clk = 2.0 WHERE src = 'op1'", "1.0 2.0 exact; 5.0 - exact"},
    {"most_clk = 1.1 WHERE src = 'op1'", "1.0 - exact; 5.0 - exact"},
    {"most_clk = 9.0 WHERE src = 'op1'", "1.0 5.0 exact; 5.0 9.0 exact"},
    {"most_clk = 2.0, average = 1 WHERE src = 'op1'", "1.0 - average; 5.0 - exact"},
    {"bound = 'upper', most_clk = 2.0 WHERE src = 'op1'", "1.0 - upper; 5.0 - exact"},
    {"bound = 'upper' WHERE src = 'op2.base'", "1.0 - exact; 5.0 - upper"},
 // The better bound of two that are as close as two measurements, with its value.
    {"bound = 'upper', value_clk = 1.01 WHERE src = 'op2.base'", "1.0 - exact; 1.0 - exact"},
    {"bound = 'upper', value_clk = 0.99 WHERE src = 'op2.base'", "1.0 - exact; 1.0 - exact"},
    {"bound = 'upper', value_clk = 1.1 WHERE src = 'op2.base'", "1.0 - exact; 1.1 - upper"},
 // A bound within a range ends none: it may be less. Beyond one it has none.
    {"bound = iif(value_clk = 1, 'exact', 'upper'), value_clk = iif(value_clk = 1, 1, 1.5), "
     "most_clk = 2 WHERE src IN ('op1', 'op2.base')", "1.0 2.0 exact; 1.0 2.0 exact"},
    {"value_clk = iif(value_clk = 1, 1, 1.5), average = (value_clk > 1), most_clk = 2 "
     "WHERE src IN ('op1', 'op2.base')", "1.0 2.0 exact; 1.0 2.0 exact"},
    {"bound = iif(value_clk = 1, 'exact', 'upper'), most_clk = iif(value_clk = 1, 2, 6) "
     "WHERE src IN ('op1', 'op2.base')", "1.0 2.0 exact; 5.0 - upper"},
    {"average = (value_clk > 1), most_clk = iif(value_clk = 1, 2, 6) "
     "WHERE src IN ('op1', 'op2.base')", "1.0 2.0 exact; 5.0 - average"},
};
// clang-format on

static void test_bounds(void **state)
{
    (void)state;
    static const struct fixture_test pairs[PAIRS_MAX] = {
        LATENCY("op1", "op1", 1), LATENCY("op2.base", "op1", 5), LATENCY("op1", "flags", 1)};
    for (size_t i = 0; i < ARRAY_LEN(results); i++) {
        struct fixture fixture;
        struct err err = {0};
        struct store *store = fixture_start(&fixture);
        put(store, fixture_run(store, "testa", 0xb00f21), 0, "add r64 m64", pairs);
        char sql[300], set[200];
        size_t len = strcspn(results[i].change, "W");
        snprintf(set, sizeof set, "%.*s", (int)len, results[i].change);
        snprintf(sql, sizeof sql,
                 "UPDATE result SET %s WHERE test_id IN (SELECT test_id FROM test %s)", set,
                 results[i].change + len);
        if (*results[i].change && store_script(store, &err, sql, "change results") != 0)
            fail_msg("%s", err.text);
        assert_int_equal(store_summary_renew(store, &err), 0);
        fixture_expect(store,
                       "SELECT group_concat(part, '; ') FROM (SELECT round(result_latency_clk, 2) "
                       "|| coalesce(' ' || round(result_latency_most_clk, 2), ' -') || ' ' || "
                       "result_latency_bound AS part FROM instruction_table UNION ALL "
                       "SELECT round(result_latency_max_clk, 2) || coalesce(' ' || "
                       "round(result_latency_max_most_clk, 2), ' -') || ' ' || "
                       "result_latency_max_bound FROM instruction_table)",
                       results[i].expected);
        fixture_end(&fixture, store);
    }
}

// Fast and slow data have bounds of their own, of latency and of throughput.
static void test_slow_bound(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    static const struct fixture_test pairs[PAIRS_MAX] = {
        LATENCY_OF("op1", "op1", "fast", 10),
        LATENCY_OF("op1", "op1", "slow", 20),
        {TEST_THROUGHPUT, "", "", "fast", OUTCOME_OK, OUTCOME_OK, 5},
        {TEST_THROUGHPUT, "", "", "slow", OUTCOME_OK, OUTCOME_OK, 9}
    };
    put(store, fixture_run(store, "testa", 0xb00f21), 0, "div r64", pairs);
    static const char ask[] =
        "SELECT result_latency_bound || ' ' || result_latency_max_bound || ' ' || "
        "result_latency_slow_bound || ' ' || result_latency_slow_max_bound || ', ' || "
        "rthroughput_fast_bound || ' ' || rthroughput_slow_bound || ' ' || rthroughput_bound "
        "FROM instruction_table";
    static const struct {
        const char *fast, *slow, *expected;
    } cases[] = {
        {"exact", "exact", "exact exact exact exact, exact exact exact"},
        {"exact", "upper", "exact exact upper upper, exact upper upper"},
        {"upper", "exact", "upper upper exact exact, upper exact upper"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char sql[300];
        snprintf(sql, sizeof sql,
                 "UPDATE result SET bound = (SELECT iif(variant = 'slow', '%s', '%s') FROM test "
                 "WHERE test.test_id = result.test_id)",
                 cases[i].slow, cases[i].fast);
        assert_int_equal(store_script(store, &err, sql, "change bounds"), 0);
        assert_int_equal(store_summary_renew(store, &err), 0);
        fixture_expect(store, ask, cases[i].expected);
    }
    fixture_end(&fixture, store);
}

// A chain that takes hundreds of cycles of a form that is fast beside others has a note.
static void test_assists(void **state)
{
    (void)state;
    static const struct {
        double clk, slow_clk; // of a chain, and a throughput with slow data
        const char *note;
    } cases[] = {
        {592, 4,  "assists in a chain of 592 cycles"},
        {99,  4,  "-"                               },
        {592, 80, "-"                               },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture fixture;
        struct store *store = fixture_start(&fixture);
        const struct fixture_test pairs[PAIRS_MAX] = {
            LATENCY_OF("op1", "op1", "fast", 10),
            LATENCY_OF("op2", "op1", "slow", cases[i].clk),
            {TEST_THROUGHPUT, "", "", "fast", OUTCOME_OK, OUTCOME_OK, 4                },
            {TEST_THROUGHPUT, "", "", "slow", OUTCOME_OK, OUTCOME_OK, cases[i].slow_clk}
        };
        put(store, fixture_run(store, "testa", 0xb00f21), 0, "fdivr m32", pairs);
        fixture_expect(store, "SELECT coalesce(note, '-') FROM instruction_table", cases[i].note);
        fixture_end(&fixture, store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_slow_bound),
        cmocka_unit_test(test_assists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
