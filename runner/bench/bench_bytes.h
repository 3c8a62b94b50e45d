// SPDX-License-Identifier: MIT
// Machine code from outside as a snippet: the text that bench measures.
#pragma once

#include "util/err.h"
#include "util/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench_bytes {
    const uint8_t *bytes;
    size_t len;
    uint64_t address; // of the first byte; 0: not known
    int bits;         // 64 or 32
    // All registers are the code's, r14, r15 and rsp too, and begin with addresses where it uses
    // them as such; it is a block or a loop of a program. Else it is text of the user's, with the
    // contract of docs/BENCH.md, and may jump within itself.
    bool own;
    int number; // tells its places from the places of other code in a program; 0: there is none
};

// Needs of readers of such code, and what they tell.
struct bench_reading {
    const char *directory; // for files made on the way
    struct arena *arena;   // owns what is read
    bool refused;          // told: the input is at fault, else the tools or the disk
};

enum { BENCH_REGISTERS = 16 };
struct bench_bytes_text {
    const char *body, *init;
    const char *registers; // the part of `init` that sets registers
    // Contents of general-purpose registers at first, by their numbers, without the user's init.
    struct bench_register {
        enum { BENCH_REGISTER_AS_TEXT, BENCH_REGISTER_DATA, BENCH_REGISTER_NUMBER } kind;
        int64_t value; // DATA: distance from the address of the data area
    } first[BENCH_REGISTERS];
    int copies;  // of the code in the body
    bool looped; // the body lacks the jump back: the loop around it stands for that
    bool linked; // the body has addresses that the linker sets: no chain can be broken
};

enum { BENCH_BYTES_MAX = 1 << 16 };

// Makes the text. `init` (or NULL) is NASM's and runs after what sets the registers. Returns 0, or
// -1 with a message: bytes that do not decode, code that leaves the block.
int bench_bytes_text(const struct bench_bytes *code, const char *init,
                     struct bench_bytes_text *text, struct arena *arena, struct err *err);

// Returns true if the `len` bytes of text are hexadecimal digits in pairs, as code is given.
bool bench_bytes_is_hex(const char *text, size_t len);
// Reads hexadecimal digits in pairs; blanks, commas, 0x and \x may stand between them.
int bench_bytes_read_hex(const char *text, struct bench_bytes *code, struct arena *arena,
                         struct err *err);
