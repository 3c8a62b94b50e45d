// SPDX-License-Identifier: MIT
// Compares the machine code of rows with what LLVM makes of it.
#pragma once

#include "check/check.h"

// Disassembles the rows of a check whose machine code opcode= gives, in one process, and adds a
// problem for each that LLVM takes for another instruction or with other registers. Rows that it
// does not know are passed over. Returns how many it knows; 0 without an LLVM that knows APX and
// AVX10.2; -1 with a message if it does not work.
int llvm_check(struct check *check, struct err *err);
