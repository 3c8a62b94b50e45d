// SPDX-License-Identifier: MIT
// Properties of the pipeline as text, CSV and JSON. Pure: rows in, text out.
#ifndef LATPUT_REPORT_PROPERTY_H
#define LATPUT_REPORT_PROPERTY_H

#include "report.h"
#include "store/store_property.h"
#include "util/strbuf.h"

// A line a conclusion, by groups. `colour`: their names stand out.
void report_property_text(const struct swept_property *properties, int n, bool colour,
                          struct strbuf *out);
// A line a value of a conclusion: the columns of property_table.
void report_property_csv(const struct swept_property *properties, int n, struct strbuf *out);
// A line a point: the columns of property_point.
void report_property_points(const struct swept_property *properties, int n, struct strbuf *out);
// An array of properties, with conclusions and points.
void report_property_json(const struct swept_property *properties, int n, struct strbuf *out);

// What two runs say of the same questions: the same (times within 1 %, sizes and counts within 2
// %), different, or in doubt, where intervals overlap or one of them is not sure. As a table what
// is not the same and a line of numbers, as CSV a line a conclusion.
void report_property_diff(const struct swept_property *first, int nfirst,
                          const struct swept_property *second, int nsecond,
                          enum report_format format, struct strbuf *out);

// --- data sheet and pictures (report_property_sheet.c, report_property_plot.c) ---

// The data sheet: a line a value, fits 80 columns. `virtual_machine`: says where numbers mean
// little.
void report_property_sheet(const struct swept_property *properties, int n, bool virtual_machine,
                           struct strbuf *out);
// The pictures in lines of at most `width` characters.
void report_property_draw(struct swept_property *properties, int n, int width, struct strbuf *out);
// What a run has: properties.txt and plots/NAME.svg in `directory` (made if missing). Each file
// appears when it is complete. 0; 1: there are no pictures, since gnuplot is not installed; -1 with
// a message.
int report_property_write(struct store *store, int64_t run_id, const char *directory,
                          struct err *err);

#endif
