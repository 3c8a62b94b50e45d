// SPDX-License-Identifier: MIT
// Pictures of a property: curves with their knees, heat maps, bars, histograms; as SVG (drawn by
// gnuplot, where it is installed) and as lines of text.
#pragma once

#include "conclude/conclude.h"
#include "util/err.h"
#include "util/strbuf.h"

// A picture. Texts are never NULL, and may come from a foreign database.
struct plot {
    const char *title, *question;
    const char *x_unit, *y_unit; // for the axes
    const char *by_unit;         // unit of the number in a curve's name; NULL or "": none
    bool geometric;              // x on a logarithmic axis
    enum reading reading;
    const struct curve *curves;
    int ncurves;
    const struct conclusion *conclusions;
    int nconclusions;
};

// Writes the script that makes gnuplot print the picture. Pure.
void plot_script(const struct plot *plot, struct strbuf *out);
// Draws the picture. Returns 0; 1 if gnuplot is not installed, with *svg unchanged; -1 with a
// message.
int plot_svg(const struct plot *plot, struct strbuf *svg, struct err *err);

// Draws the picture in lines of at most `width` characters (at least 40). Pure.
void plot_text(const struct plot *plot, int width, struct strbuf *out);

// --- between the files of plot ---

// Ranges of the drawn values.
struct plot_range {
    double x_low, x_high, y_low, y_high;
    bool y_log; // y varies so much that it needs a logarithmic axis
    int npoints;
};
struct plot_range plot_range_of(const struct plot *plot);
// Returns true if a conclusion's value is an x to be marked: ends of levels and knees.
bool plot_is_mark(const struct conclusion_value *value);
// Returns true if each curve has one point: they are drawn as bars.
bool plot_is_bars(const struct plot *plot);
// Returns a unit as an axis names it: "Memory (bytes)", "clk".
const char *plot_axis(const char *unit);
// Returns the conclusion of a matrix with its cells, and in *columns their x, the arena's; NULL:
// none.
const struct conclusion *plot_cells(const struct plot *plot, double **columns, struct arena *arena);
// Returns the value of the cell of a row and a column's x; NaN: none.
double plot_cell_value(const struct plot *plot, int row, double x);
