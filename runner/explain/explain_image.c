// SPDX-License-Identifier: MIT
// Loops of linked files; see explain_image.h. Each function is searched by itself.
#include "explain_image.h"

#include "bench/bench_elf.h"
#include "explain_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTION_ALIGN = 16, PIECE_BYTES_MAX = 1 << 16 };

struct image_search {
    const struct bench_elf *elf;
    struct code_path *path;
    struct image_loops *loops;
    size_t room;
    struct arena *arena;
};

static void search_piece(struct image_search *search, const struct bench_elf_function *piece,
                         const uint8_t *bytes)
{
    struct image_loops *loops = search->loops;
    const struct code_function function = {bytes, (size_t)piece->len, piece->address,
                                           search->elf->bits};
    struct code_loops found;
    struct err ignored;
    if (code_loops_find(&function, search->path, &found, search->arena, &ignored) != 0)
        return;
    const char *name = piece->name ? arena_strdup(search->arena, piece->name) : NULL;
    loops->others += found.others;
    for (int i = 0; i < found.n && loops->n < IMAGE_LOOPS_MAX; i++) {
        loops->loops = xgrow(loops->loops, &search->room, loops->n + 1, sizeof *loops->loops);
        loops->loops[loops->n++] = (struct image_loop){name, piece->address, found.loops[i]};
    }
}

// Returns true if nothing runs on past the instruction.
static bool ends_function(const ZydisDecodedInstruction *in)
{
    return in->meta.category == ZYDIS_CATEGORY_RET || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
}

// Searches a section without names in pieces: a function begins where nothing runs into, at an
// address that compilers align functions to, or after bytes that are no instruction.
static void search_section(struct image_search *search, const struct bench_elf_function *section,
                           const uint8_t *bytes)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction in;
    struct err ignored;
    size_t begin = 0, len = (size_t)section->len;
    bool ended = true;
    if (block_decoder_begin(&decoder, search->elf->bits, &ignored) != 0)
        return;
    for (size_t at = 0; at <= len;) {
        bool whole =
            at < len &&
            ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, len - at, &in));
        bool aligned = (section->address + at) % FUNCTION_ALIGN == 0;
        if (at > begin && (!whole || (ended && aligned) || at - begin > PIECE_BYTES_MAX)) {
            const struct bench_elf_function piece = {NULL, section->address + begin, at - begin};
            search_piece(search, &piece, bytes + begin);
            begin = at;
        }
        if (at == len)
            return;
        bool padding =
            whole && (in.mnemonic == ZYDIS_MNEMONIC_NOP || in.mnemonic == ZYDIS_MNEMONIC_INT3);
        ended = !whole || ends_function(&in) || (ended && padding);
        at += whole ? in.length : 1;
        begin = whole ? begin : at;
    }
}

static void search_function(struct image_search *search, const struct bench_elf_function *function)
{
    struct bench_bytes code;
    struct err ignored;
    if (bench_elf_code(search->elf, function->address, function->address + function->len, &code,
                       &ignored) != 0)
        return;
    if (function->name && function->len <= BENCH_BYTES_MAX)
        search_piece(search, function, code.bytes);
    else if (!function->name)
        search_section(search, function, code.bytes);
}

// Keeps the code of the function that was asked for.
static int search_keep(struct image_search *search, const struct bench_elf_function *function,
                       struct err *err)
{
    struct bench_bytes code;
    if (bench_elf_code(search->elf, function->address, function->address + function->len, &code,
                       err) != 0)
        return -1;
    if (code.len > BENCH_BYTES_MAX)
        return err_set(err, "%s: '%s' has more than %d bytes: --address A..B names a part of it",
                       search->elf->path, function->name, BENCH_BYTES_MAX);
    uint8_t *bytes = arena_alloc(search->arena, code.len);
    memcpy(bytes, code.bytes, code.len);
    search->loops->function =
        (struct code_function){bytes, code.len, function->address, search->elf->bits};
    return 0;
}

// Returns the name of a function of C++ as the file has it, by its last part, which is what people
// call it; NULL: none.
static const char *search_mangled(const struct bench_elf_functions *functions, const char *symbol)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    char part[128];
    size_t end = strcspn(symbol, "("), begin = end;
    while (begin > 0 && strchr(letters, symbol[begin - 1]))
        begin--;
    snprintf(part, sizeof part, "%zu%.*s", end - begin, (int)(end - begin), symbol + begin);
    for (size_t i = 0; i < functions->n && end > begin; i++) {
        const char *name = functions->functions[i].name;
        if (name && strncmp(name, "_Z", 2) == 0 && strstr(name, part))
            return name;
    }
    return NULL;
}

static int search_all(struct image_search *search, const char *symbol, struct err *err)
{
    struct bench_elf_functions functions;
    size_t searched = 0;
    if (bench_elf_functions(search->elf, symbol != NULL, &functions, search->arena, err) != 0)
        return -1;
    for (size_t i = 0; i < functions.n; i++) {
        const struct bench_elf_function *function = &functions.functions[i];
        bool again = i > 0 && function->address == functions.functions[i - 1].address;
        if (symbol ? searched || !function->name || strcmp(function->name, symbol) != 0 : again)
            continue;
        search_function(search, function);
        if (symbol && search_keep(search, function, err) != 0)
            return -1;
        searched++;
    }
    const char *mangled = searched ? NULL : search_mangled(&functions, symbol ? symbol : "");
    if (mangled)
        return err_set(err, "%s: there is no function '%s' in it; the file calls one of C++ '%s'",
                       search->elf->path, symbol, mangled);
    if (searched == 0)
        return err_set(err,
                       "%s: there is no function '%s' in it: --address A..B names code without a "
                       "symbol",
                       search->elf->path, symbol);
    return 0;
}

int explain_image_loops(const char *file, const char *symbol, struct code_path *path,
                        struct image_loops *loops, struct arena *arena, struct err *err)
{
    struct bench_elf elf;
    *loops = (struct image_loops){.loops = NULL};
    struct image_search search = {.elf = &elf, .path = path, .loops = loops, .arena = arena};
    if (bench_elf_open(file, &elf, err) != 0)
        return -1;
    loops->bits = elf.bits;
    int status = search_all(&search, symbol, err);
    if (status == 0 && path)
        status = code_path_check(path, err);
    bench_elf_close(&elf);
    struct image_loop *found = loops->loops;
    if (loops->n) {
        loops->loops = arena_alloc(arena, loops->n * sizeof *found);
        memcpy(loops->loops, found, loops->n * sizeof *found);
    }
    free(found);
    return status;
}
