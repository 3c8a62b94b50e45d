// SPDX-License-Identifier: MIT
// Where programs are, and of what kind. Safe to call from any thread.
#ifndef LATPUT_PROGRAM_H
#define LATPUT_PROGRAM_H

#include <stdbool.h>

// The path of a program: the name itself if it has a slash, else the first executable file of that
// name in PATH, or the first that may not be executed, for whose exec says so. NULL: there is none.
// PATH is searched once for each program. The caller frees the result.
char *program_find(const char *name);

// Whether a file is a 32-bit program, which some kernels do not run (exec fails with ENOEXEC).
bool program_is_32(const char *path);

// Whether a file begins as programs do that the kernel runs or refuses by itself: ELF.
bool program_is_elf(const char *path);

#endif
