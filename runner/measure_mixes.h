// SPDX-License-Identifier: MIT
// The oracle that measures: mixes become kernels of the measurement core, in batches, the next one
// assembled while one is measured.
#ifndef LATPUT_MEASURE_MIXES_H
#define LATPUT_MEASURE_MIXES_H

#include "batch.h"
#include "list.h"
#include "ports.h"
#include "session.h"
#include "util/progress.h"

struct measure_mixes {
    const struct session *session;      // with the canary's floor found
    const struct list_row *const *rows; // of the forms, by index
    struct plan_params plan;
    struct progress *progress; // or NULL
    bool keep, ahead;
    int64_t kernels, passes; // out: timed so far
    bool stopped;            // out: by exec_stop()
};

struct port_oracle measure_mixes_oracle(struct measure_mixes *measure);

#endif
