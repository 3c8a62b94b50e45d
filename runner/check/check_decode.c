// SPDX-License-Identifier: MIT
// Compares machine code with its row: decodes it with Zydis and compares mnemonic, encoding,
// operands, access and flags. NASM can silently encode another instruction than the text says, and
// a wrong access mark makes wrong latency chains; nothing else would notice either.
// lists/exceptions.csv has the places where the decoder is wrong.
#include "check.h"

#include "check_access.h"
#include "list/list_mnemonic.h"

#include <Zydis/Zydis.h>
#include <stdarg.h>
#include <string.h>

static void decode_problem(const struct decode *decode, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Adds a problem unless an exception allows the field to differ. Fields "op1" ... "op6" and
// "op1.access" ... get the caret under their operand.
static void decode_problem(const struct decode *decode, const char *field, const char *format, ...)
{
    char message[512], text[96];
    const struct list_row *row = decode->code->row;
    if (check_exceptions_allow(decode->exceptions, row, field))
        return;
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterFormatInstruction(&formatter, &decode->in, decode->ops,
                                    decode->in.operand_count_visible, text, sizeof text, 0, NULL);
    if (strncmp(field, "op", 2) == 0 && field[2] >= '1' && field[2] <= '6')
        check_operand_problem(decode->check, row, field[2] - '1', "%s (decoded: %s) [%s]", message,
                              text, field);
    else
        check_row_problem(decode->check, row, NULL, "%s (decoded: %s) [%s]", message, text, field);
}

static void decode_check_name(const struct decode *decode)
{
    const char *space = strrchr(decode->code->row->mnemonic, ' ');
    const char *name = space ? space + 1 : decode->code->row->mnemonic;
    const char *decoded = ZydisMnemonicGetString(decode->in.mnemonic);
    char canonical[64], field[80];
    list_mnemonic_canonical(name, canonical, sizeof canonical);
    if (strcmp(canonical, decoded) == 0)
        return;
    snprintf(field, sizeof field, "name=%s", decoded);
    decode_problem(decode, field, "NASM encodes '%s' as '%s'", name, decoded);
}

static void decode_check_encoding(const struct decode *decode)
{
    enum encoding enc = ENC_LEGACY;
    if (decode->in.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
        enc = ENC_VEX;
    else if (decode->in.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
        enc = ENC_EVEX;
    else if (decode->in.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
        enc = ENC_XOP;
    const struct list_row *row = decode->code->row;
    if (enc != row->enc)
        decode_problem(decode, "enc",
                       "the encoding is %s, where the isa '%s' means %s; write {vex} or {evex}, or "
                       "correct the isa, or give enc=%s",
                       encoding_name(enc), row->isa, encoding_name(row->enc), encoding_name(enc));
}

static void decode_check_register(const struct decode *decode, int i, const ZydisDecodedOperand *op)
{
    const struct operand *operand = &decode->code->row->ops[i];
    struct register_id id = decode_register_id(decode, op->reg.value);
    int number = operand->fixed >= 0 ? operand->fixed : decode->code->choice.ops[i].reg;
    if (id.kind != operand->kind || id.bits != operand->bits || id.high8 != operand->high8)
        decode_problem(decode, operand->name, "this operand is encoded as %s",
                       ZydisRegisterGetString(op->reg.value));
    else if (id.number != number)
        decode_problem(decode, operand->name, "this operand is encoded as another register, %s",
                       ZydisRegisterGetString(op->reg.value));
}

static void decode_check_broadcast(const struct decode *decode, const struct operand *operand)
{
    static const int counts[ZYDIS_BROADCAST_MODE_MAX_VALUE + 1] = {
        [ZYDIS_BROADCAST_MODE_1_TO_2] = 2,   [ZYDIS_BROADCAST_MODE_1_TO_4] = 4,
        [ZYDIS_BROADCAST_MODE_1_TO_8] = 8,   [ZYDIS_BROADCAST_MODE_1_TO_16] = 16,
        [ZYDIS_BROADCAST_MODE_1_TO_32] = 32, [ZYDIS_BROADCAST_MODE_1_TO_64] = 64,
    };
    int count = decode->in.avx.broadcast.is_static ? 0 : counts[decode->in.avx.broadcast.mode];
    if (count != operand->broadcast)
        decode_problem(decode, operand->name, "the broadcast is encoded as {1to%d}", count);
}

static void decode_check_memory(const struct decode *decode, int i, const ZydisDecodedOperand *op)
{
    const struct operand *operand = &decode->code->row->ops[i];
    bool agen = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN, vsib = op->mem.type == ZYDIS_MEMOP_TYPE_VSIB;
    if (vsib != (operand->kind == OPERAND_VSIB) || agen != (operand->kind == OPERAND_AGEN)) {
        decode_problem(decode, operand->name, "this operand is encoded as another kind of address");
        return;
    }
    if (vsib) {
        struct register_id index = decode_register_id(decode, op->mem.index);
        if (index.bits != operand->index_bits)
            decode_problem(decode, operand->name, "the index register is encoded with %d bits",
                           index.bits);
    } else if (agen) {
        struct agen_parts parts = render_agen_parts(operand);
        bool index = op->mem.index != ZYDIS_REGISTER_NONE;
        if (index != parts.index || (index && op->mem.scale != parts.scale) ||
            (op->mem.base != ZYDIS_REGISTER_NONE) != (parts.base || parts.relative))
            decode_problem(decode, operand->name, "the address is encoded with other parts");
    } else if (operand->bits && op->size != operand->bits) {
        decode_problem(decode, operand->name, "the memory operand is encoded with %d bits",
                       op->size);
    }
    if (operand->kind == OPERAND_MEM)
        decode_check_broadcast(decode, operand);
}

static void decode_check_immediate(const struct decode *decode, int i, int nth,
                                   const ZydisDecodedOperand *op)
{
    const struct operand *operand = &decode->code->row->ops[i];
    int encoded = nth < 2 ? decode->in.raw.imm[nth].size : 0;
    int64_t value = operand->has_value ? operand->value : decode->code->choice.ops[i].value;
    if ((operand->kind == OPERAND_REL) != op->imm.is_relative)
        decode_problem(decode, operand->name,
                       "this operand is encoded as another kind of constant");
    else if (operand->literal ? encoded != 0 : encoded != operand->bits)
        decode_problem(decode, operand->name, "the constant is encoded in %d bits", encoded);
    else if (operand->kind == OPERAND_IMM &&
             ((op->imm.value.u ^ (uint64_t)value) & (UINT64_MAX >> (64 - operand->bits))) != 0)
        decode_problem(decode, operand->name, "the constant is encoded as 0x%llx",
                       (unsigned long long)op->imm.value.u);
}

// Returns true if a decoded operand is of the sort that the class needs: register, memory or
// constant.
static bool decode_sort_matches(const struct operand *operand, const ZydisDecodedOperand *op)
{
    switch (op->type) {
    case ZYDIS_OPERAND_TYPE_MEMORY:
        return operand->kind == OPERAND_MEM || operand->kind == OPERAND_VSIB ||
               operand->kind == OPERAND_AGEN || operand->kind == OPERAND_MOFFS;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        return operand->kind == OPERAND_IMM || operand->kind == OPERAND_REL;
    case ZYDIS_OPERAND_TYPE_REGISTER:
        return operand->kind <= OPERAND_BOUND && operand->kind != OPERAND_MEM;
    default:
        return false;
    }
}

static void decode_check_operand(const struct decode *decode, int i, int nth_immediate,
                                 const ZydisDecodedOperand *op)
{
    if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
        decode_check_register(decode, i, op);
    else if (op->type == ZYDIS_OPERAND_TYPE_MEMORY)
        decode_check_memory(decode, i, op);
    else
        decode_check_immediate(decode, i, nth_immediate, op);
    decode_check_access(decode, i, op);
}

// Pairs the row's operands with the decoder's visible ones. Fixed registers that the decoder shows
// and NASM does not write (xmm0 of blendvps) are marked as implicit.
static void decode_check_operands(struct decode *decode)
{
    const struct list_row *row = decode->code->row;
    int i = 0, immediates = 0;
    for (int j = 0; j < decode->in.operand_count_visible; j++) {
        const ZydisDecodedOperand *op = &decode->ops[j];
        if (op->encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        bool matches = i < row->nops && decode_sort_matches(&row->ops[i], op);
        if (op->visibility == ZYDIS_OPERAND_VISIBILITY_IMPLICIT &&
            (!matches || row->nops < decode->nvisible)) {
            decode->unwritten[j] = true;
            decode->nvisible--;
            continue;
        }
        if (!matches) {
            decode_problem(decode, "operands", "the operands are encoded differently");
            return;
        }
        decode_check_operand(decode, i++, immediates, op);
        immediates += op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    }
    if (i != row->nops)
        decode_problem(decode, "operands", "%d operands are encoded, %d were written", i,
                       row->nops);
}

static void decode_check_decorations(const struct decode *decode)
{
    const struct list_row *row = decode->code->row;
    const struct operand *masked = NULL;
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].masked)
            masked = &row->ops[i];
    bool has_mask = decode->in.avx.mask.reg != ZYDIS_REGISTER_NONE &&
                    decode->in.avx.mask.reg != ZYDIS_REGISTER_K0;
    bool zeroing = decode->in.avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
                   decode->in.avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING;
    if (has_mask != (masked != NULL))
        decode_problem(decode, "mask", "%s", has_mask ? "a mask is encoded" : "no mask is encoded");
    else if (masked && masked->kind == OPERAND_VEC && masked->zeroing != zeroing)
        decode_problem(decode, masked->name, "the mask is encoded as %s",
                       zeroing ? "zeroing" : "merging");
    bool rounding = decode->in.avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID;
    bool sae = decode->in.avx.has_sae;
    if (rounding != (row->rounding == ROUND_ER) || sae != (row->rounding != ROUND_NONE))
        decode_problem(decode, "rounding", "the encoding has %s",
                       rounding ? "{er}"
                       : sae    ? "{sae}"
                                : "neither {er} nor {sae}");
}

static int decode_count_visible(const struct decode *decode)
{
    int n = 0;
    for (int i = 0; i < decode->in.operand_count_visible; i++)
        n += decode->ops[i].encoding != ZYDIS_OPERAND_ENCODING_MASK;
    return n;
}

void check_decode(struct check *check, const struct check_code *code, const unsigned char *bytes,
                  struct check_exceptions *exceptions)
{
    struct decode decode = {
        .check = check, .code = code, .exceptions = exceptions, .problem = decode_problem};
    ZydisDecoder decoder;
    bool is64 = code->row->bits == 64;
    decode.mode = is64 ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32;
    ZydisDecoderInit(&decoder, decode.mode, is64 ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes + code->offset, code->len, &decode.in,
                                           decode.ops))) {
        if (code->row->opcode.given && code->len)
            check_prefix(check, code, bytes + code->offset);
        else if (!check_exceptions_allow(exceptions, code->row, "decode"))
            check_row_problem(check, code->row, code->row->nasm_mnemonic,
                              "%s, which is no instruction for the decoder [decode]",
                              code->len ? "NASM makes machine code of it"
                                        : "NASM assembles it to nothing");
        return;
    }
    decode.nvisible = decode_count_visible(&decode);
    if (decode.in.length != code->len)
        decode_problem(&decode, "length",
                       "NASM makes %zu bytes of it, of which the first instruction is %d: it is "
                       "more than one instruction",
                       code->len, decode.in.length);
    decode_check_name(&decode);
    decode_check_encoding(&decode);
    decode_check_operands(&decode);
    decode_check_decorations(&decode);
    decode_check_implicit(&decode);
    decode_check_flags(&decode);
}
