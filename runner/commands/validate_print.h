// SPDX-License-Identifier: MIT
// The output of `latput validate`, on standard output.
#pragma once

#include "output/output.h"
#include "validate/validate.h"
#include "validate_mca.h"

extern const struct output_kind validate_print_kind;
// Prints JSON. `again`: the file of the mixes; NULL: they were drawn.
void validate_print_json(const struct validation *result, const struct validate_forms *forms,
                         const char *again, const struct validate_beside *beside);
// Prints a table. `again`: the file of the mixes; NULL: they were drawn, with `ratios` or without.
void validate_print_table(const struct validation *result, const struct validate_forms *forms,
                          const char *again, bool ratios);
void validate_print_beside(const struct validate_beside *beside);
