// SPDX-License-Identifier: MIT
// Tools of LLVM's as processes.
#ifndef LATPUT_LLVM_RUN_H
#define LATPUT_LLVM_RUN_H

#include "util/subproc.h"

// Runs a tool of LLVM's, 19 where there are several: argv[0] is its name without version. As
// subproc_run().
int llvm_run(const char *tool, const char *const *arguments, const char *directory,
             const char *stdin_name, struct subproc_result *result, struct err *err);

#endif
