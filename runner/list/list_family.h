// SPDX-License-Identifier: MIT
// Part of stage 1, for list.c only: writes a row that stands for a family of forms as rows of one
// form each, before they are parsed. Such a row may contain (lists/README.md, "Families") classes
// that follow a width (v, mv, b32), alternatives (v/mv/b32), and the options widths=, masks=, er,
// sae.
#pragma once

#include "list_operand.h"

// The rows that a row stands for: itself, or the variants of a family.
struct list_family {
    const char *const **rows; // each has LIST_COLUMNS fields
    int nrows;
    bool family;
};

// Expands the row with these fields. The results belong to the arena or to the row itself. Returns
// 0, or -1 with the fault, which points into fields[*column].
int list_family_expand(const char *const *fields, struct arena *arena, struct list_family *out,
                       int *column, struct list_fault *fault);

// Returns option n of those that only families have; NULL after the last.
const char *list_family_option(int n);
