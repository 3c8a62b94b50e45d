// SPDX-License-Identifier: MIT
// Merged runs of a machine that describes itself like this one: they are there, but do not describe
// this machine, nor are they its newest run, its ports or its pack.
#include "fixtures/merge_fixture.h"
#include "fixtures/ports_fixture.h"
#include "fixtures/store_fixture.h"

#include "measure/observed.h"
#include "merge/merge.h"
#include "store/store_cpu.h"
#include "store/store_property.h"

static const uint32_t SIGNATURE = 0xb40f40;

// A finished run with ports, and a property whose knee is there.
static int64_t put_run(struct store *store, const char *uarch, double scale, double knee)
{
    struct err err = {0};
    const struct conclusion_value value = {
        .label = "knee", .value = knee, .low = knee - 3, .high = knee + 3, .unit = "entries"};
    const struct conclusion conclusion = {
        .variant = "nop", .confidence = 1, .values = &value, .nvalues = 1, .sentence = ""};
    struct swept_variant variant = {.name = "nop", .detail = ""};
    struct swept_point point = {
        .x = knee, .by = NAN, .instances = 1, .detail = "", .y = 1, .samples = 1};
    struct swept_property property = fixture_property("reorder_buffer", "knee");
    property.variants = &variant;
    property.points = &point;
    property.conclusions = &conclusion;
    property.nvariants = property.npoints = property.nconclusions = 1;
    int64_t forms = fixture_fill_ports(store, uarch, SIGNATURE, scale);
    int64_t properties = fixture_run(store, uarch, SIGNATURE);
    if (store_put_property(store, properties, &property, &err) != 0 ||
        store_run_finish(store, forms, 9, 1.5, &err) != 0 ||
        store_run_finish(store, properties, 9, 1.5, &err) != 0)
        fail_msg("%s", err.text);
    return forms;
}

// Makes the pack of a stranger with such a CPU, who also takes it for a testb.
static void strangers_pack(const struct fixture *fixture, const char *name, char packed[160])
{
    char strangers[160];
    struct err err = {0};
    snprintf(strangers, sizeof strangers, "%s/%s.db", fixture->dir, name);
    snprintf(packed, 160, "%s/%s.pack", fixture->dir, name);
    struct store *theirs = fixture_open(strangers, STORE_WRITE);
    const int64_t runs[] = {put_run(theirs, "testb", 2, 250), 2};
    const struct merge_extract extract = {runs, 2, MERGE_KEEP_SAMPLES};
    if (merge_extract_runs(theirs, &extract, packed, &err) != 0)
        fail_msg("%s", err.text);
    store_close(theirs);
}

static void merge_strangers(const struct fixture *fixture, struct store *store, const char *name)
{
    char packed[160];
    struct err err = {0};
    struct store_merged merged;
    strangers_pack(fixture, name, packed);
    if (merge_runs(store, packed, name, &merged, &err) != 2)
        fail_msg("%s", err.text);
}

static double knee_here(struct store *store)
{
    struct cpu_observed observed[CPU_OBSERVED_MAX];
    struct err err = {0};
    int n = observed_read(store, fixture_cpu("testa", SIGNATURE), observed, &err);
    assert_in_range(n, 0, 1);
    return n ? observed[0].value : 0;
}

static void expect_uarch_here(struct store *store, const char *expected)
{
    struct err err = {0};
    char *uarch = store_uarch_here(store, fixture_cpu("claimed", SIGNATURE), &err);
    assert_string_equal(uarch, expected);
    free(uarch);
}

// The runs of the pack of a run, as text.
static void expect_packed(struct store *store, int64_t run_id, const char *expected)
{
    struct strbuf text = {0};
    struct err err = {0};
    int64_t *runs;
    int n;
    assert_int_equal(store_table_runs(store, run_id, &runs, &n, &err), 0);
    for (int i = 0; i < n; i++)
        strbuf_printf(&text, "%lld ", (long long)runs[i]);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_free(&text);
    free(runs);
}

static int64_t newest(struct store *store, const char *uarch)
{
    struct err err = {0};
    int64_t run_id = 0;
    assert_true(store_run_newest(store, uarch, &run_id, &err) >= 0);
    return run_id;
}

static int64_t newest_ports(struct store *store, int64_t cpu_id, const char *uarch)
{
    struct err err = {0};
    int64_t run_id = 0;
    assert_true(store_newest_port_run(store, cpu_id, uarch, &run_id, &err) >= 0);
    return run_id;
}

static int64_t newest_knee(struct store *store)
{
    struct err err = {0};
    struct arena arena = {0};
    struct property_values values;
    assert_int_equal(
        store_get_property_values(store, "testb", "reorder_buffer", &values, &arena, &err), 0);
    double knee = values.n ? values.points[0].x : 0;
    arena_free(&arena);
    return (int64_t)knee;
}

static void test_beside_own(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    int64_t cpu_id = 0, run_id = 0;
    struct store *store = fixture_start(&fixture);
    put_run(store, "testb", 1, 498); // runs 1 and 2
    merge_strangers(&fixture, store, "strangers");
    fixture_expect(store, "SELECT group_concat(run_id) FROM merged_run", "3,4");
    for (int64_t run = 1; run <= 4; run++)
        assert_int_equal(store_run_is_merged(store, run, &err), run > 2);
    assert_true(knee_here(store) == 498);
    assert_int_equal(newest(store, NULL), 1);
    assert_int_equal(newest(store, "testb"), 1);
    assert_int_equal(newest(store, "testc"), 0);
    assert_int_equal(store_put_cpu(store, fixture_cpu("testb", SIGNATURE), &cpu_id, &err), 0);
    assert_int_equal(newest_ports(store, cpu_id, NULL), 1);
    assert_int_equal(newest_ports(store, 0, "testb"), 1);
    assert_int_equal(newest_ports(store, 0, NULL), 1);
    assert_int_equal(store_newest_properties(store, NULL, NULL, &run_id, &err), 1);
    assert_int_equal(run_id, 2);
    assert_int_equal(newest_knee(store), 498);
    expect_packed(store, 1, "1 2 ");
    expect_packed(store, 3, "3 4 ");
    expect_uarch_here(store, "testb");
    fixture_end(&fixture, store);
}

// Nothing is known of this machine then; what others measured can be looked at as ever.
static void test_alone(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    int64_t cpu_id = 0, run_id = 0;
    struct store *store = fixture_start(&fixture);
    merge_strangers(&fixture, store, "strangers");
    assert_true(knee_here(store) == 0);
    expect_uarch_here(store, "claimed");
    assert_int_equal(store_put_cpu(store, fixture_cpu("testb", SIGNATURE), &cpu_id, &err), 0);
    assert_int_equal(newest_ports(store, cpu_id, NULL), 0);
    assert_int_equal(newest_ports(store, 0, "testb"), 1);
    assert_int_equal(newest(store, NULL), 1);
    assert_int_equal(store_newest_properties(store, NULL, NULL, &run_id, &err), 1);
    assert_int_equal(run_id, 2);
    assert_int_equal(newest_knee(store), 250);
    fixture_end(&fixture, store);
}

// A pack does not say of its runs that they were merged; a run that was measured here and comes
// back stays one that was measured here.
static void test_back(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char packed[160];
    struct store_merged merged;
    struct store *store = fixture_start(&fixture);
    put_run(store, "testb", 1, 498);
    merge_strangers(&fixture, store, "strangers");
    snprintf(packed, sizeof packed, "%s/back", fixture.dir);
    const int64_t runs[] = {1, 3};
    const struct merge_extract extract = {runs, 2, MERGE_KEEP_SAMPLES};
    assert_int_equal(merge_extract_runs(store, &extract, packed, &err), 0);
    struct store *pack = fixture_open(packed, STORE_READ);
    fixture_expect(pack, "SELECT count(*) FROM merged_run", "0");
    store_close(pack);
    store_close(store);
    store = fixture_open(fixture.db, STORE_WRITE);
    assert_int_equal(merge_runs(store, packed, "back", &merged, &err), 0);
    fixture_expect(store, "SELECT group_concat(run_id) FROM merged_run", "3,4");
    fixture_end(&fixture, store);
}

// The same run in two files of one merge is there once; what became of it both say alike.
static void test_twice(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store *store = fixture_start(&fixture);
    char strangers[160];
    struct store_merged merged[2];
    put_run(store, "testb", 1, 498);
    strangers_pack(&fixture, "strangers", strangers);
    struct merge *merge = merge_begin(store, NULL, &err);
    assert_non_null(merge);
    int status = merge_file(merge, strangers, "one", &merged[0], &err);
    status |= merge_file(merge, strangers, "two", &merged[1], &err);
    assert_int_equal(merge_end(merge, status, merged, 2, &err), 2);
    for (int i = 0; i < 2; i++)
        for (int run = 0; run < 2; run++) {
            assert_int_equal(merged[i].runs[run].run_id, 3 + run);
            assert_int_equal(merged[i].runs[run].added, i == 0);
        }
    fixture_expect(store, "SELECT count(*) FROM run", "4");
    fixture_end(&fixture, store);
}

// While a merge is made ready others write, also into the tables that it adds to; what came to be
// there meanwhile is not added once more.
static void test_meanwhile(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char strangers[160];
    struct store_merged merged;
    struct store *store = fixture_start(&fixture);
    strangers_pack(&fixture, "strangers", strangers);
    struct merge *merge = merge_begin(store, NULL, &err);
    assert_non_null(merge);
    assert_int_equal(merge_file(merge, strangers, "strangers", &merged, &err), 0);
    struct store *other = fixture_open(fixture.db, STORE_WRITE);
    put_run(other, "testb", 1, 498);
    store_close(other);
    assert_int_equal(merge_end(merge, 0, &merged, 1, &err), 2);
    assert_int_equal(merged.runs[0].run_id, 3);
    fixture_expect(store, "PRAGMA foreign_key_check", "no row");
    fixture_expect(store, "PRAGMA foreign_keys", "1");
    fixture_expect(store, "PRAGMA ignore_check_constraints", "0");

    store_close(store);
    char again[192];
    snprintf(again, sizeof again, "%s/again.db", fixture.dir);
    store = fixture_open(again, STORE_WRITE);
    merge = merge_begin(store, NULL, &err);
    assert_int_equal(merge_file(merge, strangers, "strangers", &merged, &err), 0);
    other = fixture_open(again, STORE_WRITE);
    assert_int_equal(merge_runs(other, strangers, "first", &merged, &err), 2);
    store_close(other);
    assert_int_equal(merge_end(merge, 0, &merged, 1, &err), -1);
    assert_non_null(strstr(err.text, "has merged a run of these packs meanwhile"));
    fixture_expect(store, "SELECT count(*) FROM run", "2");
    assert_int_equal(merge_runs(store, strangers, "later", &merged, &err), 0);
    fixture_end(&fixture, store);
}

// Facts about a CPU that is already known are not added to by others.
static void test_shared(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    char strangers[160], changed[192];
    struct store_merged merged;
    struct store *store = fixture_start(&fixture);
    put_run(store, "testb", 1, 498);
    strangers_pack(&fixture, "strangers", strangers);
    struct store *pack = fixture_open(strangers, STORE_WRITE);
    fixture_expect(pack, "INSERT INTO cpuid_leaf SELECT cpu_id, 7, 0, 1, 2, 3, 4 FROM cpu",
                   "no row");
    store_close(pack);
    assert_int_equal(merge_runs(store, strangers, "strangers", &merged, &err), 2);
    fixture_expect(store, "SELECT count(*) FROM cpuid_leaf WHERE leaf = 7", "0");
    fixture_expect(store, "SELECT count(*) FROM cpu", "1");
    fixture_expect(store, "SELECT count(DISTINCT form_id) = count(*) / 2 FROM run_form", "1");
    snprintf(changed, sizeof changed, "%s/new.db", fixture.dir);
    store_close(store);
    store = fixture_open(changed, STORE_WRITE);
    assert_int_equal(merge_runs(store, strangers, "strangers", &merged, &err), 2);
    fixture_expect(store, "SELECT count(*) FROM cpuid_leaf WHERE leaf = 7", "1");
    fixture_end(&fixture, store);
}

int main(void)
{
    if (!getenv("LATPUT_ROOT"))
        setenv("LATPUT_ROOT", ".", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_own), cmocka_unit_test(test_alone),
        cmocka_unit_test(test_back),       cmocka_unit_test(test_twice),
        cmocka_unit_test(test_meanwhile),  cmocka_unit_test(test_shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
