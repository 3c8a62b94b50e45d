// SPDX-License-Identifier: MIT
// Declarations that the files of the report share: its rows, and the results that follow from them.
#pragma once

#include "stat_report.h"

// One line of the report, made of a time or of an event.
struct stat_row {
    const char *name;
    const char *unit;   // unit of the values in CSV and JSON
    const char *source; // "clock", "rusage", "perf" or "msr"
    char code[160];     // of a hardware event
    const char *rings;
    struct stat_summary summary;
    const struct stat_series *series;
};

bool stat_is_hardware(const struct stat_report *r, int event);

// Return true if two events were refused for the same reason; if this is the first event that was
// refused for its reason.
bool stat_same_refusal(const struct stat_report *r, int a, int b);
bool stat_is_first_refused(const struct stat_report *r, int event);

// Counts the rows; their order is times, then events.
int stat_rows_count(const struct stat_report *r);
struct stat_row stat_row_at(const struct stat_report *r, int i);

// Returns the mean counts of all events, NaN where not counted. The caller frees.
double *stat_means_make(const struct stat_report *r);
// The mean duration of a condition, from the cycles in which it held and the event that counts its
// beginnings.
struct stat_duration {
    const char *condition;
    double clk, begins, mean_clk;
    char clk_text[40], begins_text[40]; // for people
};
// Make what follows from events[i]. Return false if nothing does.
bool stat_duration_at(const struct stat_report *r, const double *means, int i,
                      struct stat_duration *duration);
bool stat_histogram_at(const struct stat_report *r, const double *means, int i,
                       struct stat_histogram *histogram);

// Returns the reason why the counts cannot all be true, a sentence without a full stop in
// text[size]; NULL: they can.
const char *stat_doubt_find(const struct stat_report *r, const double *means, char *text,
                            size_t size);

void stat_report_csv(const struct stat_report *r, struct strbuf *out);
void stat_report_json(const struct stat_report *r, struct strbuf *out);
// Append tables for people: the rows; histograms and durations, after an empty line if there are
// any.
void stat_report_events(const struct stat_report *r, enum report_format format, struct strbuf *out);
void stat_report_shares(const struct stat_report *r, const double *means, enum report_format format,
                        struct strbuf *out);
void stat_report_durations(const struct stat_report *r, const double *means,
                           enum report_format format, struct strbuf *out);
