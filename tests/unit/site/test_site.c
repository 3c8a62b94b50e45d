// SPDX-License-Identifier: MIT
// The files of the web page: their content, the same bytes each time, and that nothing from a
// database can become script or markup. `test_site make FILE` and `test_site hostile FILE` write
// databases for the tests in a browser, `test_site many FILE CPUS [LIST...]` one of all forms of
// lists.
#include "fixtures/lists_fixture.h"
#include "fixtures/store_fixture.h"
#include "site/site.h"
#include "site/site_internal.h"
#include "store/store_run.h"
#include "util/text.h"

#include <errno.h>
#include <math.h>

static void test_texts(void **state)
{
    (void)state;
    struct site_texts texts = {0};
    char text[16];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 500; i++) {
            snprintf(text, sizeof text, "text %d", i);
            assert_int_equal(site_text(&texts, text), i);
        }
    assert_int_equal(texts.ntexts, 500);
    site_texts_clear(&texts);
    assert_int_equal(site_text(&texts, ""), 0);
    site_texts_clear(&texts);
}

static void expect_asm(const char *hex, int bits, const char *expected)
{
    struct site_texts texts = {0};
    struct strbuf out = {0};
    struct json json = {.out = &out, .script = true};
    site_asm_json(hex, bits, &texts, &json);
    site_texts_json(&texts, &json);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_free(&out);
    site_texts_clear(&texts);
}

static void test_asm(void **state)
{
    (void)state;
    expect_asm("", 64, "[],[]");
    expect_asm("4801D84801D890", 64, "[0,0,1],[\"4801D8 add rax, rbx\",\"90 nop\"]");
    expect_asm("4801D8", 32, "[0,1],[\"48 dec eax\",\"01D8 add eax, ebx\"]");
    // The last instruction may be cut; what is no hexadecimal ends the code.
    expect_asm("904801", 64, "[0,1],[\"90 nop\",\"4801 \"]");
    expect_asm("90<b>", 64, "[0],[\"90 nop\"]");
    expect_asm("909", 64, "[0],[\"90 nop\"]");
}

static void test_thousandths(void **state)
{
    (void)state;
    struct strbuf out = {0};
    struct json json = {.out = &out, .script = true};
    json_open(&json, '[');
    site_thousandths(&json, 3.0018);
    site_thousandths(&json, 0.1666);
    site_thousandths(&json, -0.0004);
    site_thousandths(&json, (double)NAN);
    site_thousandths(&json, 1e300);
    json_close(&json, ']');
    assert_string_equal(strbuf_text(&out), "[3002,167,0,null,null]");
    strbuf_free(&out);
}

static char *read_file(const char *directory, const char *name)
{
    char path[512];
    struct strbuf text = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    for (int c; (c = fgetc(file)) != EOF;) {
        char byte = (char)c;
        strbuf_put(&text, &byte, 1);
    }
    fclose(file);
    return text.data;
}

static void expect_part(const char *directory, const char *name, const char *part)
{
    char *text = read_file(directory, name);
    if (!strstr(text, part))
        fail_msg("%s has no %s:\n%s", name, part, text);
    free(text);
}

// Opens the database again, as the page is written: for reading.
static struct store *reread(const struct fixture *fixture, struct store *store)
{
    store_close(store);
    return fixture_open(fixture->db, STORE_READ);
}

static void write_site(struct store *store, const char *directory)
{
    struct err err = {0};
    struct site_counts counts;
    struct site_options options = {directory, "Title <of> a page", true, false, NULL};
    if (site_write(store, &options, &counts, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(counts.cpus, 2);
    assert_int_equal(counts.forms, 3);
}

static void test_write(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    char one[128], two[128];
    fixture_fill(store, "testa", 0xb00f21, 1);
    fixture_fill(store, "testb", 0xb00f22, 2);
    store = reread(&fixture, store);
    snprintf(one, sizeof one, "%s/one", fixture.dir);
    snprintf(two, sizeof two, "%s/two", fixture.dir);
    write_site(store, one);
    write_site(store, two);
    static const char *const names[] = {
        "index.html",        "data/index.js",       "data/forms.js",       "data/cpu_testa.js",
        "data/cpu_testb.js", "data/cpu_testa.0.js", "data/cpu_testb.0.js", "data/properties.js",
        "data/words.js",     "data/code.js"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *a = read_file(one, names[i]), *b = read_file(two, names[i]);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
    expect_part(one, "data/index.js", "\"title\":\"Title \\\\u003cof\\\\u003e a page\"");
    expect_part(one, "data/forms.js", "latput.put(\"forms\",'{\"count\":3,");
    // Columns of add, div and hlt: the second CPU is half as fast, hlt has no throughput.
    expect_part(one, "data/cpu_testa.js", "\"latency_min_clk\":[1000,10000,1000]");
    expect_part(one, "data/cpu_testb.js", "\"latency_max_clk\":[4000,36000,2000]");
    expect_part(one, "data/cpu_testb.js", "\"rthroughput_clk\":[500,10000,null]");
    expect_part(one, "data/cpu_testb.js", "\"rthroughput_slow_clk\":[null,14000,null]");
    // The samples are in cycles, the code is as assembly.
    expect_part(one, "data/cpu_testa.0.js", "4801D8 add rax, rbx");
    expect_part(one, "data/cpu_testa.0.js",
                "[[1,8,9,[1000,1000,1000,1000,1000,1000,1000,1000]],[2,8,9,");
    expect_part(one, "data/cpu_testa.0.js", "SIGFPE");
    fixture_end(&fixture, store);
}

// CPUs that are called as the page's own files are, and as those of each other.
static void test_names(void **state)
{
    (void)state;
    static const char *const uarchs[] = {"forms", "index",  "properties", "columns",
                                         "zen5",  "zen5-0", "zen5_0",     "cpu_zen5"};
    static const char *const own[] = {"code", "columns", "forms", "index", "properties", "words"};
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct site_counts counts;
    struct site_options options = {fixture.dir, "", true, false, NULL};
    char command[300];
    for (size_t i = 0; i < ARRAY_LEN(uarchs); i++)
        fixture_fill(store, uarchs[i], 0xb00f21 + (unsigned)i, 1);
    store = reread(&fixture, store);
    if (site_write(store, &options, &counts, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(counts.cpus, (int)ARRAY_LEN(uarchs));
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        char name[40], begin[60];
        snprintf(name, sizeof name, "data/%s.js", own[i]);
        snprintf(begin, sizeof begin, "latput.put(\"%s\",", own[i]);
        expect_part(fixture.dir, name, begin);
    }
    // Two files a CPU beside these.
    snprintf(command, sizeof command,
             "test $(ls %s/data | wc -l) = %zu && "
             "test $(grep -l '^latput.put(\"detail\"' %s/data/* | wc -l) = %zu",
             fixture.dir, 2 * ARRAY_LEN(uarchs) + ARRAY_LEN(own), fixture.dir, ARRAY_LEN(uarchs));
    assert_int_equal(system(command), 0);
    fixture_end(&fixture, store);
}

// Two machines of one family are two CPUs, each with its own best rows.
static void test_machines(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    char one[128];
    fixture_fill(store, "testa", 0xb00f21, 1);
    fixture_fill(store, "testa", 0xb00f22, 2);
    store = reread(&fixture, store);
    snprintf(one, sizeof one, "%s/one", fixture.dir);
    write_site(store, one);
    expect_part(one, "data/index.js",
                "{\"key\":\"testa@test-00b00f21\","
                "\"machine\":\"Test\",");
    expect_part(one, "data/cpu_testa_test-00b00f21.js", "\"latency_min_clk\":[1000,10000,1000]");
    expect_part(one, "data/cpu_testa_test-00b00f22.js", "\"latency_max_clk\":[4000,36000,2000]");
    fixture_end(&fixture, store);
}

static void test_write_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct site_counts counts;
    struct site_options options = {fixture.dir, "", true, false, NULL};
    store = reread(&fixture, store);
    assert_int_equal(site_write(store, &options, &counts, &err), -1);
    assert_non_null(strstr(err.text, "has no run yet"));
    store_close(store);
    store = fixture_open(fixture.db, STORE_WRITE);
    fixture_fill(store, "testa", 0xb00f21, 1);
    store = reread(&fixture, store);
    options.directory = "/nonexistent/x";
    assert_int_equal(site_write(store, &options, &counts, &err), -1);
    assert_non_null(strstr(err.text, "/nonexistent/x: cannot be made"));
    fixture_end(&fixture, store);
}

// Names as a stranger may write them into a pack.
#define MARKUP "</script><img src=x onerror=hostile()>"
#define HANDLER "'\"><svg onload=hostile()>"
static void fill_hostile(struct store *store)
{
    static const struct fixture_test tests[] = {
        {TEST_LATENCY,    "<b>op1", MARKUP, HANDLER, OUTCOME_OK, OUTCOME_OK, 1  },
        {TEST_THROUGHPUT, "",       "",     "",      OUTCOME_OK, OUTCOME_OK, 0.5},
    };
    // clang-format off
    static const char *const names[] = {
        MARKUP, "<!--", "]]>\\u003c\\\"", "=cmd|' /C calc'!A0", "\xe2\x80\xa8line",
        "javascript:hostile()", "__proto__", "constructor", "\xff\xfe",
    };
    // clang-format on
    struct err err = {0};
    int64_t run_id = fixture_run(store, "unknown", 0xb00f21);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct list_row row = fixture_row(names[i], MARKUP, names[i]);
        row.isa = MARKUP;
        if (fixture_put(store, run_id, &row, (int)i, tests, 2, &err) != 0)
            fail_msg("%s", err.text);
    }
    if (store_run_warning(store, run_id, MARKUP, "<a href=\"javascript:hostile()\">", &err) != 0 ||
        store_put_run_list(store, run_id, "int", MARKUP, &err) != 0)
        fail_msg("%s", err.text);
}

// No file that is loaded as a script has a byte that could end it or begin markup.
static void test_hostile(void **state)
{
    (void)state;
    struct fixture fixture;
    struct store *store = fixture_start(&fixture);
    struct err err = {0};
    struct site_counts counts;
    struct site_options options = {fixture.dir, MARKUP, true, false, NULL};
    fill_hostile(store);
    store = reread(&fixture, store);
    assert_int_equal(site_write(store, &options, &counts, &err), 0);
    static const char *const names[] = {
        "data/index.js",      "data/forms.js", "data/cpu_unknown.js", "data/cpu_unknown.0.js",
        "data/properties.js", "data/words.js", "data/code.js"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char *text = read_file(fixture.dir, names[i]);
        assert_null(strpbrk(text, "<>&"));
        assert_null(strstr(text, "\xe2\x80\xa8"));
        assert_true(text_is_clean(text, strlen(text)));
        free(text);
    }
    expect_part(fixture.dir, "data/forms.js",
                "\"\\\\u003c/script\\\\u003e\\\\u003cimg src=x onerror=hostile()\\\\u003e\"");
    expect_part(fixture.dir, "data/forms.js", "\"\\\\u2028line\"");
    expect_part(fixture.dir, "data/forms.js", "\"=cmd|\\' /C calc\\'!A0\"");
    expect_part(fixture.dir, "data/forms.js", "\"\\\\ufffd\\\\ufffd\"");
    fixture_end(&fixture, store);
}

// All forms of all lists with made-up values, on one CPU; copies of it as other CPUs have no
// samples.
static void fill_many(struct store *store, int cpus)
{
    struct err err = {0};
    int64_t run_id = fixture_run(store, "many0", 0xb00f21);
    store_begin(store, &err);
    for (int i = 0; i < lists_all.nrows; i++) {
        double clk = 1 + i % 7, tput = 0.25 * (1 + i % 5);
        const struct fixture_test tests[] = {
            {TEST_LATENCY,    "op1", "op1", "", OUTCOME_OK, OUTCOME_OK, clk    },
            {TEST_LATENCY,    "op2", "op1", "", OUTCOME_OK, OUTCOME_OK, clk + 1},
            {TEST_THROUGHPUT, "",    "",    "", OUTCOME_OK, OUTCOME_OK, tput   },
        };
        if (fixture_put(store, run_id, lists_all.rows[i].row, i, tests, 3, &err) != 0)
            fail_msg("%s", err.text);
    }
    if (store_commit(store, &err) != 0)
        fail_msg("%s", err.text);
    for (int c = 1; c < cpus; c++) {
        char name[16];
        snprintf(name, sizeof name, "many%d", c);
        int first = c * 1000000; // numbers of the copies
        char *sql = xasprintf(
            "INSERT INTO run_form SELECT run_form_id + %d, %lld, form_id, list_id, position, "
            "isa FROM run_form WHERE run_id = %lld;"
            "INSERT INTO test SELECT test_id + %d, run_form_id + %d, position, kind, src, dst, "
            "variant, bound, outcome, detail FROM test WHERE run_form_id < 1000000;"
            "INSERT INTO result SELECT test_id + %d, outcome, detail, value_clk * "
            "(1 + 0.1 * (test_id %% %d = 0)), dense_clk, filled_clk, spread_clk, accepted, tried, "
            "bound, NULL, average, least_clk, most_clk, states FROM result "
            "WHERE test_id < 1000000;",
            first, (long long)fixture_run(store, name, 0xb00f21), (long long)run_id, first, first,
            first, 3 * (c + 2));
        if (store_script(store, &err, sql, "copy a CPU") != 0)
            fail_msg("%s", err.text);
        free(sql);
    }
}

// argv: KIND FILE, of `many` also how many CPUs, and which lists.
static int make_database(int argc, char **argv)
{
    struct store *store = fixture_open(argv[1], STORE_WRITE);
    struct err err = {0};
    if (strcmp(argv[0], "many") == 0 && argc >= 3) {
        if (select_rows((const char *const *)argv + 3, argc - 3, NULL, &lists_all, &err) != 0)
            fail_msg("%s", err.text);
        fill_many(store, atoi(argv[2]));
    } else if (strcmp(argv[0], "hostile") == 0) {
        fill_hostile(store);
    } else {
        fixture_fill(store, "testa", 0xb00f21, 1);
        fixture_fill(store, "testb", 0xb00f22, 2);
    }
    store_close(store);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 3)
        return make_database(argc - 1, argv + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),       cmocka_unit_test(test_asm),
        cmocka_unit_test(test_thousandths), cmocka_unit_test(test_write),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_write_refused),
        cmocka_unit_test(test_hostile),     cmocka_unit_test(test_machines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
