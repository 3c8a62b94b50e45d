// SPDX-License-Identifier: MIT
// Reports: numbers, the three formats, the text files of a run, and results made again
// from stored samples. `test_report make FILE` writes a database of known content, for the tests of
// the command line.
#include "fixtures/store_fixture.h"
#include "rederive/rederive.h"
#include "report/report.h"
#include "report/report_property.h"
#include "store/store.h"
#include "store/store_property.h"
#include "store/store_read.h"
#include "store/store_run.h"
#include "util/file_write.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_number(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {1,           "1.00" },
        {0.25,        "0.25" },
        {0.0625,      "0.062"},
        {0.0996,      "0.10" },
        {0,           "0.00" },
        {99.994,      "99.99"},
        {99.996,      "100.0"},
        {250.04,      "250.0"},
        {999.96,      "1000" },
        {12345.6,     "12346"},
        {2.98,        "2.98" },
        {(double)NAN, ""     },
        {0.0994,      "0.099"},
    };
    char text[32];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(report_number(cases[i].value, text), cases[i].text);
}

// A request for a table.
struct asked {
    enum store_view view;
    const char *glob;
    int64_t run_id;
    enum report_format format;
};

static void expect_rows(struct store *store, struct asked asked, int64_t expected,
                        const char *holds)
{
    const struct store_filter filter = {
        .globs = &asked.glob, .nglobs = asked.glob != NULL, .run_id = asked.run_id};
    const struct report_query query = {
        .view = asked.view, .filter = &filter, .format = asked.format};
    struct strbuf out = {0};
    struct err err = {0};
    int64_t nrows = -1;
    if (report_rows(store, &query, &out, NULL, &nrows, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(nrows, expected);
    if (!strstr(strbuf_text(&out), holds))
        fail_msg("'%s' is not in:\n%s", holds, strbuf_text(&out));
    strbuf_free(&out);
}

static void test_rows(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    int64_t first = fixture_fill(store, "testa", 1, 1);
    fixture_fill(store, "testa", 1, 2);
    store_close(store);
    store = fixture_open(fixture.db, STORE_READ);
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, NULL, 0, REPORT_TABLE}, 3,
                "add r64 r64");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, NULL, first, REPORT_TABLE}, 3,
                "0.25");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, "ADD r64,  r64", 0, REPORT_CSV}, 1,
                "testa,add,r64 r64,legacy,BASE,64,2,4,0.5,,,ok,2,");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, "add", first, REPORT_JSON}, 1,
                "\"latency_min_clk\": 1, \"latency_max_clk\": 2, \"rthroughput_clk\": 0.25, "
                "\"uops\": null, \"ports\": null, \"outcome\": \"ok\"");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, "a*", 0, REPORT_CSV}, 1,
                "uarch,mnemonic,");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, "x", 0, REPORT_JSON}, 0, "[]");
    expect_rows(store, (struct asked){STORE_VIEW_INSTRUCTION, "x", 0, REPORT_TABLE}, 0, "");
    expect_rows(store,
                (struct asked){STORE_VIEW_INSTRUCTION, "'; DROP TABLE run; --", 0, REPORT_TABLE}, 0,
                "");
    expect_rows(store, (struct asked){STORE_VIEW_LATENCY, "div", 0, REPORT_TABLE}, 2, "36.00");
    expect_rows(store, (struct asked){STORE_VIEW_FAILURE, NULL, 0, REPORT_TABLE}, 4, "SIGFPE");
    expect_rows(store, (struct asked){STORE_VIEW_FAILURE, NULL, first, REPORT_CSV}, 2,
                "signalled,SIGFPE");
    expect_rows(store, (struct asked){STORE_VIEW_RUN, NULL, 0, REPORT_TABLE}, 2, "unfinished");
    fixture_end(&fixture, store);
}

static char *read_file(const char *dir, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("no file %s", path);
    static char text[65536];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static int remove_file(const char *dir, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return remove(path);
}

static void expect_text(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in:\n%s", what, text);
}

static void test_write(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t run_id = fixture_fill(store, "testa", 0xb00f21, 1);
    static const struct fixture_test moved[] = {
        {TEST_LATENCY, "op2", "op1", "", OUTCOME_OK, OUTCOME_OK, 0.25}
    };
    struct list_row mov = fixture_row("mov", "r64 r64", "mov r64 r64");
    assert_int_equal(fixture_put(store, run_id, &mov, 3, moved, 1, &err), 0);
    char dir[128];
    snprintf(dir, sizeof dir, "%s/results", fixture.dir);
    if (report_write(store, run_id, dir, &err) != 0) // a run without titles
        fail_msg("%s", err.text);
    expect_text(read_file(dir, "int.txt"),
                "Latency and throughput: int on Test CPU (Test testa)\n");
    assert_int_equal(store_put_run_list(store, run_id, "int", "Integers, all of them", &err), 0);
    assert_int_equal(store_put_run_list(store, run_id, "int", "another", &err), 0);
    if (report_write(store, run_id, dir, &err) != 0 || report_write(store, run_id, dir, &err) != 0)
        fail_msg("%s", err.text);
    char *text = read_file(dir, "int.txt");
    expect_text(text, "Latency and throughput: Integers, all of them on Test CPU (Test testa)\n"
                      "List int; uarch testa; started ");
    expect_text(text, "imul");
    expect_text(text, "latput 1.0-test");
    expect_text(text, "\nadd r64 r64  legacy");
    expect_text(text, "signalled: it raised a signal.");
    expect_text(text, "  at rename  ");
    expect_text(text, "  eliminated\n");
    expect_text(text, "\nat rename: idiom, eliminated: a chain takes no cycle; partly: ");
    expect_text(text, "  hlt r64: throughput: signalled: SIGFPE\n");
    assert_null(strstr(text, "no chain for this pair"));
    text = read_file(dir, "info.txt");
    expect_text(text, "signature       0x00B00F21\n");
    expect_text(text, "       9  ok");
    expect_text(text, "\nTables:\nlist  forms  title\nint       4  Integers, all of them\n");
    expect_text(text, "frequency not fixed\n    Remedy: fix it\n");
    expect_text(text, "unfinished");
    // A file that cannot be written is reported, and leaves nothing in place.
    assert_int_equal(report_write(store, run_id, "/proc/nowhere", &err), -1);
    expect_text(err.text, "/proc/nowhere");
    assert_int_equal(report_write(store, 99, dir, &err), -1);
    expect_text(err.text, "no run 99");
    assert_int_equal(access("/proc/nowhere", F_OK), -1);
    assert_int_equal(file_write("/dev/full/x", "x", 1, &err), -1);
    expect_text(err.text, "/dev/full/x: cannot be written: Not a directory");
    char taken[160]; // a directory stands where the file should: what was written for it goes
    snprintf(taken, sizeof taken, "%s/taken", dir);
    assert_int_equal(mkdir(taken, 0700), 0);
    assert_int_equal(file_write(taken, "x", 1, &err), -1);
    expect_text(err.text, "/taken: cannot be written: Is a directory");
    char command[200];
    snprintf(command, sizeof command, "! ls -A %s | grep tmp", dir);
    assert_int_equal(system(command), 0);
    fixture_end(&fixture, store);
}

// Runs of parts of the lists, and of some questions, take nothing away from the tables.
static void test_write_best(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    char dir[128];
    snprintf(dir, sizeof dir, "%s/results", fixture.dir);
    static const struct fixture_test latency[] = {
        {TEST_LATENCY, "op1", "op1", "", OUTCOME_OK, OUTCOME_OK, 3}
    };
    static const struct fixture_test throughput[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 0.5}
    };
    struct list_row add = fixture_row("add", "r64 r64", "add r64 r64");
    struct list_row mov = fixture_row("mov", "r64 r64", "mov r64 r64");
    fixture_fill(store, "testa", 0xb00f21, 1);
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, run_id, &mov, 3, latency, 1, &err), 0);
    run_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, run_id, &add, 0, throughput, 1, &err), 0);
    assert_int_equal(fixture_put(store, run_id, &mov, 3, throughput, 1, &err), 0);
    fixture_fill(store, "testb", 0xa20f10, 3); // another CPU
    if (report_write_best(store, run_id, dir, &err) != 0)
        fail_msg("%s", err.text);
    char *text = read_file(dir, "int.txt");
    expect_text(text, "\nadd r64 r64  legacy   1.00           1.00            0.25");
    expect_text(text, "\nmov r64 r64  legacy   3.00           3.00            0.50");
    expect_text(text, "\ndiv r64      legacy  10.00 / 18.00  10.00 / 18.00    5.00  7.00");
    expect_text(text, "  hlt r64: throughput: signalled: SIGFPE\n");
    assert_null(strstr(text, "6.00")); // of the other CPU
    // A run of another list leaves this one's table, with its title, as good as it was.
    struct list_row fadd = fixture_row("fadd", "st0 st", "fadd st0 st");
    fadd.path = "lists/x87.csv";
    assert_int_equal(store_put_run_list(store, run_id, "int", "Integers, all of them", &err), 0);
    int64_t other_id = fixture_run(store, "testa", 0xb00f21);
    assert_int_equal(fixture_put(store, other_id, &fadd, 0, latency, 1, &err), 0);
    assert_int_equal(remove_file(dir, "int.txt"), 0);
    if (report_write_best(store, other_id, dir, &err) != 0)
        fail_msg("%s", err.text);
    expect_text(read_file(dir, "x87.txt"), "\nfadd st0 st  legacy     3.00");
    text = read_file(dir, "int.txt");
    expect_text(text, "Latency and throughput: Integers, all of them on ");
    expect_text(text, "\nadd r64 r64  legacy   1.00           1.00            0.25");
    assert_int_equal(report_write(store, run_id, dir, &err), 0); // that run alone
    assert_null(strstr(read_file(dir, "int.txt"), "div"));
    fixture_end(&fixture, store);
}

static struct strbuf all_views(struct store *store)
{
    struct strbuf text = {0};
    struct err err = {0};
    int64_t nrows;
    static const enum store_view views[] = {STORE_VIEW_LATENCY, STORE_VIEW_INSTRUCTION,
                                            STORE_VIEW_FAILURE};
    for (size_t i = 0; i < ARRAY_LEN(views); i++) {
        const struct report_query query = {.view = views[i], .format = REPORT_CSV};
        report_rows(store, &query, &text, NULL, &nrows, &err);
    }
    return text;
}

static void test_rederive(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t first = fixture_fill(store, "testa", 1, 1), results, changed;
    int64_t second = fixture_fill(store, "testa", 1, 2);
    const struct fixture_test unstable[] = {
        {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_UNSTABLE, 3},
    };
    struct list_row row = fixture_row("nop", "", "nop");
    assert_int_equal(fixture_put(store, second, &row, 9, unstable, 1, &err), 0);
    struct strbuf before = all_views(store);
    expect_text(before.data, "the passes disagree");
    assert_int_equal(rederive_results(store, first, &results, &changed, &err), 0);
    assert_int_equal(results, 10);
    assert_int_equal(changed, 0);
    // Results of another method, or none at all: what the samples say comes back.
    assert_int_equal(
        store_execute(store, &err, "UPDATE result SET value_clk = 99 WHERE test_id IN (1, 2)", ""),
        0);
    assert_int_equal(store_execute(store, &err, "DELETE FROM result WHERE test_id > 15", ""), 0);
    assert_int_equal(store_execute(store, &err, "DELETE FROM estimate", ""), 0);
    assert_int_equal(rederive_results(store, 0, &results, &changed, &err), 0);
    assert_int_equal(results, 21);
    assert_int_equal(changed, 8);
    struct strbuf after = all_views(store);
    assert_string_equal(before.data, after.data);
    strbuf_free(&before);
    strbuf_free(&after);
    fixture_end(&fixture, store);
}

// A latency that does not show, whose reason is derive's and not its kernel's; and one whose kernel
// says more than that it is unstable.
static void put_reasons(struct store *store, int64_t run_id)
{
    struct list_row row = fixture_row("xlat", "", "xlat");
    struct kernel_spec specs[2];
    struct test tests[2];
    struct measured_kernel kernels[2];
    struct measured_test measured[2];
    struct fixture_timing timings;
    struct arena arena = {0};
    struct err err = {0};
    fixture_time(&timings, 3);
    for (int i = 0; i < 2; i++) {
        specs[i] = (struct kernel_spec){
            .shape = "dense", .body = "", .init = "", .instances = 1, .instrs = 1, .extra_clk = 3};
        tests[i] = (struct test){.kind = TEST_LATENCY,
                                 .src = "op1",
                                 .dst = i ? "op2" : "op1",
                                 .variant = "",
                                 .note = "",
                                 .detail = "",
                                 .kernels = &specs[i],
                                 .nkernels = 1};
        const struct executed_kernel executed = {
            .facts = {"dense", 1, 1, 3, true},
            .outcome = i ? OUTCOME_UNSTABLE : OUTCOME_OK,
            .detail = i ? "something outside ended the measuring process" : "",
            .timings = timings.timings,
            .ntimings = 2
        };
        fixture_derive(&tests[i], &executed, 8, &arena, &kernels[i], &measured[i]);
    }
    struct plan plan = {&row, tests, 2};
    const struct form_place place = {"int", 7};
    if (store_put_form(store, run_id, &place, &plan, measured, &err) != 0)
        fail_msg("%s", err.text);
    arena_free(&arena);
}

// The reason of a result is derived again like its value, and counted where it differs.
static void test_rederive_reasons(void **state)
{
    (void)state;
    static const char reasons[] = "SELECT group_concat(outcome || ': ' || detail, '; ') "
                                  "FROM (SELECT * FROM result ORDER BY test_id)";
    static const char expected[] =
        "not_measurable: no dependency shows: the chain takes no longer than what closes it; "
        "unstable: something outside ended the measuring process";
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t results, changed, run_id = fixture_run(store, "testa", 0xb00f21);
    put_reasons(store, run_id);
    fixture_expect(store, reasons, expected);
    assert_int_equal(rederive_results(store, run_id, &results, &changed, &err), 0);
    assert_int_equal(results, 2);
    assert_int_equal(changed, 0);
    fixture_expect(store, reasons, expected);
    // The state in which an older version left it.
    assert_int_equal(
        store_execute(store, &err, "UPDATE result SET detail = '' WHERE kernel_id IS NULL", ""), 0);
    assert_int_equal(rederive_results(store, run_id, &results, &changed, &err), 0);
    assert_int_equal(changed, 2);
    fixture_expect(store, reasons, expected);
    fixture_end(&fixture, store);
}

static int make_database(const char *path)
{
    struct store *store = NULL;
    struct err err = {0};
    if (store_open(path, STORE_WRITE, &store, &err) != 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    for (int i = 0; i < 2; i++) {
        int64_t run_id = fixture_fill(store, i ? "testb" : "testa", 0xb00f21, 1 + i);
        store_put_run_list(store, run_id, "int", i ? "Integers" : "Integer instructions", &err);
        store_run_finish(store, run_id, 10, 1.5, &err);
    }
    // A third run of testa of one question only, if it is asked for.
    if (getenv("TEST_REPORT_PART")) {
        static const struct fixture_test throughput[] = {
            {TEST_THROUGHPUT, "", "", "", OUTCOME_OK, OUTCOME_OK, 0.25}
        };
        struct list_row add = fixture_row("add", "r64 r64", "add r64 r64");
        fixture_put(store, fixture_run(store, "testa", 0xb00f21), &add, 0, throughput, 1, &err);
    }
    store_close(store);
    return 0;
}

// Properties whose pictures had one name.
static void put_properties(struct store *store, int64_t run_id)
{
    static const char *const names[] = {"a.b", "a_b"};
    struct err err = {0};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct swept_variant variant = {"", OUTCOME_OK, ""};
        struct swept_point point = {
            .x = 1, .by = NAN, .instances = 1, .outcome = OUTCOME_OK, .detail = "", .y = 2};
        struct swept_property property = fixture_property(names[i], "level");
        property.position = (int)i;
        property.title = names[i];
        property.variants = &variant;
        property.points = &point;
        property.nvariants = property.npoints = 1;
        if (store_put_property(store, run_id, &property, &err) != 0)
            fail_msg("%s", err.text);
    }
}

// Lists that are called as other files are, and as each other but for what names of files lack.
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *list, *file;
    } cases[] = {
        {"a.b",        "a+2Eb.txt"      },
        {"a_b",        "a_b.txt"        },
        {"a-b",        "a-b.txt"        },
        {"a+2Eb",      "a+2B2Eb.txt"    },
        {"info",       "info+.txt"      },
        {"info_",      "info_.txt"      },
        {"info+",      "info+2B.txt"    },
        {"properties", "properties+.txt"},
    };
    static const struct fixture_test latency[] = {
        {TEST_LATENCY, "op1", "op1", "", OUTCOME_OK, OUTCOME_OK, 3}
    };
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    int64_t run_id = fixture_run(store, "testa", 0xb00f21);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char mnemonic[20], path[40];
        snprintf(mnemonic, sizeof mnemonic, "of%zu", i);
        snprintf(path, sizeof path, "lists/%s.csv", cases[i].list);
        struct list_row row = fixture_row(mnemonic, "r64 r64", mnemonic);
        row.path = path;
        assert_int_equal(fixture_put(store, run_id, &row, (int)i, latency, 1, &err), 0);
    }
    put_properties(store, run_id);
    int drawn = -1; // 1: there is no gnuplot
    if (report_write(store, run_id, fixture.dir, &err) != 0 ||
        (drawn = report_property_write(store, run_id, fixture.dir, &err)) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char row[30];
        snprintf(row, sizeof row, "\nof%zu ", i);
        expect_text(read_file(fixture.dir, cases[i].file), row);
    }
    expect_text(read_file(fixture.dir, "info.txt"), "signature");
    expect_text(read_file(fixture.dir, "properties.txt"), "Properties of the pipeline");
    if (drawn == 0) {
        expect_text(read_file(fixture.dir, "plots/a+2Eb.svg"), ">a.b<");
        expect_text(read_file(fixture.dir, "plots/a_b.svg"), ">a_b<");
    }
    fixture_end(&fixture, store);
    if (drawn != 0) {
        print_message("gnuplot is not installed: no picture was looked at\n");
        skip();
    }
}

// Runs of ports are explained where a row ends with them, and no other text with a slash is.
static void test_legend_runs(void **state)
{
    (void)state;
    struct strbuf legend = {0};
    report_legend("add r64 r64  1*p1/p5  3\nadd r64 m64  10.00 / 13.00  3\n", 100, &legend);
    assert_null(strstr(strbuf_text(&legend), "µops are of run"));
    report_legend("instruction  note\nadd r64 m64  3/1\n", 100, &legend);
    assert_null(strstr(strbuf_text(&legend), "µops are of run"));
    report_legend("instruction  ports  run\nadd r64 m64  2*ALU  3/1\n", 100, &legend);
    assert_non_null(strstr(strbuf_text(&legend), "run 3/1: ports and µops are of run 1"));
    strbuf_free(&legend);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        return make_database(argv[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_rederive),
        cmocka_unit_test(test_rederive_reasons),
        cmocka_unit_test(test_write_best),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_legend_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
