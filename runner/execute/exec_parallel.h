// SPDX-License-Identifier: MIT
// The kernels of a program on several CPUs at once, shared out between as many measuring processes.
#pragma once

#include "exec.h"

enum { EXEC_PARALLEL_MAX = 32 };

// exec_run() on CPUs cpus[ncpus], 1 to EXEC_PARALLEL_MAX. A job has no mover then, and its progress
// is told from several threads. *summary: sums, and what the first CPU's last process says of
// itself.
int exec_run_parallel(const struct exec_job *job, const int *cpus, int ncpus, struct arena *arena,
                      struct exec_summary *summary, struct err *err);
