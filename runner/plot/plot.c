// SPDX-License-Identifier: MIT
#include "plot.h"

#include "util/quantile.h"

#include <math.h>
#include <string.h>

struct plot_range plot_range_of(const struct plot *plot)
{
    struct plot_range range = {INFINITY, -INFINITY, INFINITY, -INFINITY, false, 0};
    for (int i = 0; i < plot->ncurves; i++) {
        for (int k = 0; k < plot->curves[i].npoints; k++) {
            const struct curve_point *point = &plot->curves[i].points[k];
            double y = curve_point_value(point);
            if (!isfinite(y))
                continue;
            range.npoints++;
            range.x_low = fmin(range.x_low, point->x);
            range.x_high = fmax(range.x_high, point->x);
            range.y_low = fmin(range.y_low, y);
            range.y_high = fmax(range.y_high, y);
        }
    }
    range.y_log = range.y_low > 0 && range.y_high > 8 * range.y_low;
    return range;
}

bool plot_is_mark(const struct conclusion_value *value)
{
    return strncmp(value->label, "knee", 4) == 0 || strncmp(value->label, "end ", 4) == 0;
}

bool plot_is_bars(const struct plot *plot)
{
    for (int i = 0; i < plot->ncurves; i++)
        if (plot->curves[i].npoints > 1)
            return false;
    return true;
}

const char *plot_axis(const char *unit)
{
    return strcmp(unit, "clk") == 0 ? "core cycles" : unit;
}

static int find_columns(const struct plot *plot, double *columns)
{
    int n = 0, unique = 0;
    for (int i = 0; i < plot->ncurves; i++)
        for (int k = 0; k < plot->curves[i].npoints; k++)
            columns[n++] = plot->curves[i].points[k].x;
    quantile_sort(columns, n);
    for (int i = 0; i < n; i++)
        if (i == 0 || columns[i] > columns[unique - 1])
            columns[unique++] = columns[i];
    return unique;
}

const struct conclusion *plot_cells(const struct plot *plot, double **columns, struct arena *arena)
{
    int npoints = 0;
    for (int i = 0; i < plot->ncurves; i++)
        npoints += plot->curves[i].npoints;
    *columns = arena_alloc(arena, sizeof **columns * (size_t)(npoints + 1));
    int n = find_columns(plot, *columns);
    if (plot->nconclusions == 0 || !plot->conclusions[0].cells)
        return NULL;
    const struct conclusion *cells = &plot->conclusions[0];
    return n == cells->ncolumns && plot->ncurves == cells->nrows ? cells : NULL;
}

double plot_cell_value(const struct plot *plot, int row, double x)
{
    for (int k = 0; k < plot->curves[row].npoints; k++)
        if (plot->curves[row].points[k].x == x)
            return curve_point_value(&plot->curves[row].points[k]);
    return NAN;
}
