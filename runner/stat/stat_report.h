// SPDX-License-Identifier: MIT
// The output of `latput stat`: a table for people, CSV, and JSON. Pure functions of a result.
#pragma once

#include "report/report.h"
#include "stat_measure.h"

struct stat_report {
    const struct stat_options *options;
    const struct stat_event *events;
    const struct stat_result *result; // has nevents
    const struct counter_table *table;
    const char *whose; // the CPU, in tables
    bool all_events;   // nobody asked for these events: refused ones are not named one by one
    bool colour;       // in tables
};

extern const struct output_kind stat_report_kind;
// Appends the report. Events that were not counted are in it, with the reason.
void stat_report_put(const struct stat_report *report, enum report_format format,
                     struct strbuf *out);
