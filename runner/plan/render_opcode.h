// SPDX-License-Identifier: MIT
// Machine code of rows with the option opcode=, for a choice of registers: NASM gets it as `db`.
#pragma once

#include "render.h"

// Appends `db 0x..,...` for the row's instruction. The last operand that is no constant is the r/m
// field (the first one if the opcode says mr), the first is reg, one between them is vvvv.
void render_opcode(const struct list_row *row, const struct row_choice *choice, struct strbuf *out);
