// SPDX-License-Identifier: MIT
// Operands as tables of people write them, as classes of lists: "[m128]" and "xmm1" are m128 and x.
#include "foreign_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_MAX = 64, FILE_REGISTERS = 256 };
// Files of registers: a number of one, times FILE_REGISTERS, is the first of its registers.
enum { FILE_GPR = 1, FILE_VECTOR, FILE_MMX, FILE_MASK, FILE_X87 };

static const char why_address[] = "memory at an address of its own, which no form of the lists has";
static const char why_unknown[] = "operands that are no classes of the lists";

// A word with its decoration: "xmm1{k}{z}".
struct token {
    char word[TOKEN_MAX], decoration[TOKEN_MAX];
};

static bool is_number(const char *text)
{
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    strtoul(text, &end, 0);
    return *end == '\0';
}

// Reads the digits at the end of "xmm1": which register. None: the one that all such operands are.
static bool is_numbered(const char *word, const char *name, int *number)
{
    size_t len = strlen(name);
    if (strncmp(word, name, len) != 0 || strlen(word) > len + 2)
        return false;
    *number = word[len] ? atoi(word + len) + 1 : 0;
    return word[len + strspn(word + len, "0123456789")] == '\0';
}

static bool operand_general(const char *word, char *class, int *reg)
{
    static const char *const fixed[] = {"al",  "cl",  "dl",  "ah",  "ax",  "cx",  "dx", "eax",
                                        "ecx", "edx", "rax", "rcx", "rdx", "rbx", "ebx"};
    int number, bits;
    char rest;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
        if (strcmp(word, fixed[i]) == 0) {
            strcpy(class, word);
            *reg = FILE_GPR * FILE_REGISTERS + 32 + (int)i;
            return true;
        }
    if (sscanf(word, "r%d_%d%c", &number, &bits, &rest) == 2 && number > 0 && number < 16) {
        snprintf(class, TOKEN_MAX, "r%d", bits);
        *reg = FILE_GPR * FILE_REGISTERS + number;
        return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    }
    *reg = FILE_GPR * FILE_REGISTERS;
    bool wide = strcmp(word, "r16") == 0 || strcmp(word, "r32") == 0 || strcmp(word, "r64") == 0;
    if (wide || strcmp(word, "r8") == 0 || strcmp(word, "r8h") == 0) {
        strcpy(class, word);
        return true;
    }
    return false;
}

static bool operand_register(const char *word, char *class, int *reg)
{
    static const struct {
        const char *name, *class;
        int file;
    } names[] = {
        {"xmm", "x",   FILE_VECTOR },
        {"ymm", "y",   FILE_VECTOR },
        {"zmm", "z",   FILE_VECTOR },
        {"xm",  "x",   FILE_VECTOR },
        {"ym",  "y",   FILE_VECTOR },
        {"zm",  "z",   FILE_VECTOR },
        {"x",   "x",   FILE_VECTOR },
        {"y",   "y",   FILE_VECTOR },
        {"z",   "z",   FILE_VECTOR },
        {"mm",  "mm",  FILE_MMX    },
        {"k",   "k",   FILE_MASK   },
        {"tmm", "tmm", FILE_X87 + 1},
        {"bnd", "bnd", FILE_X87 + 2}
    };
    int number;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (is_numbered(word, names[i].name, &number)) {
            strcpy(class, names[i].class);
            *reg = names[i].file * FILE_REGISTERS + number;
            return true;
        }
    bool top = strcmp(word, "st") == 0 || strcmp(word, "st0") == 0 || strcmp(word, "st(0)") == 0;
    if (top || strncmp(word, "st(", 3) == 0) {
        strcpy(class, top ? "st0" : "st");
        *reg = FILE_X87 * FILE_REGISTERS + !top;
        return true;
    }
    return operand_general(word, class, reg);
}

static bool operand_constant(const char *word, char *class)
{
    int bits;
    if (is_number(word)) {
        unsigned long value = strtoul(word, NULL, 0);
        strcpy(class, value == 1 ? "1" : value < 128 ? "i8" : "i32");
        return true;
    }
    if (sscanf(word, "imm%d", &bits) == 1 || sscanf(word, "im%d", &bits) == 1 ||
        sscanf(word, "i%d", &bits) == 1) {
        snprintf(class, TOKEN_MAX, "i%d", bits);
        return bits == 8 || bits == 16 || bits == 32 || bits == 64;
    }
    bool relative = strcmp(word, "rel8") == 0 || strcmp(word, "rel32") == 0;
    if (relative || strncmp(word, "agen:", 5) == 0 || strncmp(word, "moffs", 5) == 0)
        strcpy(class, word);
    return *class != '\0';
}

// Reads an address that is computed: [r64 + r64 * 4 + disp8] is agen:b+i*4+d8.
static bool operand_address(const char *inside, char *class)
{
    static const struct {
        const char *text, *class;
    } known[] = {
        {"r64",              "agen:b"        },
        {"r64+disp8",        "agen:b+d8"     },
        {"r64+disp32",       "agen:b+d32"    },
        {"r64+r64",          "agen:b+i"      },
        {"r64+r64+disp8",    "agen:b+i+d8"   },
        {"r64+r64+disp32",   "agen:b+i+d32"  },
        {"r64+r64*4",        "agen:b+i*4"    },
        {"r64+r64*4+disp8",  "agen:b+i*4+d8" },
        {"r64+r64*4+disp32", "agen:b+i*4+d32"},
        {"disp32",           "agen:d32"      },
        {"rip+disp32",       "agen:rip+d32"  }
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(inside, known[i].text) == 0)
            strcpy(class, known[i].class);
    return *class != '\0';
}

// Reads memory: "m128", "mem", "mem32", "xm32" (indices in a vector).
static const char *operand_memory(const char *inside, char *class)
{
    int bits;
    char rest, vector;
    if (strcmp(inside, "mem") == 0 || strcmp(inside, "m") == 0)
        strcpy(class, "m");
    else if (sscanf(inside, "m%d%c", &bits, &rest) == 1 ||
             sscanf(inside, "mem%d%c", &bits, &rest) == 1)
        snprintf(class, TOKEN_MAX, "m%d", bits);
    else if (sscanf(inside,
                    "%c"
                    "m%d%c",
                    &vector, &bits, &rest) == 2 &&
             strchr("xyz", vector))
        snprintf(class, TOKEN_MAX, "vm%d%c", bits, vector);
    else if (!operand_address(inside, class))
        return why_address;
    return NULL;
}

// Makes a class of a word. Returns NULL, or why there is none.
static const char *operand_class(const struct token *token, char *class, int *reg)
{
    const char *word = token->word;
    size_t len = strlen(word);
    *reg = -1;
    *class = '\0';
    if (*word == '[' && word[len - 1] == ']') {
        char inside[TOKEN_MAX];
        size_t n = 0;
        for (const char *at = word + 1; at < word + len - 1; at++)
            if (*at != ' ')
                inside[n++] = *at;
        inside[n] = '\0';
        return operand_memory(inside, class);
    }
    if (operand_register(word, class, reg) || operand_constant(word, class))
        return NULL;
    if ((*word == 'm' || strncmp(word, "vm", 2) == 0) && len < 8) {
        strcpy(class, word); // as lists write it
        return NULL;
    }
    return why_unknown;
}

// Appends decorations in the words of lists: {k1} is {k}.
static bool token_decorate(struct token *token, const char *text, size_t len)
{
    static const char *const words[] = {"{k}", "{z}", "{1to"};
    char one[TOKEN_MAX];
    if (len > 8 || strlen(token->decoration) + len >= TOKEN_MAX)
        return false;
    snprintf(one, sizeof one, "%.*s", (int)len, text);
    if (len == 4 && one[1] == 'k' && isdigit((unsigned char)one[2]))
        strcpy(one, "{k}");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (strncmp(one, words[i], strlen(words[i])) == 0) {
            strcat(token->decoration, one);
            return true;
        }
    return false;
}

// Takes a word up to a comma or blank that is in no brackets, and the decorations after it.
static bool token_take(const char **at, struct token *token)
{
    size_t n = 0;
    int depth = 0;
    const char *from = *at;
    *token = (struct token){.word = ""};
    for (; *from && (depth > 0 || !strchr(", \t{", *from)); from++) {
        depth += (*from == '[') - (*from == ']');
        if (n + 1 == sizeof token->word)
            return false;
        token->word[n++] = (char)tolower((unsigned char)*from);
    }
    token->word[n] = '\0';
    for (;;) {
        const char *brace = from + strspn(from, " \t");
        size_t len = *brace == '{' ? strcspn(brace, "}") + 1 : 0;
        if (len == 0 || !brace[len - 1] || !token_decorate(token, brace, len))
            break;
        from = brace + len;
    }
    *at = from + strspn(from, ", \t");
    return n > 0;
}

const char *foreign_operands_parse(struct foreign_table *table, struct foreign_row *row,
                                   const char *text)
{
    char class[2 * TOKEN_MAX];
    struct token token;
    text += strspn(text, " \t");
    while (*text) {
        int reg = -1;
        if (row->nops == FOREIGN_OPERANDS_MAX)
            return why_unknown;
        if (strncmp(text, "{er}", 4) == 0 || strncmp(text, "{sae}", 5) == 0) {
            bool sae = text[1] == 's';
            foreign_operand_add(table, row, sae ? "{sae}" : "{er}", -1);
            text += sae ? 5 : 4;
            text += strspn(text, " \t,");
            continue;
        }
        if (!token_take(&text, &token))
            return why_unknown;
        const char *why = operand_class(&token, class, &reg);
        if (why)
            return why;
        strcat(class, token.decoration); // each is shorter than TOKEN_MAX
        foreign_operand_add(table, row, class, reg);
    }
    return NULL;
}
