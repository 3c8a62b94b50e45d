// SPDX-License-Identifier: MIT
// Chooses the reader; see bench_input.h.
#include "bench_input.h"

#include "bench_elf.h"
#include "bench_gas.h"
#include "bench_listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX_BYTES = 4 << 20 };

static bool ends_in(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ending) == 0;
}

bool bench_input_is_elf(const struct bench_spec *spec)
{
    return spec->file && (spec->address || bench_elf_is_linked(spec->file));
}

// Returns true if the file is one of bench_source.h's.
static bool file_is_own(const char *path)
{
    return ends_in(path, ".nasm") || ends_in(path, ".asm") || ends_in(path, ".c") ||
           ends_in(path, ".o");
}

char *bench_input_text(const char *path, struct arena *arena, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        err_set(err, "%s: cannot read: %s", path, strerror(errno));
        return NULL;
    }
    char *text = arena_alloc(arena, FILE_MAX_BYTES + 1);
    size_t len = fread(text, 1, FILE_MAX_BYTES + 1, file);
    bool failed = ferror(file);
    fclose(file);
    if (failed)
        err_set(err, "%s: cannot read: %s", path, strerror(errno));
    else if (len > FILE_MAX_BYTES)
        err_set(err, "%s: longer than 4 MiB", path);
    else if (strlen(text) != len)
        err_set(err, "%s: not a text", path);
    else
        return text;
    return NULL;
}

// Puts the file, or `code`, in front of a message that begins with a line.
static int input_fault(const struct bench_spec *spec, struct err *err)
{
    const struct err what = *err;
    bool line = what.text[0] >= '0' && what.text[0] <= '9';
    const char *name = spec->file ? spec->file : "code";
    return err_set(err, "%s:%s%s", name, line ? "" : " ", what.text);
}

static int read_listing(const char *text, struct bench_reading *reading, struct bench_bytes *code,
                        struct err *err)
{
    struct bench_listing listing;
    int bits = code->bits;
    reading->refused = true;
    if (bench_listing_read(text, bits, &listing, reading->arena, err) != 0)
        return -1;
    *code = listing.code;
    if (!listing.text)
        return 0;
    enum bench_syntax syntax = bench_text_is_att(listing.text) ? BENCH_ATT : BENCH_INTEL;
    int status = bench_gas_assemble(reading, listing.text, listing.lines, syntax, code, err);
    code->own = true;
    return status;
}

// Reads code as text. Returns 1, 0 if it is NASM's, or -1.
static int read_text(const struct bench_spec *spec, const char *text, struct bench_reading *reading,
                     struct bench_bytes *code, struct err *err)
{
    static const char box[] = "\u2502"; // before instructions on perf's screen
    enum bench_syntax syntax = spec->syntax;
    if (bench_text_is_listing(text))
        return read_listing(text, reading, code, err) == 0 ? 1 : -1;
    if (strstr(text, box)) {
        reading->refused = true;
        err_set(err, "this is the screen of perf annotate: give what perf annotate --stdio prints");
        return -1;
    }
    bool gas = spec->file && ends_in(spec->file, ".s");
    if (syntax == BENCH_NASM && bench_text_is_intel(text))
        syntax = BENCH_INTEL;
    else if (syntax == BENCH_NASM && (gas || bench_text_is_att(text)))
        syntax = BENCH_ATT;
    if (syntax == BENCH_NASM)
        return 0;
    return bench_gas_assemble(reading, text, NULL, syntax, code, err) == 0 ? 1 : -1;
}

static int read_elf(const struct bench_spec *spec, const struct bench_reading *reading,
                    struct bench_bytes *code, struct err *err)
{
    struct bench_elf elf;
    uint64_t from, to;
    if (!spec->address && spec->symbol)
        return err_set(err,
                       "%s: functions of an executable or a library are not called: that would "
                       "need a dynamic linker, and run their constructors. Give the .c or .o file "
                       "that it was made of; latput explain --symbol has its loops",
                       spec->file);
    if (!spec->address)
        return err_set(err,
                       "%s: which code of it is meant? --address A..B names it; latput explain "
                       "lists loops",
                       spec->file);
    if (bench_elf_range(spec->address, &from, &to, err) != 0 ||
        bench_elf_open(spec->file, &elf, err) != 0)
        return -1;
    int status = to - from <= BENCH_BYTES_MAX
                     ? bench_elf_code(&elf, from, to, code, err)
                     : err_set(err, "--address %s: at most 64 KiB", spec->address);
    if (status == 0) {
        uint8_t *copy = arena_alloc(reading->arena, code->len);
        memcpy(copy, code->bytes, code->len);
        code->bytes = copy;
    }
    bench_elf_close(&elf);
    return status == 0 ? 1 : -1;
}

int bench_input_read(const struct bench_spec *spec, struct bench_reading *reading,
                     struct bench_bytes *code, struct err *err)
{
    *code = (struct bench_bytes){.bits = spec->bits ? spec->bits : 64};
    reading->refused = true;
    if (spec->hex)
        return bench_bytes_read_hex(spec->hex, code, reading->arena, err) == 0
                   ? 1
                   : input_fault(spec, err);
    if (bench_input_is_elf(spec))
        return read_elf(spec, reading, code, err);
    if (spec->file && file_is_own(spec->file))
        return 0;
    const char *text = spec->file ? bench_input_text(spec->file, reading->arena, err) : spec->body;
    if (!text)
        return -1;
    int status = read_text(spec, text, reading, code, err);
    return status < 0 && reading->refused ? input_fault(spec, err) : status;
}
