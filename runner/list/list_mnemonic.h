// SPDX-License-Identifier: MIT
// Part of stage 1: which words are mnemonics. What a list calls one is given to NASM, to which a
// directive looks the same: `use32` would change how all that follows is encoded, `incbin` would
// read files. So a word counts only if a decoder knows it as an instruction.
#ifndef LATPUT_LIST_MNEMONIC_H
#define LATPUT_LIST_MNEMONIC_H

#include <stdbool.h>
#include <stddef.h>

// Whether the word is an instruction, by NASM's or by the decoder's name for it.
bool list_mnemonic_known(const char *word, size_t len);
// The decoder's (Zydis) name for one of NASM's, where the two differ for all operands; else `name`.
void list_mnemonic_canonical(const char *name, char *out, size_t size);

#endif
