// SPDX-License-Identifier: MIT
// The rows of lists/ by their form, for tests of what is done with rows, and what the body of a
// kernel holds. All lists are read once, by lists_setup().
#ifndef LATPUT_LISTS_FIXTURE_H
#define LATPUT_LISTS_FIXTURE_H

#include "select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct selection lists_all;

static inline int lists_setup(void **state)
{
    (void)state;
    struct err err = {""};
    if (select_rows(NULL, 0, NULL, &lists_all, &err) == 0)
        return 0;
    print_error("%s\n", err.text);
    return -1;
}

static inline int lists_teardown(void **state)
{
    (void)state;
    selection_free(&lists_all);
    return 0;
}

static inline const struct selected_row *lists_selected(const char *form, int bits)
{
    for (int i = 0; i < lists_all.nrows; i++)
        if (lists_all.rows[i].row->bits == bits && strcmp(lists_all.rows[i].row->form, form) == 0)
            return &lists_all.rows[i];
    fail_msg("no list has '%s' in %d-bit mode", form, bits);
    return NULL;
}

static inline const struct list_row *lists_row(const char *form)
{
    return lists_selected(form, 64)->row;
}

// The number of a body's instructions: lines, `times N` and labels considered.
static inline int body_instrs(const char *body)
{
    int n = 0;
    for (const char *at = body; *at;) {
        size_t len = strcspn(at, "\n");
        int times;
        if (sscanf(at, "times %d ", &times) == 1)
            n += times;
        else
            n += len > 0 && at[len - 1] != ':';
        at += len + (at[len] == '\n');
    }
    return n;
}

#endif
