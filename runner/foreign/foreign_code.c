// SPDX-License-Identifier: MIT
// Machine code as a row: the decoder's mnemonic, and operands as classes of lists.
#include "foreign_internal.h"

#include <stdlib.h>
#include <string.h>

static const char *code_encoding(const ZydisDecodedInstruction *in)
{
    switch (in->encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_VEX:
        return "vex";
    case ZYDIS_INSTRUCTION_ENCODING_EVEX:
        return "evex";
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
        return "xop";
    default:
        return "legacy";
    }
}

static void code_memory(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op,
                        struct strbuf *out)
{
    const ZydisDecodedOperandMem *mem = &op->mem;
    if (mem->type == ZYDIS_MEMOP_TYPE_AGEN || mem->type == ZYDIS_MEMOP_TYPE_MIB) {
        const char *parts = "";
        strbuf_puts(out, "agen:");
        if (mem->base != ZYDIS_REGISTER_NONE) {
            strbuf_puts(out, mem->base == ZYDIS_REGISTER_RIP ? "rip" : "b");
            parts = "+";
        }
        if (mem->index != ZYDIS_REGISTER_NONE) {
            strbuf_printf(out, mem->scale > 1 ? "%si*%d" : "%si", parts, mem->scale);
            parts = "+";
        }
        if (in->raw.disp.size)
            strbuf_printf(out, "%sd%d", parts, in->raw.disp.size);
    } else if (mem->type == ZYDIS_MEMOP_TYPE_VSIB) {
        strbuf_printf(out, "vm%d%.1s", op->element_size, ZydisRegisterGetString(mem->index));
    } else if (in->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
               !in->avx.broadcast.is_static) {
        static const int counts[] = {[ZYDIS_BROADCAST_MODE_1_TO_2] = 2,
                                     [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
                                     [ZYDIS_BROADCAST_MODE_1_TO_8] = 8,
                                     [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
                                     [ZYDIS_BROADCAST_MODE_1_TO_32] = 32};
        int count =
            (size_t)in->avx.broadcast.mode < ARRAY_LEN(counts) ? counts[in->avx.broadcast.mode] : 0;
        strbuf_printf(out, "m%d{1to%d}", op->size, count);
    } else if (op->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64) {
        strbuf_printf(out, "moffs%d", op->size);
    } else {
        strbuf_printf(out, op->size ? "m%d" : "m", op->size);
    }
}

// Appends the class of a register; one that the opcode prescribes has its name.
static void code_register(const ZydisDecodedOperand *op, struct strbuf *out)
{
    ZydisRegister reg = op->reg.value;
    if (op->encoding == ZYDIS_OPERAND_ENCODING_NONE) {
        strbuf_puts(out, ZydisRegisterGetString(reg));
        return;
    }
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
        strbuf_puts(out, reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH ? "r8h" : "r8");
        break;
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        strbuf_printf(out, "r%d", ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, reg));
        break;
    case ZYDIS_REGCLASS_X87:
        strbuf_puts(out, "st");
        break;
    case ZYDIS_REGCLASS_SEGMENT:
        strbuf_puts(out, "seg");
        break;
    default: // xmm1 is x, mm1 is mm, k1 is k
        strbuf_printf(out, "%.*s",
                      ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_MMX     ? 2
                      : ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_TMM   ? 3
                      : ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_BOUND ? 3
                                                                           : 1,
                      ZydisRegisterGetString(reg));
    }
}

// Returns a number that all names of one register share.
static int code_register_number(ZydisRegister reg)
{
    ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return (int)(whole != ZYDIS_REGISTER_NONE ? whole : reg);
}

static void code_operand(struct foreign_table *table, struct foreign_row *row,
                         const ZydisDecodedInstruction *in, const ZydisDecodedOperand *op)
{
    struct strbuf class = {0};
    bool first = row->nops == 0;
    int reg = -1;
    if (op->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        code_memory(in, op, &class);
    } else if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        code_register(op, &class);
        reg = code_register_number(op->reg.value);
    } else if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op->imm.is_relative) {
        strbuf_printf(&class, "rel%d", in->raw.imm[0].size);
    } else {
        strbuf_printf(&class, in->raw.imm[0].size ? "i%d" : "1", in->raw.imm[0].size);
    }
    bool masked = in->avx.mask.reg != ZYDIS_REGISTER_NONE && in->avx.mask.reg != ZYDIS_REGISTER_K0;
    bool zeroed = in->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                  in->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING;
    if (first && masked && in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        strbuf_puts(&class, zeroed ? "{k}{z}" : "{k}");
    foreign_operand_add(table, row, strbuf_text(&class), reg);
    strbuf_free(&class);
}

bool foreign_row_decoded(struct foreign_table *table, struct foreign_row *row,
                         const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops)
{
    const char *name = ZydisMnemonicGetString(in->mnemonic);
    if (!name)
        return false;
    bool rep = in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE);
    row->mnemonic = arena_printf(&table->arena, "%s%s",
                                 in->attributes & ZYDIS_ATTRIB_HAS_LOCK    ? "lock "
                                 : rep                                     ? "rep "
                                 : in->attributes & ZYDIS_ATTRIB_HAS_REPNE ? "repne "
                                                                           : "",
                                 name);
    row->enc = code_encoding(in);
    row->opcode = in->opcode;
    row->nops = 0;
    for (int i = 0; i < in->operand_count_visible; i++)
        if (ops[i].encoding != ZYDIS_OPERAND_ENCODING_MASK)
            code_operand(table, row, in, &ops[i]);
    if (in->avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID)
        foreign_operand_add(table, row, "{er}", -1);
    else if (in->avx.has_sae)
        foreign_operand_add(table, row, "{sae}", -1);
    return true;
}

bool foreign_row_decode(struct foreign_table *table, struct foreign_row *row,
                        const unsigned char *code, size_t len)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder,
                     row->bits == 64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     row->bits == 64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, len, &in, ops)) &&
           in.length == len && foreign_row_decoded(table, row, &in, ops);
}
