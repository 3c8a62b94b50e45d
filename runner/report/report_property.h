// SPDX-License-Identifier: MIT
// Properties of the pipeline as text, CSV and JSON. Pure: rows in, text out.
#ifndef LATPUT_REPORT_PROPERTY_H
#define LATPUT_REPORT_PROPERTY_H

#include "store/store_property.h"
#include "util/strbuf.h"

// A line a conclusion, by groups.
void report_property_text(const struct stored_property *properties, int n, struct strbuf *out);
// A line a value of a conclusion: the columns of property_table.
void report_property_csv(const struct stored_property *properties, int n, struct strbuf *out);
// A line a point: the columns of property_point.
void report_property_points(const struct stored_property *properties, int n, struct strbuf *out);
// An array of properties, with conclusions and points.
void report_property_json(const struct stored_property *properties, int n, struct strbuf *out);

#endif
