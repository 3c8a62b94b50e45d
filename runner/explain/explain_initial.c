// SPDX-License-Identifier: MIT
// Contents of registers before the first copy of a block: by the contract of bench (docs/BENCH.md),
// then by the code that runs before the clock; see explain_block.h.
#include "explain_block.h"

enum { NUMBER_RSP = 4, NUMBER_RBP = 5, NUMBER_R14 = 14, NUMBER_R15 = 15, NUMBERS = 16 };

static ZydisMachineMode mode_of(const struct block *block)
{
    return block->bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
}

// Returns the number of a general-purpose register; -1: it is none.
static int gpr_number(const struct block *block, ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(mode_of(block), reg);
    ZydisRegisterClass class = ZydisRegisterGetClass(whole);
    if (class != ZYDIS_REGCLASS_GPR64 && class != ZYDIS_REGCLASS_GPR32)
        return -1;
    int number = ZydisRegisterGetId(whole);
    return number < NUMBERS ? number : -1;
}

static struct block_held held_in(const struct block *block, ZydisRegister reg)
{
    int number = gpr_number(block, reg);
    if (reg == ZYDIS_REGISTER_NONE)
        return (struct block_held){HELD_CONSTANT, 0};
    return number < 0 ? (struct block_held){HELD_UNKNOWN, 0} : block->held[number];
}

static struct block_held held_sum(const struct block *block, const ZydisDecodedOperand *op)
{
    struct block_held base = held_in(block, op->mem.base), index = held_in(block, op->mem.index);
    if (base.kind == HELD_UNKNOWN || index.kind != HELD_CONSTANT)
        return (struct block_held){HELD_UNKNOWN, 0};
    base.value +=
        index.value * op->mem.scale + (op->mem.disp.has_displacement ? op->mem.disp.value : 0);
    return base;
}

// Returns the contents of the first operand after the instruction, as far as they are simple.
static struct block_held held_result(const struct block *block, const ZydisDecodedInstruction *in,
                                     const ZydisDecodedOperand *ops)
{
    struct block_held result = {HELD_UNKNOWN, 0};
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV && ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        result = (struct block_held){HELD_CONSTANT, ops[1].imm.value.s};
    else if (in->mnemonic == ZYDIS_MNEMONIC_MOV && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
        result = held_in(block, ops[1].reg.value);
    else if (in->mnemonic == ZYDIS_MNEMONIC_LEA)
        result = held_sum(block, &ops[1]);
    else if (in->mnemonic == ZYDIS_MNEMONIC_XOR && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
             ops[0].reg.value == ops[1].reg.value)
        result = (struct block_held){HELD_CONSTANT, 0};
    // A part of a register keeps the rest of it, and 32 bits of an address are another one.
    if (ops[0].size < block->bits && result.kind == HELD_DATA)
        result.kind = HELD_UNKNOWN;
    if (ops[0].size == 32)
        result.value = (int64_t)(uint32_t)result.value;
    if (ops[0].size < 32)
        result.kind = HELD_UNKNOWN;
    return result;
}

static void hold_instr(struct block *block, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *ops)
{
    struct block_held result = {HELD_UNKNOWN, 0};
    if (in->operand_count_visible >= 2 && ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        result = held_result(block, in, ops);
    for (int i = 0; i < in->operand_count; i++) {
        int number = ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
                             (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                         ? gpr_number(block, ops[i].reg.value)
                         : -1;
        if (number >= 0)
            block->held[number] = i == 0 ? result : (struct block_held){HELD_UNKNOWN, 0};
    }
}

static void forget(struct block *block)
{
    int data = block->bits == 64 ? NUMBER_R14 : NUMBER_RBP;
    for (int i = 0; i < NUMBERS; i++)
        if (i != data)
            block->held[i] = (struct block_held){HELD_UNKNOWN, 0};
}

void block_hold_initial(struct block *block, const uint8_t *init, size_t len)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    struct err err = {0};
    int data = block->bits == 64 ? NUMBER_R14 : NUMBER_RBP;
    for (int i = 0; i < NUMBERS; i++)
        block->held[i] = (struct block_held){HELD_CONSTANT, 1};
    block->held[NUMBER_RSP] = block->held[NUMBER_R15] = (struct block_held){HELD_UNKNOWN, 0};
    block->held[data] = (struct block_held){HELD_DATA, 0};
    bool known = block_decoder_begin(&decoder, block->bits, &err) == 0;
    for (size_t at = 0; known && at < len; at += in.length) {
        known = ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, init + at, len - at, &in, ops));
        if (!known)
            break;
        // Behind a branch nothing is known but what is set there.
        if (block_refuses(&in, false))
            forget(block);
        else
            hold_instr(block, &in, ops);
    }
    if (!known)
        forget(block);
}
