// SPDX-License-Identifier: MIT
// Forms that CPUs do not have, among rows of those that they have: their rows are empty, so a line
// for each CPU stands in the place of them. Forms of APX are variants of others, and stand nowhere.
#pragma once

#include "store/store_read.h"
#include "util/strbuf.h"
#include "util/text_table.h"

enum { LACK_MIN = 2, LACK_NAMED = 3, LACK_CPUS_MAX = 16 };
struct lacking {
    bool *rows; // by row of the table: it is such a form
    bool *apx;  // and one of APX
    size_t nrows, capacity, apx_capacity;
    int napx;
    int ncpus;
    struct lacking_cpu {
        char *uarch;
        int n;
        struct strbuf names; // of the first ones
    } cpus[LACK_CPUS_MAX];
};

// Remembers whether the CPU lacks the form of this row.
void lacking_add(struct lacking *lacking, struct store_rows *rows);
// Removes the rows from the table, and appends the lines that stand for them, if there are any,
// unless the table has no other rows.
void lacking_fold(const struct lacking *lacking, struct text_table *table, struct strbuf *lines);
void lacking_free(struct lacking *lacking);
