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

// What the filter's globs mean, in lower case. `forms`: on forms, in which there are blanks instead
// of commas, and classes of registers instead of registers: "VADDPS ymm1, ymm2, m256" asks for
// "vaddps y y m256", and "zmm{k}", which no mnemonic is called, for forms with such an operand; a
// glob is there twice where a register may be meant itself (cl).
struct store_globs store_globs_make(const struct store_filter *filter, bool forms);
void store_globs_free(struct store_globs *globs);

#endif
