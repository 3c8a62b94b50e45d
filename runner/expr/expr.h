// SPDX-License-Identifier: MIT
// Expressions of users over the columns of a view, parsed into SQL in which every value is a
// parameter.
//
//     expression  = conjunction { "or" conjunction }
//     conjunction = negation { "and" negation }
//     negation    = "not" negation | comparison
//     comparison  = sum [ ("=" | "!=" | "<" | "<=" | ">" | ">=") sum | ("~" | "!~") text
//                       | "is" ["not"] "null" | ["not"] "in" "(" sum { "," sum } ")"
//                       | ["not"] "like" text | ["not"] "between" sum "and" sum ]
//     sum         = product { ("+" | "-") product }
//     product     = factor { ("*" | "/") factor }
//     factor      = number | text | column | "-" factor | "(" expression ")"
//
// Texts stand in '...' or "...", and compare without regard to case; ~ compares with a glob,
// like with a pattern of SQL. A column may be called by its name without the unit (`latency` for
// latency_clk), or as in the heads of tables (`max`). NULL satisfies no comparison.
#pragma once

#include "store/store_read.h"
#include "util/strbuf.h"

// Returns true if the text has a sign or a word that no glob has: then it is an expression.
bool expr_is_one(const char *text);
// Parses an expression over the view's columns. Returns NULL with a message that shows the fault.
struct store_where *expr_parse(struct store *store, enum store_view view, const char *text,
                               struct err *err);
void expr_free(struct store_where *where); // NULL is fine

// Returns the column of the view that `name` means, to be freed; NULL with a message that suggests
// one.
char *expr_column(struct store *store, enum store_view view, const char *name, struct err *err);

// Parses an order such as "-latency,form", '-' for the largest first, into the text of
// store_filter.sort, to be freed. NULL with a message.
char *expr_sort_parse(struct store *store, enum store_view view, const char *text, struct err *err);
