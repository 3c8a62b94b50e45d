// SPDX-License-Identifier: MIT
// A batch: some rows of one mode, planned, assembled and linked into one program, and what became
// of its kernels. Batches are made by a thread of their own while the one before is measured.
#ifndef LATPUT_BATCH_H
#define LATPUT_BATCH_H

#include "build.h"
#include "exec.h"
#include "select.h"

struct batch_row {
    const struct selected_row *selected;
    struct plan plan;
    int first_kernel; // of its kernels in the batch; they follow in the order of tests and shapes
    int nkernels;
};

struct batch {
    struct arena arena; // owns all that the batch points to, but for the rows themselves
    struct batch_row *rows;
    int nrows;
    struct gen_kernel *kernels;
    struct exec_kernel *measured; // parallel to kernels; build failures are in it already
    int nkernels;
    int bits; // mode of all rows: 64 or 32
    struct program program;
    int failed; // 0, or -1: the batch could not be built at all
    struct err err;
};

struct batch_options {
    struct plan_params plan;
    const char *directory; // scratch files
    bool keep;
    int kernels; // wanted in a batch; the first ones are smaller, so that measuring starts soon
    bool ahead;  // build the next batch while one is measured
};

struct batch_source;
// Starts making batches from rows[0..nrows). The rows must outlive the source.
struct batch_source *batch_source_start(const struct selected_row *rows, int nrows,
                                        const struct batch_options *options);
// The next batch, NULL after the last. The caller ends it with batch_free().
struct batch *batch_source_next(struct batch_source *source);
// Stops making batches and frees the source. Returns when its thread has ended.
void batch_source_stop(struct batch_source *source);
void batch_free(struct batch *batch); // also removes the program from the disk

#endif
