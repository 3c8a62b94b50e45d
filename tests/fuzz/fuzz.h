// SPDX-License-Identifier: MIT
// Fuzzing of everything that reads foreign data. A target is a function that gives bytes to the
// program's own readers and aborts if something is wrong; sanitizers find the rest. fuzz_main.c
// runs them by libFuzzer, fuzz_replay.c on files. docs/HOWTO_TEST.md describes how to start them
// and what to do with a finding.
#pragma once

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void fuzz_function(const uint8_t *bytes, size_t size);
fuzz_function fuzz_list, fuzz_table, fuzz_cpuid, fuzz_pack, fuzz_merge, fuzz_arguments, fuzz_query,
    fuzz_code, fuzz_foreign, fuzz_conclude, fuzz_database;

// Returns a target by its name, which is that of its directory in corpus/; NULL: none.
fuzz_function *fuzz_target_find(const char *name);

// Returns the path of a file in memory that holds these bytes, valid until the next call.
const char *fuzz_file(const uint8_t *bytes, size_t size);
// Returns the path of another file in memory, for output.
const char *fuzz_output(void);
// Returns the bytes as text without NUL; to be freed.
char *fuzz_text(const uint8_t *bytes, size_t size);
// Returns a number that follows from the bytes, for choosing what is done with them.
unsigned fuzz_choice(const uint8_t *bytes, size_t size);
// Aborts with the reason unless the condition holds.
void fuzz_check(bool holds, const char *what);
// Checks that a refusal has a message, which is text.
void fuzz_check_message(const struct err *err);
