// SPDX-License-Identifier: MIT
// One instruction of a row as NASM text, for a given choice of registers, addresses and values.
// Part of stage 2; the only module that knows NASM's notation of operands. Pure.
#pragma once

#include "list/list.h"
#include "util/strbuf.h"

// REG_DATA holds the data area in 64-bit mode, REG_DATA_32 in 32-bit mode; REG_LOOP is the core's.
enum { REG_RSP = 4, REG_DATA_32 = 5, REG_DATA = 14, REG_LOOP = 15, REG_NONE = -1 };

// Choice for one operand. Its kind decides which members count.
struct operand_choice {
    int reg;       // number of the register
    int base;      // memory, VSIB, agen: base register
    int index;     // agen: index register; VSIB: vector register
    int disp;      // memory: displacement in bytes; may be 0
    int label;     // branch target: number of the local label that follows the instruction
    int64_t value; // immediate
};

struct row_choice {
    struct operand_choice ops[OPERANDS_MAX];
    int mask; // mask register of {k}
};

// Appends the instruction as one line without newline (a branch adds a second line with its
// label). Operands that can only be one register ignore the choice.
void row_render(const struct list_row *row, const struct row_choice *choice, struct strbuf *out);

// Returns the name of general-purpose register 0..31 at 8 (`high8`: ah ch dh bh), 16, 32 or 64
// bits. Static storage; NULL if there is no such register.
const char *render_gpr(int number, int bits, bool high8);

// Appends the name of register `number` of a class: GPR, MMX, VEC, MASK, X87, TILE, SEG, BOUND.
void render_register(enum operand_kind kind, int number, int bits, bool high8, struct strbuf *out);

// Appends a memory operand with its size keyword and broadcast; address_bits is the mode's 64
// or 32.
void render_memory(const struct operand *op, int base, int address_bits, int disp,
                   struct strbuf *out);

// Returns true for a block of four registers (AVX512_4FMAPS: zmm4+3), whose number must be a
// multiple of four.
bool render_is_block(const struct list_row *row, const struct operand *op);

// Parts of the address that an agen operand such as "agen:b+i*4+d8" computes. Plain "agen" is
// base + index + 8-bit displacement.
struct agen_parts {
    bool base, index, relative;
    int scale; // 1, 2, 4, 8
    int disp;  // 0: none
};
struct agen_parts render_agen_parts(const struct operand *op);
