// SPDX-License-Identifier: MIT
// Values of a table of others beside those of instruction_table, while a database is read: they
// stand in a temporary table, which nothing stores, packs or merges.
#pragma once

#include "store.h"

#include <stdbool.h>

struct store_beside {
    const char *uarch, *form, *enc; // as instruction_table has them
    int bits;
    double latency_clk, rthroughput_clk; // NaN: none
    bool latency_upper, rthroughput_upper;
    const char *ports; // NULL: none
};

// Begins such a table, unless there is one: rows of instruction_table have its columns from now on
// (columns_show_beside()). Requires STORE_READ. Returns 0 or -1.
int store_beside_begin(struct store *store, struct err *err);
// Adds a row, unless the form has one. Returns 0 or -1.
int store_beside_put(struct store *store, const struct store_beside *row, struct err *err);
// Ends adding rows: the database is for reading alone again.
void store_beside_end(struct store *store);
