// SPDX-License-Identifier: MIT
// The last stage of a run: derives the results of measured batches and stores them, one transaction
// a batch, in a thread of its own while the next batch is measured.
#ifndef LATPUT_RUN_KEEPER_H
#define LATPUT_RUN_KEEPER_H

#include "measure/batch.h"
#include "store/store.h"
#include "util/progress.h"

struct run_keeper;
// `rows` are those that the batches' rows are indices of; they must outlive the keeper.
struct run_keeper *run_keeper_start(struct store *store, int64_t run_id,
                                    const struct selected_row *rows, int issue_width,
                                    struct progress *progress);
// Takes the batch and frees it when it is stored. Waits for the batch before. -1: an earlier batch
// could not be stored, the message says why; this batch is freed unstored.
int run_keeper_put(struct run_keeper *keeper, struct batch *batch, struct err *err);
// Waits for the rest, frees the keeper; *forms: rows stored, *doubted: kernels in them whose counts
// were left out.
int run_keeper_end(struct run_keeper *keeper, int64_t *forms, int64_t *doubted, struct err *err);

#endif
