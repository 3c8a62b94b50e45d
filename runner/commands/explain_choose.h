// SPDX-License-Identifier: MIT
// The CPU whose tables predict blocks, for the commands that do.
#pragma once

#include "cli/command.h"
#include "explain/explain_job.h"

// Chooses the CPU of --uarch or --run, or this one. Returns an exit status, after a message unless
// EXIT_DONE.
int explain_choose(const struct command *cmd, struct explain_work *work, struct err *err);
