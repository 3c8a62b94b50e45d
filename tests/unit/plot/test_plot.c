// SPDX-License-Identifier: MIT
// Pictures of properties: the content of gnuplot's script, in which foreign texts stay texts; lines
// of text that fit the terminal; SVG if gnuplot is installed.
#include "plot/plot.h"

#include "util/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 24, SAMPLES = 4, CURVES = 3 };

static struct curve_sample samples[CURVES][POINTS][SAMPLES];
static struct curve_point points[CURVES][POINTS];
static struct curve curves[CURVES];

// The first `n` points of curves that step from 10 to 20 clk after x = 100, 200, 300.
static void make_curves(const char *const *variants, int n)
{
    for (int c = 0; c < CURVES; c++) {
        for (int i = 0; i < POINTS; i++) {
            double x = 20 * i + 20;
            for (int s = 0; s < SAMPLES; s++)
                samples[c][i][s] = (struct curve_sample){
                    s / 2, (x <= 100 * (c + 1) ? 10 : 20) * (1 + 0.002 * ((s * 7 + i) % 5))};
            points[c][i] = (struct curve_point){x, samples[c][i], SAMPLES};
        }
        curves[c] = (struct curve){variants[c], points[c], n};
    }
}

static const char *const PLAIN[CURVES] = {"nop", "lea", "load"};

static struct plot make_plot(enum reading reading, int ncurves, struct arena *arena)
{
    struct plot plot = {.title = "Reorder buffer",
                        .question = "How much?",
                        .x_unit = "fillers",
                        .y_unit = "clk",
                        .reading = reading,
                        .curves = curves,
                        .ncurves = ncurves};
    struct conclude_question question = {
        .reading = reading, .x_unit = plot.x_unit, .y_unit = plot.y_unit};
    plot.conclusions = conclude(&question, curves, ncurves, arena, &plot.nconclusions);
    return plot;
}

static void expect_lines(const struct strbuf *out, int width)
{
    for (const char *line = strbuf_text(out); *line; line += strcspn(line, "\n") + 1)
        if (text_width(line, strcspn(line, "\n")) > width)
            fail_msg("wider than %d: %.*s", width, (int)strcspn(line, "\n"), line);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what))
        n++;
    return n;
}

static void curves_have_knees(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct strbuf out = {0};
    make_curves(PLAIN, POINTS);
    struct plot plot = make_plot(READING_KNEE, CURVES, &arena);
    plot_script(&plot, &out);
    assert_non_null(strstr(out.data, "set xlabel \"fillers\""));
    assert_non_null(strstr(out.data, "set ylabel \"core cycles\""));
    assert_non_null(strstr(out.data, "set object rectangle from first 200, graph 0 to first 220,"));
    assert_non_null(strstr(out.data, "set label \"300\" at first 300"));
    assert_non_null(strstr(out.data, "$curve2 using 1:2 with linespoints"));
    assert_null(strstr(out.data, "logscale"));
    struct curve_point first = points[0][0]; // lines go from left to right in any case
    points[0][0] = points[0][9];
    points[0][9] = first;
    struct strbuf again = {0};
    plot_script(&plot, &again);
    assert_string_equal(again.data, out.data);
    strbuf_free(&again);
    strbuf_clear(&out);
    for (int width = 30; width <= 300; width += 45) {
        strbuf_clear(&out);
        plot_text(&plot, width, &out);
        expect_lines(&out, width < 40 ? 40 : width);
        assert_int_equal(count(out.data, "▲"), 3);
        assert_non_null(strstr(out.data, "c load"));
        assert_non_null(strstr(out.data, "lea: 200 fillers"));
    }
    plot = make_plot(READING_KNEE, 1, &arena);
    strbuf_clear(&out);
    plot_text(&plot, 80, &out);
    expect_lines(&out, 80);
    assert_int_equal(count(out.data, "▲"), 1);
    strbuf_free(&out);
    arena_free(&arena);
}

static void sizes_stand_on_a_logarithmic_axis(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct strbuf out = {0};
    make_curves(PLAIN, POINTS);
    for (int i = 0; i < POINTS; i++) {
        points[0][i].x = 1024 * exp2(i / 2.0);
        for (int s = 0; s < SAMPLES; s++)
            samples[0][i][s].value *= i < 10 ? 1 : 20;
    }
    struct plot plot = make_plot(READING_PLATEAUS, 1, &arena);
    plot.geometric = true;
    plot.x_unit = "bytes";
    plot_script(&plot, &out);
    assert_non_null(strstr(out.data, "set logscale x 2"));
    assert_non_null(strstr(out.data, "set logscale y"));
    assert_non_null(strstr(out.data, "\"64 KiB\" 65536"));
    strbuf_free(&out);
    arena_free(&arena);
}

// Text that gnuplot would execute (backticks, quotes, lines of their own) stays in quotes.
static void texts_stay_texts(void **state)
{
    (void)state;
    static const char *const hostile[CURVES] = {"'; system 'touch /tmp/x", "a\nsystem 'id'",
                                                "`id` \x01 \"$(id)\" \\"};
    struct arena arena = {0};
    for (int reading = 0; reading < READING_COUNT; reading++) {
        for (int n = 1; n <= POINTS; n += POINTS - 1) {
            struct strbuf out = {0};
            make_curves(hostile, n);
            struct plot plot = make_plot((enum reading)reading, CURVES, &arena);
            plot.title = hostile[0];
            plot.x_unit = hostile[1];
            plot.y_unit = hostile[2];
            plot_script(&plot, &out);
            assert_null(strchr(out.data, '`'));
            assert_null(strchr(out.data, '\x01'));
            char quote = 0;
            for (const char *at = out.data; *at; at++) {
                if (*at == quote || (!quote && strchr("'\"", *at)))
                    quote = quote ? 0 : *at;
                assert_false(quote && *at == '\n');
                assert_false(!quote && strncmp(at, "system", 6) == 0);
            }
            assert_false(quote);
            strbuf_free(&out);
        }
    }
    arena_free(&arena);
}

static void matrices_have_cells(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct strbuf out = {0};
    make_curves(PLAIN, POINTS);
    struct plot plot = make_plot(READING_MATRIX, CURVES, &arena);
    plot_script(&plot, &out);
    assert_non_null(strstr(out.data, "with image pixels"));
    assert_int_equal(count(out.data, "\n0 0 10"), 1);
    strbuf_clear(&out);
    plot_text(&plot, 80, &out);
    expect_lines(&out, 80);
    assert_int_equal(count(out.data, "█"), (3 * POINTS - 5 - 10 - 15) * 3 + 1);
    assert_non_null(strstr(out.data, "· 10 clk"));
    strbuf_clear(&out);
    plot_text(&plot, 40, &out);
    expect_lines(&out, 40);
    strbuf_free(&out);
    arena_free(&arena);
}

static void single_values_are_bars(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct strbuf out = {0};
    static const char *const names[CURVES] = {"nop", "a name that is too long for a column", ""};
    make_curves(names, 1);
    for (int s = 0; s < SAMPLES; s++)
        samples[1][0][s].value = 30;
    points[2][0].nsamples = 0;
    struct plot plot = make_plot(READING_DIFFERENCE, CURVES, &arena);
    plot_script(&plot, &out);
    assert_non_null(strstr(out.data, "with boxes"));
    strbuf_clear(&out);
    plot_text(&plot, 80, &out);
    expect_lines(&out, 80);
    assert_non_null(strstr(out.data, "█ 30 clk\n"));
    assert_non_null(strstr(out.data, "…"));
    assert_non_null(strstr(out.data, "  -\n"));
    for (int c = 0; c < CURVES; c++)
        curves[c].npoints = 0;
    plot.nconclusions = 0;
    strbuf_clear(&out);
    plot_text(&plot, 80, &out);
    assert_string_equal(out.data, "Reorder buffer\nnothing was measured\n");
    strbuf_clear(&out);
    plot_script(&plot, &out);
    assert_non_null(strstr(out.data, "'nothing was measured'"));
    strbuf_free(&out);
    arena_free(&arena);
}

// gnuplot understands each kind of script.
static void gnuplot_draws(void **state)
{
    (void)state;
    static const enum reading readings[] = {READING_KNEE, READING_MATRIX, READING_DISTRIBUTION};
    static const char *const titles[] = {"it's \"one\" & <two>", "''two 'first",
                                         "`a` \\x $b @c''d"};
    static const char *const drawn[] = {"it's \"one\" &amp; &lt;two>", "''two 'first",
                                        "`a` \\x $b @c''d"};
    struct arena arena = {0};
    struct err err;
    for (size_t i = 0; i < ARRAY_LEN(readings); i++) {
        for (int n = 1; n <= POINTS; n += POINTS - 1) {
            struct strbuf svg = {0};
            make_curves(PLAIN, n);
            struct plot plot = make_plot(readings[i], CURVES, &arena);
            plot.title = titles[i];
            int status = plot_svg(&plot, &svg, &err);
            if (status == 1) {
                arena_free(&arena);
                print_message("gnuplot is not installed\n");
                skip();
            }
            if (status != 0)
                fail_msg("%s", err.text);
            assert_non_null(strstr(svg.data, drawn[i]));
            assert_int_equal(memcmp(svg.data, "<?xml", 5), 0);
            strbuf_free(&svg);
        }
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_have_knees),
        cmocka_unit_test(sizes_stand_on_a_logarithmic_axis),
        cmocka_unit_test(texts_stay_texts),
        cmocka_unit_test(matrices_have_cells),
        cmocka_unit_test(single_values_are_bars),
        cmocka_unit_test(gnuplot_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
