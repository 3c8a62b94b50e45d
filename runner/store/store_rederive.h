// SPDX-License-Identifier: MIT
// Results made again from what was measured.
#ifndef LATPUT_STORE_REDERIVE_H
#define LATPUT_STORE_REDERIVE_H

#include "store.h"

#include <stdint.h>

// Makes estimates and results again from the stored samples of a run (0: of all), in one
// transaction. *results: how many were made; *changed: how many have another value, outcome or
// reason.
int store_rederive(struct store *store, int64_t run_id, int64_t *results, int64_t *changed,
                   struct err *err);

#endif
