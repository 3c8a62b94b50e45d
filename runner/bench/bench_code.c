// SPDX-License-Identifier: MIT
// Machine code of files; see bench_code.h. A `testcode` is assembled as a function after all other
// parts that a kernel has of the file, so that both kinds of files end in an object with a
// function.
#include "bench_code.h"

#include "assemble/object.h"
#include "bench_source.h"
#include "util/file_write.h"
#include "util/mem.h"
#include "util/subproc.h"

#include <stdlib.h>

enum { NASM_TIMEOUT_MS = 60 * 1000 };

static int write_block(const char *path, const struct bench_source *source, struct err *err)
{
    char *text = xasprintf("bits %d\ndefault abs\nlatput_absolute equ 0\nk0_body:\n%s\n"
                           "section .latput_block progbits alloc exec nowrite\ndefault abs\n"
                           "global latput_block:function (latput_block_end - latput_block)\n"
                           "latput_block:\ntestcode\nlatput_block_end:\n",
                           source->bits == 32 ? 32 : 64, source->kernel.init);
    int status = file_write_scratch(path, text, err);
    free(text);
    return status;
}

static int assemble_block(const char *directory, const struct bench_source *source, bool *refused,
                          struct err *err)
{
    const char *const argv[] = {
        "nasm",    "-f",        source->bits == 32 ? "elf32" : "elf64", "-w-all",        "-o",
        "block.o", "block.asm", source->include ? "-i" : NULL,          source->include, NULL};
    const struct subproc_options options = {
        .cwd = directory, .timeout_ms = NASM_TIMEOUT_MS, .tool = true};
    struct subproc_result result = {0};
    if (subproc_run(argv, &options, &result, err) != 0)
        return -1;
    int status = 0;
    if (result.exit_status != 0 || result.signal || result.timed_out) {
        *refused = true;
        status = err_set(err, "%s: NASM refuses it: latput bench %s says where", source->file,
                         source->file);
    }
    subproc_result_free(&result);
    return status;
}

int bench_file_code(const struct bench_spec *spec, const char *directory, struct bench_code *code,
                    struct arena *arena, bool *refused, struct err *err)
{
    struct bench_source source;
    if (bench_source_read(spec, directory, &source, arena, refused, err) != 0)
        return -1;
    const char *object = source.object, *name = BENCH_FUNCTION;
    if (!object) {
        const char *path = arena_printf(arena, "%s/block.asm", directory);
        object = arena_printf(arena, "%s/block.o", directory);
        name = "latput_block";
        if (write_block(path, &source, err) != 0 ||
            assemble_block(directory, &source, refused, err) != 0)
            return -1;
    }
    *code = (struct bench_code){.bits = source.bits == 32 ? 32 : 64,
                                .instances = source.block_instances,
                                .function = source.object != NULL,
                                .testcode = source.testcode,
                                .object = source.object};
    if (assemble_object_function(object, name, &code->bytes, &code->len, arena, err) == 0)
        return 0;
    *refused = true;
    return source.object
               ? err_set(err,
                         "%s: there is no function '%s' in it, or it does not say how long it is",
                         spec->file, spec->symbol)
               : err_set(err, "%s: `testcode` has no instruction", spec->file);
}
