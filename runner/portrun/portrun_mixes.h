// SPDX-License-Identifier: MIT
// The oracle that measures. Mixes become kernels of the measurement core, in batches; the next one
// is assembled while one is measured. If the session counts, µops by port and slots are counted in
// the kernels of a mix, in as many passes over a batch as its events need.
#pragma once

#include "list/list.h"
#include "measure/batch.h"
#include "measure/retry.h"
#include "measure/session.h"
#include "ports/ports.h"
#include "util/progress.h"

struct portrun_mixes {
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

struct port_oracle portrun_mixes_oracle(struct portrun_mixes *measure);
// Returns the event that counts the oracle's slots; NULL: none does.
const char *portrun_mixes_slots(const struct portrun_mixes *measure);
