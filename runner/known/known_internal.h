// SPDX-License-Identifier: MIT
// Functions that the files of known/ call of each other.
#pragma once

#include "known.h"

// Assembles one instance of each form, as the lists write it, into form->code. For known_read().
int known_assemble(struct known_cpu *data, struct err *err);
