// SPDX-License-Identifier: MIT
// Tools of LLVM as processes.
#pragma once

#include "util/subproc.h"

enum { LLVM_LEAST = 19, LLVM_MOST = 60 }; // versions that are looked for

// Has all tools be of this version; 0: of the newest that is installed, LLVM_LEAST at least.
void llvm_choose(int version);
// Returns the version that llvm_find() has found with it in the name, or that was chosen; else 0.
int llvm_chosen(void);
// Returns the path of a tool, which the caller frees; NULL with a message if there is none of that
// version.
char *llvm_find(const char *tool, struct err *err);

// Runs such a tool; argv[0] is its name without version. Errors as in subproc_run().
int llvm_run(const char *tool, const char *const *arguments, const char *directory,
             const char *stdin_name, struct subproc_result *result, struct err *err);
