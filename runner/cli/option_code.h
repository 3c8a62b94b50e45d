// SPDX-License-Identifier: MIT
// Options that say which code of the user's is meant, and how it is read: alike where it is
// measured and explained. `spec`: the struct bench_spec in the command's arguments.
#pragma once

#include "bench/bench.h"
#include "command.h"

#define CODE_ASM(spec)                                                                             \
    0, "asm", "CODE", "the same as CODE, whatever it looks like", OPTION_TEXT(spec.body)
#define CODE_HEX(spec)                                                                             \
    0, "hex", "BYTES", "machine code as hexadecimal digits", OPTION_TEXT(spec.hex)
#define CODE_SYNTAX(spec)                                                                          \
    0, "syntax", "NAME", "of CODE: nasm (default), att or intel, as binutils' assembler has them", \
        .take = option_take_syntax, .offset = OPTION_FIELD(enum bench_syntax, spec.syntax)
#define CODE_ADDRESS(spec)                                                                         \
    0, "address", "A..B", "the code of FILE between two addresses, as objdump -d shows them",      \
        OPTION_TEXT(spec.address)
#define CODE_ARGS(spec)                                                                            \
    0, "args", "LIST", "arguments of the function: numbers, data, data+N (default: data, 65536)",  \
        OPTION_TEXT(spec.args)
#define CODE_INIT(spec)                                                                            \
    0, "init", "CODE", "run before the clock of every repetition", OPTION_TEXT(spec.init)
#define CODE_BITS(spec)                                                                            \
    0, "bits", "64|32", "mode of the processor (default 64)",                                      \
        .take = option_take_bits, .offset = OPTION_FIELD(int, spec.bits)
int option_take_syntax(const struct option_given *given, void *to);
int option_take_bits(const struct option_given *given, void *to);
