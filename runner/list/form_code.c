// SPDX-License-Identifier: MIT
// Instructions of AT&T and bytes as globs on forms; see form_code.h.
#include "form_code.h"

#include "util/mem.h"
#include "util/strbuf.h"

#include <Zydis/Zydis.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_BYTES_MAX = 15, CODE_OPERANDS_MAX = 8 };

// --- AT&T ---

struct code_part {
    const char *at;
    size_t len;
};

static struct code_part code_trim(struct code_part part)
{
    while (part.len > 0 && isspace((unsigned char)*part.at)) {
        part.at++;
        part.len--;
    }
    while (part.len > 0 && isspace((unsigned char)part.at[part.len - 1]))
        part.len--;
    return part;
}

static bool code_is(struct code_part part, const char *text)
{
    return part.len == strlen(text) && strncmp(part.at, text, part.len) == 0;
}

// Returns true if a register or a number stands there as AT&T marks it.
static bool code_is_att(const char *text)
{
    for (const char *at = text; *at; at++)
        if ((*at == '%' && isalpha((unsigned char)at[1])) ||
            (*at == '$' && (isalnum((unsigned char)at[1]) || strchr("-_.", at[1]))))
            return true;
    return false;
}

// Takes the text before a comma that is in no parentheses or braces.
static struct code_part code_take_operand(const char **at)
{
    struct code_part part = {*at, 0};
    for (int depth = 0; part.at[part.len] && (depth > 0 || part.at[part.len] != ','); part.len++)
        depth +=
            (strchr("({", part.at[part.len]) != NULL) - (strchr(")}", part.at[part.len]) != NULL);
    *at = part.at + part.len + (part.at[part.len] == ',');
    return code_trim(part);
}

// Returns the class of memory that the suffix of a mnemonic says; NULL: it is none.
static const char *code_suffix(struct code_part name)
{
    static const struct {
        const char *letters, *classes[5];
    } kinds[] = {
        {"bwlq", {"byte", "word", "dword", "qword"}  },
        {"slqt", {"dword", "qword", "qword", "tword"}}, // x87
        {"slq",  {"word", "dword", "qword"}          }, // x87, integers in memory
    };
    size_t kind = *name.at != 'f' ? 0 : name.len > 2 && name.at[1] == 'i' ? 2 : 1;
    const char *letter = name.len > 2 ? strchr(kinds[kind].letters, name.at[name.len - 1]) : NULL;
    return letter && *letter ? kinds[kind].classes[letter - kinds[kind].letters] : NULL;
}

// Appends what stands in the parentheses of an address: base, index, scale.
static void code_put_address(struct strbuf *out, struct code_part inside)
{
    struct code_part parts[3] = {
        {"", 0},
        {"", 0},
        {"", 0}
    };
    const char *at = inside.at, *end = inside.at + inside.len;
    for (int i = 0; i < 3 && at < end; i++) {
        size_t len = 0;
        while (at + len < end && at[len] != ',')
            len++;
        parts[i] = code_trim((struct code_part){at, len});
        at += len + 1;
    }
    const char *plus = "";
    for (int i = 0; i < 2; i++) {
        if (parts[i].len < 2)
            continue;
        strbuf_printf(out, "%s%.*s", plus, (int)parts[i].len - 1, parts[i].at + 1);
        if (i == 1 && parts[2].len > 0)
            strbuf_printf(out, "*%.*s", (int)parts[2].len, parts[2].at);
        plus = "+";
    }
}

// Appends a memory operand: -8(%rax,%rcx,4){1to16} is [rax+rcx*4-8]{1to16}.
static void code_put_memory(struct strbuf *out, struct code_part part, const char *size)
{
    size_t segment = part.len > 4 && part.at[0] == '%' && part.at[3] == ':' ? 4 : 0;
    const char *open = memchr(part.at, '(', part.len), *end = part.at + part.len;
    const char *close = open ? memchr(open, ')', (size_t)(end - open)) : NULL;
    const char *brace = memchr(part.at, '{', part.len);
    size_t distance = (size_t)((open ? open : brace ? brace : end) - part.at) - segment;
    strbuf_printf(out, "%s%s[", size ? size : "", size ? " " : "");
    if (open && close)
        code_put_address(out, (struct code_part){open + 1, (size_t)(close - open) - 1});
    else
        strbuf_puts(out, "rip"); // an address alone
    if (distance > 0)
        strbuf_printf(out, "%s%.*s", part.at[segment] == '-' ? "" : "+", (int)distance,
                      part.at + segment);
    strbuf_puts(out, "]");
    if (brace)
        strbuf_put(out, brace, (size_t)(end - brace));
}

// Appends the name of a register after its %. Registers of the x87 stack get the names that others
// write: st is st0, st(1) is st1.
static void code_put_register(struct strbuf *out, struct code_part name)
{
    if (code_is(name, "st"))
        strbuf_puts(out, "st0");
    else if (name.len == 5 && strncmp(name.at, "st(", 3) == 0)
        strbuf_printf(out, "st%c", name.at[3]);
    else // r8 is a class of lists, too: another one of these registers is meant
        strbuf_printf(out, "%.*s", (int)name.len, code_is(name, "r8") ? "r9" : name.at);
}

// Appends an operand, or rounding, in the words of Intel's assemblers and of lists.
static void code_put_operand(struct strbuf *out, struct code_part part, const char *size)
{
    if (part.len > 0 && *part.at == '*') // an indirect branch
        part = (struct code_part){part.at + 1, part.len - 1};
    if (part.len == 0)
        return;
    if (*part.at == '{')
        strbuf_puts(out, code_is(part, "{sae}") ? "{sae}" : "{er}");
    else if (*part.at == '$')
        strbuf_puts(out, code_is(part, "$1") || code_is(part, "$0x1") ? "1" : "i*");
    else if (*part.at == '%' && !memchr(part.at, ':', part.len)) {
        code_put_register(out, (struct code_part){part.at + 1, part.len - 1});
    } else {
        code_put_memory(out, part, size);
    }
}

// Appends the mnemonic that AT&T has for a move with extension, as movzbl; else the first letters.
static void code_put_name(struct strbuf *out, struct code_part name, bool stripped)
{
    bool extends =
        name.len == 6 && (strncmp(name.at, "movz", 4) == 0 || strncmp(name.at, "movs", 4) == 0);
    if (stripped && extends && name.at[4] == 'l')
        strbuf_puts(out, "movsxd");
    else if (stripped && extends)
        strbuf_printf(out, "%.4sx", name.at);
    else
        strbuf_put(out, name.at, name.len - stripped);
}

// Returns true if AT&T has the other name for this operation: fsub %st,%st(1) is what others call
// fsubr st1,st0, and so with division and where the stack is popped.
static bool code_is_reversed(struct code_part name, const struct code_part *parts, int n)
{
    bool kind =
        name.len >= 4 && (strncmp(name.at, "fsub", 4) == 0 || strncmp(name.at, "fdiv", 4) == 0);
    return kind && n == 2 && code_is(parts[0], "%st") && strncmp(parts[1].at, "%st(", 4) == 0;
}

// Appends the name of what AT&T calls fsub, fsubr, fsubp or fsubrp, and of division.
static void code_put_reversed(struct strbuf *out, struct code_part name)
{
    bool has = name.len > 4 && name.at[4] == 'r';
    const char *rest = name.at + 4 + has;
    strbuf_printf(out, "%.4s%s%.*s", name.at, has ? "" : "r", (int)(name.at + name.len - rest),
                  rest);
}

// Appends the instruction; `stripped`: without the suffix of the mnemonic.
static void code_put_att(struct strbuf *out, struct code_part prefix, struct code_part name,
                         const char *operands, bool stripped)
{
    struct code_part parts[CODE_OPERANDS_MAX];
    int n = 0;
    const char *at = operands;
    while (*at && n < CODE_OPERANDS_MAX)
        parts[n++] = code_take_operand(&at);
    // The first of its two letters is the size of what a move extends.
    bool extends = name.len == 6 && strncmp(name.at, "mov", 3) == 0 && strchr("sz", name.at[3]);
    const char *size = code_suffix((struct code_part){name.at, name.len - (extends ? 1 : 0)});
    strbuf_printf(out, "%.*s", (int)prefix.len, prefix.at);
    if (code_is_reversed(name, parts, n))
        code_put_reversed(out, name);
    else
        code_put_name(out, name, stripped);
    // The rounding comes last in lists, as the operands come in the other order.
    for (int i = n; i-- > 0;) {
        strbuf_puts(out, " ");
        code_put_operand(out, parts[i], stripped ? size : NULL);
    }
}

// Takes the % of a mask away: zmm0{%k1}.
static char *code_without_mask_signs(const char *text)
{
    struct strbuf out = {0};
    strbuf_puts(&out, "");
    for (const char *at = text; *at; at++)
        if (*at != '%' || at == text || at[-1] != '{')
            strbuf_put(&out, &(char){(char)tolower((unsigned char)*at)}, 1);
    return out.data;
}

static char *code_att(const char *text)
{
    static const char *const prefixes[] = {"lock ", "rep ", "repe ", "repz ", "repne ", "repnz "};
    struct strbuf out = {0};
    char *lower = code_without_mask_signs(text), *at = lower + strspn(lower, " \t");
    struct code_part prefix = {at, 0};
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (strncmp(at, prefixes[i], strlen(prefixes[i])) == 0)
            prefix.len = strlen(prefixes[i]);
    at += prefix.len + strspn(at + prefix.len, " \t");
    struct code_part name = {at, 0};
    while (isalnum((unsigned char)name.at[name.len]))
        name.len++;
    bool extends = name.len == 6 && strncmp(name.at, "mov", 3) == 0 && strchr("sz", name.at[3]);
    if (name.len > 0) {
        code_put_att(&out, prefix, name, name.at + name.len, false);
        if (extends || code_suffix(name)) {
            strbuf_puts(&out, ";");
            code_put_att(&out, prefix, name, name.at + name.len, true);
        }
    }
    free(lower);
    return out.data;
}

// --- bytes ---

// Reads the next byte. Returns 1, 0 at the end, or -1: there is something else.
static int code_next_byte(const char **at, uint8_t *byte)
{
    *at += strspn(*at, " ,");
    if (!**at)
        return 0;
    if (strncmp(*at, "0x", 2) == 0 || strncmp(*at, "\\x", 2) == 0)
        *at += 2;
    if (!isxdigit((unsigned char)(*at)[0]) || !isxdigit((unsigned char)(*at)[1]))
        return -1;
    const char digits[] = {(*at)[0], (*at)[1], '\0'};
    *byte = (uint8_t)strtoul(digits, NULL, 16);
    *at += 2;
    return 1;
}

// Reads at most `max` bytes. Returns their number; 0: the text is none, or has more.
static size_t code_bytes(const char *text, uint8_t *bytes, size_t max)
{
    size_t n = 0;
    uint8_t byte;
    int got;
    while ((got = code_next_byte(&text, &byte)) > 0) {
        if (n == max)
            return 0;
        bytes[n++] = byte;
    }
    return got == 0 ? n : 0;
}

bool form_code_is_bytes(const char *text)
{
    uint8_t bytes[256];
    return strcspn(text, "0123456789") < strlen(text) && code_bytes(text, bytes, sizeof bytes) > 0;
}

// Appends the class of memory, or of the address that lea computes. `sized`: with its size.
static void code_put_decoded_memory(struct strbuf *out, const ZydisDecodedInstruction *in,
                                    const ZydisDecodedOperand *operand, bool sized)
{
    const ZydisDecodedOperandMem *mem = &operand->mem;
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_DISP16_32_64)
        strbuf_printf(out, "moffs%d", operand->size);
    else if (mem->type == ZYDIS_MEMOP_TYPE_AGEN) {
        strbuf_puts(out, "[");
        strbuf_puts(out, mem->base ? ZydisRegisterGetString(mem->base) : "");
        if (mem->index)
            strbuf_printf(out, "%s%s*%d", mem->base ? "+" : "", ZydisRegisterGetString(mem->index),
                          mem->scale);
        strbuf_printf(out, "%s%lld]", mem->disp.value < 0 ? "" : "+", (long long)mem->disp.value);
    } else if (mem->type == ZYDIS_MEMOP_TYPE_VSIB)
        strbuf_printf(out, "vm[36][24]%.1s", ZydisRegisterGetString(mem->index));
    else
        strbuf_printf(out, sized ? "m%d" : "m", operand->size);
    if (in->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID && !in->avx.broadcast.is_static &&
        operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
        int elements = in->avx.vector_length / (operand->size ? operand->size : 1);
        strbuf_printf(out, "{1to%d}", elements);
    }
}

static void code_put_decoded(struct strbuf *out, const ZydisDecodedInstruction *in,
                             const ZydisDecodedOperand *operand, bool sized)
{
    strbuf_puts(out, " ");
    if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
        code_put_decoded_memory(out, in, operand, sized);
    else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const char *name = ZydisRegisterGetString(operand->reg.value);
        strbuf_puts(out, strcmp(name, "r8") == 0 ? "r9" : name);
    } else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative)
        strbuf_printf(out, "rel%d", in->raw.imm[0].size);
    else if (in->raw.imm[0].size == 0) // shl rax, 1
        strbuf_puts(out, "[1]");       // not any immediate
    else
        strbuf_printf(out, "i%d*", in->raw.imm[0].size);
}

static void code_put_instruction(struct strbuf *out, const ZydisDecodedInstruction *in,
                                 const ZydisDecodedOperand *operands, bool sized)
{
    static const char *const encodings[] = {
        [ZYDIS_INSTRUCTION_ENCODING_LEGACY] = "legacy",
        [ZYDIS_INSTRUCTION_ENCODING_3DNOW] = "legacy",
        [ZYDIS_INSTRUCTION_ENCODING_XOP] = "xop",
        [ZYDIS_INSTRUCTION_ENCODING_VEX] = "vex",
        [ZYDIS_INSTRUCTION_ENCODING_EVEX] = "evex",
        [ZYDIS_INSTRUCTION_ENCODING_MVEX] = "mvex",
    };
    strbuf_printf(out, "{%s} ", encodings[in->encoding]);
    if (in->attributes & ZYDIS_ATTRIB_HAS_LOCK)
        strbuf_puts(out, "lock ");
    if (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
        strbuf_puts(out, in->attributes & ZYDIS_ATTRIB_HAS_REP ? "rep " : "repe ");
    if (in->attributes & ZYDIS_ATTRIB_HAS_REPNE)
        strbuf_puts(out, "repne ");
    strbuf_puts(out, ZydisMnemonicGetString(in->mnemonic));
    bool masked = in->avx.mask.reg != ZYDIS_REGISTER_NONE && in->avx.mask.reg != ZYDIS_REGISTER_K0;
    for (int i = 0; i < in->operand_count_visible; i++) {
        if (operands[i].encoding == ZYDIS_OPERAND_ENCODING_MASK)
            continue;
        code_put_decoded(out, in, &operands[i], sized);
        if (i == 0 && masked && in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
            strbuf_puts(out, in->raw.evex.z ? "{k}{z}" : "{k}");
    }
    if (in->avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID)
        strbuf_puts(out, " {er}");
    else if (in->avx.has_sae)
        strbuf_puts(out, " {sae}");
    if (in->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
        strbuf_puts(out, "*"); // lists say how often
}

static char *code_decoded(const char *text)
{
    uint8_t bytes[CODE_BYTES_MAX];
    size_t n = code_bytes(text, bytes, sizeof bytes);
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (n == 0 || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &in, operands)) ||
        in.length != n)
        return NULL;
    struct strbuf out = {0}, bare = {0}; // memory has no size in some rows
    code_put_instruction(&out, &in, operands, true);
    code_put_instruction(&bare, &in, operands, false);
    if (strcmp(strbuf_text(&out), strbuf_text(&bare)) != 0)
        strbuf_printf(&out, ";%s", strbuf_text(&bare));
    strbuf_free(&bare);
    return out.data;
}

char *form_code_globs(const char *text)
{
    if (form_code_is_bytes(text))
        return code_decoded(text);
    return code_is_att(text) ? code_att(text) : NULL;
}
