// SPDX-License-Identifier: MIT
// An explanation as text and as JSON.
#pragma once

#include "explain.h"
#include "explain_try.h"

#include "output/output.h"

// Origin of the block.
struct explain_source {
    const char *title;     // file; else NULL
    double call_clk;       // cycles per call of a function with a loop; else NaN
    long rounds;           // of the loop in a call, counted; 0: not counted
    long way_rounds;       // at most so many of them go the way that is explained; -1: not known
    const char *uncounted; // reason why they are not counted; NULL
    bool mispredicts;      // branches of the loop go both ways, and it takes longer than predicted
    double mispredicted;   // branches a round that would explain it; NaN: not known
};

// Returns true if many rounds of a loop go another way than that which is explained.
bool explain_strays(long rounds, long this_way);

struct explain_look {
    int width;   // of lines, in characters; 0: 80
    bool colour; // headings of tables stand out
};
// Prints the explanation as text; instructions are never cut. `measured` NULL: nothing was
// measured.
void explain_print_text(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, const struct explain_look *look,
                        struct strbuf *out);
void explain_print_json(const struct explanation *explanation,
                        const struct explain_measured *measured,
                        const struct explain_source *source, struct json *json);
extern const struct output_kind explain_print_kind;
