// SPDX-License-Identifier: MIT
// Pictures in a few lines of text: curves in Braille dots (one) or letters (several), matrices as
// shades, single values as bars.
#include "plot.h"

#include "util/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 12, LABEL = 9, WIDTH_MIN = 40, COLUMNS_MAX = 200, CURVES_MAX = 26, NAME_MAX = 24 };

struct canvas {
    const struct plot *plot;
    struct plot_range range;
    int columns;
    char letters[ROWS][COLUMNS_MAX];       // 0: none
    unsigned char dots[ROWS][COLUMNS_MAX]; // dots of Braille
};

static double share_of(double value, double low, double high, bool logs)
{
    if (!(high > low))
        return 0.5;
    return logs ? log(value / low) / log(high / low) : (value - low) / (high - low);
}

static double x_share(const struct canvas *canvas, double x)
{
    return share_of(x, canvas->range.x_low, canvas->range.x_high,
                    canvas->plot->geometric && canvas->range.x_low > 0);
}

// Sets a dot of the canvas, which is 2 x 4 times as fine as the characters.
static void put_dot(struct canvas *canvas, int across, int up)
{
    static const unsigned char BITS[4][2] = {
        {0x40, 0x80},
        {0x04, 0x20},
        {0x02, 0x10},
        {0x01, 0x08}
    };
    int row = ROWS - 1 - up / 4, column = across / 2;
    canvas->dots[row][column] |= BITS[up % 4][across % 2];
}

static void draw_curve(struct canvas *canvas, int at)
{
    const struct curve *curve = &canvas->plot->curves[at];
    for (int k = 0; k < curve->npoints; k++) {
        double y = curve_point_value(&curve->points[k]);
        if (!isfinite(y))
            continue;
        double x = x_share(canvas, curve->points[k].x);
        double up = share_of(y, canvas->range.y_low, canvas->range.y_high, canvas->range.y_log);
        if (canvas->plot->ncurves == 1)
            put_dot(canvas, (int)lround(x * (2 * canvas->columns - 1)),
                    (int)lround(up * (4 * ROWS - 1)));
        else
            canvas->letters[ROWS - 1 - lround(up * (ROWS - 1))][lround(x * (canvas->columns - 1))] =
                (char)('a' + at % CURVES_MAX);
    }
}

static void put_braille(unsigned char dots, struct strbuf *out)
{
    const char utf8[] = {(char)0xe2, (char)(0xa0 | dots >> 6), (char)(0x80 | (dots & 0x3f))};
    strbuf_put(out, utf8, sizeof utf8);
}

static void put_row(const struct canvas *canvas, int row, struct strbuf *out)
{
    int end = canvas->columns;
    while (end > 0 && !canvas->letters[row][end - 1] && !canvas->dots[row][end - 1])
        end--;
    for (int i = 0; i < end; i++) {
        if (canvas->dots[row][i])
            put_braille(canvas->dots[row][i], out);
        else
            strbuf_printf(out, "%c", canvas->letters[row][i] ? canvas->letters[row][i] : ' ');
    }
    strbuf_puts(out, "\n");
}

static void put_rows(const struct canvas *canvas, struct strbuf *out)
{
    struct arena arena = {0};
    const struct plot_range *range = &canvas->range;
    double middle =
        range->y_log ? sqrt(range->y_low * range->y_high) : (range->y_low + range->y_high) / 2;
    for (int row = 0; row < ROWS; row++) {
        double y = row == 0 ? range->y_high : row == ROWS - 1 ? range->y_low : middle;
        bool labelled = row == 0 || row == ROWS - 1 || row == ROWS / 2;
        strbuf_printf(out, "%*s %s", LABEL, labelled ? conclude_quantity(&arena, y, "") : "",
                      labelled ? "┤" : "│");
        put_row(canvas, row, out);
    }
    arena_free(&arena);
}

static const char *x_text(const struct canvas *canvas, double x, struct arena *arena)
{
    const char *unit = canvas->plot->x_unit;
    return conclude_quantity(arena, x, strcmp(unit, "bytes") == 0 ? unit : "");
}

// Writes the axis, with marks at conclusions, and the values at its ends.
static void put_axis(const struct canvas *canvas, struct strbuf *out)
{
    struct arena arena = {0};
    bool marked[COLUMNS_MAX] = {false};
    for (int i = 0; i < canvas->plot->nconclusions; i++)
        for (int k = 0; k < canvas->plot->conclusions[i].nvalues; k++) {
            const struct conclusion_value *value = &canvas->plot->conclusions[i].values[k];
            double share = plot_is_mark(value) ? x_share(canvas, value->value) : -1;
            if (share >= 0 && share <= 1)
                marked[lround(share * (canvas->columns - 1))] = true;
        }
    strbuf_printf(out, "%*s └", LABEL, "");
    for (int i = 0; i < canvas->columns; i++)
        strbuf_puts(out, marked[i] ? "▲" : "─");
    const char *low = x_text(canvas, canvas->range.x_low, &arena);
    const char *high = x_text(canvas, canvas->range.x_high, &arena);
    const char *unit = plot_axis(canvas->plot->x_unit);
    int room = canvas->columns - (int)strlen(low) - (int)strlen(high);
    int before = (room - text_width(unit, strlen(unit))) / 2;
    if (before < 1) {
        unit = "";
        before = room / 2;
    }
    strbuf_printf(out, "\n%*s  %s%*s%s%*s%s\n", LABEL, "", low, before, "", unit,
                  room - before - text_width(unit, strlen(unit)), "", high);
    arena_free(&arena);
}

// Explains the letters.
static void put_legend(const struct plot *plot, int width, struct strbuf *out)
{
    struct strbuf legend = {0};
    if (plot->ncurves > 1 && plot->by_unit && *plot->by_unit)
        strbuf_printf(&legend, "%s: ", plot->by_unit);
    for (int i = 0; i < plot->ncurves && plot->ncurves > 1; i++)
        strbuf_printf(&legend, "%s%c %s", i ? "   " : "", 'a' + i % CURVES_MAX,
                      plot->curves[i].variant);
    if (legend.len) {
        strbuf_printf(out, "%*s  ", LABEL, "");
        text_wrap(out, strbuf_text(&legend), LABEL + 2, width);
    }
    strbuf_free(&legend);
}

static void put_curves(const struct plot *plot, const struct plot_range *range, int width,
                       struct strbuf *out)
{
    struct canvas *canvas = xcalloc(1, sizeof *canvas);
    *canvas = (struct canvas){.plot = plot, .range = *range, .columns = width - LABEL - 3};
    if (canvas->columns > COLUMNS_MAX)
        canvas->columns = COLUMNS_MAX;
    for (int i = plot->ncurves - 1; i >= 0; i--)
        draw_curve(canvas, i);
    strbuf_printf(out, "%*s\n", LABEL + 2 + (int)strlen(plot_axis(plot->y_unit)) / 2,
                  plot_axis(plot->y_unit));
    put_rows(canvas, out);
    put_axis(canvas, out);
    put_legend(plot, width, out);
    free(canvas);
}

// Writes a name into a column of its own; a long one ends in an ellipsis.
static void put_name(const char *name, int width, struct strbuf *out)
{
    int columns = text_width(name, strlen(name));
    if (columns <= width) {
        strbuf_printf(out, "%s%*s", name, width - columns, "");
        return;
    }
    for (columns = 0; columns < width - 1; columns++) {
        bool plain;
        size_t len = text_next(name, &plain);
        strbuf_put(out, name, len);
        name += len;
    }
    strbuf_puts(out, "…");
}

static int widest_name(const struct plot *plot)
{
    int widest = 0;
    for (int i = 0; i < plot->ncurves; i++) {
        int width = text_width(plot->curves[i].variant, strlen(plot->curves[i].variant));
        widest = width > widest ? width : widest;
    }
    return widest < NAME_MAX ? widest : NAME_MAX;
}

static void put_bars(const struct plot *plot, const struct plot_range *range, int width,
                     struct strbuf *out)
{
    struct arena arena = {0};
    int name = widest_name(plot), room = width - name - 14;
    for (int i = 0; i < plot->ncurves; i++) {
        double y =
            plot->curves[i].npoints ? curve_point_value(&plot->curves[i].points[0]) : (double)NAN;
        put_name(plot->curves[i].variant, name, out);
        if (!isfinite(y)) {
            strbuf_puts(out, "  -\n");
            continue;
        }
        int bar = range->y_high > 0 ? (int)lround(fmax(y, 0) / range->y_high * room) : 0;
        strbuf_puts(out, "  ");
        for (int k = 0; k < bar; k++)
            strbuf_puts(out, "█");
        strbuf_printf(out, "%s%s\n", bar ? " " : "", conclude_quantity(&arena, y, plot->y_unit));
    }
    arena_free(&arena);
}

// Lists the values that occur, with their frequencies.
static void put_modes(const struct plot *plot, int width, struct strbuf *out)
{
    struct arena arena = {0};
    for (int i = 0; i < plot->nconclusions; i++) {
        const struct conclusion *conclusion = &plot->conclusions[i];
        for (int k = 0; k + 1 < conclusion->nvalues; k++) {
            const struct conclusion_value *value = &conclusion->values[k];
            if (strncmp(value->label, "mode ", 5) != 0)
                continue;
            double share = value[1].value;
            strbuf_printf(out, "%14s  ", conclude_quantity(&arena, value->value, value->unit));
            for (int bar = (int)lround(share * (width - 26)); bar > 0; bar--)
                strbuf_puts(out, "█");
            strbuf_printf(out, " %.0f %%\n", 100 * share);
        }
    }
    arena_free(&arena);
}

// Writes a matrix with one character per cell: the fastest level is the lightest.
static void put_matrix(const struct plot *plot, const struct conclusion *cells,
                       const double *columns, int width, struct strbuf *out)
{
    static const char *const SHADES[] = {"·", "░", "▒", "▓", "█"};
    struct arena arena = {0};
    int name = widest_name(plot), room = width - name - 2, most = 0;
    int shown = cells->ncolumns < room ? cells->ncolumns : room, wide = room / (shown ? shown : 1);
    wide = wide > 3 ? 3 : wide;
    for (int i = 0; i < cells->nrows * cells->ncolumns; i++)
        most = cells->cells[i] > most ? cells->cells[i] : most;
    for (int row = 0; row < cells->nrows; row++) {
        put_name(plot->curves[row].variant, name, out);
        strbuf_puts(out, "  ");
        for (int i = 0; i < shown; i++) {
            int level = cells->cells[row * cells->ncolumns + i];
            for (int k = 0; k < wide; k++)
                strbuf_puts(out, level < 0 ? " " : SHADES[most ? level * 4 / most : 0]);
        }
        strbuf_puts(out, "\n");
    }
    if (plot->by_unit && *plot->by_unit)
        strbuf_printf(out, "%*s  down: %s\n", name, "", plot->by_unit);
    strbuf_printf(out, "%*s  %s: %s to %s%s\n%*s  ", name, "", plot_axis(plot->x_unit),
                  conclude_quantity(&arena, columns[0], ""),
                  conclude_quantity(&arena, columns[shown - 1], ""),
                  shown < cells->ncolumns ? " (the rest has no room)" : "", name, "");
    for (int i = 0; i < cells->nvalues; i += 2)
        strbuf_printf(out, "%s%s %s", i ? "  " : "", SHADES[most ? i / 2 * 4 / most : 0],
                      conclude_quantity(&arena, cells->values[i].value, plot->y_unit));
    strbuf_puts(out, "\n");
    arena_free(&arena);
}

void plot_text(const struct plot *plot, int width, struct strbuf *out)
{
    struct arena arena = {0};
    double *columns;
    struct plot_range range = plot_range_of(plot);
    const struct conclusion *cells = plot_cells(plot, &columns, &arena);
    width = width < WIDTH_MIN ? WIDTH_MIN : width;
    strbuf_printf(out, "%s\n", plot->title);
    if (range.npoints == 0)
        strbuf_puts(out, "nothing was measured\n");
    else if (plot->reading == READING_MATRIX && cells && cells->ncolumns > 1)
        put_matrix(plot, cells, columns, width, out);
    else if (plot->reading == READING_DISTRIBUTION)
        put_modes(plot, width, out);
    else if (plot_is_bars(plot))
        put_bars(plot, &range, width, out);
    else
        put_curves(plot, &range, width, out);
    for (int i = 0; i < plot->nconclusions; i++) {
        const struct conclusion *conclusion = &plot->conclusions[i];
        struct strbuf text = {0};
        strbuf_printf(&text, "%s%s%s", conclusion->variant, *conclusion->variant ? ": " : "",
                      conclusion->sentence);
        text_wrap(out, strbuf_text(&text), 0, width);
        strbuf_free(&text);
    }
    arena_free(&arena);
}
