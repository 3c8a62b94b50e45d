// SPDX-License-Identifier: MIT
// The provenance of a run names the tables that it used by hash, and the counter table by version
// and hash if events were counted. It names no host, user or directory: packs are published.
#include "measure/run_info.h"
#include "store/store_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct run_info collect(const struct counter_table *counters,
                               const struct selection *selection, struct arena *arena)
{
    static const struct cpu_info cpu = {.uarch = "zen5"};
    const struct core_config config = {0};
    const struct run_facts facts = {.counters = counters};
    struct run_info info;
    struct err err;
    const struct run_subject subject = {&cpu, &config, &facts, selection, "all"};
    if (run_info_collect(&subject, arena, &info, &err) != 0)
        fail_msg("%s", err.text);
    return info;
}

static const char *tables_of(const struct counter_table *counters, struct arena *arena)
{
    const struct selection selection = {0};
    return collect(counters, &selection, arena).tables;
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

static void expect_none_of(const char *const *secrets, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (secrets[i] && strlen(secrets[i]) > 3 && strstr(text, secrets[i]))
            fail_msg("'%s' has '%s' in it", text, secrets[i]);
}

// A list of the user's own, in a directory of his.
static void test_anonymous(void **state)
{
    (void)state;
    char directory[] = "/tmp/latput-own-XXXXXX", path[64], host[256] = "", here[4096] = "";
    struct arena arena = {0};
    struct selection selection;
    struct err err;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/mine.csv", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("mnemonic,operands,implicit,isa,tests,options\nnop,,,I386,,\n", file);
    assert_int_equal(fclose(file), 0);
    if (select_rows((const char *const[]){path}, 1, NULL, &selection, &err) != 0)
        fail_msg("%s", err.text);
    const struct run_info info = collect(NULL, &selection, &arena);
    assert_true(has_hash(info.lists, "mine:"));
    gethostname(host, sizeof host - 1);
    assert_non_null(getcwd(here, sizeof here));
    const char *const secrets[] = {directory,      host,           here,    "/tmp",
                                   getenv("USER"), getenv("HOME"), "/home/"};
    const char *const texts[] = {info.version,   info.nasm_version,  info.os_kernel,
                                 info.backend,   info.lists,         info.tables,
                                 info.frequency, info.claimed_uarch, info.evidence};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        expect_none_of(secrets, sizeof secrets / sizeof secrets[0], texts[i]);
    unlink(path);
    rmdir(directory);
    selection_free(&selection);
    arena_free(&arena);
}

// Noise makes a ratio that no core has.
static void test_calibration(void **state)
{
    (void)state;
    static const struct {
        double ratio;
        bool off;
    } cases[] = {
        {3,    false},
        {2.99, false},
        {3.03, false},
        {3.4,  false},
        {2.7,  false},
        {4,    true },
        {2,    true },
        {1.01, true }
    };
    struct cpu_info cpu = {.imul64_clk = 3};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            run_info_calibration_off(&cpu, &(struct run_facts){.imul_per_add = cases[i].ratio}),
            cases[i].off);
    cpu.imul64_clk = 0; // not known
    assert_false(run_info_calibration_off(&cpu, &(struct run_facts){.imul_per_add = 4}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_anonymous),
        cmocka_unit_test(test_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
