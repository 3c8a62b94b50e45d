// SPDX-License-Identifier: MIT
// Finds what a CPU refuses before a run plans thousands of forms of it: by the register state that
// the system has not enabled, and by trying two forms of each feature that is not announced.
// CPUID alone does not decide, since hypervisors hide features that work.
#pragma once

#include "list/select.h"
#include "plan/refusals.h"
#include "session.h"

// Rows that are to be measured.
struct refuse_asked {
    const struct session *session;
    const struct selected_row *rows;
    int nrows;
};

// Adds the isa expressions of the rows whose register state is off (cpu_lacks_state()). The arena
// owns what is added.
void refuse_states(const struct refuse_asked *asked, struct arena *arena,
                   struct refusals *refusals);

// Adds the isa expressions of which the CPU announces less than all, and refuses the first and the
// last of the rows of 64-bit mode that are no legacy encodings; those with no more rows than these
// are left to the run. Takes one process, or none. *stopped: by a signal. Returns 0, or -1 where
// the program cannot work.
int refuse_untried(const struct refuse_asked *asked, struct arena *arena, struct refusals *refusals,
                   bool *stopped, struct err *err);

// Takes rows that are refused out of the selection.
void refuse_leave_out(const struct refusals *refusals, struct selection *selection);
