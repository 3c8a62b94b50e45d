// SPDX-License-Identifier: MIT
// Shows how far a run is, on standard error: on a terminal a line that is redrawn (bar, percent, rate,
// time left, failures), otherwise one line for each list that is complete. Functions may be called
// from several threads.
#ifndef LATPUT_PROGRESS_H
#define LATPUT_PROGRESS_H

#include <stdbool.h>

struct progress;

// `rows`: instruction forms to be done; how many kernels they have is learnt batch by batch.
struct progress *progress_start(int rows, bool quiet);
// A batch begins: so many kernels for so many rows.
void progress_more(struct progress *progress, int kernels, int rows);
// Kernels that were measured, and whether they failed.
void progress_step(struct progress *progress, int kernels, bool failed);
// The core is disturbed, measuring waits.
void progress_waiting(struct progress *progress);
// A row of a list is stored; list_rows is the number of rows in the list. ok: all its tests are.
void progress_form(struct progress *progress, const char *list, int list_rows, bool ok);
// Erases the bar, prints what is left, frees.
void progress_end(struct progress *progress);

#endif
