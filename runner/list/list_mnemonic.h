// SPDX-License-Identifier: MIT
// Part of stage 1: recognises mnemonics. They are passed to NASM, which takes directives in the
// same place: `use32` would change how all following lines are encoded, `incbin` would read files.
// So a word counts only if a decoder knows it as an instruction.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Returns true if the word is an instruction by NASM's or the decoder's name.
bool list_mnemonic_known(const char *word, size_t len);
// Writes the decoder's (Zydis) name for one of NASM's, if they differ for all operands; else
// `name`.
void list_mnemonic_canonical(const char *name, char *out, size_t size);
