// SPDX-License-Identifier: MIT
// An explanation as text for a terminal of 80 columns, and as JSON.
#ifndef LATPUT_EXPLAIN_PRINT_H
#define LATPUT_EXPLAIN_PRINT_H

#include "explain.h"
#include "explain_try.h"

#include "util/json.h"

// Where the block is from.
struct explain_source {
    const char *title; // of a file; else NULL
    double call_clk;   // of a loop of a function: what one call of that takes; else NaN
};

// `measured` NULL: nothing was measured. `colour`: headings of tables stand out.
void explain_print_text(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, bool colour, struct strbuf *out);
void explain_print_json(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, struct json *json);

#endif
