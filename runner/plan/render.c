// SPDX-License-Identifier: MIT
// Rows as NASM text; see render.h. Peculiarities of NASM are kept here: its size keywords, the
// place of {rn-sae}, and forms that it would silently encode as others if written differently.
#include "render.h"

#include "render_opcode.h"

#include <inttypes.h>
#include <string.h>

const char *render_gpr(int number, int bits, bool high8)
{
    static const char *const names8[] = {
        "al",   "cl",   "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",  "r8b",  "r9b",  "r10b",
        "r11b", "r12b", "r13b", "r14b", "r15b", "r16b", "r17b", "r18b", "r19b", "r20b", "r21b",
        "r22b", "r23b", "r24b", "r25b", "r26b", "r27b", "r28b", "r29b", "r30b", "r31b"};
    static const char *const names16[] = {
        "ax",   "cx",   "dx",   "bx",   "sp",   "bp",   "si",   "di",   "r8w",  "r9w",  "r10w",
        "r11w", "r12w", "r13w", "r14w", "r15w", "r16w", "r17w", "r18w", "r19w", "r20w", "r21w",
        "r22w", "r23w", "r24w", "r25w", "r26w", "r27w", "r28w", "r29w", "r30w", "r31w"};
    static const char *const names32[] = {
        "eax",  "ecx",  "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",  "r8d",  "r9d",  "r10d",
        "r11d", "r12d", "r13d", "r14d", "r15d", "r16d", "r17d", "r18d", "r19d", "r20d", "r21d",
        "r22d", "r23d", "r24d", "r25d", "r26d", "r27d", "r28d", "r29d", "r30d", "r31d"};
    static const char *const names64[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                          "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
                                          "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23",
                                          "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"};
    static const char *const names_high[] = {"ah", "ch", "dh", "bh"};
    if (number < 0 || number > 31)
        return NULL;
    if (high8)
        return number < 4 ? names_high[number] : NULL;
    switch (bits) {
    case 8:
        return names8[number];
    case 16:
        return names16[number];
    case 32:
        return names32[number];
    case 64:
        return names64[number];
    default:
        return NULL;
    }
}

void render_register(enum operand_kind kind, int number, int bits, bool high8, struct strbuf *out)
{
    static const char *const segments[] = {"es", "cs", "ss", "ds", "fs", "gs"};
    const char *name;
    switch (kind) {
    case OPERAND_GPR:
        name = render_gpr(number, bits, high8);
        strbuf_puts(out, name ? name : "?");
        break;
    case OPERAND_VEC:
        strbuf_printf(out, "%cmm%d", bits == 512 ? 'z' : bits == 256 ? 'y' : 'x', number);
        break;
    case OPERAND_MMX:
        strbuf_printf(out, "mm%d", number);
        break;
    case OPERAND_MASK:
        strbuf_printf(out, "k%d", number);
        break;
    case OPERAND_X87:
        strbuf_printf(out, "st%d", number);
        break;
    case OPERAND_TILE:
        strbuf_printf(out, "tmm%d", number);
        break;
    case OPERAND_BOUND:
        strbuf_printf(out, "bnd%d", number);
        break;
    case OPERAND_SEG:
        strbuf_puts(out, segments[(unsigned)number % 6]);
        break;
    default:
        strbuf_puts(out, "?");
    }
}

static const char *render_size(int bits)
{
    switch (bits) {
    case 8:
        return "byte ";
    case 16:
        return "word ";
    case 32:
        return "dword ";
    case 64:
        return "qword ";
    case 80:
        return "tword ";
    case 128:
        return "oword ";
    case 256:
        return "yword ";
    case 512:
        return "zword ";
    default:
        return ""; // areas such as fxsave's have no keyword
    }
}

static void render_disp(int disp, struct strbuf *out)
{
    if (disp)
        strbuf_printf(out, "%+d", disp);
}

void render_memory(const struct operand *op, int base, int address_bits, int disp,
                   struct strbuf *out)
{
    strbuf_printf(out, "%s[%s", render_size(op->bits), render_gpr(base, address_bits, false));
    render_disp(disp, out);
    strbuf_puts(out, "]");
    if (op->broadcast)
        strbuf_printf(out, "{1to%d}", op->broadcast);
}

static void render_vsib(const struct operand *op, const struct operand_choice *choice, int bits,
                        struct strbuf *out)
{
    strbuf_printf(out, "[%s+", render_gpr(choice->base, bits, false));
    render_register(OPERAND_VEC, choice->index, op->index_bits, false, out);
    strbuf_puts(out, "*1");
    render_disp(choice->disp, out);
    strbuf_puts(out, "]");
}

// Parses one part between the signs of "b+i*4+d8".
static void render_agen_part(const char *part, size_t len, struct agen_parts *parts)
{
    char first = (char)(part[0] | 0x20);
    if (first == 'b') {
        parts->base = true;
    } else if (first == 'i') {
        parts->index = true;
        parts->scale = len == 1 ? 1 : 4;
        if (len == 3 && part[1] == '*' && strchr("1248", part[2]))
            parts->scale = part[2] - '0';
    } else if (first == 'd') {
        parts->disp = len >= 3 ? 0x12340 : 8; // d32 or d8
    } else if (first == 'r') {
        parts->relative = true;
    }
}

struct agen_parts render_agen_parts(const struct operand *op)
{
    struct agen_parts parts = {.scale = 1};
    size_t skip = strcspn(op->text, ":(");
    if (!op->text[skip])
        return (struct agen_parts){.base = true, .index = true, .scale = 1, .disp = 8};
    const char *at = op->text + skip + 1;
    while (*at) {
        size_t len = strcspn(at, "+_)");
        if (len)
            render_agen_part(at, len, &parts);
        at += len + (at[len] != '\0');
    }
    return parts;
}

static void render_agen(const struct operand *op, const struct operand_choice *choice, int bits,
                        struct strbuf *out)
{
    struct agen_parts parts = render_agen_parts(op);
    if (parts.relative) {
        strbuf_puts(out, "[rel latput_absolute]");
        return;
    }
    // nosplit keeps NASM from turning an index without base into a base.
    strbuf_puts(out, parts.base ? "[" : "[nosplit ");
    if (parts.base)
        strbuf_puts(out, render_gpr(choice->base, bits, false));
    if (parts.index)
        strbuf_printf(out, "%s%s*%d", parts.base ? "+" : "", render_gpr(choice->index, bits, false),
                      parts.scale);
    if (!parts.base && !parts.index)
        strbuf_printf(out, "%d]", parts.disp);
    else {
        render_disp(parts.disp, out);
        strbuf_puts(out, "]");
    }
}

bool render_is_block(const struct list_row *row, const struct operand *op)
{
    return op == &row->ops[1] && op->kind == OPERAND_VEC &&
           (strncmp(row->mnemonic, "v4f", 3) == 0 || strncmp(row->mnemonic, "vp4d", 4) == 0);
}

static void render_immediate(const struct operand *op, const struct operand_choice *choice,
                             const struct list_row *row, struct strbuf *out)
{
    // NASM would take another encoding of the same value.
    bool sign_extended =
        op->bits == 32 && row->ops[0].bits == 64 && strcmp(row->mnemonic, "mov") == 0;
    bool word = op->bits == 16 && strncmp(row->mnemonic, "o16 ", 4) == 0;
    // Shifts by one have an encoding without immediate.
    bool by_one = op->bits == 8 && row->nops == 2 && choice->value == 1;
    strbuf_printf(out, "%s%" PRId64,
                  sign_extended ? "strict dword "
                  : word        ? "strict word "
                  : by_one      ? "byte "
                                : "",
                  op->has_value || op->literal ? op->value : choice->value);
}

static void render_target(const struct operand *op, int label, const char *mnemonic,
                          struct strbuf *out)
{
    // These exist with one displacement only and take no size keyword.
    static const char *const plain[] = {"call", "loop", "jrcxz", "jecxz", "xbegin"};
    const char *size = op->bits == 8 ? "short " : "near ";
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (strncmp(mnemonic, plain[i], strlen(plain[i])) == 0)
            size = "";
    strbuf_printf(out, "%s.l%d", size, label);
}

static void render_operand(const struct operand *op, const struct operand_choice *choice,
                           const struct list_row *row, struct strbuf *out)
{
    switch (op->kind) {
    case OPERAND_MEM:
        render_memory(op, choice->base, row->bits, choice->disp, out);
        break;
    case OPERAND_VSIB:
        render_vsib(op, choice, row->bits, out);
        break;
    case OPERAND_AGEN:
        render_agen(op, choice, row->bits, out);
        break;
    case OPERAND_MOFFS:
        strbuf_puts(out, row->bits == 32 ? "[latput_absolute]" : "[qword abs latput_absolute]");
        break;
    case OPERAND_IMM:
        render_immediate(op, choice, row, out);
        break;
    case OPERAND_REL:
        render_target(op, choice->label, row->mnemonic, out);
        break;
    default:
        render_register(op->kind, op->fixed >= 0 ? op->fixed : choice->reg, op->bits, op->high8,
                        out);
        if (render_is_block(row, op))
            strbuf_puts(out, "+3");
    }
}

// Returns the operand before which NASM wants {rn-sae} or {sae}; row->nops: after the last. After
// the last general-purpose source of vcvtusi2ss and its like it would silently select another
// instruction (but vcvtsi2sh wants it there); an immediate stays last.
static int render_rounding_position(const struct list_row *row)
{
    const struct operand *last = &row->ops[row->nops - 1];
    size_t len = strlen(row->mnemonic);
    bool half = len > 2 && strcmp(row->mnemonic + len - 2, "sh") == 0;
    bool before =
        row->nops > 1 && (last->kind == OPERAND_IMM || (last->kind == OPERAND_GPR && !half));
    return before ? row->nops - 1 : row->nops;
}

void row_render(const struct list_row *row, const struct row_choice *choice, struct strbuf *out)
{
    if (row->opcode.given) {
        render_opcode(row, choice, out);
        return;
    }
    strbuf_puts(out, row->nasm_mnemonic);
    const char *rounding = row->rounding == ROUND_ER ? "{rn-sae}" : "{sae}";
    int position = row->rounding == ROUND_NONE ? -1 : render_rounding_position(row);
    const char *between = " ";
    int label = -1;
    for (int i = 0; i <= row->nops; i++) {
        if (i == position) {
            strbuf_printf(out, "%s%s", between, rounding);
            between = ", ";
        }
        if (i == row->nops)
            break;
        const struct operand *op = &row->ops[i];
        strbuf_puts(out, between);
        render_operand(op, &choice->ops[i], row, out);
        if (op->masked)
            strbuf_printf(out, "{k%d}%s", choice->mask, op->zeroing ? "{z}" : "");
        if (op->kind == OPERAND_REL)
            label = choice->ops[i].label;
        between = ", ";
    }
    if (label >= 0)
        strbuf_printf(out, "\n.l%d:", label);
}
