// SPDX-License-Identifier: MIT
// The options of a list row, `key` or `key=value`, and their meaning as fields of the row.
#pragma once

#include "list.h"
#include "list_operand.h"

// Parses text[0..len). The key is static, the value belongs to the arena ("" without one). Returns
// 0, or -1 with the fault.
int list_option_parse(const char *text, size_t len, struct arena *arena, struct list_option *option,
                      struct list_fault *fault);

// Returns key n of the keys that make another form of a row, in the order of its name; NULL after
// the last.
const char *list_option_form_key(int n);

// Returns the value of an option, or NULL if the row does not have it. Other rooms read the row's
// fields instead.
const char *list_row_option(const struct list_row *row, const char *key);

// Sets the fields of the row that follow from its options, each of which has been parsed; texts
// belong to the arena. (list_row.c)
void list_row_set_options(struct list_row *row, struct arena *arena);

// Sets the roles of the operands, all of which are there, from the option. Returns the place in its
// value that names an operand which the row lacks or which is named twice; else NULL. (list_row.c)
const char *list_row_set_roles(struct list_row *row, struct arena *arena);
