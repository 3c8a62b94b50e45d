// SPDX-License-Identifier: MIT
// Part of stage 1, for list.c only: a row that stands for a family of forms is written out as rows
// of one form each, before they are parsed. What it may contain beyond other rows (lists/README.md,
// "Families"): classes that follow a width (v, mv, b32), alternatives (v/mv/b32), and the options
// widths=, masks=, er, sae.
#ifndef LATPUT_LIST_FAMILY_H
#define LATPUT_LIST_FAMILY_H

#include "list_operand.h"

// The rows that a row stands for: itself, or the variants of a family.
struct list_family {
    const char *const **rows; // each has LIST_COLUMNS fields
    int nrows;
    bool family;
};

// Writes out the row with these fields. Everything is the arena's, or the row's own. Returns 0, or
// -1 with the fault, which points into fields[*column].
int list_family_expand(const char *const *fields, struct arena *arena, struct list_family *out,
                       int *column, struct list_fault *fault);

// The options that only families have; NULL behind the last.
const char *list_family_option(int n);

#endif
