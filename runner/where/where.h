// SPDX-License-Identifier: MIT
// Expressions over the columns of a view, as users write them: parsed here into SQL of our own in
// which every value is bound.
//
//     expression  = conjunction { "or" conjunction }
//     conjunction = negation { "and" negation }
//     negation    = "not" negation | comparison
//     comparison  = sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=") sum | ("~" | "!~") text
//                       | "is" ["not"] "null" | ["not"] "in" "(" sum { "," sum } ")" ]
//     sum         = product { ("+" | "-") product }
//     product     = factor { ("*" | "/") factor }
//     factor      = number | text | column | "-" factor | "(" expression ")"
//
// Texts stand in '...' or "...", and compare without regard to case; ~ compares with a glob. A
// column may be called by its name without the unit (`latency` for latency_clk), or as tables head
// it (`max`). What has no value (NULL) satisfies no comparison.
#ifndef LATPUT_WHERE_H
#define LATPUT_WHERE_H

#include "store/store_read.h"
#include "util/strbuf.h"

// The expression `text` over the view's columns. NULL with a message that shows where it is wrong.
struct store_where *where_parse(struct store *store, enum store_view view, const char *text,
                                struct err *err);
void where_free(struct store_where *where); // NULL is fine

// The column of the view that `name` means, to be freed; NULL with a message that suggests one.
char *where_column(struct store *store, enum store_view view, const char *name, struct err *err);

// The order that "-latency,form" asks for, '-' for the largest first, as store_filter.sort takes
// it; to be freed. NULL with a message.
char *where_sort_parse(struct store *store, enum store_view view, const char *text,
                       struct err *err);

#endif
