// SPDX-License-Identifier: MIT
#include "list_opcode.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPCODE_WORDS_LEAST = 5, OPCODE_WORDS_MAX = 10 };

// Returns the position of the word of `len` bytes in names, -1 if it is not there.
static int opcode_find(const char *word, size_t len, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return (int)i;
    return -1;
}

struct opcode_words {
    const char *at[OPCODE_WORDS_MAX];
    size_t lens[OPCODE_WORDS_MAX];
    int n;
};

// Cuts the text at its dots; false if there are too many.
static bool opcode_split(const char *text, struct opcode_words *words)
{
    for (words->n = 0; words->n < OPCODE_WORDS_MAX; text++) {
        size_t len = strcspn(text, ".");
        words->at[words->n] = text;
        words->lens[words->n++] = len;
        text += len;
        if (!*text)
            return true;
    }
    return false;
}

// Returns the number in words such as scc5 and dfvf: a hexadecimal digit; -1 for another word.
static int opcode_number(const char *word, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    if (len != name_len + 1 || memcmp(word, name, name_len) != 0 ||
        !isxdigit((unsigned char)word[name_len]))
        return -1;
    return (int)strtol((char[]){word[name_len], '\0'}, NULL, 16);
}

// Parses a word after the byte. Returns 0, or -1 if it is none or stands there already.
static int opcode_parse_word(const char *word, size_t len, struct opcode *opcode)
{
    bool *flag = len == 2 && word[0] == 'n' && word[1] == 'd'   ? &opcode->nd
                 : len == 2 && word[0] == 'n' && word[1] == 'f' ? &opcode->nf
                                                                : NULL;
    int scc = opcode_number(word, len, "scc"), dfv = opcode_number(word, len, "dfv");
    if (flag) {
        bool twice = *flag;
        *flag = true;
        return twice ? -1 : 0;
    }
    if (scc >= 0 && opcode->scc < 0) {
        opcode->scc = scc;
        return 0;
    }
    if (dfv >= 0 && opcode->dfv < 0) {
        opcode->dfv = dfv;
        return 0;
    }
    if (len == 2 && word[0] == '/' && word[1] >= '0' && word[1] <= '7' && opcode->digit < 0) {
        opcode->digit = word[1] - '0';
        return 0;
    }
    if (len == 0 || len > OPERANDS_MAX || opcode->fields[0] || strspn(word, "rmvo-") < len)
        return -1;
    memcpy(opcode->fields, word, len);
    return 0;
}

// Returns false if a combination of words means nothing.
static bool opcode_is_sound(const struct opcode *opcode)
{
    bool extended = opcode->enc == ENC_EVEX;
    bool conditional = opcode->scc >= 0;
    return (extended || !(opcode->nd || opcode->nf || conditional)) &&
           (!conditional || (!opcode->nd && !opcode->nf)) && (conditional || opcode->dfv < 0) &&
           (!opcode->rex2 || opcode->map <= 1);
}

int list_opcode_parse(const char *text, struct opcode *opcode)
{
    static const char *const encodings[] = {"legacy", "vex", "evex", "rex2"}; // enum encoding,
                                                                              // then rex2
    static const char *const prefixes[] = {"np", "66", "f3", "f2"}; // in the order of VEX.pp
    static const char *const maps[] = {"00", "0f", "0f38", "0f3a", "map4", "map5", "map6", "map7"};
    static const char *const widths[] = {"w0", "w1"};
    struct opcode_words words = {.n = 0};
    if (!opcode_split(text, &words) || words.n < OPCODE_WORDS_LEAST)
        return -1;
    int enc = opcode_find(words.at[0], words.lens[0], encodings, ARRAY_LEN(encodings));
    *opcode = (struct opcode){
        .given = true,
        .prefix = opcode_find(words.at[1], words.lens[1], prefixes, ARRAY_LEN(prefixes)),
        .map = opcode_find(words.at[2], words.lens[2], maps, ARRAY_LEN(maps)),
        .w = opcode_find(words.at[3], words.lens[3], widths, ARRAY_LEN(widths)),
        .rex2 = enc == 3,
        .enc = enc == 3 || enc < 0 ? ENC_LEGACY : (enum encoding)enc,
        .digit = -1,
        .scc = -1,
        .dfv = -1,
    };
    const char *byte = words.at[4]; // two hexadecimal digits
    if (enc < 0 || opcode->prefix < 0 || opcode->map < 0 || opcode->w < 0 || words.lens[4] != 2 ||
        !isxdigit((unsigned char)byte[0]) || !isxdigit((unsigned char)byte[1]))
        return -1;
    opcode->byte = (uint8_t)strtol(byte, NULL, 16);
    for (int i = OPCODE_WORDS_LEAST; i < words.n; i++)
        if (opcode_parse_word(words.at[i], words.lens[i], opcode))
            return -1;
    return opcode_is_sound(opcode) ? 0 : -1;
}

bool list_opcode_place(const struct list_row *row, struct opcode *opcode)
{
    static const char *const usual[] = {"", "m", "rm", "rvm"};
    size_t n = 0;
    for (int i = 0; i < row->nops; i++)
        n += row->ops[i].kind != OPERAND_IMM;
    if (!opcode->fields[0] && n < ARRAY_LEN(usual))
        memcpy(opcode->fields, usual[n], n + 1);
    if (strcmp(opcode->fields, "mr") == 0 && n == 3)
        memcpy(opcode->fields, "mvr", n + 1);
    // With the reg field in the opcode, the first of two operands has no field.
    if (opcode->digit >= 0 && strcmp(opcode->fields, "rm") == 0)
        opcode->fields[0] = '-';
    bool fits = strlen(opcode->fields) == n;
    for (size_t i = 0; i < n && fits; i++) {
        char field = opcode->fields[i];
        fits = field == '-' || !strchr(opcode->fields + i + 1, field);
        fits &= field != 'r' || opcode->digit < 0;
    }
    return fits && (!strchr(opcode->fields, 'o') || n == 1);
}
