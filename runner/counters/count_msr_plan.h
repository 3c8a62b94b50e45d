// SPDX-License-Identifier: MIT
// Declarations that the two files that plan registers share.
#pragma once

#include "count_msr.h"

static const uint32_t NETBURST_COUNTER = 0x300, NETBURST_CONTROL = 0x360;
static const uint64_t NETBURST_ENABLE = 1 << 12; // in CCCR

void msr_steps_add(struct msr_steps *steps, const struct msr_step *step);

void msr_steps_set(struct msr_steps *steps, uint32_t msr, uint64_t mask, uint64_t value);

// Places events like count_passes_place(), so that no two events want different contents of one
// ESCR. Returns -1, or the index of an event without a counter.
int netburst_place(const struct count_event *events, int nevents, uint64_t free, int *places);
void netburst_program(const struct msr_layout *layout, const struct count_event *event, int counter,
                      struct msr_plan *plan);
