// SPDX-License-Identifier: MIT
// latput validate --blocks: how near the predictions of blocks are to their measurements.
#pragma once

#include "cli/command.h"
#include "explain/explain_job.h"
#include "output/output.h"

// Measures the blocks of the request, and prints figures. `against`: figures of llvm-mca, too.
// Returns an exit status, after a message unless EXIT_DONE.
int validate_blocks(const struct command *cmd, const struct explain_request *request,
                    int64_t run_id, bool against);
extern const struct output_kind validate_blocks_kind;
