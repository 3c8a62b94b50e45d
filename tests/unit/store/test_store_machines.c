// SPDX-License-Identifier: MIT
// Machines of one CPU family apart: their names, and what finds them.
#include "fixtures/store_fixture.h"

#include "store/store_machines.h"
#include "store/store_read.h"

static void test_brands(void **state)
{
    (void)state;
    static const char *const brands[][2] = {
        {"AMD EPYC 9B45 128-Core Processor",               "EPYC 9B45"              },
        {"AMD Ryzen 9 7950X 16-Core Processor",            "Ryzen 9 7950X"          },
        {"11th Gen Intel(R) Core(TM) i7-11700K @ 3.60GHz", "11th Gen Core i7-11700K"},
        {"Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz",      "Xeon E5-2680 v3"        },
        {"Genuine Intel(R) CPU @ 2.00GHz",                 ""                       },
        {"",                                               ""                       },
    };
    struct arena arena = {0};
    for (size_t i = 0; i < ARRAY_LEN(brands); i++)
        assert_string_equal(store_brand_short(&arena, brands[i][0]), brands[i][1]);
    arena_free(&arena);
}

// Adds a run of a form on a machine.
static void add(struct store *store, const char *brand, unsigned signature, const char *label)
{
    int64_t run_id = fixture_fill(store, "zen5", signature, 1);
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE cpu SET brand = '%s', identity = substr(hex(randomblob(32)), 1, 64) "
             "WHERE cpu_id = (SELECT cpu_id FROM run WHERE run_id = %d)",
             brand, (int)run_id);
    fixture_expect(store, "DROP TRIGGER IF EXISTS cpu_no_update", "no row");
    fixture_expect(store, sql, "no row");
    fixture_expect(store, "DROP TRIGGER IF EXISTS run_no_update", "no row");
    fixture_expect(store, "DROP TRIGGER IF EXISTS run_finish_once", "no row");
    snprintf(sql, sizeof sql, "UPDATE run SET label = '%s' WHERE run_id = %d", label, (int)run_id);
    fixture_expect(store, sql, "no row");
}

static void expect_names(struct fixture *fixture, struct store **store, const char *names)
{
    struct err err = {0};
    store_close(*store);
    *store = fixture_open(fixture->db, STORE_READ);
    if (store_machines_apart(*store, &err) != 0)
        fail_msg("%s", err.text);
    fixture_expect(*store,
                   "SELECT group_concat(uarch, ' ') FROM (SELECT uarch FROM run_key "
                   "ORDER BY run_id)",
                   names);
    store_close(*store);
    *store = fixture_open(fixture->db, STORE_WRITE);
}

// Names have what tells machines apart, as far as it is needed.
static void test_names(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    add(store, "AMD EPYC 9B45 128-Core Processor", 0xb00f21, "");
    expect_names(&fixture, &store, "zen5");
    add(store, "AMD EPYC 9B45 128-Core Processor", 0xb00f21, ""); // the same machine
    expect_names(&fixture, &store, "zen5 zen5");
    add(store, "AMD Ryzen 9 9950X", 0xb40f40, "");
    expect_names(&fixture, &store, "zen5@epyc-9b45 zen5@epyc-9b45 zen5@ryzen-9-9950x");
    add(store, "", 0xb40f40, ""); // who knows what it is
    add(store, "AMD Ryzen 9 9950X", 0xb40f41, "");
    add(store, "AMD Ryzen 9 9950X", 0xb40f41, "desk");
    expect_names(&fixture, &store,
                 "zen5@epyc-9b45 zen5@epyc-9b45 zen5@ryzen-9-9950x-00b40f40 zen5 "
                 "zen5@ryzen-9-9950x-00b40f41 zen5@desk");
    add(store, "", 0xb40f42, "");
    add(store, "AMD EPYC 9B45", 0xb40f41, "desk"); // another owner's
    expect_names(&fixture, &store,
                 "zen5@epyc-9b45 zen5@epyc-9b45 zen5@ryzen-9-9950x-00b40f40 zen5@00b40f40 "
                 "zen5@ryzen-9-9950x-00b40f41 zen5@desk-ryzen-9-9950x zen5@00b40f42 "
                 "zen5@desk-epyc-9b45");
    fixture_end(&fixture, store);
}

// Each machine has its best rows, and the newest run's is found.
static void test_rows(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    add(store, "one", 0xb00f21, "");
    add(store, "two", 0xb00f22, "");
    store_close(store);
    store = fixture_open(fixture.db, STORE_READ);
    fixture_expect(store, "SELECT count(*) FROM instruction_table WHERE form = 'add r64 r64'", "1");
    char *machines = store_machines(store, &err);
    assert_memory_equal(machines, "zen5\0zen5\0", sizeof "zen5\0zen5\0");
    free(machines);
    assert_int_equal(store_machines_apart(store, &err), 0);
    assert_int_equal(store_machines_apart(store, &err), 0); // again
    fixture_expect(store,
                   "SELECT group_concat(uarch || run_id, ' ') FROM (SELECT * FROM "
                   "instruction_table WHERE form = 'add r64 r64' ORDER BY run_id)",
                   "zen5@one1 zen5@two2");
    machines = store_machines(store, &err);
    assert_memory_equal(machines, "zen5\0zen5@one\0zen5\0zen5@two\0",
                        sizeof "zen5\0zen5@one\0zen5\0zen5@two\0");
    free(machines);
    char *newest = store_machine_newest(store, "zen5", &err);
    assert_string_equal(newest, "zen5@two");
    free(newest);
    int64_t run_id;
    assert_int_equal(store_run_newest(store, "zen5@one", &run_id, &err), 1);
    assert_int_equal(run_id, 1);
    fixture_end(&fixture, store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brands),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
