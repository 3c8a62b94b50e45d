// SPDX-License-Identifier: MIT
// Operands of a row; see list_operand.h. The classes are tables: a new class of register is one
// line.
#include "list_operand.h"

#include "util/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Places where an operand may be named.
enum { PLACE_TEXT = 1, PLACE_IMPLICIT = 2, PLACE_BOTH = 3 };

struct operand_class {
    const char *name;
    enum operand_kind kind;
    int bits, index_bits;
    int fixed;
    int place;
    bool high8;
};

static const struct operand_class operand_classes[] = {
    {"r8",      OPERAND_GPR,   8,    0,   -1, PLACE_TEXT,     false},
    {"r8h",     OPERAND_GPR,   8,    0,   -1, PLACE_TEXT,     true },
    {"r16",     OPERAND_GPR,   16,   0,   -1, PLACE_TEXT,     false},
    {"r32",     OPERAND_GPR,   32,   0,   -1, PLACE_TEXT,     false},
    {"r64",     OPERAND_GPR,   64,   0,   -1, PLACE_TEXT,     false},
    {"mm",      OPERAND_MMX,   64,   0,   -1, PLACE_TEXT,     false},
    {"x",       OPERAND_VEC,   128,  0,   -1, PLACE_TEXT,     false},
    {"y",       OPERAND_VEC,   256,  0,   -1, PLACE_TEXT,     false},
    {"z",       OPERAND_VEC,   512,  0,   -1, PLACE_TEXT,     false},
    {"k",       OPERAND_MASK,  64,   0,   -1, PLACE_TEXT,     false},
    {"st",      OPERAND_X87,   80,   0,   -1, PLACE_TEXT,     false},
    {"tmm",     OPERAND_TILE,  8192, 0,   -1, PLACE_TEXT,     false},
    {"seg",     OPERAND_SEG,   16,   0,   -1, PLACE_TEXT,     false},
    {"bnd",     OPERAND_BOUND, 128,  0,   -1, PLACE_TEXT,     false},
    {"m",       OPERAND_MEM,   0,    0,   -1, PLACE_TEXT,     false},
    {"m8",      OPERAND_MEM,   8,    0,   -1, PLACE_TEXT,     false},
    {"m16",     OPERAND_MEM,   16,   0,   -1, PLACE_TEXT,     false},
    {"m32",     OPERAND_MEM,   32,   0,   -1, PLACE_TEXT,     false},
    {"m48",     OPERAND_MEM,   48,   0,   -1, PLACE_TEXT,     false},
    {"m64",     OPERAND_MEM,   64,   0,   -1, PLACE_TEXT,     false},
    {"m80",     OPERAND_MEM,   80,   0,   -1, PLACE_TEXT,     false},
    {"m112",    OPERAND_MEM,   112,  0,   -1, PLACE_TEXT,     false},
    {"m128",    OPERAND_MEM,   128,  0,   -1, PLACE_TEXT,     false},
    {"m224",    OPERAND_MEM,   224,  0,   -1, PLACE_TEXT,     false},
    {"m256",    OPERAND_MEM,   256,  0,   -1, PLACE_TEXT,     false},
    {"m384",    OPERAND_MEM,   384,  0,   -1, PLACE_TEXT,     false},
    {"m512",    OPERAND_MEM,   512,  0,   -1, PLACE_TEXT,     false},
    {"m752",    OPERAND_MEM,   752,  0,   -1, PLACE_TEXT,     false},
    {"m864",    OPERAND_MEM,   864,  0,   -1, PLACE_TEXT,     false},
    {"m4096",   OPERAND_MEM,   4096, 0,   -1, PLACE_TEXT,     false},
    {"m4608",   OPERAND_MEM,   4608, 0,   -1, PLACE_TEXT,     false},
    {"vm32x",   OPERAND_VSIB,  32,   128, -1, PLACE_TEXT,     false},
    {"vm32y",   OPERAND_VSIB,  32,   256, -1, PLACE_TEXT,     false},
    {"vm32z",   OPERAND_VSIB,  32,   512, -1, PLACE_TEXT,     false},
    {"vm64x",   OPERAND_VSIB,  64,   128, -1, PLACE_TEXT,     false},
    {"vm64y",   OPERAND_VSIB,  64,   256, -1, PLACE_TEXT,     false},
    {"vm64z",   OPERAND_VSIB,  64,   512, -1, PLACE_TEXT,     false},
    {"moffs8",  OPERAND_MOFFS, 8,    0,   -1, PLACE_TEXT,     false},
    {"moffs16", OPERAND_MOFFS, 16,   0,   -1, PLACE_TEXT,     false},
    {"moffs32", OPERAND_MOFFS, 32,   0,   -1, PLACE_TEXT,     false},
    {"moffs64", OPERAND_MOFFS, 64,   0,   -1, PLACE_TEXT,     false},
    {"i8",      OPERAND_IMM,   8,    0,   -1, PLACE_TEXT,     false},
    {"i16",     OPERAND_IMM,   16,   0,   -1, PLACE_TEXT,     false},
    {"i32",     OPERAND_IMM,   32,   0,   -1, PLACE_TEXT,     false},
    {"i64",     OPERAND_IMM,   64,   0,   -1, PLACE_TEXT,     false},
    {"rel8",    OPERAND_REL,   8,    0,   -1, PLACE_TEXT,     false},
    {"rel32",   OPERAND_REL,   32,   0,   -1, PLACE_TEXT,     false},
    {"flags",   OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"cf",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"of",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"zf",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"sf",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"pf",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"af",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"df",      OPERAND_FLAGS, 0,    0,   -1, PLACE_IMPLICIT, false},
    {"mxcsr",   OPERAND_MXCSR, 32,   0,   -1, PLACE_IMPLICIT, false},
    {"fpsw",    OPERAND_FPSW,  16,   0,   -1, PLACE_IMPLICIT, false},
    {"al",      OPERAND_GPR,   8,    0,   0,  PLACE_BOTH,     false},
    {"cl",      OPERAND_GPR,   8,    0,   1,  PLACE_BOTH,     false},
    {"dl",      OPERAND_GPR,   8,    0,   2,  PLACE_BOTH,     false},
    {"bl",      OPERAND_GPR,   8,    0,   3,  PLACE_BOTH,     false},
    {"ah",      OPERAND_GPR,   8,    0,   0,  PLACE_BOTH,     true },
    {"ch",      OPERAND_GPR,   8,    0,   1,  PLACE_BOTH,     true },
    {"dh",      OPERAND_GPR,   8,    0,   2,  PLACE_BOTH,     true },
    {"bh",      OPERAND_GPR,   8,    0,   3,  PLACE_BOTH,     true },
    {"ax",      OPERAND_GPR,   16,   0,   0,  PLACE_BOTH,     false},
    {"cx",      OPERAND_GPR,   16,   0,   1,  PLACE_BOTH,     false},
    {"dx",      OPERAND_GPR,   16,   0,   2,  PLACE_BOTH,     false},
    {"bx",      OPERAND_GPR,   16,   0,   3,  PLACE_BOTH,     false},
    {"sp",      OPERAND_GPR,   16,   0,   4,  PLACE_BOTH,     false},
    {"bp",      OPERAND_GPR,   16,   0,   5,  PLACE_BOTH,     false},
    {"si",      OPERAND_GPR,   16,   0,   6,  PLACE_BOTH,     false},
    {"di",      OPERAND_GPR,   16,   0,   7,  PLACE_BOTH,     false},
    {"eax",     OPERAND_GPR,   32,   0,   0,  PLACE_BOTH,     false},
    {"ecx",     OPERAND_GPR,   32,   0,   1,  PLACE_BOTH,     false},
    {"edx",     OPERAND_GPR,   32,   0,   2,  PLACE_BOTH,     false},
    {"ebx",     OPERAND_GPR,   32,   0,   3,  PLACE_BOTH,     false},
    {"esp",     OPERAND_GPR,   32,   0,   4,  PLACE_BOTH,     false},
    {"ebp",     OPERAND_GPR,   32,   0,   5,  PLACE_BOTH,     false},
    {"esi",     OPERAND_GPR,   32,   0,   6,  PLACE_BOTH,     false},
    {"edi",     OPERAND_GPR,   32,   0,   7,  PLACE_BOTH,     false},
    {"rax",     OPERAND_GPR,   64,   0,   0,  PLACE_BOTH,     false},
    {"rcx",     OPERAND_GPR,   64,   0,   1,  PLACE_BOTH,     false},
    {"rdx",     OPERAND_GPR,   64,   0,   2,  PLACE_BOTH,     false},
    {"rbx",     OPERAND_GPR,   64,   0,   3,  PLACE_BOTH,     false},
    {"rsp",     OPERAND_GPR,   64,   0,   4,  PLACE_BOTH,     false},
    {"rbp",     OPERAND_GPR,   64,   0,   5,  PLACE_BOTH,     false},
    {"rsi",     OPERAND_GPR,   64,   0,   6,  PLACE_BOTH,     false},
    {"rdi",     OPERAND_GPR,   64,   0,   7,  PLACE_BOTH,     false},
    {"es",      OPERAND_SEG,   16,   0,   0,  PLACE_BOTH,     false},
    {"cs",      OPERAND_SEG,   16,   0,   1,  PLACE_BOTH,     false},
    {"ss",      OPERAND_SEG,   16,   0,   2,  PLACE_BOTH,     false},
    {"ds",      OPERAND_SEG,   16,   0,   3,  PLACE_BOTH,     false},
    {"fs",      OPERAND_SEG,   16,   0,   4,  PLACE_BOTH,     false},
    {"gs",      OPERAND_SEG,   16,   0,   5,  PLACE_BOTH,     false},
};

// Numbered registers: xmm0, k1, st7, ...
static const struct {
    const char *prefix;
    enum operand_kind kind;
    int bits;
    int count;
} numbered_registers[] = {
    {"xmm", OPERAND_VEC,    128,  32},
    {"ymm", OPERAND_VEC,    256,  32},
    {"zmm", OPERAND_VEC,    512,  32},
    {"tmm", OPERAND_TILE,   8192, 8 },
    {"mm",  OPERAND_MMX,    64,   8 },
    {"bnd", OPERAND_BOUND,  128,  4 },
    {"st",  OPERAND_X87,    80,   8 },
    {"k",   OPERAND_MASK,   64,   8 },
    {"cr",  OPERAND_SYSTEM, 64,   9 },
    {"dr",  OPERAND_SYSTEM, 64,   8 },
};

// Shapes of an address after `agen:`, all that x86 can encode.
static const char *const agen_shapes[] = {
    "b",         "b+d8",      "b+d32",   "b+i",      "b+i+d8",    "b+i+d32", "b+i*2",
    "b+i*2+d8",  "b+i*2+d32", "b+i*4",   "b+i*4+d8", "b+i*4+d32", "b+i*8",   "b+i*8+d8",
    "b+i*8+d32", "i+d32",     "i*2+d32", "i*4+d32",  "i*8+d32",   "d32",     "rip+d32",
};

int list_fault_set(struct list_fault *fault, const char *at, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(fault->text, sizeof fault->text, format, ap);
    va_end(ap);
    fault->at = at;
    return -1;
}

static bool text_equals(const char *text, size_t len, const char *word)
{
    return strncmp(text, word, len) == 0 && word[len] == '\0';
}

static const struct operand_class *operand_class_find(const char *text, size_t len)
{
    for (size_t i = 0; i < ARRAY_LEN(operand_classes); i++)
        if (operand_classes[i].name[0] == text[0] &&
            text_equals(text, len, operand_classes[i].name))
            return &operand_classes[i];
    return NULL;
}

static int operand_class_unknown(const char *text, size_t len, struct list_fault *fault)
{
    char known[512] = "", meant[64];
    size_t used = 0;
    struct suggestion near = suggest_start(text, len);
    for (size_t i = 0; i < ARRAY_LEN(operand_classes); i++) {
        const struct operand_class *class = &operand_classes[i];
        suggest_offer(&near, class->name);
        if (class->fixed < 0)
            used += (size_t)snprintf(known + used, sizeof known - used, " %s", class->name);
    }
    return list_fault_set(fault, text,
                          "unknown operand class '%.*s'%s\n  known:%s agen, a register by name "
                          "(rax xmm0 k1 ...), a number",
                          (int)len, text, suggest_text(&near, meant, sizeof meant), known);
}

static void operand_set_class(struct operand *operand, const struct operand_class *class)
{
    operand->kind = class->kind;
    operand->text = class->name;
    operand->bits = class->bits;
    operand->index_bits = class->index_bits;
    operand->fixed = class->fixed;
    operand->high8 = class->high8;
}

static bool operand_parse_numbered(const char *text, size_t len, struct operand *operand)
{
    for (size_t i = 0; i < ARRAY_LEN(numbered_registers); i++) {
        size_t prefix = strlen(numbered_registers[i].prefix);
        if (len <= prefix || len > prefix + 2 ||
            strncmp(text, numbered_registers[i].prefix, prefix) != 0)
            continue;
        int number = 0;
        for (size_t j = prefix; j < len; j++) {
            if (text[j] < '0' || text[j] > '9')
                return false;
            number = number * 10 + text[j] - '0';
        }
        if (number >= numbered_registers[i].count || (len > prefix + 1 && text[prefix] == '0'))
            return false;
        operand->kind = numbered_registers[i].kind;
        operand->bits = numbered_registers[i].bits;
        operand->fixed = number;
        return true;
    }
    return false;
}

static int operand_parse_agen(const char *text, size_t len, struct operand *operand,
                              struct list_fault *fault)
{
    operand->kind = OPERAND_AGEN;
    if (len == 4)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(agen_shapes); i++)
        if (text_equals(text + 5, len - 5, agen_shapes[i]))
            return 0;
    return list_fault_set(
        fault, text + 5,
        "unknown address '%.*s': base b, index i*1 to i*8 (i alone is i*1), d8 or "
        "d32, as in agen:b+i*4+d8, agen:i*2+d32, agen:rip+d32",
        (int)len - 5, text + 5);
}

int list_number_parse(const char *text, size_t len, int bits, int64_t *value,
                      struct list_fault *fault)
{
    char digits[32], *end;
    snprintf(digits, sizeof digits, "%.*s", (int)len, text);
    errno = 0;
    bool negative = digits[0] == '-';
    const char *number = digits + negative;
    bool hex = number[0] == '0' && number[1] == 'x';
    bool octal = number[0] == '0' && !hex && number[1]; // ambiguous: 010 is 8 to some
    uint64_t magnitude = strtoull(number, &end, hex ? 16 : 10);
    if (len == 0 || len >= sizeof digits || *end || octal || number[0] < '0' || number[0] > '9' ||
        (hex && !isxdigit((unsigned char)number[2])))
        return list_fault_set(fault, text, "'%.*s' is not a number", (int)len, text);
    uint64_t limit = negative ? UINT64_C(1) << (bits - 1) : UINT64_MAX >> (64 - bits);
    if (errno == ERANGE || magnitude > limit)
        return list_fault_set(fault, text, "%.*s does not fit in %d bits", (int)len, text, bits);
    *value = (int64_t)(negative ? 0 - magnitude : magnitude);
    return 0;
}

bool list_register_known(const char *text, size_t len)
{
    struct operand operand;
    const struct operand_class *class = operand_class_find(text, len);
    return class ? class->fixed >= 0 && class->kind != OPERAND_FLAGS
                 : operand_parse_numbered(text, len, &operand);
}

static int operand_parse_value(const char *colon, const char *end, struct operand *operand,
                               struct list_fault *fault)
{
    if (operand->kind != OPERAND_IMM)
        return list_fault_set(fault, colon, "only an immediate can have a value: i8:0x1b");
    operand->has_value = true;
    return list_number_parse(colon + 1, (size_t)(end - colon - 1), operand->bits, &operand->value,
                             fault);
}

// Parses the class itself: text up to a colon or a brace.
static int operand_parse_class(const char *text, size_t len, struct arena *arena,
                               struct operand *operand, struct list_fault *fault)
{
    const char *colon = memchr(text, ':', len);
    size_t class_len = colon ? (size_t)(colon - text) : len;
    operand->fixed = -1;
    if (text_equals(text, class_len, "agen")) {
        operand->text = arena_strndup(arena, text, len);
        return operand_parse_agen(text, len, operand, fault);
    }
    if (len > 0 && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'))) {
        *operand = (struct operand){.kind = OPERAND_IMM, .bits = 8, .fixed = -1};
        operand->text = arena_strndup(arena, text, len);
        operand->literal = operand->has_value = true;
        return list_number_parse(text, len, operand->bits, &operand->value, fault);
    }
    const struct operand_class *class = operand_class_find(text, class_len);
    if (class)
        operand_set_class(operand, class);
    else if (operand_parse_numbered(text, class_len, operand))
        operand->text = arena_strndup(arena, text, class_len);
    else
        return operand_class_unknown(text, class_len, fault);
    return colon ? operand_parse_value(colon, text + len, operand, fault) : 0;
}

// Parses {1toN}: N must be a power of two, and N elements fill a vector.
static int operand_parse_broadcast(const char *text, size_t len, struct operand *operand,
                                   struct list_fault *fault)
{
    int64_t count = 0;
    if (operand->kind != OPERAND_MEM || operand->bits < 16 || operand->bits > 64)
        return list_fault_set(fault, text, "only m16, m32 and m64 can be broadcast");
    if (list_number_parse(text + 4, len - 5, 8, &count, fault))
        return -1;
    if (count < 2 || (count & (count - 1)) || count * operand->bits > 512)
        return list_fault_set(fault, text + 4,
                              "%d elements of %d bits fill no vector: {1to2}, {1to4} up to "
                              "{1to%d}",
                              (int)count, operand->bits, 512 / operand->bits);
    operand->broadcast = (int)count;
    return 0;
}

static int operand_parse_decoration(const char *text, size_t len, struct operand *operand,
                                    struct list_fault *fault)
{
    bool maskable = operand->kind == OPERAND_VEC || operand->kind == OPERAND_MEM ||
                    operand->kind == OPERAND_MASK || operand->kind == OPERAND_VSIB;
    if (text_equals(text, len, "{k}")) {
        if (!maskable || operand->masked || operand->broadcast)
            return list_fault_set(fault, text,
                                  "{k} belongs once to a vector, mask or memory "
                                  "destination");
        operand->masked = true;
        return 0;
    }
    if (text_equals(text, len, "{z}")) {
        if (!operand->masked || operand->zeroing || operand->kind != OPERAND_VEC)
            return list_fault_set(fault, text,
                                  "{z} belongs once after {k} of a vector "
                                  "destination: z{k}{z}");
        operand->zeroing = true;
        return 0;
    }
    if (strncmp(text, "{1to", 4) == 0 && len > 5 && !operand->broadcast)
        return operand_parse_broadcast(text, len, operand, fault);
    if (text_equals(text, len, "{er}") || text_equals(text, len, "{sae}"))
        return list_fault_set(fault, text, "%.*s is a word of its own, after the operands",
                              (int)len, text);
    return list_fault_set(fault, text,
                          "unknown decoration '%.*s'; known: {k} {k}{z} {1to2} ... "
                          "{1to32}, and {er} {sae} as the last word",
                          (int)len, text);
}

static int operand_parse_decorations(const char *text, const char *end, struct operand *operand,
                                     struct list_fault *fault)
{
    while (text < end) {
        const char *close = memchr(text, '}', (size_t)(end - text));
        if (*text != '{' || !close)
            return list_fault_set(fault, text,
                                  "decorations are closed by a brace: {k} {k}{z} "
                                  "{1to16}");
        if (operand_parse_decoration(text, (size_t)(close + 1 - text), operand, fault))
            return -1;
        text = close + 1;
    }
    return 0;
}

static int operand_check_access(const char *text, const struct operand *operand,
                                struct list_fault *fault)
{
    bool constant = operand->kind == OPERAND_IMM || operand->kind == OPERAND_REL ||
                    operand->kind == OPERAND_AGEN;
    if (constant && (operand->access & ACCESS_WRITE))
        return list_fault_set(fault, text, "'%s' cannot be written: leave out the '%c'",
                              operand->text, text[0]);
    if (operand->masked && operand->kind != OPERAND_VSIB && !(operand->access & ACCESS_WRITE))
        return list_fault_set(fault, text,
                              "an operand with {k} is a destination: write =%s{k} or +%s{k}",
                              operand->text, operand->text);
    return 0;
}

static int operand_check_place(const char *text, bool implicit, struct operand *operand,
                               struct list_fault *fault)
{
    const struct operand_class *class = operand_class_find(operand->text, strlen(operand->text));
    bool allowed = class ? class->place & (implicit ? PLACE_IMPLICIT : PLACE_TEXT)
                         : !implicit || operand->fixed >= 0;
    if (allowed && implicit && (operand->masked || operand->broadcast))
        allowed = false;
    if (!allowed && implicit)
        return list_fault_set(fault, text,
                              "'%s' cannot be implicit: name one register, flags, cf, of, zf, sf, "
                              "pf, af, df, mxcsr or fpsw",
                              operand->text);
    if (!allowed)
        return list_fault_set(fault, text, "'%s' belongs into the column `implicit`",
                              operand->text);
    if (implicit)
        operand->name = operand->text;
    return 0;
}

int list_operand_parse(const char *text, size_t len, bool implicit, struct arena *arena,
                       struct operand *operand, struct list_fault *fault)
{
    const char *start = text, *end = text + len;
    *operand = (struct operand){.access = ACCESS_READ};
    int access = ACCESS_READ;
    if (*text == '=' || *text == '+') {
        access = *text == '=' ? ACCESS_WRITE : ACCESS_READ | ACCESS_WRITE;
        text++;
    }
    const char *brace = memchr(text, '{', (size_t)(end - text));
    const char *class_end = brace ? brace : end;
    if (operand_parse_class(text, (size_t)(class_end - text), arena, operand, fault))
        return -1;
    operand->access = access;
    if (operand_parse_decorations(class_end, end, operand, fault) ||
        operand_check_place(text, implicit, operand, fault))
        return -1;
    return operand_check_access(start, operand, fault);
}
