// SPDX-License-Identifier: MIT
// Globs as users write them, for store_read.c.
#ifndef LATPUT_STORE_GLOB_H
#define LATPUT_STORE_GLOB_H

#include "store_read.h"

#include <stdbool.h>

struct store_globs {
    char **texts;
    int n;
};

// Translates the filter's globs to lower case. `forms`: to globs on forms, which have blanks
// instead of commas, and classes of registers instead of registers. "VADDPS ymm1, ymm2, m256"
// becomes "vaddps y y m256"; "zmm{k}", which is no mnemonic, matches forms with such an operand. If
// a word may be a class or a register itself (cl), there are two globs.
struct store_globs store_globs_make(const struct store_filter *filter, bool forms);
void store_globs_free(struct store_globs *globs);

#endif
