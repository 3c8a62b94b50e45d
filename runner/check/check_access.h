// SPDX-License-Identifier: MIT
// Part of `latput check`, for check_decode.c only: compares reads and writes of a row with the
// decoder's.
#pragma once

#include "check.h"

#include <Zydis/Zydis.h>

struct decode {
    struct check *check;
    const struct check_code *code;
    struct check_exceptions *exceptions;
    ZydisMachineMode mode;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    int nvisible;                            // operands that NASM writes, as far as known
    bool unwritten[ZYDIS_MAX_OPERAND_COUNT]; // visible to the decoder, implicit for NASM
    void (*problem)(const struct decode *decode, const char *field, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
};

// A register as struct operand has it. bits is 0 for registers that lists do not know.
struct register_id {
    enum operand_kind kind;
    int number, bits;
    bool high8;
};
struct register_id decode_register_id(const struct decode *decode, ZydisRegister reg);

// Check the access of operand `i` of the text, of the implicit registers, of the flags.
void decode_check_access(const struct decode *decode, int i, const ZydisDecodedOperand *op);
void decode_check_implicit(const struct decode *decode);
void decode_check_flags(const struct decode *decode);
