// SPDX-License-Identifier: MIT
// From what the user wrote to a kernel. Pure.
#pragma once

#include "bench.h"
#include "plan/plan.h"

// Returns the text with one instruction per line, owned by the arena. `;` separates instructions
// outside of quotes, `;;` begins a comment to the end of the line. Empty parts stay as empty lines,
// so that the n-th line is the n-th part.
const char *bench_text_lines(const char *text, struct arena *arena);
// Finds the n-th part (from 1) of the text: *start and *len without surrounding spaces. Returns
// false if there is none.
bool bench_text_part(const char *text, int part, int *start, int *len);

// Returns true if NASM's message is about an instruction that it does not know: it takes one
// without operands for a label.
bool bench_text_is_unknown(const char *message);

// Checks that no part of the text (NULL: there is none) sets another mode of the processor (bits,
// use16) than `bits`, 64 or 32. Returns 0, or -1 with a message.
int bench_text_check_mode(const char *text, int bits, struct err *err);

// Lines that are instructions: not empty, no comment, no directive, no label alone.
int bench_text_instructions(const char *lines);

// Returns the kernel of a spec: fills of registers and memory follow from what the text names.
struct kernel_spec bench_text_kernel(const struct bench_spec *spec, struct arena *arena);
