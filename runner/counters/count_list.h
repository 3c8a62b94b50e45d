// SPDX-License-Identifier: MIT
// The counter table of a CPU as table, CSV or JSON, in the order of counter_ids.csv.
#pragma once

#include "cpuinfo/counters.h"
#include "output/output.h"
#include "util/strbuf.h"

// Content and form of a listing.
struct count_listing {
    const struct counter_table *table;
    char *const *globs; // ends with NULL; none: everything
    bool sets;          // the named sets instead of the events
    bool wide;          // tables with all columns
    enum report_format format;
    int columns;        // of the terminal; 0: none
    struct strbuf note; // columns that do not fit the terminal
};

extern const struct output_kind count_list_kinds[2]; // of events, and of sets

int count_list_put(struct count_listing *list, struct strbuf *out); // returns the number of rows
