// SPDX-License-Identifier: MIT
// Outcomes of a test. The names are part of the database's format: append, never reorder.
#pragma once

#include <stdbool.h>

enum outcome {
    OUTCOME_OK,
    OUTCOME_UNSUPPORTED,    // this CPU does not execute the form (#UD)
    OUTCOME_ASM_FAILED,     // NASM refuses it
    OUTCOME_LINK_FAILED,    // the object could not be linked with the core
    OUTCOME_SIGNALLED,      // the body raised a signal other than #UD's
    OUTCOME_TIMED_OUT,      // the body does not return
    OUTCOME_UNSTABLE,       // no repeat passed the gate, or the passes disagree
    OUTCOME_NOT_MEASURABLE, // no kernel can answer the question, or the body damages its harness
    OUTCOME_SKIPPED,        // not tried, with the reason in the detail
    OUTCOME_COUNT
};

// Returns true for what ran and has no value, so that another try may give one.
bool outcome_is_missing(enum outcome outcome);
const char *outcome_name(enum outcome outcome); // "ok", "unsupported", ...
int outcome_parse(const char *name);            // -1 if unknown
