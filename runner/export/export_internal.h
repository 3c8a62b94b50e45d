// SPDX-License-Identifier: MIT
// What the formats have in common.
#ifndef LATPUT_EXPORT_INTERNAL_H
#define LATPUT_EXPORT_INTERNAL_H

#include "export.h"
#include "util/json.h"

// The reasons that several formats have.
extern const char export_no_result[]; // nothing was measured that the format has a place for
extern const char export_same[];      // of the option `same`

// A latency as whole cycles. `least` to `most` are one number where it is whole, the two next to it
// where it is not (the mean of executions that differ, or a step through another domain): a format
// of whole numbers gets both rather than a rounded one.
struct export_whole {
    long least, most;
};
struct export_whole export_whole(const struct known_pair *pair);

// A text of the database on one line: what would end it or steer a terminal is a blank.
void export_line(struct strbuf *out, const char *text);

#endif
