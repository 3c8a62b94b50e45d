// SPDX-License-Identifier: MIT
// The last stage of a run: derives the results of measured batches and stores them, one transaction
// a batch, in a thread of its own while the next batch is measured.
#ifndef LATPUT_RUN_WRITER_H
#define LATPUT_RUN_WRITER_H

#include "measure/batch.h"
#include "store/store.h"
#include "store/store_ports.h"
#include "util/progress.h"

// What was stored.
struct run_kept {
    int64_t forms;   // rows
    int64_t doubted; // kernels in them whose counts were left out
    // What store_get_throughputs() would read of these rows; `timed`: whether a throughput was
    // asked for at all.
    struct stored_throughputs throughputs;
    bool timed;
};
void run_kept_free(struct run_kept *kept);

struct run_writer;
// `rows` are those that the batches' rows are indices of; they must outlive the writer.
struct run_writer *run_writer_start(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int issue_width,
                                    struct progress *progress);
// Takes the batch and frees it when it is stored. Waits for the batch before. -1: an earlier batch
// could not be stored, the message says why; this batch is freed unstored.
int run_writer_put(struct run_writer *writer, struct batch *batch, struct err *err);
// Waits for the rest, frees the writer. *kept is to be freed, also after -1; its texts are those of
// the rows.
int run_writer_end(struct run_writer *writer, struct run_kept *kept, struct err *err);

#endif
