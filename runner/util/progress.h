// SPDX-License-Identifier: MIT
// Shows the progress of a run on standard error: on a terminal a line that is redrawn (bar,
// percent, rate, time left, failures), otherwise one line per list when the next one begins.
// Functions may be called from several threads. The forms of a list come together, list after list.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct progress;

// Begins the display for `rows` instruction forms; the number of their kernels is learnt batch by
// batch. With `quiet` nothing is shown. The caller ends the result with progress_end().
struct progress *progress_start(int rows, bool quiet);
// Sets the word for the rows, instead of "forms"; the string must stay valid.
void progress_name(struct progress *progress, const char *things);
// Announces about so many kernels of other work after the rows.
void progress_later(struct progress *progress, int64_t kernels);
// Begins that work: the lines of lists name `things` from now on, e.g. "ports of".
void progress_next(struct progress *progress, const char *things);
// Begins a batch of so many kernels for so many rows.
void progress_more(struct progress *progress, int kernels, int rows);
// Counts kernels as measured, and as failed if they have.
void progress_step(struct progress *progress, int kernels, bool failed);
// Says that the core is disturbed and measuring waits.
void progress_waiting(struct progress *progress);
// Counts a row as stored; `list` has list_rows of them. ok: all its tests are. The name must stay
// valid until progress_end().
void progress_form(struct progress *progress, const char *list, int list_rows, bool ok);
// Erases the bar, prints the lists that are left, frees.
void progress_end(struct progress *progress);
