// SPDX-License-Identifier: MIT
// Properties of the pipeline as text, tables and JSON. Pure: rows in, text out.
#pragma once

#include "report.h"
#include "store/store_property.h"
#include "util/strbuf.h"

// Appends one line per conclusion, by groups. `colour`: their names stand out.
void report_property_text(const struct swept_property *properties, int n, bool colour,
                          struct strbuf *out);
// Appends one row per value of a conclusion: the columns of property_table.
void report_property_table(const struct swept_property *properties, int n,
                           enum report_format format, struct strbuf *out);
// Appends one row per point: the columns of property_point.
void report_property_points(const struct swept_property *properties, int n,
                            enum report_format format, struct strbuf *out);
extern const struct output_kind report_property_kind;
// Appends an array of properties, with conclusions and points.
void report_property_json(const struct swept_property *properties, int n, struct strbuf *out);

// Compares the answers of two runs to the same questions: the same (times within 1 %, sizes and
// counts within 2 %), different, or in doubt, if intervals overlap or one of them is not sure. The
// text shows only differences and doubts, and a line of counts; formats of tables have a row per
// conclusion.
void report_property_diff(const struct swept_property *first, int nfirst,
                          const struct swept_property *second, int nsecond,
                          enum report_format format, struct strbuf *out);

// --- pictures (report_property_plot.c) ---

// Appends the pictures in lines of at most `width` characters.
void report_property_draw(struct swept_property *properties, int n, int width, struct strbuf *out);
// Writes properties.txt and plots/NAME.svg of a run into `directory` (made if missing). Each file
// appears when it is complete. Returns 0; 1 if there are no pictures, since gnuplot is not
// installed; -1 with a message.
int report_property_write(struct store *store, int64_t run_id, const char *directory,
                          struct err *err);
