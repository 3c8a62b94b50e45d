// SPDX-License-Identifier: MIT
// Declarations that the writers of outputs share.
#pragma once

#include "output.h"

const struct output_field *output_field_at(const struct output_record *record, int i);
const char *output_field_name(const struct output_field *field);
enum look_type output_field_type(const struct output_field *field);
// Returns the value of a field of that kind.
const struct field_value *output_value(const struct output_field *field, const void *row);
// Returns true for texts, of enumerations, too.
bool output_field_is_text(const struct output_field *field);
// Returns true for an array of structures.
bool output_field_is_rows(const struct output_field *field);
// Returns the elements of an array; NULL: there are none.
const void *output_field_elements(const struct output_field *field, const void *row);
// Returns true if a row has no value there.
bool output_field_none(const struct output_field *field, const void *row);
// Returns the number of elements of an array.
int output_field_count(const struct output_field *field, const void *row);
