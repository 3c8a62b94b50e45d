// SPDX-License-Identifier: MIT
// Declarations shared by the formats.
#pragma once

#include "export.h"
#include "util/json.h"

// Reasons that several formats have.
extern const char export_no_result[]; // no measured value has a place in the format
extern const char export_same[];      // the row has the option `same`

// Returns the name of a column in CSV and JSON; whether the latencies of pairs stand after it.
const char *export_column_name(const struct column *column);
bool export_pairs_follow(const struct column *column);

// A latency in whole cycles. `least` and `most` are equal for a whole number, else the two numbers
// next to it (the mean of executions that differ, or a step through another domain): a format of
// whole numbers gets both rather than a rounded one.
struct export_whole {
    long least, most;
};
struct export_whole export_whole(const struct known_pair *pair);

// Appends a text of the database on one line: characters that would end it or steer a terminal
// become blanks.
void export_line(struct strbuf *out, const char *text);
