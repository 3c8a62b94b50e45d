// SPDX-License-Identifier: MIT
// The row that tells of one block among many: as JSON, as CSV, and read from that again.
#pragma once

#include "explain_job.h"
#include "output/output.h"

// "", NaN, -1: not known.
struct explain_row {
    int line; // in the file of blocks, or number of the loop
    const char *refused;
    int instructions, assumed;
    double predicted_clk;
    double meets_clk; // the same if pointers of the block lead to one place; NaN: no longer
    const char *limit;
    double measured_clk;
    const char *failure; // why it was not measured
    double spread_clk, weight;
    const char *code;     // the line, or as much of it as is told
    const char *settings; // by which its numbers were made
};
extern const struct output_kind explain_row_kind;

// Makes the row of a block; `explanation` NULL: it is refused. The texts are the job's, or the
// arena's; none has several lines.
struct explain_row explain_row_make(const struct explain_job *job,
                                    const struct explanation *explanation, struct arena *arena);
void explain_row_measured(struct explain_row *row, const struct bench_result *result,
                          struct arena *arena);
void explain_row_print(const struct explain_row *row); // as a line on standard output

// Sets work->settings: version, CPU, run of the tables, and options that change numbers. Returns 0,
// or -1 with a message.
int explain_settings(struct explain_work *work, struct err *err);

// A file of rows as CSV, which goes on where it was left.
struct explain_file {
    const char *path;
    struct explain_row *rows; // that it had; owned by the arena
    int nrows;
    void *stream; // FILE *
};
// Opens the file, and makes it if there is none. Its rows must be those of the first blocks of the
// work, with numbers that can be and the same settings; half a row at its end is removed. -1 with a
// message: it is another file, and was not changed.
int explain_file_open(const char *path, struct explain_work *work, struct arena *arena,
                      struct explain_file *file, struct err *err);
// Appends rows, which are in the file when it returns 0.
int explain_file_put(struct explain_file *file, const struct explain_row *rows, int n,
                     struct err *err);
int explain_file_close(struct explain_file *file, struct err *err);
