// SPDX-License-Identifier: MIT
// Declarations that the files of the core's layer for Windows share.
#pragma once

#include <stdint.h>

// core_load.c: puts the kernels of a program that latput builds for Linux at their addresses; the
// program is a handle to be read, which is closed.
void load_program(void *file);

// core_bases.asm: reads the bases of fs and gs, where user code may; a fault in it leads to its
// end. Returns 1 if it could.
extern const uint8_t bases_probe[], bases_lost[];
__attribute__((sysv_abi)) int bases_read(uint64_t *fs, uint64_t *gs);
