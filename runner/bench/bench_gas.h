// SPDX-License-Identifier: MIT
// Text in the syntax of binutils' assembler, AT&T's or Intel's. `as` sees only instructions and
// labels: what it would open, repeat or define is refused before.
#pragma once

#include "bench.h"
#include "bench_bytes.h"

// Returns true if the text names a register as AT&T's syntax does.
bool bench_text_is_att(const char *text);
// Returns true if it has a width as Intel's syntax writes it, `dword ptr`, which NASM does not.
bool bench_text_is_intel(const char *text);
// Checks the text: instructions and labels, `;` and line feeds between them, `#` before comments.
// Returns 0, or -1 with a message that begins with the line.
int bench_gas_check(const char *text, struct err *err);
// Checks and assembles in the directory, where `as` is confined. `lines` (or NULL): the user's
// number of each line. Returns 0, or -1 with a message that begins with the line where there is
// one.
int bench_gas_assemble(struct bench_reading *reading, const char *text, const int *lines,
                       enum bench_syntax syntax, struct bench_bytes *code, struct err *err);
