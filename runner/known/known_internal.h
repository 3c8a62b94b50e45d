// SPDX-License-Identifier: MIT
// What the files of known/ call of each other.
#ifndef LATPUT_KNOWN_INTERNAL_H
#define LATPUT_KNOWN_INTERNAL_H

#include "known.h"

// One instance of each form in the lists' own words, as machine code: form->code. known_read()
// calls it.
int known_assemble(struct known_cpu *data, struct err *err);

#endif
