// SPDX-License-Identifier: MIT
// A batch: rows (or mixes of rows) of one mode, planned, assembled and linked into one program,
// with the outcomes of its kernels. A thread makes the next batch while one is measured.
#pragma once

#include "assemble/assemble.h"
#include "derive/derive.h"
#include "execute/exec.h"
#include "list/select.h"

struct batch_row {
    int index; // in what the feed offers
    struct plan plan;
    int first_kernel; // in the batch; its kernels follow in the order of tests and shapes
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
    int kernels; // wanted in a batch
    int first;   // in the first one, which is smaller so that measuring starts soon; then it grows
    bool ahead;  // build the next batch while one is measured
    bool bare;   // without programs: what was measured is known already
};

// Origin of batches: n items, each planned by a call from the source's thread.
struct batch_feed {
    int n;
    int (*bits)(void *context, int index); // mode of the item
    int (*plan)(void *context, int index, const struct plan_params *params, struct arena *arena,
                struct plan *plan, struct err *err);
    void *context; // must outlive the source
    // Tells whether the item is for ring 0: a batch has only such, or none; NULL: none is.
    bool (*ring0)(void *context, int index);
};
// The feed of rows, which must outlive the source. The seed chooses one in so many that is measured
// again in another arrangement.
enum { BATCH_AGAIN_ONE_IN = 50 };
struct batch_rows {
    const struct selected_row *rows;
    int n;
    uint32_t seed; // 0: none
};
struct batch_feed batch_feed_rows(struct batch_rows *rows);

struct batch_source;
struct batch_source *batch_source_start(const struct batch_feed *feed,
                                        const struct batch_options *options);
// Returns the next batch, NULL after the last. The caller ends it with batch_free().
struct batch *batch_source_next(struct batch_source *source);
// Stops making batches and frees the source. Returns when its thread has ended.
void batch_source_stop(struct batch_source *source);
// Returns the value of kernel k of the batch by `measured`, in core cycles per instance.
struct estimate batch_estimate(const struct batch *batch, int k, const struct exec_kernel *measured,
                               int issue_width);
// Resets kernels that were measured, or were not for want of quiet, to be measured again. Returns
// their number.
int batch_forget_timings(struct batch *batch);
void batch_free(struct batch *batch); // also removes the program from the disk
