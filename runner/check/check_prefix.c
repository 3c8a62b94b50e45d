// SPDX-License-Identifier: MIT
// Machine code of rows that the decoder (Zydis 4.0) does not know, such as APX and AVX10.2: reads
// its prefix and ModR/M byte here, and compares each field with the row.
#include "check.h"

#include <string.h>

// An instruction as it is read from bytes.
struct prefix_code {
    const unsigned char *at, *end;
    enum encoding enc;
    bool rex2, memory, broken;
    int prefix, map, w, byte;
    int reg, vvvv, rm; // numbers; rm: the base of memory. General-purpose ones have 5 bits
    int vector_rm;     // number, if rm is a vector register
    int reg3;          // the reg field alone
    int index;         // high bits of an index register, which no row has
    int length, mask, dfv;
    bool zeroing, b;
};

static int prefix_take(struct prefix_code *code)
{
    code->broken |= code->at >= code->end;
    return code->broken ? 0 : *code->at++;
}

static int prefix_bit(int byte, int bit)
{
    return byte >> bit & 1;
}

// Reads 66, F3 or F2, then REX or REX2, then the bytes that choose the map. High bits of reg and rm
// stay in these until the ModR/M byte is read.
static void prefix_read_legacy(struct prefix_code *code)
{
    int byte = prefix_take(code), rex = 0;
    code->enc = ENC_LEGACY;
    code->prefix = byte == 0x66 ? 1 : byte == 0xf3 ? 2 : byte == 0xf2 ? 3 : 0;
    if (code->prefix)
        byte = prefix_take(code);
    if (byte == 0xd5) {
        rex = prefix_take(code);
        code->rex2 = true;
        code->map = prefix_bit(rex, 7);
        code->reg = prefix_bit(rex, 6) << 4;
        code->index = prefix_bit(rex, 5) << 4;
        code->rm = prefix_bit(rex, 4) << 4;
        byte = prefix_take(code);
    } else if ((byte & 0xf0) == 0x40) {
        rex = byte;
        byte = prefix_take(code);
    }
    if (byte == 0x0f && !code->rex2) {
        code->map = 1;
        byte = prefix_take(code);
        if (byte == 0x38 || byte == 0x3a) {
            code->map = byte == 0x38 ? 2 : 3;
            byte = prefix_take(code);
        }
    }
    code->w = prefix_bit(rex, 3);
    code->reg |= prefix_bit(rex, 2) << 3;
    code->rm |= prefix_bit(rex, 0) << 3;
    code->index |= prefix_bit(rex, 1) << 3;
    code->byte = byte;
}

static void prefix_read_vex(struct prefix_code *code)
{
    prefix_take(code);
    int first = prefix_take(code), second = prefix_take(code);
    code->enc = ENC_VEX;
    code->map = first & 0x1f;
    code->reg = !prefix_bit(first, 7) << 3;
    code->rm = !prefix_bit(first, 5) << 3;
    code->index = !prefix_bit(first, 6) << 3;
    code->w = prefix_bit(second, 7);
    code->vvvv = ~(second >> 3) & 15;
    code->length = prefix_bit(second, 2);
    code->prefix = second & 3;
    code->byte = prefix_take(code);
}

static void prefix_read_evex(struct prefix_code *code)
{
    prefix_take(code);
    int p0 = prefix_take(code), p1 = prefix_take(code), p2 = prefix_take(code);
    code->enc = ENC_EVEX;
    code->map = p0 & 7;
    code->reg = !prefix_bit(p0, 7) << 3 | !prefix_bit(p0, 4) << 4;
    code->rm = !prefix_bit(p0, 5) << 3 | prefix_bit(p0, 3) << 4;
    code->index = !prefix_bit(p0, 6) << 3;
    code->vector_rm = !prefix_bit(p0, 5) << 3 | !prefix_bit(p0, 6) << 4;
    code->w = prefix_bit(p1, 7);
    code->dfv = p1 >> 3 & 15;
    code->vvvv = (~(p1 >> 3) & 15) | !prefix_bit(p2, 3) << 4;
    code->broken |= !prefix_bit(p1, 2); // no index register that it could belong to
    code->prefix = p1 & 3;
    code->zeroing = prefix_bit(p2, 7);
    code->length = p2 >> 5 & 3;
    code->b = prefix_bit(p2, 4);
    code->mask = p2 & 15; // bit 3 belongs to vvvv, or to the condition
    code->byte = prefix_take(code);
}

// Reads the ModR/M byte and an address of a base with or without a displacement of 32 bits.
static void prefix_read_modrm(struct prefix_code *code)
{
    int modrm = prefix_take(code), mode = modrm >> 6, rm = modrm & 7;
    code->reg3 = modrm >> 3 & 7;
    code->reg |= code->reg3;
    code->vector_rm |= rm;
    code->memory = mode != 3;
    if (code->memory && rm == 4) {
        int sib = prefix_take(code);
        rm = sib & 7;
        code->broken |= (sib >> 3 & 7) != 4; // an index
    }
    code->broken |= mode == 1 || (mode == 0 && rm == 5);
    code->rm |= rm;
    for (int i = 0; mode == 2 && i < 4; i++)
        prefix_take(code);
}

static struct prefix_code prefix_read(const struct list_row *row, const unsigned char *bytes,
                                      size_t len)
{
    struct prefix_code code = {.at = bytes, .end = bytes + len};
    if (bytes[0] == 0x62)
        prefix_read_evex(&code);
    else if (bytes[0] == 0xc4)
        prefix_read_vex(&code);
    else
        prefix_read_legacy(&code);
    if (strchr(row->opcode.fields, 'm'))
        prefix_read_modrm(&code);
    return code;
}

// Returns the number in the field of an operand, -1 if it has none.
static int prefix_field(const struct prefix_code *code, const struct operand *op, char field)
{
    bool vector = op->kind == OPERAND_VEC && code->enc == ENC_EVEX;
    switch (field) {
    case 'r':
        return code->reg;
    case 'v':
        return code->vvvv;
    case 'm':
        return vector ? code->vector_rm : code->rm;
    case 'o':
        return (code->byte & 7) | code->rm;
    default:
        return -1;
    }
}

static const char *prefix_check_operands(const struct prefix_code *code,
                                         const struct check_code *row_code)
{
    const struct list_row *row = row_code->row;
    const char *field = row->opcode.fields;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        if (op->kind == OPERAND_IMM)
            continue;
        const struct operand_choice *choice = &row_code->choice.ops[i];
        bool memory = op->kind == OPERAND_MEM;
        int meant = memory ? choice->base : op->fixed >= 0 ? op->fixed : choice->reg;
        int number = prefix_field(code, op, *field);
        if (number >= 0 && number != meant)
            return "an operand is encoded as another register";
        if (*field == 'm' && memory != code->memory)
            return "memory is encoded as a register, or a register as memory";
        field++;
    }
    return row->opcode.digit >= 0 && row->opcode.digit != code->reg3
               ? "the reg field is not that of the opcode"
               : NULL;
}

// Returns true if a high bit is set of a register that the instruction does not have. X extends a
// vector register in r/m, where B4 then extends nothing.
static bool prefix_has_idle_bits(const struct prefix_code *code, const struct list_row *row)
{
    const char *field = row->opcode.fields;
    bool vector = false;
    for (int i = 0; i < row->nops; i++)
        if (row->ops[i].kind != OPERAND_IMM)
            vector |= *field++ == 'm' && row->ops[i].kind == OPERAND_VEC && code->enc == ENC_EVEX;
    return (vector ? code->rm & 16 : code->index) ||
           (!strchr(row->opcode.fields, 'r') && code->reg >> 3);
}

// Returns the vector length that the row's operands mean: 0, 1, 2.
static int prefix_length(const struct list_row *row)
{
    int bits = 0;
    bool vectors = false;
    for (int i = 0; i < row->nops; i++)
        vectors |= row->ops[i].kind == OPERAND_VEC || row->ops[i].kind == OPERAND_MASK;
    for (int i = 0; i < row->nops && vectors; i++) {
        const struct operand *op = &row->ops[i];
        int wide = op->bits * (op->broadcast ? op->broadcast : 1);
        if ((op->kind == OPERAND_VEC || op->kind == OPERAND_MEM) && wide > bits)
            bits = wide;
    }
    return bits >= 512 ? 2 : bits >= 256 ? 1 : 0;
}

static const char *prefix_check_evex(const struct prefix_code *code, const struct list_row *row)
{
    const struct opcode *opcode = &row->opcode;
    bool masked = false, zeroing = false, broadcast = false;
    for (int i = 0; i < row->nops; i++) {
        masked |= row->ops[i].masked;
        zeroing |= row->ops[i].zeroing;
        broadcast |= row->ops[i].broadcast != 0;
    }
    if (opcode->scc >= 0)
        return code->mask != opcode->scc || code->dfv != opcode->dfv || code->b || code->zeroing
                   ? "the condition or its default flags are encoded differently"
                   : NULL;
    bool b = opcode->nd || broadcast || row->rounding != ROUND_NONE;
    if (code->b != b || code->zeroing != zeroing)
        return "broadcast, rounding, zeroing or the new destination is encoded differently";
    if ((code->mask & 7) != (masked ? 1 : opcode->nf ? 4 : 0))
        return "the mask, or that flags are left alone, is encoded differently";
    return NULL;
}

static const char *prefix_check(const struct prefix_code *code, const struct check_code *row_code)
{
    const struct list_row *row = row_code->row;
    const struct opcode *opcode = &row->opcode;
    int low = strchr(opcode->fields, 'o') ? 7 : 0;
    if (code->enc != opcode->enc || code->rex2 != opcode->rex2 || code->prefix != opcode->prefix ||
        code->map != opcode->map || code->w != opcode->w || (code->byte & ~low) != opcode->byte)
        return "prefix or opcode are not those of opcode=";
    const char *wrong = prefix_check_operands(code, row_code);
    if (!wrong && code->enc == ENC_EVEX)
        wrong = prefix_check_evex(code, row);
    if (!wrong && row->rounding != ROUND_ER && code->length != prefix_length(row))
        wrong = "the vector length is encoded differently";
    if (!wrong && !strchr(opcode->fields, 'v') && opcode->scc < 0 && code->vvvv != 0)
        wrong = "vvvv is encoded though no operand has it";
    if (!wrong && prefix_has_idle_bits(code, row))
        wrong = "a bit of a register is set that no operand has";
    const struct operand *last = &row->ops[row->nops - 1];
    int immediate = last->kind == OPERAND_IMM && !last->literal ? last->bits / 8 : 0;
    if (!wrong && (code->broken || code->end - code->at != immediate))
        wrong = "it has more or fewer bytes than its operands need";
    int64_t value = last->has_value ? last->value : row_code->choice.ops[row->nops - 1].value;
    for (int i = 0; i < immediate && !wrong; i++)
        if (code->at[i] != (unsigned char)((uint64_t)value >> 8 * i))
            wrong = "the constant is encoded differently";
    return wrong;
}

void check_prefix(struct check *check, const struct check_code *code, const unsigned char *bytes)
{
    const struct prefix_code read = prefix_read(code->row, bytes, code->len);
    const char *wrong = prefix_check(&read, code);
    if (wrong)
        check_row_problem(check, code->row, "opcode=", "%s [prefix]", wrong);
}
