// SPDX-License-Identifier: MIT
#include "explain_rounds.h"

#include "bench/bench_text.h"
#include "util/file_write.h"
#include "util/paths.h"
#include "util/strbuf.h"
#include "util/subproc.h"

#include <string.h>

enum {
    JUMP_BYTES = 5, // that the loop needs for a jump to its copy
    TOOL_TIMEOUT_MS = 60 * 1000,
    CALLS_TIMEOUT_MS = 10 * 1000,
    REFUSED = 2, // status of the program without a filter
};

// Returns why the loop cannot be counted; NULL if it can.
static const char *loop_refuses(const struct block *block, size_t len)
{
    const ZydisDecodedInstruction *last = &block->instrs[block->n - 1].in;
    bool near = last->opcode_map == ZYDIS_OPCODE_MAP_0F && (last->opcode & 0xf0) == 0x80;
    bool jump = last->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (last->opcode & 0xf0) == 0x70;
    if (block->bits != 64)
        return "only those of 64-bit code are";
    for (int i = 0; i < block->n - 1; i++)
        if (block->instrs[i].in.meta.category == ZYDIS_CATEGORY_COND_BR)
            return "it has another exit";
    if (!near && !jump)
        return "it ends in no jump on flags";
    return len < JUMP_BYTES ? "it is too short for a jump out of it" : NULL;
}

// Writes the program's source: what macros/rounds.asm must know of the loop.
static int write_source(const struct block *block, const struct explain_place *place,
                        const char *init, struct arena *arena, struct err *err)
{
    struct strbuf text = {0}, fixes = {0};
    size_t len = 0, body = 0;
    for (int i = 0; i < block->n; i++) {
        const ZydisDecodedInstruction *in = &block->instrs[i].in;
        body = len;
        if ((in->attributes & ZYDIS_ATTRIB_IS_RELATIVE) && in->raw.disp.size == 32)
            strbuf_printf(&fixes, "add [body + %zu], eax\n", len + in->raw.disp.offset);
        len += in->length;
    }
    strbuf_printf(&text,
                  "LOOP_AT equ %zu\nLOOP_LEN equ %zu\nBODY_LEN equ %zu\n"
                  "%%define LOOP_JUMP %s\n%%macro fix_body 0\n%s%%endmacro\n"
                  "%%macro user_arguments 0\n%s%%endmacro\n"
                  "%%macro user_init 0\n%s%%endmacro\n%%include \"%s\"\n",
                  place->offset, len, body,
                  ZydisMnemonicGetString(block->instrs[block->n - 1].in.mnemonic),
                  strbuf_text(&fixes), place->arguments, bench_text_lines(init ? init : "", arena),
                  path_data("macros/rounds.asm"));
    char *path = arena_printf(arena, "%s/rounds.asm", place->directory);
    int status = file_write(path, strbuf_text(&text), text.len, err);
    strbuf_free(&text);
    strbuf_free(&fixes);
    return status;
}

// Runs a program in the directory. Returns 1 if it succeeds, 0 if not; -1 if it does not start.
static int run_in(const char *directory, const char *const argv[], int timeout_ms,
                  struct subproc_result *result, struct err *err)
{
    const struct subproc_options options = {
        .cwd = directory, .timeout_ms = timeout_ms, .tool = true};
    if (subproc_run(argv, &options, result, err) != 0)
        return -1;
    return !result->timed_out && !result->signal && result->exit_status == 0;
}

// Builds the program. Returns 1, 0 if a tool refuses it, or -1.
static int build(const char *directory, const char *object, struct err *err)
{
    const char *const assemble[] = {"nasm", "-f",       "elf64",      "-w-all",
                                    "-o",   "rounds.o", "rounds.asm", NULL};
    const char *const link[] = {"ld", "-N",     "-static",  "-z",   "noexecstack",
                                "-o", "rounds", "rounds.o", object, NULL};
    const char *const *const tools[] = {assemble, link};
    int status = 1;
    for (size_t i = 0; i < ARRAY_LEN(tools) && status == 1; i++) {
        struct subproc_result result = {0};
        status = run_in(directory, tools[i], TOOL_TIMEOUT_MS, &result, err);
        subproc_result_free(&result);
    }
    return status;
}

long explain_count_rounds(const struct block *block, const struct explain_place *place,
                          const char *init, const char **why, struct arena *arena, struct err *err)
{
    struct subproc_result result = {0};
    uint64_t rounds[2] = {0};
    const char *const program[] = {arena_printf(arena, "%s/rounds", place->directory), NULL};
    size_t len = 0;
    for (int i = 0; i < block->n; i++)
        len += block->instrs[i].in.length;
    *why = loop_refuses(block, len);
    if (*why)
        return 0;
    int status = write_source(block, place, init, arena, err) != 0
                     ? -1
                     : build(place->directory, place->object, err);
    *why = "the function needs more than itself";
    if (status == 1) {
        status = run_in(place->directory, program, CALLS_TIMEOUT_MS, &result, err);
        *why = result.exit_status == REFUSED ? "this kernel allows no system-call filter"
                                             : "a call does not come to its end";
    }
    if (status == 1 && result.out_len == sizeof rounds)
        memcpy(rounds, result.out, sizeof rounds);
    subproc_result_free(&result);
    if (status < 1)
        return status;
    *why = rounds[0] == 0 ? "the call does not reach it"
                          : arena_printf(arena, "two calls have %lld and %lld",
                                         (long long)rounds[0], (long long)rounds[1]);
    return rounds[0] == rounds[1] && rounds[0] <= INT32_MAX ? (long)rounds[0] : 0;
}
