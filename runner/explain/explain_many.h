// SPDX-License-Identifier: MIT
// Many blocks: prepared, predicted, and measured in the same processes, a portion at a time.
#pragma once

#include "explain_row.h"

enum { EXPLAIN_PORTION = 128 };

// Takes the rows of a portion, which are gone when it returns; 0, or -1 with a message, which ends
// all.
struct explain_taker {
    int (*take)(void *context, const struct explain_row *rows, int n, struct err *err);
    void *context;
    bool quiet; // no progress on standard error
};
// Explains the jobs from `from` on, portion by portion, with no experiments. Returns -1 with a
// message where nothing can be measured here.
int explain_all(struct explain_work *work, int from, const struct explain_taker *taker,
                struct err *err);
