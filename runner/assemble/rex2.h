// SPDX-License-Identifier: MIT
// Machine code with r16 to r31: an instruction of another encoding than VEX and EVEX takes them by
// a REX2 prefix (D5), which stands for a REX prefix and the 0F of the opcode. Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REX2_BYTES_MAX = 15, REX2_REGISTERS = 16 };

// Writes the instruction of 64-bit mode in code[0..len) with other registers: to[i] stands for
// register i, which is i itself, or of 16 to 31. Registers that change are r8 to r15, and are named
// for nothing else. Returns the number of bytes; 0 if the instruction has no such form.
size_t rex2_write(const uint8_t *code, size_t len, const int8_t to[REX2_REGISTERS],
                  uint8_t out[REX2_BYTES_MAX]);
