// SPDX-License-Identifier: MIT
// LLVM's registers by number. llvm-mc prints operands by numbers that change from version to
// version, so it assembles an instruction with each register to find them.
#pragma once

#include "util/err.h"

enum { LLVM_REGISTERS_MAX = 1024 };
struct llvm_registers {
    char *names[LLVM_REGISTERS_MAX]; // by number; NULL: unknown
};
// Finds the numbers. `directory` is for scratch files. Returns 0, or -1 with the message; the
// caller frees in either case.
int llvm_registers_read(const char *directory, struct llvm_registers *registers, struct err *err);
void llvm_registers_free(struct llvm_registers *registers);
// Returns "RAX"; "%noreg" for number 0; NULL: unknown.
const char *llvm_register_name(const struct llvm_registers *registers, int number);
