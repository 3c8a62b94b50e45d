// SPDX-License-Identifier: MIT
// The options of a list row, `key` or `key=value`, and what they say as fields of the row.
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

// Value of an option, or NULL where the row does not have it. Outside of list/ its fields say that.
const char *list_row_option(const struct list_row *row, const char *key);

// Fills in the fields of the row that follow from its options, each of which has been parsed; what
// they point to is the arena's. (list_row.c)
void list_row_set_options(struct list_row *row, struct arena *arena);

// Sets the roles of the operands, all of which are there, from the option. Returns where in its
// value an operand is named that the row does not have, or a second time; else NULL. (list_row.c)
const char *list_row_set_roles(struct list_row *row, struct arena *arena);

#endif
