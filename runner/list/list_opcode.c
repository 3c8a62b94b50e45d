// SPDX-License-Identifier: MIT
#include "list_opcode.h"

#include "util/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { OPCODE_WORDS_MAX = 6 };

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

int list_opcode_parse(const char *text, struct opcode *opcode)
{
    static const char *const encodings[] = {"legacy", "vex", "evex"}; // in the order of enum
                                                                      // encoding
    static const char *const prefixes[] = {"np", "66", "f3", "f2"};   // in the order of VEX.pp
    static const char *const maps[] = {"00", "0f", "0f38", "0f3a", "map4", "map5", "map6"};
    static const char *const widths[] = {"w0", "w1"};
    struct opcode_words words = {.n = 0};
    if (!opcode_split(text, &words) || words.n < OPCODE_WORDS_MAX - 1)
        return -1;
    bool store = false;
    int digit = -1;
    if (words.n == OPCODE_WORDS_MAX) {
        const char *last = words.at[5];
        store = strcmp(last, "mr") == 0;
        if (last[0] == '/' && last[1] >= '0' && last[1] <= '7' && !last[2])
            digit = last[1] - '0';
        if (!store && digit < 0)
            return -1;
    }
    int enc = opcode_find(words.at[0], words.lens[0], encodings, ARRAY_LEN(encodings));
    *opcode = (struct opcode){
        .given = true,
        .prefix = opcode_find(words.at[1], words.lens[1], prefixes, ARRAY_LEN(prefixes)),
        .map = opcode_find(words.at[2], words.lens[2], maps, ARRAY_LEN(maps)),
        .w = opcode_find(words.at[3], words.lens[3], widths, ARRAY_LEN(widths)),
        .store = store,
        .digit = digit,
    };
    const char *byte = words.at[4]; // two hexadecimal digits
    if (enc < 0 || opcode->prefix < 0 || opcode->map < 0 || opcode->w < 0 || words.lens[4] != 2 ||
        !isxdigit((unsigned char)byte[0]) || !isxdigit((unsigned char)byte[1]))
        return -1;
    opcode->enc = (enum encoding)enc;
    opcode->byte = (uint8_t)strtol(byte, NULL, 16);
    return 0;
}
