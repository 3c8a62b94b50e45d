// SPDX-License-Identifier: MIT
// One option of a list row, `key` or `key=value`; list_row_option() of list.h, too.
#ifndef LATPUT_LIST_OPTION_H
#define LATPUT_LIST_OPTION_H

#include "list.h"
#include "list_operand.h"

// Parses text[0..len). The key is static, the value the arena's ("" without one). Returns 0, or -1
// with the fault.
int list_option_parse(const char *text, size_t len, struct arena *arena, struct list_option *option,
                      struct list_fault *fault);

// The keys that make another form of a row, in the order in which they stand in its name; NULL
// behind the last.
const char *list_option_form_key(int n);

#endif
