// SPDX-License-Identifier: MIT
// Numbers as NASM's preprocessor leaves them: `(4096 + 64 - 5) / 8`.
#pragma once

#include <stdint.h>

// Reads an expression of decimal and hexadecimal numbers, parentheses, + - * / % and %%. Returns
// what follows it, blanks skipped, and its value; NULL: it is no such expression, or has no value.
const char *number_read(const char *text, const char *end, int64_t *value);
