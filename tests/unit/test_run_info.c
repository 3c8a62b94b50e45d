// SPDX-License-Identifier: MIT
// The provenance of a run names the tables that it used by hash, and the counter table by version
// and hash if events were counted.
#include "measure/run_info.h"
#include "store/store_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *tables_of(const struct counter_table *counters, struct arena *arena)
{
    static const struct cpu_info cpu = {.uarch = "zen5"};
    const struct core_config config = {0};
    const struct run_facts facts = {.counters = counters};
    const struct selection selection = {0};
    struct run_info info;
    struct err err;
    const struct run_subject subject = {&cpu, &config, &facts, &selection, "all"};
    if (run_info_collect(&subject, arena, &info, &err) != 0)
        fail_msg("%s", err.text);
    return info.tables;
}

// "name:" and 16 hexadecimal digits.
static bool has_hash(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at && strspn(at + strlen(name), "0123456789abcdef") == 16;
}

static void test_tables(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct counter_table table;
    struct err err;
    if (counters_load("zen5", &table, &err) != 0)
        fail_msg("%s", err.text);
    const char *without = tables_of(NULL, &arena), *with = tables_of(&table, &arena);
    assert_true(has_hash(without, "cpus.csv:") && has_hash(without, "features.csv:"));
    assert_null(strstr(without, "counters/"));
    assert_int_equal(strncmp(with, without, strlen(without)), 0);
    char name[64];
    snprintf(name, sizeof name, " counters/zen5.csv:%s:", table.version);
    assert_true(has_hash(with, name));
    counters_free(&table);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
