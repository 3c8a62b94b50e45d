// SPDX-License-Identifier: MIT
// Kernels that name r16 to r31, which NASM does not know before its version 3: their lines are
// assembled with other registers, and become bytes with a REX2 prefix (rex2.h).
#pragma once

#include "assemble.h"

// Returns true if a line of the kernel names one of r16 to r31.
bool high_is_named(const struct kernel_spec *spec);
// Replaces such lines in the texts of the kernels, all of 64-bit mode, by bytes (`db`), which are
// the arena's. A kernel with a line that has no form with these registers stays as it is. Returns
// 0, or -1 if NASM does not work.
int high_write(struct kernel_spec *const *specs, int nspecs, const struct assemble_options *options,
               struct arena *arena, struct err *err);
