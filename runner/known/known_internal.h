// SPDX-License-Identifier: MIT
// Functions that the files of known/ call of each other.
#ifndef LATPUT_KNOWN_INTERNAL_H
#define LATPUT_KNOWN_INTERNAL_H

#include "known.h"

// Assembles one instance of each form, as the lists write it, into form->code. For known_read().
int known_assemble(struct known_cpu *data, struct err *err);

#endif
