// SPDX-License-Identifier: MIT
// Finds loops in machine code; see explain_loop.h.
#include "explain_loop.h"

#include "util/mem.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>

// An instruction that goes elsewhere, or may.
struct turn {
    size_t at, end;
    long target; // in the function's bytes; -1: outside, or not told by the instruction
    bool conditional;
};

struct turns {
    struct turn *turns;
    int n;
    size_t room;
};

static bool instr_turns(const ZydisDecodedInstruction *instr)
{
    switch (instr->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_CALL:
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT:
        return true;
    default:
        return false;
    }
}

static void turns_add(struct turns *turns, const ZydisDecodedInstruction *instr, size_t at,
                      size_t len)
{
    size_t end = at + instr->length;
    long target = -1;
    if (instr->raw.imm[0].is_relative)
        target = (long)end + (long)instr->raw.imm[0].value.s;
    turns->turns = xgrow(turns->turns, &turns->room, (size_t)turns->n + 1, sizeof *turns->turns);
    turns->turns[turns->n++] =
        (struct turn){at, end, target >= 0 && target < (long)len ? target : -1,
                      instr->meta.category == ZYDIS_CATEGORY_COND_BR};
}

static int turns_read(struct turns *turns, const uint8_t *code, size_t len, int bits,
                      struct err *err)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction instr;
    if (ZYAN_FAILED(ZydisDecoderInit(
            &decoder, bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
            bits == 64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)))
        return err_set(err, "the decoder cannot be used");
    for (size_t at = 0; at < len; at += instr.length) {
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &instr)))
            return err_set(err, "the bytes at +0x%zx are no instruction in this mode", at);
        if (instr_turns(&instr))
            turns_add(turns, &instr, at, len);
    }
    return 0;
}

// Whether nothing between the target of a branch back and the branch leaves, and nothing but that
// branch comes in behind the first instruction.
static bool turns_is_block(const struct turns *turns, const struct turn *back)
{
    for (int i = 0; i < turns->n; i++) {
        const struct turn *turn = &turns->turns[i];
        if (turn != back && (long)turn->at >= back->target && turn->at < back->end)
            return false;
        if (turn->target > back->target && turn->target < (long)back->end)
            return false;
    }
    return true;
}

static int count_instrs(const uint8_t *code, size_t len, int bits)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction instr;
    int n = 0;
    ZydisDecoderInit(&decoder,
                     bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     bits == 64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    for (size_t at = 0; at < len; at += instr.length, n++)
        if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, code + at, len - at, &instr)))
            break;
    return n;
}

int code_loops_find(const uint8_t *code, size_t len, int bits, struct code_loops *loops,
                    struct err *err)
{
    struct turns turns = {0};
    *loops = (struct code_loops){0};
    int status = turns_read(&turns, code, len, bits, err);
    for (int i = 0; i < turns.n && status == 0; i++) {
        const struct turn *back = &turns.turns[i];
        if (back->target < 0 || back->target > (long)back->at)
            continue;
        if (loops->n == CODE_LOOPS_MAX || !back->conditional || !turns_is_block(&turns, back)) {
            loops->others++;
            continue;
        }
        size_t offset = (size_t)back->target, bytes = back->end - offset;
        loops->loops[loops->n++] =
            (struct code_loop){offset, bytes, count_instrs(code + offset, bytes, bits)};
    }
    free(turns.turns);
    return status;
}
