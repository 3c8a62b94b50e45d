// SPDX-License-Identifier: MIT
// Finds programs and tells their kinds. Safe to call from any thread.
#pragma once

#include <stdbool.h>

// Returns the path of a program: the name itself if it has a slash, else the first executable file
// of that name in PATH; without one, the first file of that name, so that exec reports why it may
// not be executed. NULL: there is none. PATH is searched once per program. The caller frees the
// result.
char *program_find(const char *name);

// Returns true for a 32-bit program, which some kernels do not run (exec fails with ENOEXEC).
bool program_is_32(const char *path);

// Returns true for an ELF file: the kernel runs or refuses it by itself, without an interpreter.
bool program_is_elf(const char *path);
