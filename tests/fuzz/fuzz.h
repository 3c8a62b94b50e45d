// SPDX-License-Identifier: MIT
// Fuzzing of everything that reads what strangers wrote. A target is a function that gives bytes to
// the program's own readers and aborts where something is not as it must be; sanitizers find the
// rest. fuzz_main.c has them run by libFuzzer, fuzz_replay.c on files. docs/HOWTO_TEST.md tells how
// to start them and what to do with a finding.
#ifndef LATPUT_FUZZ_H
#define LATPUT_FUZZ_H

#include "util/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void fuzz_function(const uint8_t *bytes, size_t size);
fuzz_function fuzz_list, fuzz_table, fuzz_cpuid, fuzz_pack, fuzz_merge, fuzz_arguments, fuzz_query;

// By name, as the directories in corpus/ are called; NULL if there is none.
fuzz_function *fuzz_target_find(const char *name);

// The path of a file in memory that holds these bytes, until the next call.
const char *fuzz_file(const uint8_t *bytes, size_t size);
// Another file in memory, for what is written.
const char *fuzz_output(void);
// The bytes as text without NUL; to be freed.
char *fuzz_text(const uint8_t *bytes, size_t size);
// Aborts, with the reason, unless it holds.
void fuzz_check(bool holds, const char *what);
// What every refusal must have: a message that is text.
void fuzz_check_message(const struct err *err);

#endif
