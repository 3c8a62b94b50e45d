// SPDX-License-Identifier: MIT
// One instruction as others write it, as a glob on forms: in the order and with the suffixes of
// AT&T (`addl %eax, %ebx`), or as bytes (`48 0f af c3`).
#pragma once

#include <stdbool.h>

// Returns globs as form_globs_make() takes them, with ; between them, to be freed; NULL: the text
// is neither, or no one instruction.
char *form_code_globs(const char *text);
// Returns true if a text is bytes: pairs of hexadecimal digits, a digit among them, perhaps with
// blanks, commas, 0x or \x before each.
bool form_code_is_bytes(const char *text);
