// SPDX-License-Identifier: MIT
// Pictures of a property: curves with their knees, heat maps, bars, histograms; as SVG (drawn by
// gnuplot, where it is installed) and as lines of text.
#ifndef LATPUT_PLOT_H
#define LATPUT_PLOT_H

#include "conclude/conclude.h"
#include "util/err.h"
#include "util/strbuf.h"

// What is drawn. Texts are never NULL, and may come from a stranger's database.
struct plot {
    const char *title, *question;
    const char *x_unit, *y_unit; // for the axes
    const char *by_unit;         // what the number in a curve's name is; NULL or "": there is none
    bool geometric;              // x on a logarithmic axis
    enum reading reading;
    const struct curve *curves;
    int ncurves;
    const struct conclusion *conclusions;
    int nconclusions;
};

// The script that makes gnuplot write the picture to its standard output. Pure.
void plot_script(const struct plot *plot, struct strbuf *out);
// The picture. 0; 1: gnuplot is not installed, *svg is as it was; -1: it failed, with a message.
int plot_svg(const struct plot *plot, struct strbuf *svg, struct err *err);

// The picture in lines of at most `width` characters (at least 40). Pure.
void plot_text(const struct plot *plot, int width, struct strbuf *out);

// --- between the files of plot ---

// The least and greatest of what is drawn.
struct plot_range {
    double x_low, x_high, y_low, y_high;
    bool y_log; // y differs by so much that only a logarithmic axis shows it all
    int npoints;
};
struct plot_range plot_range_of(const struct plot *plot);
// x that conclusions name, to be marked: ends of levels and knees.
bool plot_is_mark(const struct conclusion_value *value);
// Whether each curve has one point: then they are bars.
bool plot_is_bars(const struct plot *plot);
// "Memory (bytes)", "clk"; a unit as an axis names it.
const char *plot_axis(const char *unit);
// The conclusion of a matrix with its cells, and in *columns the x of these, the arena's; NULL:
// there is none.
const struct conclusion *plot_cells(const struct plot *plot, double **columns, struct arena *arena);
// What the cell of a row and a column's x says; NaN.
double plot_cell_value(const struct plot *plot, int row, double x);

#endif
