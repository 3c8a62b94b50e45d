// SPDX-License-Identifier: MIT
// Kernels that ran and have no value are measured once more: by a new process, later, on another
// CPU of the same type. One process may have begun wrong, or have met the one loud minute of the
// host, and nothing is to be concluded from that. A host that is always loud costs a tenth more
// time.
#pragma once

#include "batch.h"
#include "session.h"

#include <stdint.h>

struct retry {
    struct session *session;
    double began_s; // of clock_now_s(): beginning of the run
    double spent_s; // so far
    // out: kernels that were measured once more, and how many of them have a value now; then the
    // same numbers of forms whose ports were asked for once more
    int64_t kernels, gained;
    int64_t forms, forms_gained;
};
// Returns the seconds that may still be spent, of a tenth of the time since the beginning.
double retry_left_s(const struct retry *retry);

// Returns the number of the batch's kernels that ran and have no value: unstable ones and those
// that timed out, but none that failed otherwise.
int retry_missing(const struct batch *batch, int issue_width);
// Returns true if these are more than a tenth of the batch, and `least` at least.
bool retry_wanted(const struct batch *batch, int issue_width, int least);

// Measures these kernels of the batch once more, as far as the time allows. A kernel that again has
// no value keeps its first result. `params`: of the process, by which the first one was measured.
// *stopped: by a signal. Returns 0, or -1 where the program cannot work.
int retry_batch(struct retry *retry, struct batch *batch, const struct exec_params *params,
                const struct exec_progress *progress, bool *stopped, struct err *err);
