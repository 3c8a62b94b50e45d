// SPDX-License-Identifier: MIT
// The oracle that measures. Mixes become kernels of the measurement core, in batches; the next one
// is assembled while one is measured. If the session counts, µops by port and slots are counted in
// the kernels of a mix, in as many passes over a batch as its events need.
#pragma once

#include "batch.h"
#include "list/list.h"
#include "ports/ports.h"
#include "retry.h"
#include "session.h"
#include "util/progress.h"

struct measure_mixes {
    struct session *session;            // with the canary's floor found
    const struct list_row *const *rows; // row of each form
    struct plan_params plan;
    struct progress *progress; // or NULL
    struct retry *retry;       // measures kernels without a value once more; NULL: nothing does
    bool hurry;                // everything is done once more: only as long as `retry` allows
    bool keep, ahead;
    int64_t kernels, passes; // out: timed so far
    bool stopped;            // out: by exec_stop()
    int64_t doubted;         // out: mixes whose counts could not be true and were left out
};

struct port_oracle measure_mixes_oracle(struct measure_mixes *measure);
// Returns the event that counts the oracle's slots; NULL: none does.
const char *measure_mixes_slots(const struct measure_mixes *measure);
