// SPDX-License-Identifier: MIT
// Shows how far a run is, on standard error: on a terminal a line that is redrawn (bar, percent,
// rate, time left, failures), otherwise one line for each list when the next one begins. Functions
// may be called from several threads. The forms of a list come in one piece, list after list.
#ifndef LATPUT_PROGRESS_H
#define LATPUT_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

// `rows`: instruction forms to be done; how many kernels they have is learnt batch by batch.
// quiet: nothing is shown. The caller owns what is returned: progress_end().
struct progress *progress_start(int rows, bool quiet);
// What the rows are, instead of "forms"; the name must stay valid.
void progress_name(struct progress *progress, const char *things);
// About so many kernels of other work come after the rows.
void progress_later(struct progress *progress, int64_t kernels);
// That work begins: the lines of lists tell of `things` from now on, e.g. "ports of".
void progress_next(struct progress *progress, const char *things);
// A batch begins: so many kernels for so many rows.
void progress_more(struct progress *progress, int kernels, int rows);
// Kernels that were measured, and whether they failed.
void progress_step(struct progress *progress, int kernels, bool failed);
// The core is disturbed, measuring waits.
void progress_waiting(struct progress *progress);
// A row of a list is stored; list_rows is the number of rows in the list. ok: all its tests are.
// The name must stay valid until progress_end().
void progress_form(struct progress *progress, const char *list, int list_rows, bool ok);
// Erases the bar, prints what is left, frees.
void progress_end(struct progress *progress);

#endif
