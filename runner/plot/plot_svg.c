// SPDX-License-Identifier: MIT
// Pictures by gnuplot. The script is fixed text with numbers, and texts in double quotes, with
// characters that are special to gnuplot as numbers. (Single quotes would be escaped by doubling,
// but gnuplot 5.4 takes two at the beginning for an empty text.) Characters that are not plain
// become blanks.
#include "plot.h"

#include "util/quantile.h"
#include "util/scratch.h"
#include "util/subproc.h"
#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 900, HEIGHT = 520, NUMBERED_MAX = 400, COLOURS = 8, BINS = 120 };

// Colours that colour-blind people tell apart (Okabe and Ito, 2008).
static const char *const COLOUR[COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                            "#e69f00", "#56b4e9", "#000000", "#999933"};

static void put_quoted(struct strbuf *out, const char *text)
{
    strbuf_puts(out, "\"");
    while (*text) {
        bool plain;
        size_t len = text_next(text, &plain);
        if (strchr("\"\\'`", *text))
            strbuf_printf(out, "\\%03o", (unsigned)*text);
        else
            strbuf_put(out, plain ? text : " ", plain ? len : 1);
        text += len;
    }
    strbuf_puts(out, "\"");
}

static void put_setting(struct strbuf *out, const char *setting, const char *text, const char *rest)
{
    strbuf_printf(out, "set %s ", setting);
    put_quoted(out, text);
    strbuf_printf(out, "%s\n", rest);
}

// Writes tics of sizes as "48 KiB", at powers of two, not too close to each other.
static void put_byte_tics(const struct plot_range *range, struct strbuf *out)
{
    struct arena arena = {0};
    int first = (int)ceil(log2(fmax(range->x_low, 1))), last = (int)floor(log2(range->x_high));
    int step = (last - first) / 10 + 1;
    const char *separator = "";
    strbuf_puts(out, "set xtics (");
    for (int i = first; i <= last; i += step) {
        strbuf_puts(out, separator);
        put_quoted(out, conclude_quantity(&arena, exp2(i), "bytes"));
        strbuf_printf(out, " %.0f", exp2(i));
        separator = ", ";
    }
    strbuf_puts(out, ")\n");
    arena_free(&arena);
}

static void put_head(const struct plot *plot, struct strbuf *out)
{
    strbuf_printf(out,
                  "set terminal svg size %d,%d noenhanced font 'sans-serif,14' "
                  "background '#ffffff'\nset encoding utf8\n",
                  WIDTH, HEIGHT);
    put_setting(out, "title", plot->title, " noenhanced font ',18'");
    strbuf_puts(out, "set border 3 linecolor '#606060'\nset tics nomirror\n"
                     "set grid linecolor '#e0e0e0' linetype 1\n"
                     "set key outside right top Left reverse samplen 2 noenhanced\n");
}

static bool has_by(const struct plot *plot)
{
    return plot->by_unit && *plot->by_unit;
}

static void put_axes(const struct plot *plot, const struct plot_range *range, struct strbuf *out)
{
    put_setting(out, "xlabel", plot_axis(plot->x_unit), " noenhanced");
    put_setting(out, "ylabel", plot_axis(plot->y_unit), " noenhanced");
    if (has_by(plot))
        put_setting(out, "key title", plot->by_unit, " noenhanced");
    double span = range->x_high - range->x_low, room = range->y_high - range->y_low;
    if (plot->geometric && range->x_low > 0)
        strbuf_printf(out, "set logscale x 2\nset xrange [%.17g:%.17g]\n", range->x_low / 1.05,
                      range->x_high * 1.05);
    else
        strbuf_printf(out, "set xrange [%.17g:%.17g]\n", range->x_low - 0.02 * span - !(span > 0),
                      range->x_high + 0.02 * span + !(span > 0));
    if (strcmp(plot->x_unit, "bytes") == 0 && plot->geometric)
        put_byte_tics(range, out);
    if (range->y_log)
        strbuf_printf(out, "set logscale y\nset yrange [%.17g:%.17g]\n", range->y_low / 1.15,
                      range->y_high * 1.3);
    else
        strbuf_printf(out, "set yrange [%.17g:%.17g]\n",
                      range->y_low > 0 ? 0 : range->y_low - 0.05 * room - !(room > 0),
                      range->y_high + 0.15 * fabs(range->y_high) + !(room > 0));
}

struct row { // row of a curve's data
    double x, y, low, high;
};

static int row_compare(const void *a, const void *b)
{
    const struct row *left = a, *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

// Returns a point's value and the interquartile range of its samples.
static struct row make_row(const struct curve_point *point, struct arena *arena)
{
    struct row row = {point->x, curve_point_value(point), 0, 0};
    double *sorted = arena_alloc(arena, sizeof *sorted * (size_t)(point->nsamples + 1));
    int n = 0;
    for (int i = 0; i < point->nsamples; i++)
        if (isfinite(point->samples[i].value))
            sorted[n++] = point->samples[i].value;
    quantile_sort(sorted, n);
    if (n) {
        row.low = fmin(row.y, quantile_of(sorted, n, 0.25));
        row.high = fmax(row.y, quantile_of(sorted, n, 0.75));
    }
    return row;
}

// Writes the data sorted by x: points may come in any order, lines go from left to right.
static void put_data(const struct plot *plot, struct strbuf *out)
{
    struct arena arena = {0};
    for (int i = 0; i < plot->ncurves; i++) {
        const struct curve *curve = &plot->curves[i];
        struct row *rows = arena_alloc(&arena, sizeof *rows * (size_t)(curve->npoints + 1));
        for (int k = 0; k < curve->npoints; k++)
            rows[k] = make_row(&curve->points[k], &arena);
        qsort(rows, (size_t)curve->npoints, sizeof *rows, row_compare);
        strbuf_printf(out, "$curve%d << END\n", i);
        for (int k = 0; k < curve->npoints; k++)
            if (isfinite(rows[k].y))
                strbuf_printf(out, "%.17g %.9g %.9g %.9g\n", rows[k].x, rows[k].y, rows[k].low,
                              rows[k].high);
        strbuf_puts(out, "END\n");
    }
    arena_free(&arena);
}

static int find_curve(const struct plot *plot, const char *variant)
{
    for (int i = 0; i < plot->ncurves; i++)
        if (strcmp(plot->curves[i].variant, variant) == 0)
            return i;
    return 0;
}

// Marks each knee and end of a level: a band for its interval, a line with its value at the top.
static void put_marks(const struct plot *plot, struct strbuf *out)
{
    struct arena arena = {0};
    int number = 0;
    for (int i = 0; i < plot->nconclusions; i++) {
        const struct conclusion *conclusion = &plot->conclusions[i];
        const char *colour = COLOUR[find_curve(plot, conclusion->variant) % COLOURS];
        for (int k = 0; k < conclusion->nvalues; k++) {
            const struct conclusion_value *value = &conclusion->values[k];
            if (!plot_is_mark(value))
                continue;
            strbuf_printf(out,
                          "set object rectangle from first %.17g, graph 0 to first %.17g, "
                          "graph 1 behind fillcolor '%s' fillstyle solid 0.15 noborder\n",
                          value->low, value->high, colour);
            strbuf_printf(out,
                          "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead "
                          "dashtype 2 linecolor '%s'\n",
                          value->value, value->value, colour);
            strbuf_puts(out, "set label ");
            // The axis names the unit, but the unit of bytes depends on the size.
            bool bytes = strcmp(value->unit, "bytes") == 0;
            put_quoted(out, conclude_quantity(&arena, value->value, bytes ? "bytes" : ""));
            strbuf_printf(out,
                          " at first %.17g, graph %.3g left offset character 0.4,0 noenhanced "
                          "textcolor '%s' front\n",
                          value->value, 0.97 - 0.05 * (number++ % 4), colour);
        }
    }
    arena_free(&arena);
}

// Writes a shade from dark to light, so that many curves show their order.
static void put_shade(int i, int n, struct strbuf *out)
{
    double share = n > 1 ? (double)i / (n - 1) : 0;
    int red = (int)(68 + share * (253 - 68)), green = (int)(1 + share * (200 - 1));
    int blue = (int)(share < 0.5 ? 84 + share * 2 * (140 - 84) : 140 - (share - 0.5) * 2 * 103);
    strbuf_printf(out, "'#%02x%02x%02x'", (unsigned)red, (unsigned)green, (unsigned)blue);
}

static void put_curves(const struct plot *plot, struct strbuf *out)
{
    put_data(plot, out);
    put_marks(plot, out);
    strbuf_puts(out, "plot ");
    for (int i = 0; i < plot->ncurves; i++) {
        const struct curve *curve = &plot->curves[i];
        strbuf_puts(out, i ? ", \\\n  " : "");
        struct strbuf colour = {0};
        if (plot->ncurves > COLOURS)
            put_shade(i, plot->ncurves, &colour);
        else
            strbuf_printf(&colour, "'%s'", COLOUR[i % COLOURS]);
        if (plot->ncurves <= COLOURS) // spread of the samples, if it can be seen
            strbuf_printf(out,
                          "$curve%d using 1:3:4 with filledcurves linecolor %s "
                          "fillstyle transparent solid 0.15 notitle, \\\n  ",
                          i, strbuf_text(&colour));
        strbuf_printf(out,
                      "$curve%d using 1:2 with linespoints linecolor %s linewidth 1.5 "
                      "pointtype 7 pointsize 0.35 ",
                      i, strbuf_text(&colour));
        strbuf_puts(out, plot->ncurves > 1 || *curve->variant ? "title " : "notitle");
        if (plot->ncurves > 1 || *curve->variant)
            put_quoted(out, curve->variant);
        strbuf_free(&colour);
    }
    strbuf_puts(out, "\n");
}

static void put_bars(const struct plot *plot, struct strbuf *out)
{
    put_setting(out, "ylabel", plot_axis(plot->y_unit), " noenhanced");
    strbuf_printf(out,
                  "unset key\nunset xlabel\nset grid noxtics\nset boxwidth 0.6\n"
                  "set style fill solid 0.8 noborder\nset xrange [-0.6:%g]\nset yrange [0:*]\n"
                  "set bmargin 7\nset xtics rotate by 25 right noenhanced (",
                  plot->ncurves - 0.4);
    for (int i = 0; i < plot->ncurves; i++) {
        strbuf_puts(out, i ? ", " : "");
        put_quoted(out, *plot->curves[i].variant ? plot->curves[i].variant : " ");
        strbuf_printf(out, " %d", i);
    }
    strbuf_puts(out, ")\n$bars << END\n");
    for (int i = 0; i < plot->ncurves; i++)
        for (int k = 0; k < plot->curves[i].npoints; k++) {
            double y = curve_point_value(&plot->curves[i].points[k]);
            if (isfinite(y))
                strbuf_printf(out, "%d %.9g\n", i, y);
        }
    strbuf_printf(out,
                  "END\nplot $bars using 1:2 with boxes linecolor '%s', \\\n  $bars using 1:2:"
                  "(sprintf('%%.3g', $2)) with labels offset 0,0.7 noenhanced\n",
                  COLOUR[0]);
}

// Draws rows from above in their order, columns at equal distances, colours on a logarithmic scale
// if values vary much, and values in cells that are large enough.
static void put_heat_map(const struct plot *plot, const struct plot_range *range,
                         const double *columns, int ncolumns, struct strbuf *out)
{
    struct arena arena = {0};
    int step = ncolumns / 16 + 1;
    put_setting(out, "xlabel", plot_axis(plot->x_unit), " noenhanced");
    if (has_by(plot))
        put_setting(out, "ylabel", plot->by_unit, " noenhanced");
    put_setting(out, "cblabel", plot_axis(plot->y_unit), " noenhanced");
    strbuf_puts(out, "unset key\nunset grid\nset palette defined (0 '#fff7bc', 0.35 '#fec44f', "
                     "0.7 '#d95f0e', 1 '#7f2704')\nset xtics noenhanced (");
    for (int i = 0; i < ncolumns; i += step) {
        strbuf_puts(out, i ? ", " : "");
        put_quoted(out, conclude_quantity(&arena, columns[i],
                                          strcmp(plot->x_unit, "bytes") == 0 ? plot->x_unit : ""));
        strbuf_printf(out, " %d", i);
    }
    strbuf_puts(out, ")\nset ytics noenhanced (");
    for (int i = 0; i < plot->ncurves; i++) {
        strbuf_puts(out, i ? ", " : "");
        put_quoted(out, plot->curves[i].variant);
        strbuf_printf(out, " %d", i);
    }
    strbuf_printf(out, ")\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]\n%s$cells << END\n",
                  ncolumns - 0.5, plot->ncurves - 0.5, range->y_log ? "set logscale cb\n" : "");
    for (int row = 0; row < plot->ncurves; row++)
        for (int i = 0; i < ncolumns; i++) {
            double y = plot_cell_value(plot, row, columns[i]);
            strbuf_printf(out, isfinite(y) ? "%d %d %.9g\n" : "%d %d NaN\n", i, row, y);
        }
    strbuf_puts(out, "END\nplot $cells using 1:2:3 with image pixels");
    if (ncolumns * plot->ncurves <= NUMBERED_MAX && ncolumns <= 24)
        strbuf_puts(out, ", \\\n  $cells using 1:2:(sprintf($3 < 9.95 ? '%.1f' : '%.0f', $3)) with "
                         "labels font ',10' noenhanced");
    strbuf_puts(out, "\n");
    arena_free(&arena);
}

// Finds the smallest sample of all curves, the 99th percentile, and the width of bins.
static double find_bins(const struct plot *plot, double *low, double *high)
{
    struct arena arena = {0};
    int n = 0, total = 0;
    for (int i = 0; i < plot->ncurves; i++)
        for (int k = 0; k < plot->curves[i].npoints; k++)
            total += plot->curves[i].points[k].nsamples;
    double *sorted = arena_alloc(&arena, sizeof *sorted * (size_t)(total + 1));
    for (int i = 0; i < plot->ncurves; i++)
        for (int k = 0; k < plot->curves[i].npoints; k++)
            for (int s = 0; s < plot->curves[i].points[k].nsamples; s++)
                if (isfinite(plot->curves[i].points[k].samples[s].value))
                    sorted[n++] = plot->curves[i].points[k].samples[s].value;
    quantile_sort(sorted, n);
    *low = sorted[0];
    *high = quantile_of(sorted, n, 0.99);
    arena_free(&arena);
    double bin = (*high - *low) / BINS;
    for (int i = 0; i < plot->nconclusions; i++)
        for (int k = 0; k < plot->conclusions[i].nvalues; k++)
            if (strcmp(plot->conclusions[i].values[k].label, "step") == 0)
                bin = fmax(bin, plot->conclusions[i].values[k].value);
    return bin > 0 ? bin : 1;
}

// Draws a histogram without the last percent, which would reduce the picture to one bar and a tail.
static void put_histogram(const struct plot *plot, struct strbuf *out)
{
    double low, high, bin = find_bins(plot, &low, &high);
    int nbins = (int)((high - low) / bin + 0.5) + 1;
    double *shares = xcalloc((size_t)nbins, sizeof *shares);
    put_setting(out, "xlabel", plot_axis(plot->y_unit), " noenhanced");
    strbuf_printf(out,
                  "set ylabel 'share of samples'\nset style fill transparent solid 0.5 "
                  "noborder\nset boxwidth %.9g\nset yrange [0:*]\nset xrange [%.9g:%.9g]\n",
                  0.9 * bin, low - bin, high + bin);
    for (int i = 0; i < plot->ncurves; i++) {
        int n = 0;
        memset(shares, 0, sizeof *shares * (size_t)nbins);
        for (int k = 0; k < plot->curves[i].npoints; k++)
            for (int s = 0; s < plot->curves[i].points[k].nsamples; s++) {
                double at = (plot->curves[i].points[k].samples[s].value - low) / bin + 0.5;
                n += isfinite(at);
                if (isfinite(at) && at >= 0 && at < nbins)
                    shares[(int)at]++;
            }
        strbuf_printf(out, "$curve%d << END\n", i);
        for (int k = 0; k < nbins; k++)
            strbuf_printf(out, "%.9g %.6g\n", low + k * bin, n ? shares[k] / n : 0);
        strbuf_puts(out, "END\n");
    }
    free(shares);
    for (int i = 0; i < plot->ncurves; i++) {
        strbuf_printf(out, "%s$curve%d with boxes linecolor '%s' title ", i ? ", \\\n  " : "plot ",
                      i, COLOUR[i % COLOURS]);
        put_quoted(out, plot->curves[i].variant);
    }
    strbuf_puts(out, "\n");
}

void plot_script(const struct plot *plot, struct strbuf *out)
{
    struct arena arena = {0};
    double *columns;
    struct plot_range range = plot_range_of(plot);
    put_head(plot, out);
    if (range.npoints == 0) {
        strbuf_puts(out, "set xrange [0:1]\nset yrange [0:1]\nunset tics\n"
                         "set label 'nothing was measured' at graph 0.5,0.5 center\n"
                         "plot NaN notitle\n");
        return;
    }
    const struct conclusion *cells = plot_cells(plot, &columns, &arena);
    if (plot->reading == READING_MATRIX && cells && cells->ncolumns > 1) {
        put_heat_map(plot, &range, columns, cells->ncolumns, out);
    } else if (plot->reading == READING_DISTRIBUTION) {
        put_histogram(plot, out);
    } else if (plot_is_bars(plot)) {
        put_bars(plot, out);
    } else {
        put_axes(plot, &range, out);
        put_curves(plot, out);
    }
    arena_free(&arena);
}

static int write_script(const struct plot *plot, const char *path, struct err *err)
{
    struct strbuf script = {0};
    plot_script(plot, &script);
    FILE *file = fopen(path, "w");
    if (!file || fwrite(script.data, 1, script.len, file) != script.len || fclose(file) != 0) {
        strbuf_free(&script);
        err_set(err, "%s: cannot be written", path);
        return -1;
    }
    strbuf_free(&script);
    return 0;
}

static bool is_installed(void)
{
    struct subproc_options options = {.tool = true, .timeout_ms = 10000};
    struct subproc_result result;
    struct err err;
    const char *const argv[] = {"gnuplot", "--version", NULL};
    if (subproc_run(argv, &options, &result, &err) != 0)
        return false;
    bool works = !result.timed_out && result.signal == 0 && result.exit_status == 0;
    subproc_result_free(&result);
    return works;
}

static int run_gnuplot(const char *script, struct strbuf *svg, struct err *err)
{
    struct subproc_options options = {.tool = true, .timeout_ms = 60000};
    struct subproc_result result;
    // -d ignores the user's own settings.
    const char *const argv[] = {"gnuplot", "-d", script, NULL};
    if (subproc_run(argv, &options, &result, err) != 0)
        return -1;
    bool good = !result.timed_out && result.signal == 0 && result.exit_status == 0 &&
                strstr(result.out, "</svg>") != NULL;
    if (good)
        strbuf_put(svg, result.out, result.out_len);
    else
        err_set(err, "gnuplot failed: %.400s", result.err);
    subproc_result_free(&result);
    return good ? 0 : -1;
}

int plot_svg(const struct plot *plot, struct strbuf *svg, struct err *err)
{
    if (!is_installed())
        return 1;
    char *directory = scratch_begin(err);
    if (!directory)
        return -1;
    char *path = xasprintf("%s/plot.gp", directory);
    int status = write_script(plot, path, err);
    if (status == 0)
        status = run_gnuplot(path, svg, err);
    free(path);
    scratch_end(directory, false);
    return status;
}
