// SPDX-License-Identifier: MIT
// The last stage of a run: derives the results of measured batches and stores them, one transaction
// per batch, in a thread of its own while the next batch is measured.
#pragma once

#include "measure/batch.h"
#include "run_held.h"
#include "store/store.h"
#include "store/store_ports.h"
#include "util/progress.h"

// Rows that were stored.
struct run_kept {
    int64_t forms;   // rows
    int64_t doubted; // kernels whose counts were left out
    // Throughputs as store_get_throughputs() would read them; `timed`: a throughput was asked for.
    struct stored_throughputs throughputs;
    bool timed;
};
void run_kept_free(struct run_kept *kept);

struct run_writer;
// Starts the thread. `rows`: the rows that the batches' indices refer to; they must outlive it.
struct run_writer *run_writer_start(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int issue_width,
                                    struct progress *progress);
// Takes the batch, which is freed when it is stored, after waiting for the batch before. Returns 0;
// -1 if an earlier batch could not be stored, with the message; this batch is then freed unstored.
int run_writer_put(struct run_writer *writer, struct batch *batch, struct err *err);
// Waits until all of these are stored, and takes the rows that were held back for want of a value;
// from here on rows are stored as they are. Returns 0, or -1 as above.
int run_writer_take_held(struct run_writer *writer, struct run_held *held, struct err *err);
// Waits for the rest and frees the writer, with rows that are still held back. The caller frees
// *kept, also after -1; its texts belong to the rows.
int run_writer_end(struct run_writer *writer, struct run_kept *kept, struct err *err);
