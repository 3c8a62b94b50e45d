// SPDX-License-Identifier: MIT
// The verdict on a run by its outcomes: whether its numbers can be relied on.
#pragma once

#include "run.h"
#include "util/strbuf.h"

// Returns the exit status (EXIT_* of exit_status.h) of a run that came to its end. Forms that the
// CPU does not have and questions that cannot be asked are findings, and so are a few tests without
// a steady value. EXIT_SOME_FAILED: the results as a whole are in doubt, or tests failed that
// should not have. Appends the reasons for that to `why`, in half sentences; nothing for another
// status.
int run_verdict(const struct run_summary *summary, struct strbuf *why);
