// SPDX-License-Identifier: MIT
// The store: the public views return what was stored, facts cannot be changed, and damage and
// disturbance (killed writers, full disks, locks, foreign files) end in a clear message and never
// in a broken database.
#include "fixtures/merge_fixture.h"
#include "fixtures/sanitized.h"
#include "fixtures/store_fixture.h"

#include "core/core_abi.h"
#include "merge/merge.h"
#include "merge/merge_internal.h"
#include "rederive/rederive.h"
#include "store/store.h"
#include "store/store_cpu.h"
#include "store/store_form.h"
#include "store/store_machines.h"
#include "store/store_run.h"
#include "util/mem.h"
#include "util/paths.h"
#include "util/scratch.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

// One value of a query through a connection of its own, as text; "NULL" where it is.
static const char *ask(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    const char *text = fixture_ask(db, sql);
    sqlite3_close(db);
    return text;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    struct err err = {0};
    struct list_row row = fixture_row("add", "r64 r64", "add r64 r64");
    assert_int_equal(store_has_form(store, run_id, &row, &err), 1);
    assert_int_equal(store_has_form(store, run_id + 1, &row, &err), 0);
    row.enc = ENC_EVEX;
    assert_int_equal(store_has_form(store, run_id, &row, &err), 0);
    int64_t counts[OUTCOME_COUNT], forms;
    assert_int_equal(store_run_summary(store, run_id, counts, &forms, &err), 0);
    assert_int_equal(forms, 3);
    assert_int_equal(counts[OUTCOME_OK], 8);
    assert_int_equal(counts[OUTCOME_SIGNALLED], 1);
    assert_int_equal(counts[OUTCOME_NOT_MEASURABLE], 1);
    assert_int_equal(store_run_finish(store, run_id, 10, 1.5, &err), 0);
    assert_int_equal(store_run_finish(store, run_id, 10, 1.5, &err), -1);
    store_close(store);

    char path[128];
    snprintf(path, sizeof path, "%s-wal", fixture.db);
    assert_int_equal(access(path, F_OK), -1); // one plain file is left
    // clang-format off
    static const struct {
        const char *sql, *expected;
    } cases[] = {
        {"SELECT count(*) FROM instruction_table", "3"},
        {"SELECT latency_min_clk || ' ' || latency_max_clk || ' ' || rthroughput_clk || ' ' || "
         "outcome FROM instruction_table WHERE mnemonic = 'add'",
         "1.0 2.0 0.25 ok"},
        {"SELECT rthroughput_clk || ' ' || rthroughput_slow_clk || ' ' || latency_max_clk "
         "FROM instruction_table WHERE mnemonic = 'div'",
         "5.0 7.0 18.0"},
        {"SELECT rthroughput_clk FROM instruction_table WHERE mnemonic = 'hlt'", "NULL"},
        {"SELECT outcome FROM instruction_table WHERE mnemonic = 'hlt'", "signalled"},
        {"SELECT count(*) FROM latency_table", "6"},
        {"SELECT latency_clk FROM latency_table WHERE src = 'flags'", "NULL"},
        {"SELECT bound FROM latency_table WHERE dst = 'flags'", "exact"},
        {"SELECT src_role FROM latency_table WHERE src = 'op2'", "index"},
        {"SELECT accepted || '/' || tried FROM latency_table WHERE dst = 'flags'", "16/18"},
        {"SELECT group_concat(test, ';') FROM (SELECT test FROM failure_table ORDER BY test)",
         "latency flags -> op1;throughput"},
        {"SELECT detail FROM failure_table WHERE outcome = 'signalled'", "SIGFPE"},
        {"SELECT count(*) FROM port_table", "0"},
        {"SELECT count(*) FROM property_table", "0"},
        {"SELECT count(*) FROM property_point", "0"},
        {"SELECT hex(code) FROM kernel LIMIT 1", "4801D8"},
        {"SELECT count(*) FROM sample", "128"},
        {"SELECT count(*) FROM cpuid_leaf", "1"}, // never the serial number of leaf 3
        {"SELECT status FROM run_table", "finished"},
    };
    // clang-format on
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = ask(fixture.db, cases[i].sql);
        if (strcmp(got, cases[i].expected) != 0)
            fail_msg("%s\ngave '%s', expected '%s'", cases[i].sql, got, cases[i].expected);
    }
    fixture_remove(&fixture);
}

// Bounds belong to the pairs that have the values, so that equal values have one bound.
static void test_bounds_of_latencies(void **state)
{
    (void)state;
    static const struct {
        double exact, upper; // 0: no such pair
        const char *bounds;  // of the least and of the most
    } cases[] = {
        {1, 0,     "exact exact"},
        {0, 1,     "upper upper"},
        {1, 1.003, "exact exact"}, // one time, measured twice
        {1, 0.997, "exact exact"},
        {3, 1,     "upper exact"},
        {1, 3,     "exact upper"},
        {9, 10,    "exact upper"}, // among long ones a cycle is no noise either
    };
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture_test tests[2];
        struct fixture_promise promises[2];
        int n = 0;
        for (int upper = 0; upper < 2; upper++) {
            double clk = upper ? cases[i].upper : cases[i].exact;
            if (clk <= 0)
                continue;
            promises[n] = (struct fixture_promise){upper ? BOUND_UPPER : BOUND_EXACT, NULL};
            tests[n++] = (struct fixture_test){
                TEST_LATENCY, "op1", upper ? "flags" : "op1", "", OUTCOME_OK, OUTCOME_OK, clk};
        }
        char name[16];
        snprintf(name, sizeof name, "case%zu", i);
        struct list_row row = fixture_row(name, "r64", name);
        struct err err = {0};
        int64_t run_id = fixture_run(store, "testa", 0xb00f21);
        assert_int_equal(fixture_put_promised(store, run_id, &row, 0, tests, promises, n, &err), 0);
        char sql[160];
        snprintf(sql, sizeof sql,
                 "SELECT latency_bound || ' ' || latency_max_bound FROM instruction_table "
                 "WHERE form = '%s'",
                 name);
        fixture_expect(store, sql, cases[i].bounds);
    }
    fixture_end(&fixture, store);
}

// The plan's remarks on a test stand beside its number, and setting operands anew is separate from
// the instruction's time. Several sets of slow data count as one: the slowest.
static void test_notes(void **state)
{
    (void)state;
    static const struct fixture_test tests[] = {
        {TEST_THROUGHPUT, "", "", "fast",       OUTCOME_OK, OUTCOME_OK, 8  },
        {TEST_THROUGHPUT, "", "", PLAN_SETTING, OUTCOME_OK, OUTCOME_OK, 0.5},
        {TEST_THROUGHPUT, "", "", "slow",       OUTCOME_OK, OUTCOME_OK, 20 },
        {TEST_THROUGHPUT, "", "", "slow2",      OUTCOME_OK, OUTCOME_OK, 16 },
    };
    static const struct fixture_promise promises[] = {
        {BOUND_UPPER, "fast: st 0"},
        {BOUND_EXACT, NULL        },
        {BOUND_UPPER, "slow: st 2"},
        {BOUND_UPPER, NULL        },
    };
    static const struct fixture_test stream = {TEST_THROUGHPUT, "",         "", "",
                                               OUTCOME_OK,      OUTCOME_OK, 2.5};
    static const struct fixture_test failed = {TEST_THROUGHPUT,   "", "", "", OUTCOME_OK,
                                               OUTCOME_SIGNALLED, 0};
    static const struct fixture_promise bytes = {BOUND_EXACT, "16 bytes each, to fresh lines"};
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct list_row rows[] = {fixture_row("fcos", "", "fcos"), fixture_row("movnt", "", "movnt"),
                              fixture_row("hlt", "", "hlt")};
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put_promised(store, run_id, &rows[0], 0, tests, promises, 4, &err), 0);
    assert_int_equal(fixture_put_promised(store, run_id, &rows[1], 1, &stream, &bytes, 1, &err), 0);
    assert_int_equal(fixture_put_promised(store, run_id, &rows[2], 2, &failed, &bytes, 1, &err), 0);
    fixture_expect(store, "SELECT note FROM instruction_table WHERE form = 'fcos'",
                   "fast: st 0; slow: st 2");
    fixture_expect(store,
                   "SELECT rthroughput_clk || ' ' || rthroughput_slow_clk || ' ' || setting_clk || "
                   "' ' || rthroughput_bound FROM instruction_table WHERE form = 'fcos'",
                   "8.0 20.0 0.5 upper");
    fixture_expect(store, "SELECT note FROM instruction_table WHERE form = 'movnt'",
                   "16 bytes each, to fresh lines, 6.40 per cycle");
    fixture_expect(store, "SELECT note FROM instruction_table WHERE form = 'hlt'", "NULL");
    fixture_expect(store, "SELECT count(*) FROM failure_table WHERE detail LIKE '%bytes%'", "0");
    fixture_end(&fixture, store);
}

// A test that the CPU refuses has the reason and no kernels, and is derived again as it was. One
// that fails otherwise keeps its kernel.
static void test_refused(void **state)
{
    (void)state;
    static const struct fixture_test tests[] = {
        {TEST_LATENCY,    "op1", "op1", "",      OUTCOME_OK, OUTCOME_UNSUPPORTED, 0},
        {TEST_THROUGHPUT, "",    "",    "",      OUTCOME_OK, OUTCOME_SIGNALLED,   0},
        {TEST_THROUGHPUT, "",    "",    "again", OUTCOME_OK, OUTCOME_OK,          2},
    };
    static const char stored[] =
        "SELECT group_concat(test.outcome || ' ' || result.outcome || ' ' || result.detail || ' ' "
        "|| (SELECT count(*) FROM kernel WHERE kernel.test_id = test.test_id), ', ') "
        "FROM test JOIN result USING (test_id)";
    static const char expected[] =
        "unsupported unsupported SIGFPE 0, ok signalled SIGFPE 1, ok ok  1";
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct list_row row = fixture_row("hlt", "", "hlt");
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, run_id, &row, 0, tests, (int)ARRAY_LEN(tests), &err), 0);
    fixture_expect(store, stored, expected);
    int64_t results = 0, changed = 0;
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(results, 3);
    assert_int_equal(changed, 0);
    fixture_expect(store, stored, expected);
    fixture_end(&fixture, store);
}

static void test_best_run(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    fixture_fill(store, "testa", 0xb00f21, 1);
    fixture_fill(store, "testa", 0xb00f21, 2); // the same CPU again: newer wins
    fixture_fill(store, "testb", 0xa20f10, 3); // another uarch: rows of its own
    // A newer run of throughput alone does not hide the complete one, a failed one neither.
    const struct fixture_test alone[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 9},
    };
    const struct fixture_test bad[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_UNSTABLE, 9},
    };
    struct list_row add = fixture_row("add", "r64 r64", "add r64 r64");
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, run_id, &add, 0, alone, 1, &err), 0);
    run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, run_id, &add, 0, bad, 1, &err), 0);
    // CPUs that the tables do not know are kept apart.
    run_id = fixture_run(store, "unknown", 1);
    assert_int_equal(fixture_put(store, run_id, &add, 0, alone, 1, &err), 0);
    run_id = fixture_run(store, "unknown", 2);
    assert_int_equal(fixture_put(store, run_id, &add, 0, alone, 1, &err), 0);
    store_close(store);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM instruction_table"), "8");
    assert_string_equal(ask(fixture.db, "SELECT latency_max_clk FROM instruction_table "
                                        "WHERE uarch = 'testa' AND mnemonic = 'add'"),
                        "4.0");
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM cpu"), "4");
    fixture_remove(&fixture);
}

static void test_append_only(void **state)
{
    (void)state;
    static const char *const facts[] = {
        "cpu",      "cpuid_leaf", "cpu_cache", "run",    "run_warning", "list",        "form",
        "run_form", "test",       "kernel",    "timing", "sample",      "canary_floor"};
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    fixture_fill(store, "testa", 1, 1);
    struct canary_floor floor = {0};
    assert_int_equal(store_get_floor(store, 1, &floor, &err), 0);
    floor = (struct canary_floor){2, 0.125, 8};
    assert_int_equal(store_put_floor(store, 1, &floor, &err), 0);
    floor = (struct canary_floor){0};
    assert_int_equal(store_get_floor(store, 1, &floor, &err), 1);
    assert_int_equal(floor.canary, 2);
    assert_int_equal(floor.issue_width, 8);
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu); // another one
    int width = 0;
    assert_int_equal(store_width_here(store, cpu, &width, &err), 0);
    free(cpu);
    store_close(store);
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "DELETE FROM %s", facts[i]);
        assert_non_null(strstr(ask(fixture.db, sql), "append-only"));
        char column[64];
        snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s') LIMIT 1", facts[i]);
        snprintf(column, sizeof column, "%s", ask(fixture.db, sql));
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s", facts[i], column, column);
        assert_non_null(strstr(ask(fixture.db, sql), "append-only"));
    }
    fixture_remove(&fixture);
}

static void test_transactions(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    assert_int_equal(store_begin(store, &err), 0);
    fixture_fill(store, "testa", 1, 1);
    store_rollback(store);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM run"), "0");
    assert_int_equal(store_begin(store, &err), 0);
    int64_t run_id = fixture_fill(store, "testa", 1, 1);
    // A form twice is an error that undoes only itself.
    const struct fixture_test once[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 9},
    };
    struct list_row add = fixture_row("add", "r64 r64", "add r64 r64");
    assert_int_equal(fixture_put(store, run_id, &add, 0, once, 1, &err), -1);
    assert_non_null(strstr(err.text, "already"));
    assert_int_equal(store_commit(store, &err), 0);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM run_form"), "3");
    // Finished runs are not resumed, and only with the same selection.
    struct run_info info = {.version = "1.0-test", .backend = "tsc", .lists = "int:00ff"};
    int64_t found = 0;
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 1);
    assert_int_equal(found, run_id);
    // One at a time measures it.
    struct store *other = fixture_open(fixture.db, STORE_WRITE);
    assert_int_equal(store_run_claim(other, run_id, &err), 0);
    assert_int_equal(store_run_claim(other, run_id, &err), 0);
    assert_int_equal(store_run_claim(store, run_id, &err), 1);
    assert_non_null(strstr(err.text, "another process is measuring run"));
    store_close(other);
    assert_int_equal(store_run_claim(store, run_id, &err), 0);
    info.selection = "add*";
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 0);
    info.selection = "";
    assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), 0);
    assert_int_equal(store_run_resume(store, 1, &info, &found, &err), 0);
    fixture_end(&fixture, store);
}

// A writer that is killed at any moment leaves a database that opens, is sound, and holds whole
// forms.
static void test_killed_writer(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    store_close(fixture_open(fixture.db, STORE_WRITE));
    for (int round = 0; round < 6; round++) {
        int ready[2];
        assert_int_equal(pipe(ready), 0);
        pid_t pid = fork();
        if (pid == 0) {
            struct store *store = fixture_open(fixture.db, STORE_WRITE);
            for (;;) {
                fixture_fill(store, "testa", 1, 1);
                if (write(ready[1], "x", 1) != 1)
                    _exit(1);
            }
        }
        char byte;
        close(ready[1]); // a writer that fails ends the wait
        assert_int_equal(read(ready[0], &byte, 1), 1);
        usleep((useconds_t)(3000 + 1700 * round));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        close(ready[0]);
        store_close(fixture_open(fixture.db, STORE_READ));
        store_close(fixture_open(fixture.db, STORE_WRITE));
        assert_string_equal(ask(fixture.db, "PRAGMA integrity_check"), "ok");
        assert_string_equal(ask(fixture.db, "PRAGMA foreign_key_check"), "no row");
        assert_string_equal(ask(fixture.db, "SELECT count(*) FROM test LEFT JOIN result "
                                            "USING (test_id) WHERE result.test_id IS NULL"),
                            "0");
        assert_string_equal(ask(fixture.db, "SELECT count(*) FROM (SELECT timing_id FROM timing "
                                            "LEFT JOIN sample USING (timing_id) GROUP BY 1 "
                                            "HAVING count(seq) <> accepted)"),
                            "0");
    }
    fixture_remove(&fixture);
}

// Holds the lock of a database for some seconds, as a merge does; the process, which has the lock
// when this returns.
static pid_t write_and_stay(const char *path, unsigned seconds)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        sqlite3 *db;
        bool held = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
                    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
        held = held && write(ready[1], &byte, 1) == 1;
        sleep(seconds);
        _exit(!held);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return pid;
}

// Standard error goes to the file; the descriptor that it was.
static int errors_into(const char *path)
{
    int before = dup(STDERR_FILENO), file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(before >= 0 && file >= 0);
    assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
    close(file);
    return before;
}

static void test_locked(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    store_close(fixture_open(fixture.db, STORE_WRITE));
    // A writer waits for another one as long as that takes, also where it opens the database, and
    // says so.
    char told[256] = "", *path = xasprintf("%s.err", fixture.db);
    int status, saved = errors_into(path);
    // With sanitizers on a busy machine it takes seconds to open one.
    pid_t pid = write_and_stay(fixture.db, SANITIZED ? 20 : 7);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    struct store *reader = fixture_open(fixture.db, STORE_READ); // readers are not disturbed
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    store_close(reader);
    int64_t run_id = fixture_fill(store, "testa", 1, 1);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    int file = open(path, O_RDONLY);
    assert_true(read(file, told, sizeof told - 1) > 0);
    close(file);
    assert_non_null(strstr(told, fixture.db));
    assert_non_null(strstr(told, "another process is writing to this database; waiting for it\n"));
    struct err err;
    assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), 0);
    store_close(store);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM run"), "1");
    unlink(path);
    free(path);
    fixture_remove(&fixture);
}

// Another connection, as another program opens it, in a transaction that has read something.
static sqlite3 *read_and_stay(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db, "BEGIN; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void test_readers(void **state)
{
    (void)state;
    struct fixture fixture;
    store_close(fixture_start(&fixture));
    sqlite3 *reader = read_and_stay(fixture.db);
    time_t start = time(NULL);
    struct store *store = fixture_open(fixture.db, STORE_WRITE);
    struct err err = {0};
    int64_t run_id = fixture_fill(store, "testa", 1, 1);
    assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), 0);
    store_close(store);
    assert_true(time(NULL) - start < 3);
    sqlite3_close(reader);
    // Without a log, a writer waits until the readers are done.
    store = fixture_open(fixture.db, STORE_WRITE);
    assert_int_equal(store_script(store, &err, "PRAGMA journal_mode = DELETE", "do so"), 0);
    pid_t pid = fork();
    if (pid == 0) {
        read_and_stay(fixture.db);
        sleep(7);
        _exit(0);
    }
    usleep(500000);
    fixture_fill(store, "testa", 1, 1);
    waitpid(pid, NULL, 0);
    store_close(store);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM run"), "2");
    fixture_remove(&fixture);
}

// A log's index is shared memory: not on file systems that machines share.
static void test_remote(void **state)
{
    (void)state;
    assert_true(store_is_remote_type(0x6969));
    assert_true(store_is_remote_type(0xff534d42));
    assert_true(store_is_remote_type((unsigned long)(int32_t)0xff534d42)); // as a signed f_type
    assert_true(store_is_remote_type(0x01021997));
    assert_false(store_is_remote_type(0xef53));     // ext4
    assert_false(store_is_remote_type(0x01021994)); // tmpfs
    assert_false(store_is_remote_type(0x58465342)); // XFS
}

// A scratch directory is locked by us; a database in it waits for nobody. Of three tries the
// fastest counts: others may have the CPU.
static void test_in_scratch(void **state)
{
    (void)state;
    struct err err;
    char *directory = scratch_begin(&err), *path = xasprintf("%s/run.db", directory);
    double least_s = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        store_close(fixture_open(path, STORE_WRITE));
        clock_gettime(CLOCK_MONOTONIC, &end);
        double s =
            (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
        least_s = fmin(least_s, s);
    }
    assert_true(least_s < 0.9); // a second is how long one waits
    free(path);
    scratch_end(directory, false);
}

// A file is removed by its maker, if nobody else has it open.
static void test_unused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *first = fixture_start(&fixture);
    store_close_unused(first);
    assert_int_equal(access(fixture.db, F_OK), -1);
    first = fixture_open(fixture.db, STORE_WRITE);
    struct store *second = fixture_open(fixture.db, STORE_WRITE);
    store_close_unused(first);
    fixture_fill(second, "testa", 1, 1);
    store_close(second);
    assert_string_equal(ask(fixture.db, "SELECT count(*) FROM run"), "1");
    // Another file in its place is left alone.
    char other[128];
    snprintf(other, sizeof other, "%s/other.db", fixture.dir);
    first = fixture_open(other, STORE_WRITE);
    assert_int_equal(rename(fixture.db, other), 0);
    store_close_unused(first);
    assert_string_equal(ask(other, "SELECT count(*) FROM run"), "1");
    fixture_remove(&fixture);
}

// Chances of the kernel to run two processes in each order. Sanitizers, which see the same code in
// any order, take ten times as long for each.
enum { ROUNDS = SANITIZED ? 6 : 60, APART_US = SANITIZED ? 1000 : 100 };

// Two that begin at the same moment on a file that does not exist; one of them has no use for it.
static void test_unused_at_once(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    for (int round = 0; round < ROUNDS; round++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%d.db", fixture.dir, round);
        pid_t pids[2];
        for (int i = 0; i < 2; i++) {
            pids[i] = fork();
            if (pids[i] != 0)
                continue;
            struct store *store = fixture_open(path, STORE_WRITE);
            if (i == 0) {
                store_close_unused(store);
            } else {
                usleep((useconds_t)round * APART_US);
                fixture_fill(store, "testa", 1, 1);
                store_close(store);
            }
            _exit(0);
        }
        for (int i = 0; i < 2; i++) {
            int status;
            waitpid(pids[i], &status, 0);
            assert_int_equal(status, 0);
        }
        assert_string_equal(ask(path, "SELECT count(*) FROM run_form"), "3");
    }
    fixture_remove(&fixture);
}

static void put_file(const char *path, const void *bytes, size_t len)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

// The name that the message says the database was saved by.
static void kept_in(const struct err *err, char saved[160])
{
    const char *name = strstr(err->text, "kept in ");
    assert_non_null(name);
    assert_int_equal(sscanf(name, "kept in %159[^;]", saved), 1);
}

// The file loses its name during a run: that is no success, and nothing is lost.
static void test_replaced(void **state)
{
    (void)state;
    for (int deleted = 0; deleted < 2; deleted++) {
        struct fixture fixture;
        struct store *store = fixture_start(&fixture);
        struct err err = {0};
        int64_t run_id = fixture_run(store, "testa", 1);
        char saved[160], again[160], other[160], command[500];
        snprintf(other, sizeof other, "%s.saved-%ld", fixture.db, (long)getpid());
        put_file(other, "", 0); // of a process of the same number, elsewhere
        snprintf(command, sizeof command, "cp %s %s.new; mv %s.new %s", fixture.db, fixture.db,
                 fixture.db, fixture.db);
        assert_int_equal(deleted ? unlink(fixture.db) : system(command), 0);
        struct list_row add = fixture_row("add", "r64 r64", "add r64 r64");
        const struct fixture_test one = {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 9};
        assert_int_equal(store_begin(store, &err), 0);
        assert_int_equal(fixture_put(store, run_id, &add, 0, &one, 1, &err), 0);
        assert_int_equal(store_commit(store, &err), -1);
        assert_non_null(strstr(err.text, "deleted, moved or replaced"));
        kept_in(&err, saved);
        assert_int_equal(store_run_finish(store, run_id, 1, 1, &err), -1);
        kept_in(&err, again);
        assert_string_equal(saved, again);
        store_close_unused(store);
        assert_int_equal(access(fixture.db, F_OK), deleted ? -1 : 0);
        assert_string_equal(ask(saved, "SELECT count(*) FROM run_form"), "1");
        fixture_remove(&fixture);
    }
}

static void expect_refused(const char *path, enum store_mode mode, const char *what)
{
    struct store *store = NULL;
    struct err err = {0};
    if (store_open(path, mode, &store, &err) == 0)
        fail_msg("%s was opened", path);
    assert_null(store);
    if (!strstr(err.text, what) || !strstr(err.text, path))
        fail_msg("'%s' does not name the file and say '%s'", err.text, what);
}

static void test_foreign_files(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    char path[128], before[4096];
    snprintf(path, sizeof path, "%s/missing.db", fixture.dir);
    expect_refused(path, STORE_READ, "no such database");
    snprintf(path, sizeof path, "%s/no/such/dir.db", fixture.dir);
    expect_refused(path, STORE_WRITE, "directory exists");
    expect_refused(fixture.dir, STORE_WRITE, "no regular file");
    expect_refused(":memory:", STORE_WRITE, "in memory");
    snprintf(path, sizeof path, "%s/text.db", fixture.dir);
    memset(before, 'x', sizeof before);
    put_file(path, before, sizeof before);
    expect_refused(path, STORE_READ, "not a latput database");
    expect_refused(path, STORE_WRITE, "not a latput database");
    snprintf(path, sizeof path, "%s/empty.db", fixture.dir);
    put_file(path, "", 0);
    expect_refused(path, STORE_READ, "empty");
    // A database of another program stays as it is.
    snprintf(path, sizeof path, "%s/other.db", fixture.dir);
    put_file(path, "", 0);
    ask(path, "CREATE TABLE bookmarks (url)");
    expect_refused(path, STORE_READ, "not one of latput");
    expect_refused(path, STORE_WRITE, "not one of latput");
    assert_string_equal(ask(path, "PRAGMA journal_mode"), "delete");
    store_close(fixture_open(fixture.db, STORE_WRITE));
    ask(fixture.db, "PRAGMA user_version = 999");
    expect_refused(fixture.db, STORE_READ, "newer latput");
    expect_refused(fixture.db, STORE_WRITE, "newer latput");
    fixture_remove(&fixture);
}

static void test_damaged(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill(store, "testa", 1, 1);
    store_close(store);
    // Pages after the first overwritten: opening may work, reading the tables says what is wrong.
    int fd = open(fixture.db, O_RDWR);
    char junk[4096];
    memset(junk, 0xa5, sizeof junk);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 4096; at < st.st_size; at += 4096)
        assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
    close(fd);
    struct err err = {0};
    int result = store_open(fixture.db, STORE_WRITE, &store, &err);
    int64_t counts[OUTCOME_COUNT], forms;
    if (result == 0)
        result = store_run_summary(store, 1, counts, &forms, &err);
    assert_int_equal(result, -1);
    assert_non_null(strstr(err.text, "damaged"));
    store_close(store);
    assert_int_equal(truncate(fixture.db, 5000), 0);
    assert_int_equal(store_open(fixture.db, STORE_READ, &store, &err), -1);
    fixture_remove(&fixture);
}

static void fill_until_error(const char *path, struct err *err)
{
    struct store *store = fixture_open(path, STORE_WRITE);
    int64_t run_id = fixture_run(store, "testa", 1);
    const struct fixture_test once[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 9},
    };
    int result = 0;
    for (int i = 0; i < 100000 && result == 0; i++) {
        char form[32];
        snprintf(form, sizeof form, "op%d", i);
        struct list_row row = fixture_row(form, "", form);
        result = fixture_put(store, run_id, &row, i, once, 1, err);
    }
    store_close(store);
    assert_int_equal(result, -1);
}

// A full disk, by a file size limit, in a child of its own.
static void test_disk_full(void **state)
{
    (void)state;
    struct fixture fixture;
    fixture_make(&fixture);
    store_close(fixture_open(fixture.db, STORE_WRITE));
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {3 << 20, 3 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct err err = {0};
        fill_until_error(fixture.db, &err);
        bool told = strstr(err.text, fixture.db) && strstr(err.text, "space");
        if (!told)
            fprintf(stderr, "said only: %s\n", err.text);
        _exit(told ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    store_close(fixture_open(fixture.db, STORE_WRITE));
    assert_string_equal(ask(fixture.db, "PRAGMA integrity_check"), "ok");
    assert_string_equal(ask(fixture.db, "SELECT count(*) > 10 FROM run_form"), "1");
    fixture_remove(&fixture);
}

// Its runs can be packed all the same.
static void expect_copied(struct store *store)
{
    char dir[] = "/tmp/test_store-XXXXXX", path[64];
    struct err err = {0};
    int64_t last, run_id = 1;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/to.db", dir);
    struct store *to = fixture_open(path, STORE_WRITE);
    assert_int_equal(merge_copy_runs(store, &(struct merge_extract){&run_id, 1, MERGE_KEEP_SAMPLES},
                                     to, &last, &err),
                     0);
    fixture_expect(to, "SELECT count(*) FROM run_form", "3");
    store_close(to);
    unlink(path);
    rmdir(dir);
}

// A read-only file in a read-only directory, as another user than root where the test runs as root.
static void read_only_body(const struct fixture *fixture)
{
    expect_refused(fixture->db, STORE_WRITE, "read-only");
    char *closed = xasprintf("%s/closed.db", fixture->dir);
    expect_refused(closed, STORE_READ, "check its permissions");
    free(closed);
    struct store *store = fixture_open(fixture->db, STORE_READ);
    int64_t counts[OUTCOME_COUNT], forms = 0;
    struct err err = {0};
    assert_int_equal(store_run_summary(store, 1, counts, &forms, &err), 0);
    assert_int_equal(forms, 3);
    assert_int_equal(store_run_finish(store, 1, 1, 1, &err), -1);
    assert_non_null(strstr(err.text, "read-only"));
    expect_copied(store);
    store_close(store);
}

static void test_read_only(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    fixture_fill(store, "testa", 1, 1);
    store_close(store);
    for (int wal = 0; wal < 2; wal++) { // a plain file, and one that still says that it has a log
        ask(fixture.db, wal ? "PRAGMA journal_mode = WAL" : "SELECT 1");
        chmod(fixture.db, 0444);
        char *closed = xasprintf("%s/closed.db", fixture.dir);
        close(open(closed, O_CREAT | O_WRONLY, 0)); // a file that nobody may read
        free(closed);
        chmod(fixture.dir, 0555);
        pid_t pid = fork();
        if (pid == 0) {
            // A tree below a private directory, such as root's home, is closed to others.
            if (geteuid() == 0 && (setresuid(65534, 65534, 65534) != 0 ||
                                   access(path_data("db/views.sql"), R_OK) != 0))
                _exit(77);
            read_only_body(&fixture);
            _exit(0);
        }
        int status;
        waitpid(pid, &status, 0);
        chmod(fixture.dir, 0755);
        chmod(fixture.db, 0644);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
            fixture_remove(&fixture);
            skip();
        }
        assert_int_equal(status, 0);
    }
    fixture_remove(&fixture);
}

// 1,000 forms with 6,000 kernels, 2 passes and 8 samples each must stay below 15 MB; a tenth of it.
static void test_size(void **state)
{
    (void)state;
    const struct fixture_test tests[] = {
        {TEST_LATENCY,    "op1",      "op1", "",     OUTCOME_OK, OUTCOME_OK, 1  },
        {TEST_LATENCY,    "op2",      "op1", "",     OUTCOME_OK, OUTCOME_OK, 2  },
        {TEST_LATENCY,    "op3",      "op1", "",     OUTCOME_OK, OUTCOME_OK, 3  },
        {TEST_LATENCY,    "op3.base", "op1", "",     OUTCOME_OK, OUTCOME_OK, 7  },
        {TEST_THROUGHPUT, "",         "",    "fast", OUTCOME_OK, OUTCOME_OK, 0.5},
        {TEST_THROUGHPUT, "",         "",    "slow", OUTCOME_OK, OUTCOME_OK, 4  },
    };
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t run_id = fixture_run(store, "testa", 1);
    assert_int_equal(store_begin(store, &err), 0);
    for (int i = 0; i < 100; i++) {
        char form[64];
        snprintf(form, sizeof form, "vop%d z{k}{z} z m512", i);
        struct list_row row = fixture_row("vop", "z{k}{z} z m512", form);
        assert_int_equal(fixture_put(store, run_id, &row, i, tests, 6, &err), 0);
    }
    assert_int_equal(store_commit(store, &err), 0);
    store_close(store);
    struct stat st;
    assert_int_equal(stat(fixture.db, &st), 0);
    assert_in_range(st.st_size, 1, 1500000);
    fixture_remove(&fixture);
}

// Facts about the CPU of a run: the claim, how the uarch was decided, and the mark of an inferred
// one in all public views, which packs keep.
static void test_claims(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    struct store_merged merged;
    int64_t cpu_id, run_id;
    char pack[160], other[160], *here;
    struct store *store = fixture_start(&fixture);
    struct cpu_info *cpu = fixture_cpu("zen5?", 0xa20f12);
    const struct run_info info = {.version = "1",
                                  .nasm_version = "n",
                                  .os_kernel = "k",
                                  .backend = "tsc",
                                  .lists = "",
                                  .tables = "",
                                  .frequency = "",
                                  .selection = "",
                                  .claimed_uarch = "zen3",
                                  .decided = "inferred",
                                  .evidence = "no zen3 has AVX512F",
                                  .measured_width = 8};
    assert_int_equal(store_put_cpu(store, cpu, &cpu_id, &err), 0);
    assert_int_equal(store_run_begin(store, cpu_id, &info, &run_id, &err), 0);
    assert_int_equal(store_run_finish(store, run_id, 0, 0, &err), 0);
    fixture_expect(store, "SELECT uarch || inferred FROM cpu", "zen51");
    char *uarchs = store_machines(store, &err);
    assert_string_equal(uarchs, "zen5?");
    assert_string_equal(uarchs + sizeof "zen5?", "zen5?");
    assert_string_equal(uarchs + 2 * sizeof "zen5?", "");
    free(uarchs);
    snprintf(pack, sizeof pack, "%s/run.db", fixture.dir);
    const struct merge_extract extract = {&run_id, 1, MERGE_KEEP_SAMPLES};
    assert_int_equal(merge_extract_runs(store, &extract, pack, &err), 0);
    // A family found by a run belongs to this CPU from then on, unless the user says otherwise.
    snprintf(cpu->uarch, sizeof cpu->uarch, "zen3");
    here = store_uarch_here(store, cpu, &err);
    assert_string_equal(here, "zen5?");
    free(here);
    cpu->decision = CPU_DECIDED_OVERRIDE;
    here = store_uarch_here(store, cpu, &err);
    assert_string_equal(here, "zen3");
    free(here);
    store_close(store);

    snprintf(other, sizeof other, "%s/other.db", fixture.dir);
    store = fixture_open(other, STORE_WRITE);
    if (merge_runs(store, pack, "pack", &merged, &err) != 1)
        fail_msg("%s", err.text);
    fixture_expect(store,
                   "SELECT uarch || ' ' || claimed_uarch || ' ' || decided || ' ' || "
                   "measured_width || ' ' || evidence FROM run_table",
                   "zen5? zen3 inferred 8 no zen3 has AVX512F");
    fixture_expect(store, "SELECT uarch_key FROM run_key", "zen5?");
    fixture_expect(store, "UPDATE run SET decided = 'claim'",
                   "facts are append-only: the run is finished");
    fixture_end(&fixture, store);
}

// An unfinished run and a floor are the machine's, whatever it was taken for when they began.
static void test_filing(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    const struct canary_floor floor = {3, 0.125, 8};
    struct canary_floor found_floor;
    int64_t unknown_id, zen5_id, other_id, run_id, found;
    struct store *store = fixture_start(&fixture);
    struct run_info info = {.version = "1",
                            .nasm_version = "n",
                            .os_kernel = "k",
                            .backend = "tsc",
                            .lists = "",
                            .tables = "",
                            .frequency = "",
                            .selection = "",
                            .issue_width = 6,
                            .decided = "unknown"};
    assert_int_equal(store_put_cpu(store, fixture_cpu("unknown", 0xb40f40), &unknown_id, &err), 0);
    assert_int_equal(store_put_cpu(store, fixture_cpu("zen5", 0xb40f41), &other_id, &err), 0);
    assert_int_equal(store_run_begin(store, unknown_id, &info, &run_id, &err), 0);
    assert_int_equal(store_put_floor(store, unknown_id, &floor, &err), 0);

    struct cpu_info *cpu = fixture_cpu("zen5", 0xb40f40);
    cpu->decision = CPU_DECIDED_CLAIM;
    cpu->measured_width = 8;
    snprintf(cpu->claim, sizeof cpu->claim, "zen5");
    assert_int_equal(store_put_cpu(store, cpu, &zen5_id, &err), 0);
    assert_int_not_equal(zen5_id, unknown_id);
    info.decided = "claim";
    assert_int_equal(store_run_resume(store, zen5_id, &info, &found, &err), 1);
    assert_int_equal(found, run_id);
    assert_int_equal(store_run_resume(store, other_id, &info, &found, &err), 0);
    assert_int_equal(store_get_floor(store, zen5_id, &found_floor, &err), 1);
    assert_int_equal(found_floor.issue_width, 8);
    assert_int_equal(store_get_floor(store, other_id, &found_floor, &err), 0);
    info.decided = "override"; // another run
    assert_int_equal(store_run_resume(store, zen5_id, &info, &found, &err), 0);

    assert_int_equal(store_run_file(store, run_id, cpu, 8, &err), 0);
    fixture_expect(store,
                   "SELECT uarch || ' ' || claimed_uarch || ' ' || decided || ' ' || issue_width "
                   "|| ' ' || measured_width || evidence FROM run_table",
                   "zen5 zen5 claim 8 8");
    assert_int_equal(store_run_resume(store, zen5_id, &info, &found, &err), 1);
    assert_int_equal(store_run_finish(store, run_id, 0, 0, &err), 0);
    assert_int_equal(store_run_file(store, run_id, cpu, 6, &err), -1);
    assert_non_null(strstr(err.text, "append-only"));
    fixture_expect(store, "SELECT issue_width FROM run", "8");
    fixture_end(&fixture, store);
}

// The best rate of a run that is no more than a width allows.
static void test_rate(void **state)
{
    (void)state;
    struct fixture fixture;
    struct err err = {0};
    double rate = -1;
    struct store *store = fixture_start(&fixture);
    int64_t run_id = fixture_fill(store, "testa", 1, 1);
    assert_int_equal(store_run_rate(store, run_id + 1, 8, &rate, &err), 0);
    assert_true(rate == 0);
    assert_int_equal(store_run_rate(store, run_id, 1000, &rate, &err), 0);
    double most = atof(ask(fixture.db, "SELECT max(1 / value_clk) FROM result JOIN test "
                                       "USING (test_id) WHERE kind = 'throughput'"));
    assert_true(most > 0 && fabs(rate - most) < 1e-9);
    assert_int_equal(store_run_rate(store, run_id, most * 0.999, &rate, &err), 0);
    assert_true(rate < most);
    fixture_end(&fixture, store);
}

// Times of the invocations of a run add up, and go with the run into other files; a run without
// them says nothing.
static void test_run_time(void **state)
{
    (void)state;
    static const char sums[] =
        "SELECT total_s || ' ' || kernel_cpu_s || ' ' || repeats || ' ' || repeats_disturbed || ' "
        "' "
        "|| repeats_too_few || ' ' || refused_share || ' ' || moves FROM run_table WHERE run_id = "
        "1";
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t run_id = fixture_run(store, "testa", 0xb00f21), last;
    fixture_expect(store, "SELECT total_s IS NULL AND refused_share IS NULL FROM run_table", "1");
    struct spent spent = {.at_s = 2.5};
    spent.on[SPENT_KERNEL] = 0.25;
    assert_int_equal(store_put_run_time(store, run_id, &spent, &err), 0);
    fixture_expect(store, "SELECT refused_share IS NULL FROM run_table", "1"); // of nothing
    spent.on[SPENT_ACCEPTED] = 60;
    spent.on[SPENT_REFUSED + CORE_REFUSED_CANARY] = 30;
    spent.on[SPENT_REFUSED + CORE_REFUSED_CALIB] = 5;
    spent.on[SPENT_REFUSED + CORE_REFUSED_COUNTER] = 4;
    spent.on[SPENT_REFUSED + CORE_REFUSED_FEW] = 1;
    spent.on[SPENT_MOVES] = 2;
    for (int i = 0; i < 2; i++)
        assert_int_equal(store_put_run_time(store, run_id, &spent, &err), 0);
    fixture_expect(store, sums, "7.5 0.75 200 60 2 0.4 4");
    fixture_expect(store, "SELECT repeats_disagreeing || ' ' || repeats_uncounted FROM run_table",
                   "10 8");
    fixture_expect(store, "UPDATE run_time SET total_s = 1", "facts are append-only: run_time");
    fixture_expect(store, "DELETE FROM run_time", "facts are append-only: run_time");
    char path[128];
    snprintf(path, sizeof path, "%s/to.db", fixture.dir);
    struct store *to = fixture_open(path, STORE_WRITE);
    assert_int_equal(merge_copy_runs(store, &(struct merge_extract){&run_id, 1, MERGE_KEEP_RESULTS},
                                     to, &last, &err),
                     0);
    fixture_expect(to, sums, "7.5 0.75 200 60 2 0.4 4");
    fixture_expect(to, "SELECT count(*) FROM run_time", "3");
    store_close(to);
    spent.at_s = -1;
    assert_int_equal(store_put_run_time(store, run_id, &spent, &err), -1);
    fixture_end(&fixture, store);
}

// schema.sql, from which databases are made, is what all migrations in turn lead to.
static void test_migrations(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t version = 0;
    bool fresh;
    assert_int_equal(store_schema_identify(store, &fresh, &version, &err), 0);
    assert_false(fresh);
    assert_int_equal(version, STORE_SCHEMA_VERSION);
    if (store_schema_compare(store, STORE_SCHEMA_VERSION, &err) != 0)
        fail_msg("%s", err.text);
    store_close(store);
    // Comments and white space do not count, anything else does.
    ask(fixture.db, "CREATE TRIGGER foreign_one AFTER INSERT ON run BEGIN DELETE FROM result; END");
    store = fixture_open(fixture.db, STORE_WRITE);
    assert_int_equal(store_schema_compare(store, STORE_SCHEMA_VERSION, &err), -1);
    store_close(store);
    // Views of another version are made again.
    ask(fixture.db, "DROP TRIGGER foreign_one");
    ask(fixture.db, "DROP VIEW instruction_table");
    ask(fixture.db, "CREATE VIEW instruction_table AS SELECT 'old' AS uarch");
    ask(fixture.db, "CREATE VIEW forgotten AS SELECT 1");
    store = fixture_open(fixture.db, STORE_READ); // a reader takes its own
    int64_t n = -1;
    assert_int_equal(
        store_get_int(store, &err, &n, "SELECT count(mnemonic) FROM instruction_table", ""), 1);
    assert_int_equal(n, 0);
    store_close(store);
    ask(fixture.db, "UPDATE meta SET value = 'of an older views.sql'");
    store_close(fixture_open(fixture.db, STORE_WRITE));
    assert_string_equal(ask(fixture.db, "SELECT count(mnemonic) FROM instruction_table"), "0");
    assert_string_equal(
        ask(fixture.db, "SELECT count(*) FROM sqlite_schema WHERE name = 'forgotten'"), "0");
    fixture_remove(&fixture);
}

// A database that knows the width of this CPU.
static int make_width(const char *path, int width)
{
    struct err err = {0};
    struct store *store = fixture_open(path, STORE_WRITE);
    struct cpu_info *cpu = xcalloc(1, sizeof *cpu);
    const struct canary_floor floor = {2, 1.0 / width, width};
    int64_t cpu_id;
    int status = cpuinfo_load(&err) == 0 && cpu_identify(CPU_LAST, cpu, &err) == 0 &&
                         store_put_cpu(store, cpu, &cpu_id, &err) == 0 &&
                         store_put_floor(store, cpu_id, &floor, &err) == 0
                     ? 0
                     : 1;
    if (status)
        fprintf(stderr, "%s\n", err.text);
    free(cpu);
    store_close(store);
    return status;
}

// Content that makes joins without end: the statement fails, and says why.
static void test_steps(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture), *reader;
    struct err err = {0};
    int64_t n = 0;
    fixture_run(store, "testa", 1);
    assert_int_equal(store_open(fixture.db, STORE_READ, &reader, &err), 0);
    assert_true(reader->steps > 100 && reader->steps < 10000);
    reader->steps = 3;
    assert_int_equal(store_get_int(reader, &err, &n,
                                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
                                   " SELECT count(*) FROM n",
                                   ""),
                     -1);
    assert_non_null(strstr(err.text, "it takes more steps than a database of this size needs"));
    store_close(reader);
    fixture_end(&fixture, store);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "width") == 0)
        return make_width(argv[2], atoi(argv[3]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bounds_of_latencies),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_best_run),
        cmocka_unit_test(test_append_only),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_killed_writer),
        cmocka_unit_test(test_locked),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_remote),
        cmocka_unit_test(test_in_scratch),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_unused_at_once),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_foreign_files),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_disk_full),
        cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_migrations),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_run_time),
        cmocka_unit_test(test_filing),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
