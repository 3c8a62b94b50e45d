// SPDX-License-Identifier: MIT
// Code from outside: digits, listings, text for binutils' assembler (which is not started), ELF
// files, and the text that machine code becomes.
#include "fuzz.h"

#include "bench/bench_elf.h"
#include "bench/bench_gas.h"
#include "bench/bench_listing.h"
#include "explain/explain_image.h"

#include <stdlib.h>

static void read_text(const char *text, struct arena *arena)
{
    struct bench_bytes code = {.bits = 64};
    struct bench_listing listing;
    struct err err = {0};
    if (bench_bytes_read_hex(text, &code, arena, &err) != 0)
        fuzz_check_message(&err);
    if (bench_listing_read(text, 64, &listing, arena, &err) != 0)
        fuzz_check_message(&err);
    if (bench_gas_check(text, &err) != 0)
        fuzz_check_message(&err);
    bench_text_is_listing(text);
}

static void read_image(const char *path, struct arena *arena)
{
    struct image_loops loops;
    struct err err = {0};
    if (explain_image_loops(path, NULL, &loops, arena, &err) != 0)
        fuzz_check_message(&err);
    if (explain_image_loops(path, "main", &loops, arena, &err) != 0)
        fuzz_check_message(&err);
}

static void write_text(const uint8_t *bytes, size_t size, struct arena *arena)
{
    for (int way = 0; way < 4; way++) {
        const struct bench_bytes code = {bytes, size, 0, way & 1 ? 64 : 32, (way & 2) != 0, 0};
        struct bench_bytes_text text;
        struct err err = {0};
        if (bench_bytes_text(&code, NULL, &text, arena, &err) != 0)
            fuzz_check_message(&err);
        else
            fuzz_check(text.copies > 0 && *text.body, "code becomes text");
    }
}

void fuzz_code(const uint8_t *bytes, size_t size)
{
    struct arena arena = {0};
    char *text = fuzz_text(bytes, size);
    read_text(text, &arena);
    free(text);
    read_image(fuzz_file(bytes, size), &arena);
    write_text(bytes, size, &arena);
    arena_free(&arena);
}
