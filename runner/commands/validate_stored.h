// SPDX-License-Identifier: MIT
// latput validate --stored: the mixes that runs have with them, predicted by the runs' own ports.
#pragma once

#include "cli/command.h"
#include "store/store.h"
#include "util/text_table.h"

#include <stdint.h>

struct stored_request {
    int64_t run_id;   // 0: every run that has ports
    unsigned without; // bits by enum port_concept
    enum report_format format;
};
// Prints one row a run, newest first. Returns an exit status, after a message unless EXIT_DONE.
int validate_stored_runs(const struct command *cmd, struct store *store,
                         const struct stored_request *request);
extern const struct output_kind validate_stored_kind;
