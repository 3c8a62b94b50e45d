// SPDX-License-Identifier: MIT
// Code in SQL queries: takes a second look at text that the filter lets through, and gives it to
// bench. The first half of the lines is the code, the rest the init.
#include "fuzz.h"

#include "bench/bench_text.h"
#include "library/latput_sqlite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool in_symbol(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$#@~.?", c));
}

// Returns true if the word begins at text[i] and is no part of a longer symbol.
static bool word_at(const char *text, size_t i, const char *word)
{
    size_t len = strlen(word);
    return strncasecmp(text + i, word, len) == 0 && (i == 0 || !in_symbol(text[i - 1])) &&
           !in_symbol(text[i + len]);
}

// Nothing that reads files, places code elsewhere or makes much of little, where NASM would see it.
static void check_harmless(const char *text)
{
    static const char *const words[] = {"incbin", "section", "segment", "times",
                                        "global", "extern",  "bits",    "absolute"};
    fuzz_check(!strpbrk(text, "%\\"), "no preprocessor, no continued lines");
    for (size_t i = 0; text[i]; i++)
        for (size_t w = 0; w < ARRAY_LEN(words); w++)
            fuzz_check(!word_at(text, i, words[w]), "no directive passes");
}

void fuzz_query(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size), *half = strchr(text, '\x01');
    struct err err = {0};
    if (half)
        *half++ = '\0';
    if (code_check("code", text, &err) != 0 || code_check("init", half ? half : "", &err) != 0) {
        fuzz_check_message(&err);
    } else {
        struct arena arena = {0};
        const struct bench_spec spec = {
            .body = text, .init = half ? half : "", .bits = 64, .cpu = -1};
        check_harmless(text);
        bench_text_instructions(bench_text_lines(text, &arena));
        bench_text_kernel(&spec, &arena);
        for (int part = 1, start, len; bench_text_part(text, part, &start, &len); part++)
            fuzz_check(start >= 0 && len >= 0 && (size_t)(start + len) <= strlen(text),
                       "a part lies in the text");
        arena_free(&arena);
    }
    free(text);
}
