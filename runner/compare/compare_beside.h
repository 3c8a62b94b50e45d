// SPDX-License-Identifier: MIT
// A table of others beside the instruction table, as columns of it (store/store_beside.h).
#pragma once

#include "foreign/foreign.h"
#include "store/store.h"

// Puts the values of a table beside those of a uarch of the database, by the forms that compare
// finds for its rows: of several rows of a form the first, of its latencies the most of those to
// the result. *forms: those that have values. Returns 0, or -1 with the message.
int compare_beside(struct store *store, const struct foreign_table *theirs, const char *uarch,
                   int *forms, struct err *err);
