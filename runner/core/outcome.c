// SPDX-License-Identifier: MIT
// Names of the outcomes; see outcome.h.
#include "outcome.h"

#include <string.h>

static const char *const outcome_names[OUTCOME_COUNT] = {
    "ok",        "unsupported", "asm_failed",     "link_failed", "signalled",
    "timed_out", "unstable",    "not_measurable", "skipped",
};

bool outcome_is_missing(enum outcome outcome)
{
    return outcome == OUTCOME_UNSTABLE || outcome == OUTCOME_TIMED_OUT;
}

const char *outcome_name(enum outcome outcome)
{
    return outcome_names[outcome];
}

int outcome_parse(const char *name)
{
    for (int i = 0; i < OUTCOME_COUNT; i++)
        if (strcmp(outcome_names[i], name) == 0)
            return i;
    return -1;
}
