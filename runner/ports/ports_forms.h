// SPDX-License-Identifier: MIT
// From rows to the forms of the port inference: fitness for mixes, and for blockers. By rule from
// operands and access; no list of mnemonics.
#pragma once

#include "list/list.h"
#include "ports.h"

// Returns the width of the widest vector register that the row reads or writes, as an index, too;
// 0: none.
int ports_form_bits(const struct list_row *row);
// Returns the form of a row; its rthroughput_clk is NaN.
struct port_form ports_form(const struct list_row *row);
enum port_upper ports_form_upper(const struct list_row *row);

// Leaves the cheapest candidate of those with the same mnemonic and the same kinds of operands.
void ports_forms_thin(struct port_form *forms, const struct list_row *const *rows, int n);
