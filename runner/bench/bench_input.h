// SPDX-License-Identifier: MIT
// Code as people have it: bytes, listings, text for binutils' assembler, executables. Each becomes
// machine code (bench_bytes.h); what is NASM's, C's or an object's function is bench_source.h's.
#pragma once

#include "bench.h"
#include "bench_bytes.h"

// Returns true if the file is an executable or library, or what is meant is a part of a file.
bool bench_input_is_elf(const struct bench_spec *spec);
// Reads the spec's code if it is of these kinds. Returns 1, or 0 if it is not; -1 with a message,
// which begins with the file and the line where there are such.
int bench_input_read(const struct bench_spec *spec, struct bench_reading *reading,
                     struct bench_bytes *code, struct err *err);
// Reads a file of text, of 4 MiB at most. Returns it, owned by the arena; NULL with a message.
char *bench_input_text(const char *path, struct arena *arena, struct err *err);
