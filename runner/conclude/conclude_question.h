// SPDX-License-Identifier: MIT
// The text by which a property says how it is read: a reading (conclude.h) and its options,
//     knee least=0.2 add=4 bends
//     difference control=constant factor=2
// Rows of lists/properties/ have it, and the database, which can so conclude anew by itself.
#ifndef LATPUT_CONCLUDE_QUESTION_H
#define LATPUT_CONCLUDE_QUESTION_H

#include "conclude.h"
#include "util/err.h"

// Fills *question; its strings are the arena's. 0, or -1 with what is wrong with the text and, in
// *at, where (a pointer into it).
int conclude_question_read(const char *text, struct conclude_question *question,
                           struct arena *arena, const char **at, struct err *err);

#endif
