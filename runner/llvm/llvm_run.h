// SPDX-License-Identifier: MIT
// Tools of LLVM as processes.
#pragma once

#include "util/subproc.h"

// Returns the path of a tool of LLVM 19, which the caller frees; NULL with a message if there is
// none, or one of another version only.
char *llvm_find(const char *tool, struct err *err);

// Runs such a tool; argv[0] is its name without version. Errors as in subproc_run().
int llvm_run(const char *tool, const char *const *arguments, const char *directory,
             const char *stdin_name, struct subproc_result *result, struct err *err);
