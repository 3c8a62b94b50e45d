// SPDX-License-Identifier: MIT
// Machine code of executables, shared libraries and objects, read with distrust: every offset of
// the file is checked before it is followed. Nothing of the file is loaded or run.
#pragma once

#include "bench_bytes.h"

struct bench_elf {
    const char *path;
    const uint8_t *bytes;
    size_t size;
    int bits;                            // 64 or 32
    bool object;                         // not linked: addresses are those in .text
    uint64_t sections, nsections, names; // headers: offset, number, index of the names
};
// A function, or a part of a section of code that no symbol names.
struct bench_elf_function {
    const char *name; // NULL: none
    uint64_t address, len;
};
enum { BENCH_ELF_FUNCTIONS_MAX = 1 << 20 };
struct bench_elf_functions {
    struct bench_elf_function *functions; // by address, also under several names; the arena's
    size_t n;
};

// Returns true if the file begins as ELF files do and is linked: an executable or a library.
bool bench_elf_is_linked(const char *path);
// Opens a file for x86 (NULL: bench_elf_close() does nothing). Returns 0, or -1 with a message.
int bench_elf_open(const char *path, struct bench_elf *elf, struct err *err);
void bench_elf_close(struct bench_elf *elf);
// Returns the code between two addresses, in the file's bytes; -1 with a message.
int bench_elf_code(const struct bench_elf *elf, uint64_t from, uint64_t to,
                   struct bench_bytes *code, struct err *err);
// Lists functions that have a length; where the file is stripped, sections of code, unless only
// `named` ones are wanted. -1 with a message.
int bench_elf_functions(const struct bench_elf *elf, bool named,
                        struct bench_elf_functions *functions, struct arena *arena,
                        struct err *err);
// Reads `A..B`, hexadecimal addresses with or without 0x, B after the last byte.
int bench_elf_range(const char *text, uint64_t *from, uint64_t *to, struct err *err);
// Reads .text of an object that `as` made. reading->refused: it names something outside.
int bench_elf_text(const char *path, struct bench_bytes *code, struct bench_reading *reading,
                   struct err *err);
