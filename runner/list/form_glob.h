// SPDX-License-Identifier: MIT
// Globs on forms as users write them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct form_globs {
    char **texts;
    int n;
};

// Translates globs to lower case. `forms`: to globs on forms, which have blanks instead of commas,
// and classes of registers, memory and immediates instead of these. "VADDPS ymm1, ymm2, m256"
// becomes "vaddps y y m256", "add rbx, [rax]" becomes "add r64 m*[0-9]", "lea rbx, [rax+8]" becomes
// "lea r64 agen:b+d8"; "zmm{k}", which is no mnemonic, matches forms with such an operand. "jcc"
// and "_mm_add_ps" become what they mean (form_words.h). If a word may be a class or an operand
// itself (dx, 1), or memory may have no size in lists (prefetcht0), there are several globs.
struct form_globs form_globs_make(const char *const *globs, int n, bool forms);
void form_globs_free(struct form_globs *globs);

// The names of operands in code that are translated: those in manuals, of general registers, and of
// sizes before memory. Returns the i-th of a kind, in which a number may stand for a #, with the
// glob that it becomes; NULL: there are no more.
enum glob_names { GLOB_OPERANDS, GLOB_REGISTERS, GLOB_SIZES };
const char *form_glob_name(enum glob_names kind, size_t i, const char **glob);
