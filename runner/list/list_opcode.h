// SPDX-License-Identifier: MIT
// The option opcode= of a row: the encoding of an instruction that NASM cannot write, or for which
// it only writes the other one of two encodings.
#pragma once

#include "list.h"

// Parses "evex.66.0f38.w0.55" (lists/README.md). Returns 0, or -1 if the text is malformed.
int list_opcode_parse(const char *text, struct opcode *opcode);
// Fills opcode->fields of a parsed row whose option gives none. Returns false if the fields do not
// fit the operands.
bool list_opcode_place(const struct list_row *row, struct opcode *opcode);
