// SPDX-License-Identifier: MIT
// Part of stage 1, for list_option.c only: the grammar of option values that are no fixed words.
// Each function takes text[0..len) without blanks, from a list that may be foreign, and returns 0,
// or -1 with the fault. They accept numbers, registers and names; nothing else reaches NASM.
#pragma once

#include "list_operand.h"

typedef int list_value_fn(const char *text, size_t len, struct list_fault *fault);

list_value_fn list_value_pattern;  // mask, fill: 64 bits
list_value_fn list_value_stack;    // bytes with a sign
list_value_fn list_value_x87;      // VALUE, TOP/OTHERS, two of these with `:` between
list_value_fn list_value_operands; // pointer, small: NAME+NAME
list_value_fn list_value_pairs;    // unrelated: SRC:DST+SRC:DST
list_value_fn list_value_roles;    // roles: NAME:ROLE+NAME:ROLE
list_value_fn list_value_macro;    // FILE.inc:NAME:ARGUMENT...
