// SPDX-License-Identifier: MIT
// Appends tests and their kernels to a plan.
#include "plan_internal.h"

#include <string.h>

// Doubles an array. The arena cannot grow arrays: the copies waste at most as much again.
static void *plan_grow(struct arena *arena, void *items, int used, int *capacity, size_t bytes)
{
    if (used < *capacity)
        return items;
    *capacity = *capacity ? 2 * *capacity : 8;
    void *grown = arena_alloc(arena, (size_t)*capacity * bytes);
    if (used)
        memcpy(grown, items, (size_t)used * bytes);
    return grown;
}

struct test *plan_add_test(struct row_plan *rp, enum test_kind kind, const char *variant)
{
    struct plan *plan = rp->plan;
    plan->tests =
        plan_grow(rp->arena, plan->tests, plan->ntests, &rp->tests_capacity, sizeof *plan->tests);
    struct test *test = &plan->tests[plan->ntests++];
    *test = (struct test){
        .kind = kind, .src = "", .dst = "", .variant = variant, .note = "", .detail = ""};
    rp->kernels_capacity = 0;
    return test;
}

void plan_refuse(struct test *test, enum outcome outcome, const char *detail)
{
    test->outcome = outcome;
    test->detail = detail;
    test->nkernels = 0;
}

void plan_add_kernel(struct row_plan *rp, struct test *test, struct kernel_spec spec)
{
    test->kernels = plan_grow(rp->arena, test->kernels, test->nkernels, &rp->kernels_capacity,
                              sizeof *test->kernels);
    test->kernels[test->nkernels++] = spec;
}
