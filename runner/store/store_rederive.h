// SPDX-License-Identifier: MIT
// Results made again from what was measured.
#ifndef LATPUT_STORE_REDERIVE_H
#define LATPUT_STORE_REDERIVE_H

#include "store.h"

#include <stdint.h>

// Makes estimates and results again from the stored samples of a run (0: of all), in one
// transaction. *results: how many were made; *changed: how many have another value, outcome or
// reason. Runs that were timed but are kept without samples stay as they are;
// store_count_bare(), afterwards, says how many of those that were asked for.
int store_rederive(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                   struct err *err);
int store_count_bare(struct store *store, int64_t run_id, int64_t *bare, struct err *err);

#endif
