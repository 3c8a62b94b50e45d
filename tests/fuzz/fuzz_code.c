// SPDX-License-Identifier: MIT
// Code from outside: digits, listings, text for binutils' assembler (which is not started), ELF
// files, and the text that machine code becomes.
#include "fuzz.h"

#include "bench/bench_elf.h"
#include "bench/bench_gas.h"
#include "bench/bench_listing.h"
#include "explain/explain_block.h"
#include "explain/explain_image.h"

#include <stdlib.h>

enum { FUNCTION_MAX = 4096 };

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

static void read_image(const char *file, struct arena *arena)
{
    struct image_loops loops;
    struct err err = {0};
    if (explain_image_loops(file, NULL, NULL, &loops, arena, &err) != 0)
        fuzz_check_message(&err);
    struct code_path none = {.n = 0};
    if (explain_image_loops(file, "main", &none, &loops, arena, &err) != 0)
        fuzz_check_message(&err);
}

// Loops on the way of a path are blocks: of so many instructions, each of the function.
static void follow_path(const uint8_t *bytes, size_t size, const char *text, struct arena *arena)
{
    const struct code_function function = {bytes, size, 0x1000, 64};
    struct code_path path;
    struct code_loops loops;
    struct block block;
    struct err err = {0};
    if (code_path_parse(text, &path, &err) != 0) {
        fuzz_check_message(&err);
        path.n = 0;
    }
    if (code_loops_find(&function, &path, &loops, arena, &err) != 0) {
        fuzz_check_message(&err);
        return;
    }
    for (int i = 0; i < loops.n; i++) {
        const struct code_loop *loop = &loops.loops[i];
        if (block_read(loop->code, loop->len, 64, &block, arena, &err) != 0)
            fuzz_check_message(&err);
        else
            fuzz_check(block.n == loop->instrs, "a loop has the instructions of its way");
        for (int at = 0; at < loop->instrs; at++)
            fuzz_check(loop->places[at] < size, "an instruction of a loop is the function's");
    }
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
    follow_path(bytes, size < FUNCTION_MAX ? size : FUNCTION_MAX, text, &arena);
    free(text);
    read_image(fuzz_file(bytes, size), &arena);
    write_text(bytes, size, &arena);
    arena_free(&arena);
}
