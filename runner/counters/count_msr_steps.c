// SPDX-License-Identifier: MIT
// Lists of writes to registers.
#include "count_msr_plan.h"

#include <assert.h>

void msr_steps_add(struct msr_steps *steps, const struct msr_step *step)
{
    assert(steps->n < MSR_STEPS_MAX); // at most four for each of COUNT_EVENTS_MAX events, and two
    steps->steps[steps->n++] = *step;
}

void msr_steps_set(struct msr_steps *steps, uint32_t msr, uint64_t mask, uint64_t value)
{
    msr_steps_add(steps, &(struct msr_step){.msr = msr, .mask = mask, .value = value});
}
