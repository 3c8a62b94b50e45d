// SPDX-License-Identifier: MIT
// Reads the option opcode=; see list_opcode.h.
#include "list_opcode.h"

#include "util/mem.h"

#include <stdlib.h>
#include <string.h>

enum { OPCODE_WORDS_MAX = 6 };

// Position of the word of `len` bytes in names, -1 if it is not there.
static int opcode_find(const char *word, size_t len, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return (int)i;
    return -1;
}

int list_opcode_parse(const char *text, struct opcode *opcode)
{
    static const char *const encodings[] = {"legacy", "vex", "evex"}; // as enum encoding
    static const char *const prefixes[] = {"np", "66", "f3", "f2"};   // as VEX.pp
    static const char *const maps[] = {"00", "0f", "0f38", "0f3a", "map4", "map5", "map6"};
    static const char *const widths[] = {"w0", "w1"};
    static const char *const directions[] = {"rm", "mr"};
    const char *words[OPCODE_WORDS_MAX];
    size_t lens[OPCODE_WORDS_MAX];
    int n = 0;
    for (const char *at = text; n < OPCODE_WORDS_MAX; at++) {
        words[n] = at;
        lens[n] = strcspn(at, ".");
        at += lens[n++];
        if (!*at)
            break;
        if (n == OPCODE_WORDS_MAX)
            return -1;
    }
    if (n < 5)
        return -1;
    int enc = opcode_find(words[0], lens[0], encodings, ARRAY_LEN(encodings));
    int direction = n == 6 ? opcode_find(words[5], lens[5], directions, ARRAY_LEN(directions)) : 0;
    *opcode = (struct opcode){
        .given = true,
        .prefix = opcode_find(words[1], lens[1], prefixes, ARRAY_LEN(prefixes)),
        .map = opcode_find(words[2], lens[2], maps, ARRAY_LEN(maps)),
        .w = opcode_find(words[3], lens[3], widths, ARRAY_LEN(widths)),
        .store = direction == 1,
    };
    char *end;
    long byte = strtol(words[4], &end, 16);
    if (enc < 0 || opcode->prefix < 0 || opcode->map < 0 || opcode->w < 0 || direction < 0 ||
        lens[4] != 2 || end != words[4] + 2 || byte < 0)
        return -1;
    opcode->enc = (enum encoding)enc;
    opcode->byte = (uint8_t)byte;
    return 0;
}
