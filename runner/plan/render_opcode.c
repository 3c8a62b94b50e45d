// SPDX-License-Identifier: MIT
// Encodes instructions that NASM does not know, or writes in another encoding; see
// render_opcode.h. Addresses are a base register with or without a 32-bit displacement: nothing
// else is needed, and a compressed 8-bit displacement would only be shorter.
#include "render_opcode.h"

enum { CODE_MAX = 16 };

struct code {
    uint8_t bytes[CODE_MAX];
    int n;
};

// Fields of the instruction, by their names in the manuals.
struct fields {
    int reg, vvvv, rm;   // register numbers; rm: base of a memory operand
    int opcode_register; // in the low bits of the opcode
    bool has_rm;         // else the instruction has no ModR/M byte
    bool memory;
    bool general;  // rm is a general-purpose register
    bool byte_rex; // spl, bpl, sil or dil, which need a REX prefix
    int disp;
    int length; // 0, 1, 2: 128, 256, 512 bits
    int mask;
    bool zeroing, broadcast;
};

static void code_put(struct code *code, int byte)
{
    if (code->n < CODE_MAX)
        code->bytes[code->n++] = (uint8_t)byte;
}

static int encode_number(const struct operand *op, const struct operand_choice *choice)
{
    int number = op->fixed >= 0 ? op->fixed : choice->reg;
    return op->high8 ? number + 4 : number;
}

// Returns the bits of the operand that count for the vector length.
static int encode_length_bits(const struct list_row *row, const struct operand *op)
{
    bool vectors = false;
    for (int i = 0; i < row->nops; i++)
        vectors |= row->ops[i].kind == OPERAND_VEC || row->ops[i].kind == OPERAND_MASK;
    bool wide = op->kind == OPERAND_VEC || (op->kind == OPERAND_MEM && vectors);
    return wide ? op->bits * (op->broadcast ? op->broadcast : 1) : 0;
}

static void encode_decorations(const struct list_row *row, const struct operand *op, int mask,
                               struct fields *fields)
{
    int bits = encode_length_bits(row, op);
    if (bits >= 256 && fields->length < bits / 256)
        fields->length = bits / 256;
    if (op->masked)
        fields->mask = mask;
    fields->zeroing |= op->zeroing;
    fields->broadcast |= op->broadcast != 0;
}

static struct fields encode_fields(const struct list_row *row, const struct row_choice *choice)
{
    struct fields fields = {.reg = row->opcode.digit >= 0 ? row->opcode.digit : 0};
    const char *field = row->opcode.fields;
    for (int i = 0; i < row->nops; i++) {
        const struct operand *op = &row->ops[i];
        encode_decorations(row, op, choice->mask, &fields);
        if (op->kind == OPERAND_IMM)
            continue;
        int number = encode_number(op, &choice->ops[i]);
        fields.byte_rex |=
            op->kind == OPERAND_GPR && op->bits == 8 && !op->high8 && number >= 4 && number < 8;
        if (*field == 'r')
            fields.reg = number;
        else if (*field == 'v')
            fields.vvvv = number;
        else if (*field == 'o')
            fields.opcode_register = number;
        else if (*field == 'm') {
            fields.has_rm = true;
            fields.general = op->kind == OPERAND_GPR;
            fields.memory = op->kind == OPERAND_MEM;
            fields.rm = fields.memory ? choice->ops[i].base : number;
            fields.disp = choice->ops[i].disp;
        }
        field++;
    }
    return fields;
}

static void encode_rex2(const struct opcode *opcode, const struct fields *fields, struct code *code)
{
    int rm = fields->has_rm ? fields->rm : fields->opcode_register;
    code_put(code, 0xd5);
    code_put(code, opcode->map << 7 | (fields->reg >> 4 & 1) << 6 | (rm >> 4 & 1) << 4 |
                       opcode->w << 3 | (fields->reg >> 3 & 1) << 2 | (rm >> 3 & 1));
}

static void encode_legacy(const struct opcode *opcode, const struct fields *fields,
                          struct code *code)
{
    static const int prefixes[] = {0, 0x66, 0xf3, 0xf2};
    if (opcode->prefix)
        code_put(code, prefixes[opcode->prefix]);
    if (opcode->rex2) {
        encode_rex2(opcode, fields, code);
        return;
    }
    int rex = 0x40 | opcode->w << 3 | (fields->reg >> 3 & 1) << 2 | (fields->rm >> 3 & 1);
    if (rex != 0x40 || fields->byte_rex)
        code_put(code, rex);
    if (opcode->map >= 1)
        code_put(code, 0x0f);
    if (opcode->map >= 2)
        code_put(code, opcode->map == 2 ? 0x38 : 0x3a);
}

// Encodes a bit of a register number, which is inverted in VEX and EVEX prefixes.
static int encode_inverted(int number, int bit)
{
    return ~number >> bit & 1;
}

static void encode_vex(const struct opcode *opcode, const struct fields *fields, struct code *code)
{
    code_put(code, 0xc4);
    code_put(code, encode_inverted(fields->reg, 3) << 7 | 1 << 6 |
                       encode_inverted(fields->rm, 3) << 5 | opcode->map);
    code_put(code,
             opcode->w << 7 | (~fields->vvvv & 15) << 3 | fields->length << 2 | opcode->prefix);
}

// Encodes the last byte of the prefix. APX has two more bits in it, or a condition.
static int encode_evex_end(const struct list_row *row, const struct fields *fields)
{
    const struct opcode *opcode = &row->opcode;
    if (opcode->scc >= 0)
        return opcode->scc;
    bool rounding = row->rounding != ROUND_NONE;
    return (fields->zeroing ? 1 << 7 : 0) | (row->rounding == ROUND_ER ? 0 : fields->length) << 5 |
           (fields->broadcast || rounding || opcode->nd ? 1 << 4 : 0) |
           encode_inverted(fields->vvvv, 4) << 3 | (opcode->nf ? 1 << 2 : 0) | fields->mask;
}

static void encode_evex(const struct list_row *row, const struct fields *fields, struct code *code)
{
    const struct opcode *opcode = &row->opcode;
    // The fifth bit of a vector register lies where an index register has its fourth one.
    bool general = fields->memory || fields->general;
    int x = general ? 1 : encode_inverted(fields->rm, 4);
    int b4 = general ? fields->rm >> 4 & 1 : 0;
    int vvvv = opcode->scc >= 0 ? opcode->dfv : ~fields->vvvv & 15;
    code_put(code, 0x62);
    code_put(code, encode_inverted(fields->reg, 3) << 7 | x << 6 |
                       encode_inverted(fields->rm, 3) << 5 | encode_inverted(fields->reg, 4) << 4 |
                       b4 << 3 | opcode->map);
    code_put(code, opcode->w << 7 | vvvv << 3 | 1 << 2 | opcode->prefix);
    code_put(code, encode_evex_end(row, fields));
}

static void encode_modrm(const struct fields *fields, struct code *code)
{
    int reg = (fields->reg & 7) << 3, rm = fields->rm & 7;
    if (!fields->memory) {
        code_put(code, 0xc0 | reg | rm);
        return;
    }
    bool disp = fields->disp || rm == 5; // rbp and r13 have no form without displacement
    code_put(code, (disp ? 0x80 : 0) | reg | rm);
    if (rm == 4) // rsp and r12 need a second byte
        code_put(code, 0x24);
    for (int at = 0; disp && at < 32; at += 8)
        code_put(code, (int)((unsigned)fields->disp >> at & 0xff));
}

static void encode_immediate(const struct operand *op, int64_t value, struct code *code)
{
    value = op->has_value ? op->value : value;
    for (int at = 0; op->kind == OPERAND_IMM && !op->literal && at < op->bits; at += 8)
        code_put(code, (int)((uint64_t)value >> at & 0xff));
}

void render_opcode(const struct list_row *row, const struct row_choice *choice, struct strbuf *out)
{
    struct code code = {.n = 0};
    struct fields fields = encode_fields(row, choice);
    if (row->opcode.enc == ENC_LEGACY)
        encode_legacy(&row->opcode, &fields, &code);
    else if (row->opcode.enc == ENC_VEX)
        encode_vex(&row->opcode, &fields, &code);
    else
        encode_evex(row, &fields, &code);
    code_put(&code, row->opcode.byte | (fields.opcode_register & 7));
    if (fields.has_rm)
        encode_modrm(&fields, &code);
    encode_immediate(&row->ops[row->nops - 1], choice->ops[row->nops - 1].value, &code);
    strbuf_puts(out, "db ");
    for (int i = 0; i < code.n; i++)
        strbuf_printf(out, "%s0x%02x", i ? "," : "", code.bytes[i]);
}
