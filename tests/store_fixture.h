// SPDX-License-Identifier: MIT
// Synthetic CPUs, plans and timings for the tests of the store and of what reads it. All numbers
// follow from the arguments, so that tests can say what must come out.
#ifndef LATPUT_STORE_FIXTURE_H
#define LATPUT_STORE_FIXTURE_H

#include "store_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char dir[64];
    char db[96];
};

static inline void fixture_make(struct fixture *fixture)
{
    strcpy(fixture->dir, "/tmp/latput_test_XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    snprintf(fixture->db, sizeof fixture->db, "%s/t.db", fixture->dir);
}

static inline void fixture_remove(const struct fixture *fixture)
{
    char command[256];
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", fixture->dir, fixture->dir);
    assert_int_equal(system(command), 0);
}

static inline struct store *fixture_open(const char *path, enum store_mode mode)
{
    struct store *store = NULL;
    struct err err = {""};
    if (store_open(path, mode, &store, &err) != 0)
        fail_msg("%s", err.text);
    return store;
}

// A directory with a new database in it, and the end of both.
static inline struct store *fixture_start(struct fixture *fixture)
{
    fixture_make(fixture);
    return fixture_open(fixture->db, STORE_WRITE);
}

static inline void fixture_end(const struct fixture *fixture, struct store *store)
{
    store_close(store);
    fixture_remove(fixture);
}

// The first value that a query gives, "NULL", "no row", or the error.
static inline const char *fixture_ask(sqlite3 *db, const char *sql)
{
    static char text[4096];
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) {
        snprintf(text, sizeof text, "%s", sqlite3_errmsg(db));
        return text;
    }
    int got = sqlite3_step(stmt);
    const char *value = got == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    snprintf(text, sizeof text, "%s",
             got == SQLITE_ROW    ? (value ? value : "NULL")
             : got == SQLITE_DONE ? "no row"
                                  : sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    return text;
}

static inline void fixture_expect(struct store *store, const char *sql, const char *expected)
{
    const char *got = fixture_ask(store->db, sql);
    if (strcmp(got, expected) != 0)
        fail_msg("%s\ngave '%s', expected '%s'", sql, got, expected);
}

static inline struct cpu_info *fixture_cpu(const char *uarch, uint32_t signature)
{
    static struct cpu_info cpu;
    memset(&cpu, 0, sizeof cpu);
    strcpy(cpu.vendor, "AuthenticAMD");
    strcpy(cpu.brand, "Test CPU");
    snprintf(cpu.uarch, sizeof cpu.uarch, "%s", uarch);
    snprintf(cpu.uarch_name, sizeof cpu.uarch_name, "Test %s", uarch);
    cpu.signature = signature;
    cpu.family = 26;
    cpu.model = 2;
    cpu.microcode = 0xb002116;
    cpu.features[0] = cpu.features[3] = true;
    cpu.leaves[0] = (struct cpuid_leaf){1, 0, signature, 1, 2, 3};
    cpu.leaves[1] = (struct cpuid_leaf){3, 0, 0, 0, 7, 7};
    cpu.nleaves = 2;
    cpu.caches[0] = (struct cpu_cache){1, 'd', 48 << 10, 12, 64, 2};
    cpu.ncaches = 1;
    return &cpu;
}

static inline int64_t fixture_run(struct store *store, const char *uarch, uint32_t signature)
{
    struct run_info info = {.version = "1.0-test",
                            .nasm_version = "NASM version 2.16.01",
                            .os_kernel = "6.1.0",
                            .backend = "tsc",
                            .lists = "int:00ff",
                            .tables = "cpus:1",
                            .frequency = "unknown",
                            .selection = "",
                            .tsc_hz = 2.6e9,
                            .core_hz = 4e9,
                            .overhead_tsc = 52,
                            .issue_width = 8,
                            .calib_link_clk = 3,
                            .measuring_cpu = 1};
    int64_t cpu_id, run_id = 0;
    struct err err = {""};
    if (store_put_cpu(store, fixture_cpu(uarch, signature), &cpu_id, &err) != 0 ||
        store_run_begin(store, cpu_id, &info, &run_id, &err) != 0)
        fail_msg("%s", err.text);
    return run_id;
}

static inline struct list_row fixture_row(const char *mnemonic, const char *operands,
                                          const char *form)
{
    struct list_row row = {.path = "lists/int.csv",
                           .line = 1,
                           .source = "",
                           .mnemonic = mnemonic,
                           .nasm_mnemonic = mnemonic,
                           .operands_text = operands,
                           .form = form,
                           .enc = ENC_LEGACY,
                           .bits = 64,
                           .isa = "BASE",
                           .tests = TESTS_ALL};
    return row;
}

// Timings whose kernel takes `clk` cycles an instance: iterations 100, copies 10, instances 1; the
// calibration is 3000 cycles in 6000 ticks.
struct fixture_timing {
    struct sample samples[8], slow[8];
    struct timing timings[2];
};

static inline void fixture_time(struct fixture_timing *made, double clk)
{
    for (uint32_t i = 0; i < 8; i++)
        made->samples[i] = (struct sample){(uint32_t)(clk * 2000) + 50, 6050, 6050, 900 + i, 0};
    for (int pass = 0; pass < 2; pass++)
        made->timings[pass] = (struct timing){.pass = pass + 1,
                                              .outcome = OUTCOME_OK,
                                              .detail = "",
                                              .accepted = 8,
                                              .tried = 9,
                                              .iterations = 100,
                                              .copies = 10,
                                              .calib_clk = 3000,
                                              .overhead_tsc = 50,
                                              .samples = made->samples,
                                              .nsamples = 8};
}

// One test of a form as the tests want it: what it asks and what came out. clk < 0: `outcome`.
struct fixture_test {
    enum test_kind kind;
    const char *src, *dst, *variant;
    enum outcome planned; // not OK: no kernel
    enum outcome outcome;
    double clk;
};
// What else the plan of a test may say.
struct fixture_promise {
    enum bound bound;
    const char *note; // NULL: none
};

enum { FIXTURE_TESTS_MAX = 8 };

// promises: of each test, or NULL.
static inline int fixture_put_promised(struct store *store, int64_t run_id,
                                       const struct list_row *row, int position,
                                       const struct fixture_test *wanted,
                                       const struct fixture_promise *promises, int n,
                                       struct err *err)
{
    struct kernel_spec specs[FIXTURE_TESTS_MAX];
    struct test tests[FIXTURE_TESTS_MAX];
    struct measured_kernel kernels[FIXTURE_TESTS_MAX];
    struct measured_test measured[FIXTURE_TESTS_MAX];
    struct fixture_timing timings[FIXTURE_TESTS_MAX];
    static const uint8_t code[] = {0x48, 0x01, 0xd8};
    for (int i = 0; i < n; i++) {
        const struct fixture_test *want = &wanted[i];
        struct fixture_promise promise = {BOUND_EXACT, NULL};
        if (promises)
            promise = promises[i];
        bool ok = want->planned == OUTCOME_OK;
        specs[i] = (struct kernel_spec){.shape = want->kind == TEST_LATENCY ? "dense" : "n8",
                                        .body = "",
                                        .init = "",
                                        .instances = 1,
                                        .instrs = 1};
        tests[i] = (struct test){.kind = want->kind,
                                 .src = want->src,
                                 .dst = want->dst,
                                 .variant = want->variant,
                                 .note = promise.note ? promise.note : "",
                                 .bound = promise.bound,
                                 .outcome = want->planned,
                                 .detail = ok ? "" : "no chain for this pair",
                                 .kernels = &specs[i],
                                 .nkernels = ok};
        kernels[i] = (struct measured_kernel){.outcome = want->outcome,
                                              .detail = want->outcome ? "SIGFPE" : "",
                                              .code = code,
                                              .code_bytes = 3};
        struct kernel_facts facts = {specs[i].shape, 1, 1, 0, false};
        if (want->outcome == OUTCOME_OK) {
            fixture_time(&timings[i], want->clk);
            kernels[i].timings = timings[i].timings;
            kernels[i].ntimings = 2;
            kernels[i].estimate = derive_kernel(&facts, 8, timings[i].timings, 2);
        } else if (want->outcome == OUTCOME_UNSTABLE) { // the second pass is slower
            fixture_time(&timings[i], want->clk);
            for (int k = 0; k < 8; k++) {
                timings[i].slow[k] = timings[i].samples[k];
                timings[i].slow[k].kernel_tsc *= 2;
            }
            timings[i].timings[1].samples = timings[i].slow;
            kernels[i].timings = timings[i].timings;
            kernels[i].ntimings = 2;
            kernels[i].detail = "the passes disagree";
            kernels[i].estimate = derive_kernel(&facts, 8, timings[i].timings, 2);
        } else {
            kernels[i].estimate = (struct estimate){.outcome = want->outcome};
        }
        measured[i] = (struct measured_test){.kernels = &kernels[i]};
        measured[i].result =
            derive_test(want->kind, promise.bound, &facts, &kernels[i].estimate, ok);
        if (!ok) {
            measured[i].result.outcome = want->planned;
            measured[i].result.detail = tests[i].detail;
        } else if (want->outcome != OUTCOME_OK) {
            measured[i].result.detail = kernels[i].detail;
        }
    }
    struct plan plan = {row, tests, n};
    return store_put_form(store, run_id, "int", position, &plan, measured, err);
}

static inline int fixture_put(struct store *store, int64_t run_id, const struct list_row *row,
                              int position, const struct fixture_test *wanted, int n,
                              struct err *err)
{
    return fixture_put_promised(store, run_id, row, position, wanted, NULL, n, err);
}

// A run with three forms: `add` all ok, `div` with fast and slow data, `hlt` that fails.
static inline int64_t fixture_fill(struct store *store, const char *uarch, uint32_t signature,
                                   double scale)
{
    const struct fixture_test add[] = {
        {TEST_LATENCY,    "op1",   "op1",   "", OUTCOME_OK,             OUTCOME_OK, 1 * scale   },
        {TEST_LATENCY,    "op2",   "flags", "", OUTCOME_OK,             OUTCOME_OK, 2 * scale   },
        {TEST_LATENCY,    "flags", "op1",   "", OUTCOME_NOT_MEASURABLE, OUTCOME_OK, 0           },
        {TEST_THROUGHPUT, "",      "",      "", OUTCOME_OK,             OUTCOME_OK, 0.25 * scale},
    };
    const struct fixture_test div[] = {
        {TEST_LATENCY,    "rax", "rax", "fast", OUTCOME_OK, OUTCOME_OK, 10 * scale},
        {TEST_LATENCY,    "rax", "rax", "slow", OUTCOME_OK, OUTCOME_OK, 18 * scale},
        {TEST_THROUGHPUT, "",    "",    "fast", OUTCOME_OK, OUTCOME_OK, 5 * scale },
        {TEST_THROUGHPUT, "",    "",    "slow", OUTCOME_OK, OUTCOME_OK, 7 * scale },
    };
    const struct fixture_test hlt[] = {
        {TEST_LATENCY,    "op1", "op1", "", OUTCOME_OK, OUTCOME_OK,        1 * scale},
        {TEST_THROUGHPUT, "",    "",    "", OUTCOME_OK, OUTCOME_SIGNALLED, 0        },
    };
    struct list_row rows[] = {
        fixture_row("add", "r64 r64", "add r64 r64"),
        fixture_row("div", "r64", "div r64"),
        fixture_row("hlt", "r64", "hlt r64"),
    };
    struct err err = {""};
    int64_t run_id = fixture_run(store, uarch, signature);
    if (fixture_put(store, run_id, &rows[0], 0, add, 4, &err) != 0 ||
        fixture_put(store, run_id, &rows[1], 1, div, 4, &err) != 0 ||
        fixture_put(store, run_id, &rows[2], 2, hlt, 2, &err) != 0 ||
        store_run_warning(store, run_id, "frequency not fixed", "fix it", &err) != 0)
        fail_msg("%s", err.text);
    return run_id;
}

#endif
