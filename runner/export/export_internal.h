// SPDX-License-Identifier: MIT
// Declarations shared by the formats.
#pragma once

#include "export.h"
#include "output/output.h"

// Reasons that several formats have.
extern const char export_no_result[]; // no measured value has a place in the format
extern const char export_same[];      // the row has the option `same`
// Returns true if a model of LLVM takes the form; else leaves it out, for LLVM's reason or one of
// these.
struct llvm_instr;
bool export_llvm_takes(struct export_out *out, const struct known_form *form,
                       const struct llvm_instr *instr);

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

// A form with the columns of CSV or JSON (export_told.c).
struct export_row {
    const struct known_pair *pairs;
    int npairs;
    const char *latencies; // the pairs as one text
    struct field_value values[VIEW_COLUMNS_MAX];
};
struct export_told {
    enum column_surface surface;
    const struct column *columns[VIEW_COLUMNS_MAX];
    int ncolumns;
    struct output_made made; // rows need no more bytes than its record says
};
void export_tell(enum column_surface surface, struct export_told *told);
// Fills in a row but for its latencies. Its texts belong to the form.
void export_tell_form(const struct export_told *told, const struct known_cpu *data,
                      const struct known_form *form, struct export_row *row);

// The record of the JSON format, with the record of a form (export_json.c).
struct export_json_told {
    struct export_told form;
    struct output_made whole;
};
void export_json_tell(struct export_json_told *told);
void export_json_told_free(struct export_json_told *told);
