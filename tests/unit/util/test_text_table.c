// SPDX-License-Identifier: MIT
// Tables of text: alignment, columns that stay empty, terminals that are too narrow.
#include "util/mem.h"
#include "util/text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_table(void **state)
{
    (void)state;
    static const char *const headers[] = {"a", "number", "empty", "µ"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_LEFT, ALIGN_RIGHT};
    static const char *const cells[] = {"x", "1.00",    "",   "≤1",    "yyy", "0.125",
                                        "",  "\033[2J", "zz", "100.0", "",    "µµ"};
    struct text_table *table = text_table_new(headers, aligns, 4);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        text_table_cell(table, cells[i]);
    struct strbuf out = {0};
    text_table_print(table, &out);
    // Empty columns are gone, points are in one column, a terminal cannot be driven.
    assert_string_equal(out.data, "a     number        µ\n"
                                  "x      1.00        ≤1\n"
                                  "yyy    0.125  \\x1b[2J\n"
                                  "zz   100.0         µµ\n");
    strbuf_free(&out);
    text_table_free(table);
}

static void expect_narrow(const struct text_table *table, int width, const char *text,
                          const char *note)
{
    static const struct text_fit fits[] = {
        {FIT_SAME, 0},
        {FIT_KEEP, 6},
        {FIT_KEEP, 0},
        {1,        0},
        {2,        0},
        {FIT_SAME, 0},
    };
    struct strbuf out = {0}, left_out = {0};
    text_table_print_narrow(table, width, fits, &out, &left_out);
    assert_string_equal(out.data, text);
    assert_string_equal(strbuf_text(&left_out), note);
    strbuf_free(&out);
    strbuf_free(&left_out);
}

static void test_narrow(void **state)
{
    (void)state;
    static const char *const headers[] = {"cpu", "form", "number", "min", "max", "run"};
    static const enum text_align aligns[] = {ALIGN_LEFT,  ALIGN_LEFT,  ALIGN_POINT,
                                             ALIGN_RIGHT, ALIGN_RIGHT, ALIGN_RIGHT};
    static const char *const cells[] = {
        "zen", "add r64 µµ+µ1+µ22", "1.00", "1", "2", "1", "zen", "nop", "10.25", "1", "3", "2",
    };
    struct text_table *table = text_table_new(headers, aligns, 6);
    for (size_t i = 0; i < ARRAY_LEN(cells); i++)
        text_table_cell(table, cells[i]);
    // It fits as it is; it does not: what is the same goes; folding; columns by rank; too narrow.
    expect_narrow(table, 48,
                  "cpu  form               number  min  max  run\n"
                  "zen  add r64 µµ+µ1+µ22    1.00    1    2    1\n"
                  "zen  nop                 10.25    1    3    2\n",
                  "");
    expect_narrow(table, 40,
                  "form               number  min  max  run\n"
                  "add r64 µµ+µ1+µ22    1.00    1    2    1\n"
                  "nop                 10.25    1    3    2\n",
                  "in all rows cpu zen");
    expect_narrow(table, 34,
                  "form              number  max  run\n"
                  "add r64 µµ+µ1       1.00    2    1\n"
                  "  +µ22\n"
                  "nop                10.25    3    2\n",
                  "in all rows cpu zen, min 1");
    expect_narrow(table, 22,
                  "form       number  run\n"
                  "add r64      1.00    1\n"
                  "  µµ+µ1\n"
                  "  +µ22\n"
                  "nop         10.25    2\n",
                  "in all rows cpu zen, min 1; without max");
    expect_narrow(table, 5,
                  "form    number  run\n"
                  "add       1.00    1\n"
                  "  r64\n"
                  "  µµ\n"
                  "  +µ1\n"
                  "  +µ22\n"
                  "nop      10.25    2\n",
                  "in all rows cpu zen, min 1; without max");
    text_table_free(table);
}

// A heading that alone makes its column wide takes several lines, where one is too short.
static void test_heading(void **state)
{
    (void)state;
    static const char *const headers[] = {"form", "zen4 latency", "zen5 latency max"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_POINT};
    static const struct text_fit fits[] = {
        {FIT_KEEP, 0},
        {FIT_KEEP, 0},
        {FIT_KEEP, 0},
    };
    struct text_table *table = text_table_new(headers, aligns, 3);
    text_table_cell(table, "nop");
    text_table_cell(table, "1.00");
    text_table_cell(table, "10.125");
    struct strbuf out = {0}, note = {0};
    text_table_print_narrow(table, 40, fits, &out, &note);
    assert_string_equal(out.data, "form  zen4 latency  zen5 latency max\n"
                                  "nop           1.00            10.125\n");
    strbuf_clear(&out);
    text_table_print_narrow(table, 30, fits, &out, &note);
    assert_string_equal(out.data, "form     zen4     zen5\n"
                                  "      latency  latency\n"
                                  "                   max\n"
                                  "nop      1.00   10.125\n");
    assert_string_equal(strbuf_text(&note), "");
    strbuf_free(&out);
    strbuf_free(&note);
    text_table_free(table);
}

// Each format escapes what it would read. Columns without text are gone but in CSV.
static void test_formats(void **state)
{
    (void)state;
    static const char *const headers[] = {"form & |", "clk", "none"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_POINT, ALIGN_LEFT};
    // clang-format off
    static const struct {
        enum report_format format;
        const char *text;
    } cases[] = {
        {REPORT_CSV, "form & |,clk,none\n"
                     "\"2*A_1|<b>{k}\"\"\",≤1.00,\n"
                     "[µ~x] 50% $#\\^-- \\x1b'`,->2,\n"},
        {REPORT_MARKDOWN, "| form \\& \\| | clk |\n"
                          "|---|--:|\n"
                          "| 2\\*A\\_1\\|\\<b\\>{k}\" | ≤1.00 |\n"
                          "| **\\[µ\\~x\\] 50% \\$\\#\\\\^-- \\\\x1b'\\`** | -\\>2 |\n"},
        {REPORT_HTML, "<table>\n<thead>\n"
                      "<tr><th style=\"text-align:left\">form &amp; |</th>"
                      "<th style=\"text-align:right\">clk</th></tr>\n"
                      "</thead>\n<tbody>\n"
                      "<tr><td>2*A_1|&lt;b&gt;{k}&quot;</td>"
                      "<td style=\"text-align:right\">&#8804;1.00</td></tr>\n"
                      "<tr><td><b>[&#181;~x] 50% $#\\^-- \\x1b'`</b></td>"
                      "<td style=\"text-align:right\">-&gt;2</td></tr>\n"
                      "</tbody>\n</table>\n"},
        {REPORT_LATEX, "\\begin{tabular}{lr}\n\\hline\n"
                       "form \\& \\textbar{} & clk \\\\\n"
                       "\\hline\n"
                       "2{*}A\\_1\\textbar{}\\textless{}b\\textgreater{}\\{k\\}"
                       "\\textquotedbl{} & \\ensuremath{\\leq}1.00 \\\\\n"
                       "\\textbf{{[}\\ensuremath{\\mu}\\textasciitilde{}x] 50\\% \\$\\#"
                       "\\textbackslash{}\\textasciicircum{}-{}-{} "
                       "\\textbackslash{}x1b{'}{`}} & -{}\\textgreater{}2 \\\\\n"
                       "\\hline\n\\end{tabular}\n"},
    };
    // clang-format on
    struct text_table *table = text_table_new(headers, aligns, 3);
    text_table_cell(table, "2*A_1|<b>{k}\"");
    text_table_cell(table, "≤1.00");
    text_table_cell(table, "");
    text_table_styled(table, "[µ~x] 50% $#\\^-- \033'`", STYLE_HEADING);
    text_table_cell(table, "->2");
    text_table_cell(table, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct strbuf out = {0};
        text_table_put(table, cases[i].format, &out);
        assert_string_equal(out.data, cases[i].text);
        strbuf_free(&out);
    }
    text_table_free(table);
}

// A table without rows has all its headings; text around a table is escaped like its cells.
static void test_formats_around(void **state)
{
    (void)state;
    static const char *const headers[] = {"a", "b"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_RIGHT};
    struct text_table *table = text_table_new(headers, aligns, 2);
    struct strbuf out = {0};
    text_table_put(table, REPORT_MARKDOWN, &out);
    text_table_put(table, REPORT_CSV, &out);
    for (enum report_format format = REPORT_TABLE; format <= REPORT_LATEX; format++)
        if (report_for_people(format))
            text_table_say("a|b <5 %>", format, &out);
    assert_string_equal(out.data, "| a | b |\n|---|--:|\na,b\n"
                                  "a|b <5 %>\n"
                                  "a\\|b \\<5 %\\>\n\n"
                                  "<p>a|b &lt;5 %&gt;</p>\n"
                                  "a\\textbar{}b \\textless{}5 \\%\\textgreater{}\n\n");
    strbuf_free(&out);
    text_table_free(table);
}

// Colours take no room; a table without them has no escape sequence.
static void test_colour(void **state)
{
    (void)state;
    static const char *const headers[] = {"a", "b"};
    static const enum text_align aligns[] = {ALIGN_LEFT, ALIGN_RIGHT};
    struct strbuf out = {0};
    for (int colour = 0; colour < 2; colour++) {
        struct text_table *table = text_table_new(headers, aligns, 2);
        if (colour)
            text_table_colour(table);
        text_table_styled(table, "x", STYLE_BAD);
        text_table_cell(table, "123");
        strbuf_clear(&out);
        text_table_print(table, &out);
        assert_string_equal(out.data, colour ? "\033[1ma    b\033[0m\n"
                                               "\033[31mx\033[0m  123\n"
                                             : "a    b\n"
                                               "x  123\n");
        text_table_free(table);
    }
    strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_heading), cmocka_unit_test(test_colour),
        cmocka_unit_test(test_formats), cmocka_unit_test(test_formats_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
