// SPDX-License-Identifier: MIT
// Machine code of kernels, composed from the code of their lines. Most lines of a batch occur
// several times, since shapes of a test are longer or shorter rows of the same instructions, and
// NASM takes its time for each; so each line is assembled once, and kernels are put together from
// the bytes. This needs kernels whose lines mean the same in any place: an instruction that a
// decoder knows, without labels, macros and directives, that does not jump, and whose bytes the
// linker leaves alone. All other kernels, and those with a line that NASM refuses, are assembled as
// they are. Of kernels that the preprocessor has expanded a part with labels is taken as a whole,
// as if it were one line; `times` is counted here, so NASM need not write what is repeated.
#pragma once

#include "gen.h"

struct compose;

// Collects the lines of the kernels; `kernels` must outlive the result.
struct compose *compose_new(struct gen_kernel *kernels, int nkernels);
// Appends NASM source with each usable line once, after a label of its own. Returns their number.
size_t compose_write(struct compose *compose, int bits, struct strbuf *out);
// Makes the lines unusable that NASM's messages about the file `source` blame. Returns their
// number.
size_t compose_refuse(struct compose *compose, const char *source, const char *messages);
// Takes the bytes of lines from the object, and sets `composed`, which is then the arena's, of all
// kernels that consist of usable ones. Returns their number; 0 also if the object is malformed.
int compose_take(struct compose *compose, const char *object, struct arena *arena);
void compose_free(struct compose *compose);
