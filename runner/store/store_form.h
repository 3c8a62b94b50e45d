// SPDX-License-Identifier: MIT
// The forms of a run with their measurements: tests, kernels, timings, results.
#pragma once

#include "derive/derive.h"
#include "plan/plan.h"
#include "store.h"

#include <stdint.h>

// Returns 1 if this run has the form of the row (with all its tests), 0 if not, or -1.
int store_has_form(struct store *store, int64_t run_id, const struct list_row *row,
                   struct err *err);

// The measurements of a form. Arrays run parallel to plan->tests and test->kernels.
struct measured_kernel {
    enum outcome outcome;
    const char *detail;
    const uint8_t *code; // machine code of the body (at most 64 bytes are kept), NULL: none
    int code_bytes;
    const struct timing *timings;
    int ntimings;
    struct estimate estimate;
};
struct measured_test {
    const struct measured_kernel *kernels;
    struct test_result result;
};

// Place of a form in its list.
struct form_place {
    const char *list_name;
    int position; // of its row
};
// Stores a form of the run with all its tests. Returns 0 or -1.
int store_put_form(struct store *store, int64_t run_id, const struct form_place *place,
                   const struct plan *plan, const struct measured_test *tests, struct err *err);
