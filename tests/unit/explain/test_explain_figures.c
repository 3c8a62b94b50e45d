// SPDX-License-Identifier: MIT
// Figures over rows of blocks, and rows that are kept in a file.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/explain_figures.h"
#include "util/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static struct explain_row row(const char *limit, double predicted, double measured, double weight)
{
    return (struct explain_row){.refused = "",
                                .limit = limit,
                                .failure = isnan(measured) ? "signalled: SIGSEGV" : "",
                                .predicted_clk = predicted,
                                .measured_clk = measured,
                                .spread_clk = NAN,
                                .weight = weight,
                                .code = "90",
                                .settings = ""};
}

static void figures_are_of_what_was_measured(void **state)
{
    (void)state;
    struct explain_row rows[] = {
        row("chain", 4.0, 4.0, 1), row("chain", 3.0, 4.0, 3), row("ports", 2.1, 2.0, 4),
        row("ports", 1.0, NAN, 9), row("", NAN, NAN, 1),
    };
    struct explain_figures figures;
    rows[4].refused = "no instruction";
    rows[4].failure = "";
    explain_figures_make(rows, 5, &figures);
    assert_int_equal(figures.rows, 5);
    assert_int_equal(figures.refused, 1);
    assert_int_equal(figures.failed, 1);
    assert_int_equal(figures.all.blocks, 3);
    assert_true(near(figures.all.within_10_percent, 200.0 / 3));
    assert_true(near(figures.all.mape_percent, (0 + 25 + 5) / 3.0));
    assert_true(near(figures.all.median_percent, 5));
    assert_true(near(figures.all.weighted_within_10_percent, 100 * 5 / 8.0));
    assert_true(near(figures.all.weighted_mape_percent, (3 * 25 + 4 * 5) / 8.0));
    assert_int_equal(figures.nlimits, 2);
    assert_string_equal(figures.limits[0].name, "chain");
    assert_int_equal(figures.limits[0].blocks, 2);
    assert_true(near(figures.limits[0].within_10_percent, 50));
    assert_int_equal(figures.limits[1].blocks, 1);
    // Another's predictions, of which one is missing.
    const double theirs[] = {4.4, NAN, 4.0, 1, 1};
    struct figures other = figures_of(rows, 5, theirs, NULL);
    assert_int_equal(other.blocks, 2);
    assert_true(near(other.mape_percent, 55));
    // Nothing is no figure.
    explain_figures_make(rows + 3, 2, &figures);
    assert_int_equal(figures.all.blocks, 0);
    assert_true(isnan(figures.all.within_10_percent) && isnan(figures.all.kendall_tau));
}

// A file of rows of two blocks.
static struct arena rows_arena;
static char rows_path[200];
static struct explain_job rows_jobs[2];
static const struct explain_request rows_request = {.blocks = "blocks.csv"};
static struct explain_work rows_work;
static char *rows_directory;

static int begin_rows(void **state)
{
    (void)state;
    struct err err = {0};
    rows_directory = scratch_begin(&err);
    assert_non_null(rows_directory);
    snprintf(rows_path, sizeof rows_path, "%s/rows.csv", rows_directory);
    rows_jobs[0] = (struct explain_job){.line = 2, .source = "90", .weight = 1};
    rows_jobs[1] = (struct explain_job){.line = 3, .source = "a, \"b\"", .weight = 2};
    rows_work = (struct explain_work){
        .request = &rows_request, .jobs = rows_jobs, .njobs = 2, .settings = "a CPU, measured"};
    struct explain_file file;
    assert_int_equal(explain_file_open(rows_path, &rows_work, &rows_arena, &file, &err), 0);
    assert_int_equal(file.nrows, 0);
    struct explain_row rows[] = {row("chain", 4.25, 4.5, 1), row("ports", 1, NAN, 2)};
    rows[0].line = 2;
    rows[1].line = 3;
    rows[1].code = rows_jobs[1].source;
    rows[1].instructions = -1;
    rows[0].settings = rows[1].settings = rows_work.settings;
    assert_int_equal(explain_file_put(&file, rows, 2, &err), 0);
    assert_int_equal(explain_file_close(&file, &err), 0);
    return 0;
}

static int end_rows(void **state)
{
    (void)state;
    scratch_end(rows_directory, false);
    arena_free(&rows_arena);
    return 0;
}

static void append(const char *text)
{
    FILE *stream = fopen(rows_path, "a");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

// The file is refused with this text, and stays as it is.
static void refused(const char *text)
{
    struct explain_file file;
    struct err err = {0};
    char before[400] = "", after[400] = "";
    FILE *stream = fopen(rows_path, "r");
    size_t len = fread(before, 1, sizeof before - 1, stream);
    fclose(stream);
    assert_int_equal(explain_file_open(rows_path, &rows_work, &rows_arena, &file, &err), -1);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    stream = fopen(rows_path, "r");
    assert_int_equal(fread(after, 1, sizeof after - 1, stream), len);
    fclose(stream);
    assert_string_equal(after, before);
}

// A file goes on with the blocks that it lacks, without the half of a row at its end.
static void rows_are_kept(void **state)
{
    (void)state;
    struct err err = {0};
    struct explain_file file;
    assert_int_equal(explain_file_open(rows_path, &rows_work, &rows_arena, &file, &err), 0);
    assert_int_equal(file.nrows, 2);
    assert_true(near(file.rows[0].predicted_clk, 4.25));
    assert_true(near(file.rows[0].measured_clk, 4.5));
    assert_string_equal(file.rows[1].code, "a, \"b\"");
    assert_string_equal(file.rows[1].failure, "signalled: SIGSEGV");
    assert_int_equal(file.rows[1].instructions, -1);
    assert_true(isnan(file.rows[1].measured_clk) && file.rows[1].weight == 2);
    assert_int_equal(explain_file_close(&file, &err), 0);
    append("4,,1,0,1.0");
    assert_int_equal(explain_file_open(rows_path, &rows_work, &rows_arena, &file, &err), 0);
    assert_int_equal(file.nrows, 2);
    assert_int_equal(explain_file_close(&file, &err), 0);
}

// Rows of other settings or of other blocks, numbers that cannot be, and another file are refused.
static void other_rows_are_refused(void **state)
{
    (void)state;
    rows_work.settings = "a CPU, predicted";
    refused("rows.csv:2: its numbers were made by other settings than these, 'a CPU, predicted'");
    rows_work.settings = "a CPU, measured";
    rows_jobs[0].weight = 3;
    refused("rows.csv:2: a row of another block");
    rows_jobs[0].weight = 1;
    rows_jobs[0].source = "91";
    refused("rows.csv:2: a row of another block");
    rows_jobs[0].source = "90";
    append("4,,1,0,1.0,chain,4 clk,,0,1,90,,\n");
    refused("rows.csv:4: '4 clk' is no number of a row");
    assert_int_equal(truncate(rows_path, 0), 0);
    append("something else\nof the user's");
    refused("no file of rows of blocks");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_of_what_was_measured),
        cmocka_unit_test_setup_teardown(rows_are_kept, begin_rows, end_rows),
        cmocka_unit_test_setup_teardown(other_rows_are_refused, begin_rows, end_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
