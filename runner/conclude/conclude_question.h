// SPDX-License-Identifier: MIT
// The text form of a property's question: a reading (conclude.h) and its options,
//
// knee least=0.2 add=4 bends
// difference control=constant factor=2
//
// Rows of lists/properties/ and the database have it, so that stored points can be concluded anew.
#pragma once

#include "conclude.h"
#include "util/err.h"

// Fills *question; its strings are the arena's. 0, or -1 with what is wrong with the text and, in
// *at, where (a pointer into it).
int conclude_question_read(const char *text, struct conclude_question *question,
                           struct arena *arena, const char **at, struct err *err);
