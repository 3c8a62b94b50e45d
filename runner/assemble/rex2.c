// SPDX-License-Identifier: MIT
#include "rex2.h"

#include <Zydis/Zydis.h>
#include <string.h>

// An instruction taken apart, with its new registers.
struct rex2 {
    ZydisDecodedInstruction in;
    const int8_t *to;
    bool memory;
    int reg, rm, index, opcode_register; // numbers; 0 where the instruction has no such field
    bool refused;                        // a register that an address names otherwise
};

// Returns false for opcodes that are invalid after REX2, for those that save states, and for MPX
// (0F 1A, 0F 1B), which no CPU has beside APX.
static bool rex2_has_opcode(const struct rex2 *rex2)
{
    const ZydisDecodedInstruction *in = &rex2->in;
    int row = in->opcode >> 4, digit = in->raw.modrm.reg;
    if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return false;
    if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
        return row != 4 && row != 7 && row != 0xa && row != 0xe;
    bool bare = !(in->attributes & (ZYDIS_ATTRIB_HAS_OPERANDSIZE | ZYDIS_ATTRIB_HAS_REP |
                                    ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
    bool bounds = in->opcode == 0x1a || in->opcode == 0x1b;
    bool state = in->opcode == 0xae ? digit >= 4 && digit <= 6
                                    : in->opcode == 0xc7 && digit >= 3 && digit <= 5;
    return in->opcode_map == ZYDIS_OPCODE_MAP_0F && row != 3 && row != 8 && !bounds &&
           !(state && rex2->memory && bare);
}

// Returns the register in place of `number`. Those whose low bits are 4 or 5 have other addresses.
static int rex2_base(struct rex2 *rex2, int number)
{
    int to = rex2->to[number];
    rex2->refused |= to != number && ((to & 7) == 4 || (to & 7) == 5);
    return to;
}

static void rex2_take_fields(struct rex2 *rex2)
{
    const ZydisDecodedInstruction *in = &rex2->in;
    int r = in->raw.rex.R << 3, x = in->raw.rex.X << 3, b = in->raw.rex.B << 3;
    if (!(in->attributes & ZYDIS_ATTRIB_HAS_MODRM)) {
        rex2->opcode_register = b ? rex2->to[b | (in->opcode & 7)] : 0;
        return;
    }
    rex2->memory = in->raw.modrm.mod != 3;
    rex2->reg = rex2->to[r | in->raw.modrm.reg];
    if (!rex2->memory) {
        rex2->rm = rex2->to[b | in->raw.modrm.rm];
    } else if (in->attributes & ZYDIS_ATTRIB_HAS_SIB) {
        rex2->rm = rex2_base(rex2, b | in->raw.sib.base);
        rex2->index = rex2->to[x | in->raw.sib.index];
    } else {
        rex2->rm = rex2_base(rex2, b | in->raw.modrm.rm);
    }
}

static uint8_t rex2_payload(const struct rex2 *rex2)
{
    int base = rex2->rm | rex2->opcode_register;
    return (uint8_t)((rex2->in.opcode_map == ZYDIS_OPCODE_MAP_0F) << 7 | (rex2->reg >> 4) << 6 |
                     (rex2->index >> 4) << 5 | (base >> 4) << 4 | rex2->in.raw.rex.W << 3 |
                     (rex2->reg >> 3 & 1) << 2 | (rex2->index >> 3 & 1) << 1 | (base >> 3 & 1));
}

// Writes opcode and address; returns the bytes.
static size_t rex2_put_fields(const struct rex2 *rex2, uint8_t *out)
{
    const ZydisDecodedInstruction *in = &rex2->in;
    size_t n = 0;
    bool sib = in->attributes & ZYDIS_ATTRIB_HAS_SIB;
    bool has_register = !(in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.rex.B;
    out[n++] =
        has_register ? (uint8_t)((in->opcode & ~7) | (rex2->opcode_register & 7)) : in->opcode;
    if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM)
        out[n++] = (uint8_t)(in->raw.modrm.mod << 6 | (rex2->reg & 7) << 3 |
                             (sib ? in->raw.modrm.rm : rex2->rm & 7));
    if (sib)
        out[n++] = (uint8_t)(in->raw.sib.scale << 6 | (rex2->index & 7) << 3 | (rex2->rm & 7));
    return n;
}

size_t rex2_write(const uint8_t *code, size_t len, const int8_t to[REX2_REGISTERS],
                  uint8_t out[REX2_BYTES_MAX])
{
    ZydisDecoder decoder;
    struct rex2 rex2 = {.to = to};
    const ZydisDecodedInstruction *in = &rex2.in;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, len, &rex2.in)) ||
        in->length != len)
        return 0;
    rex2_take_fields(&rex2);
    bool rex = in->attributes & ZYDIS_ATTRIB_HAS_REX;
    size_t n = rex ? in->raw.rex.offset : in->raw.prefix_count;
    size_t read = n + rex + (in->opcode_map == ZYDIS_OPCODE_MAP_0F);
    uint8_t fields[3];
    size_t nfields = rex2_put_fields(&rex2, fields);
    if (!rex2_has_opcode(&rex2) || rex2.refused || read + nfields > len ||
        n + 2 + len - read > REX2_BYTES_MAX)
        return 0;
    memcpy(out, code, n);
    out[n++] = 0xd5;
    out[n++] = rex2_payload(&rex2);
    memcpy(out + n, fields, nfields);
    memcpy(out + n + nfields, code + read + nfields, len - read - nfields);
    return n + len - read;
}
