// SPDX-License-Identifier: MIT
// Makes the copies of a snippet independent of each other, for its throughput: registers and flags
// that one copy hands to the next are set anew before each. What goes through memory is not seen.
#pragma once

#include "bench.h"

struct bench_breakers {
    const char *init;       // to be run after the spec's init: fills registers that nothing names
    const char *body;       // to stand before the spec's body; "" where nothing is handed on
    const char *impossible; // NULL, or why chains cannot be broken; then the texts are ""
};

// Assembles the spec's texts in `directory`, decodes them, and finds instructions that break their
// chains. Texts have one instruction per line and are the arena's; both are "" if the assembler
// refuses the code. Returns 0, or -1 if the environment lacks something.
int bench_break_chains(const struct bench_spec *spec, const char *directory,
                       struct bench_breakers *breakers, struct arena *arena, struct err *err);

enum { BENCH_CODE_MAX = 1 << 16 };
// Assembles a text (as bench_spec.body) in `directory` and returns the length of its machine code.
// Returns 0 if the assembler refuses it: *err has the instruction and the reason, if there is an
// instruction; -1 with a message. `code` has room for BENCH_CODE_MAX bytes.
long bench_assemble(const char *directory, const char *text, int bits, uint8_t *code,
                    struct err *err);

// The core's registers that the spec's body writes; all false if the assembler refuses it.
struct bench_reserved {
    bool loop;  // r15, the loop's counter
    bool data;  // r14 or ebp, the address of the data area
    bool stack; // rsp, which is the code's to use, but must be put back
};
int bench_reserved_writes(const struct bench_spec *spec, const char *directory,
                          struct bench_reserved *written, struct err *err);

// Text that hands the registers that the spec's init sets to code that comes later: all of it ""
// if there is none.
struct bench_kept {
    const char *places; // labels latput_kept, in the section at hand
    const char *save;   // to stand after init
    const char *load;
};
// Finds general registers but those of the core, vectors and masks. Returns 0, with nothing kept
// if the assembler refuses init; -1 with a message.
int bench_init_kept(const struct bench_spec *spec, const char *directory, struct bench_kept *kept,
                    struct arena *arena, struct err *err);
